// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The fates of mutants of many routines, side by side.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "verify/report/mutation.hpp"

namespace stitchgcm::commands {

struct Mutations {
  const verify::Image& image;
  const std::vector<std::unique_ptr<verify::Contract>>& contracts;  // of all that may be called
  const std::vector<const verify::Contract*>& wanted;               // each has its symbol in the image
  const std::vector<std::filesystem::path>& sources;                // where a survivor may have its line
  std::optional<std::size_t> sample;                                // so many, at random over all symbols; or all
  std::uint64_t seed;
  unsigned jobs;     // 0: one for each CPU
  std::FILE* lines;  // for a line a symbol
};

/// For each contract that is wanted, in that order. A line is printed when a symbol is done.
std::vector<verify::Mutation> mutate_all(const Mutations& mutations);

}  // namespace stitchgcm::commands
