// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The System V calling convention for x86-64: where arguments arrive, what must be kept, and frames with their CFI.
#include "asm/strip.hpp"

#include <xbyak/xbyak.h>

namespace stitchgcm::assembly {

/// The register of integer or pointer argument `index` (0..5).
Xbyak::Reg64 argument(size_t index);

/// Whether a routine must leave the register as it found it.
bool is_callee_saved(const Xbyak::Reg64& r);

/// Memory below the return address, and the callee-saved registers that are pushed above it.
struct Frame {
  int bytes = 0;
  std::vector<Xbyak::Reg64> saved;

  /// `bytes`, and as much more as makes rsp a multiple of 16.
  int allocated() const;
  /// All the stack that the routine uses below its return address.
  int total() const { return allocated() + 8 * static_cast<int>(saved.size()); }
};

/// An instruction of a prologue or epilogue, and the CFI directives that hold after it.
struct FrameStep {
  Instruction instruction;
  std::vector<std::string> cfi;
};

std::vector<FrameStep> enter(const Frame& f);
/// Ends in ret.
std::vector<FrameStep> leave(const Frame& f);

}  // namespace stitchgcm::assembly
