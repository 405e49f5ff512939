// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <functional>
#include <optional>
#include <random>

#include "verify/proof/explorer.hpp"

namespace stitchgcm::verify {

/// Follows some ways through a routine, each alone, and returns the first failure that is not for want of turns or the
/// like; nothing if there is none. `begin` makes what walks, anew for each way. A fault mostly shows so, sooner than
/// where all paths are followed together, and with lengths of its own.
std::optional<Failure> failure_alone(int ways, const std::function<Explorer(std::mt19937_64& random)>& begin);

/// What one way may take.
inline constexpr Limits kOneWay{.instructions = 5'000, .formulas = 200'000};

}  // namespace stitchgcm::verify
