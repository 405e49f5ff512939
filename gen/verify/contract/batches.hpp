// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Contracts of the internal routines of backend aesni_avx, which take their arguments in registers of their own choice.
#include "verify/contract/gcm_parts.hpp"
#include "verify/contract/whole_blocks.hpp"

namespace stitchgcm::verify {

/// Batches of eight blocks, for one key length:
///   rbx = context + 112, rsi = in, rdi = out, rdx = batches >= 1, rcx = place of H^e + 128 with e the number of blocks
///   that are hashed after the batches, r14 = patterns of the counters, xmm0 = counter block (bytes reversed)
///   more than 3 batches: xmm1 = Y (bytes reversed); else the sums stand for Y H^(8 batches + e)
/// leaves out = in ^ keystream, rsi, rdi and xmm0 moved on, the sums standing for Y' H^e.
std::unique_ptr<Contract> batches_contract(const std::string& symbol, Direction direction, int rounds);

/// rbx = context + 112, xmm0 = H: writes the powers.
std::unique_ptr<Contract> powers_contract(const std::string& symbol);

}  // namespace stitchgcm::verify
