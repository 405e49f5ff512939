// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Blocks of 1 to 15 bytes, read and written without touching a byte beyond them.
#include "asm/program.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// x := the `bytes` bytes at `from`, then zeros; least <= bytes <= 15. By overlapping reads of 8, 4 or 1 bytes.
/// Clobbers scratch and shift (rax, rcx), which `from` and `bytes` must not be.
assembly::Program load_partial(const Xbyak::Xmm& x, const Xbyak::Reg64& from, const Xbyak::Reg64& bytes, int least = 1);

/// The first `bytes` bytes of x to `to`; least <= bytes <= 15. By overlapping writes of 8, 4 or 1 bytes. Clobbers
/// scratch, shift and `high_half`, which must all differ from `to` and `bytes`.
assembly::Program store_partial(const Xbyak::Reg64& to, const Xbyak::Xmm& x, const Xbyak::Reg64& bytes,
                                const Xbyak::Reg64& high_half, int least = 1);

/// x := the first `bytes` bytes of x, then zeros; 0 <= bytes <= 16. Clobbers scratch.
assembly::Program keep_first_bytes(const Xbyak::Xmm& x, const Xbyak::Reg64& bytes);

}  // namespace stitchgcm::gcm
