// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What somebody may have meant by a name that there is not.
#include <string>
#include <vector>

namespace stitchgcm::commands {

/// Up to three of the names: those that have `word` in them, or else those that fewest changes of a letter make of it.
std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& names);

}  // namespace stitchgcm::commands
