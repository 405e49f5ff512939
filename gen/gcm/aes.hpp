// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Counter blocks and AES.
#include "asm/program.hpp"
#include "gcm/choices.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// Rounds 1..last for states that hold counter block ^ round key 0, in lock step:
/// x := AES(key, counter block). A cut after each round, and after each key load.
void aes_rounds(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key, int rounds);

/// The same for the number of rounds that the context says, which is public: 1..9 for all, then by branches. Clobbers
/// scratch.
assembly::Program aes_rounds_of_context(std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key);

/// States := reversed(counter) ^ round key 0, for states that hold counter blocks with their bytes reversed.
void whiten(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key);

}  // namespace stitchgcm::gcm
