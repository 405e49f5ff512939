// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// MANIFEST: a line a symbol. If its lines did not change, only comments did.
#include <map>
#include <string>

#include "asm/lower.hpp"
#include "emit/options.hpp"

namespace stitchgcm::emit {

std::string manifest(const std::vector<assembly::LoweredFile>& files, const Options& options);

/// Symbol -> hash of the code, as the lines of a MANIFEST say.
std::map<std::string, std::string> code_hashes(const std::string& manifest);

}  // namespace stitchgcm::emit
