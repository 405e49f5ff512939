// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// From an instruction of an object file to its line in the emitted source.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

struct SourcePlace {
  std::string file;
  std::size_t line = 0;
  std::string stage;  // the banner before it; empty if there is none
  std::string note;   // the last remark since the banner or a label; it holds until the next one
};

/// The line of the instruction at `address`, in a text where the symbol's label is followed by one instruction a line,
/// or by bytes. Nothing if the text has no such label, or not as many instructions as the function.
std::optional<SourcePlace> place_in_source(const Function& function, std::uint64_t address, const std::string& file,
                                           const std::string& text);

/// The same, in the first of the files that has the symbol. A file that cannot be read has none.
std::optional<SourcePlace> place_in_sources(const Function& function, std::uint64_t address,
                                            const std::vector<std::filesystem::path>& files);

}  // namespace stitchgcm::verify
