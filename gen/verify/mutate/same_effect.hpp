// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <optional>
#include <vector>

#include "verify/machine/machine.hpp"
#include "verify/proof/liveness.hpp"

namespace stitchgcm::verify {

/// Whether two instructions make the same state from any state: executed on one of which nothing is known, once with
/// public numbers in the general registers and once with data, they leave equal formulas in every register, flag and
/// byte. False also where that cannot be followed.
bool same_effect(const Machine& machine, const State& any, const Instruction& a, const Instruction& b);

/// What is read after a short sequence.
struct Readers {
  bool numbers_too = true;  // false: public numbers in general registers may differ
  Registers live = kAllRegisters | kFlagsBit;
  std::optional<Instruction> of_flags;  // the only instruction that reads the flags, if there is such a one
};

/// Whether two short sequences leave the same in what is read afterwards, from this state on: registers and flags that
/// are live, all memory, the place where the routine goes on. Flags are the same also if they give the only one that
/// reads them the same answer. False where one of them cannot be followed.
bool same_here(const Machine& machine, const State& state, const std::vector<Instruction>& a,
               const std::vector<Instruction>& b, const Readers& readers);

/// States that stand for all in which whatever instructions b leave otherwise than instructions a is anything; of two
/// known numbers, each from the one to the other. `after` is as a left it. Throws Refused if the two differ in more
/// than registers, flags and data in the stack.
std::vector<State> without_difference(const Machine& machine, const State& before, const std::vector<Instruction>& a,
                                      const std::vector<Instruction>& b, State after);

}  // namespace stitchgcm::verify
