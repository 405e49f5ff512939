// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// One way through a routine, as far as it was followed.
#include <map>
#include <memory>
#include <vector>

#include "verify/machine/state.hpp"

namespace stitchgcm::verify {

struct Hypothesis;

struct Path {
  State state;
  /// The states in which the path came to the head of each loop, since the last hypothesis.
  std::map<std::uint64_t, std::vector<std::shared_ptr<const State>>> arrivals;
  /// What is assumed of iteration i of the loops that the path is in, outermost first; see induction.hpp.
  std::vector<std::shared_ptr<const Hypothesis>> hypotheses;
  /// Where it has met others last: what forks there must not join again.
  std::uint64_t met_at = 0;
  /// Questions since its last instruction: were they never settled, there would be no end of them.
  int asked = 0;
};

}  // namespace stitchgcm::verify
