// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// How routines are entered and left (System V AMD64 ABI, 3.2), and what they must not leave behind.
#include "verify/contract/contract.hpp"

namespace stitchgcm::verify {

/// All registers and the stack as a caller may leave them: nothing is known of them but rsp and the return address.
/// Registers 16..31 and masks too, whether the CPU has them or not.
State routine_entry(const Setting& setting);

struct ExitRules {
  std::vector<int> preserved{rbx, rbp, r12, r13, r14, r15};  // general registers
  int vectors = 16;          // registers that the backend uses; the others are as they were
  bool vectors_zero = true;  // all that it uses
};
/// Throws Refused: rsp or the return address is not what it must be, a preserved register was changed, a vector
/// register is not zero or was not to be changed, or a secret is left in a register or in the stack below rsp.
void check_routine_exit(const Setting& setting, const State& entry, const State& exit, const ExitRules& rules);

/// What a call leaves: nothing is known of the registers listed (but that no general one holds a secret), of the
/// vectors that the backend uses, of the flags, nor of the stack below rsp.
void after_call(const Setting& setting, State& state, const std::vector<int>& clobbered);
inline const std::vector<int> kCallerSaved{rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11};

/// A lane of which nothing is known. Every call gives another.
Lane anything(LanePool& pool, Secrecy secrecy);

}  // namespace stitchgcm::verify
