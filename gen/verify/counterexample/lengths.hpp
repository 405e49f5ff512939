// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Numbers for the public variables of a path.
#include <map>
#include <string>
#include <vector>

#include "verify/machine/facts.hpp"

namespace stitchgcm::verify {

/// A value for each variable, by its name.
using Lengths = std::map<std::string, std::int64_t>;

/// Values with which all facts hold: first the smallest, one variable after the other in the order of their numbers,
/// then some in which one of the variables is a little larger. At most `most`, all different; none if none was found.
std::vector<Lengths> lengths_on_path(const Facts& facts, const Variables& variables, std::size_t most);

}  // namespace stitchgcm::verify
