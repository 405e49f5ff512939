// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Executes decoded instructions on a State.
#include <functional>

#include "verify/code/image.hpp"
#include "verify/machine/state.hpp"

namespace stitchgcm::verify {

/// What an instruction may use beside the state.
struct Machine {
  LanePool& pool;
  const Image& image;
  /// Asked when a branch depends on whether a lane of data is zero. True: the contract declares that public, and the
  /// path is taken both ways; else the branch is refused.
  std::function<bool(const State&, Lane)> may_reveal_whether_zero;
};

/// Thrown where a branch depends on whether `lane` is zero and the contract allows that: state.verdict must be set
/// first, true for zero.
struct Reveals {
  Lane lane;
};

/// Executes one instruction that neither calls nor returns: `state` is as after it. If it throws, `state` is as before:
///   Refused    no semantics, or a use that is not allowed (a secret in an address or branch, a bound, ..)
///   Undecided  a public condition that the facts do not decide; execute it again with a fact more
///   Reveals    see above
void execute(const Machine& machine, const Instruction& instruction, State& state);

/// Whether the condition of a jcc, setcc or cmovcc holds. Throws as execute does.
bool condition_holds(const Machine& machine, ZydisMnemonic mnemonic, const State& state);

/// True if there is a row in the table for the form.
bool has_semantics(const Instruction& instruction);

}  // namespace stitchgcm::verify
