// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Stitching by time: every piece of every strip has a time; the merge is a stable sort by it.
#include "asm/dataflow.hpp"

namespace stitchgcm::assembly {

/// Time in thousandths of what the code is measured in: the time one block (one vector) takes in the steady state.
using Tick = int;
constexpr Tick kBlockTime = 1000;

/// A strip, and when each of its pieces is issued: never decreasing, 0 = the start of the turn it belongs to.
struct Timed {
  Strip strip;
  std::vector<Tick> at;
};

/// How the steps of a chain of dependent steps are placed in its time. A step is a run of pieces with one note; all
/// last equally long but for the first and the two before the last, whose gaps are given as multiples of the others'.
struct StepGaps {
  double first = 1.0;
  double last = 1.0;
};
Timed at_steps(Strip s, Tick start, Tick length, StepGaps gaps);

/// Places the pieces evenly over the time, by the number of their instructions.
Timed spread(Strip s, Tick start, Tick length);

/// All pieces at one time.
Timed at(Strip s, Tick when);

/// Merges strips, given in the order in which they would run one after the other. Pieces of one strip keep their order;
/// at equal times the earlier strip goes first. Throws std::runtime_error if the new order does not compute the same.
Strip stitch(const std::vector<Timed>& strips, const PointerCases& cases, const std::string& name);

namespace detail {
/// Pieces with from <= time + shift < to, appended to a timeline in program order.
struct Event {
  Tick at;
  const Piece* piece;
};
using Timeline = std::vector<Event>;
void append(Timeline& t, const std::vector<Timed>& strips, Tick shift, Tick from, Tick to);
Strip sorted(Timeline t);
inline constexpr Tick kNever = 1 << 30;
}  // namespace detail

}  // namespace stitchgcm::assembly
