// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// A software-pipelined loop from one description: a turn, and when each piece of it runs. Pieces with a negative time
// run during an earlier turn, so the turns overlap; what must run before the loop and after it follows.
#include "asm/schedule.hpp"

#include <functional>

namespace stitchgcm::assembly {

struct Pipeline {
  std::string name;
  Tick period;  // of one turn; every piece's time is below it
  /// A whole turn, in program order, for the text that lies `ahead` turns past the pointers.
  std::function<std::vector<Timed>(int ahead)> turn;
  /// Moves the pointers by one turn.
  std::function<Strip()> advance;
  /// Code that may run after any turn, when its last piece is done. Checked: it commutes with the prologue, so that in
  /// the loop it may stand after the body, in which the next turns have begun.
  std::vector<Strip> between = {};
};

struct PipelinedLoop {
  int lead;  // turns that the prologue begins
  Strip sequential, prologue, body, epilogue;
};

/// prologue body^k epilogue computes sequential^(k + lead) for every k >= 0. Proved on terms: sequential ; prologue =
/// prologue ; body (one turn), and sequential^lead = prologue ; epilogue (the end); the rest is induction over k.
/// Throws std::runtime_error naming the two instructions if either does not hold.
PipelinedLoop pipeline(const Pipeline& p, const PointerCases& cases);

}  // namespace stitchgcm::assembly
