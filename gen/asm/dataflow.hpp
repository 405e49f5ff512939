// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The check that makes stitching safe: the new order leaves the same term in every register, flag and memory byte.
// Disjointness is not asked for. Strips may share registers in turn, read one counter, use one ring on the stack.
#include "asm/symbolic_state.hpp"

namespace stitchgcm::assembly {

/// The ways in which the pointers of one piece of code may stand to each other; a new order must be right for each.
using PointerCases = std::vector<Regions>;

/// A strip, and by how many turns of a loop the pointers have advanced before it (for messages only).
struct Run {
  const Strip* strip;
  int turn = 0;
};

/// Throws std::runtime_error naming `what` and the two instructions, their stages and turns, unless the strips of
/// `reordered`, one after the other, compute what those of `in_order` do, from any initial state.
void require_same_dataflow(const std::vector<Run>& in_order, const std::vector<Run>& reordered,
                           const PointerCases& cases, const std::string& what);

}  // namespace stitchgcm::assembly
