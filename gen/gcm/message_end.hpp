// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What comes after the batches: up to seven whole blocks, the partial block, the lengths block and the tag.
#include "asm/program.hpp"
#include "gcm/choices.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// The end of a text of whole blocks only, 0 <= whole <= 7, hashed from `end_power` on:
///   out := in ^ AES(key, counter + i), i < whole; sums += their products; counter += whole.
/// One ladder of blocks from the last backwards: a block's register, text and power depend on its distance from the
/// end alone, so that any number of blocks takes the same straight code from its rung on.
assembly::Program end_of_blocks(Direction d);

/// The end of a message, inlined: whole blocks, the partial block and the lengths block; the AES blocks of J0, of the
/// partial block and of the seven whole ones side by side. Leaves T = GHASH ^ AES(key, J0), all 16 bytes, in `high`.
assembly::Program finish(Direction d);

/// The same by calls of ctr32 and ghash, a block or a run of blocks each, as a program without `finish` would do it.
/// Kept to measure what inlining is worth. Needs hash_aad(false); saves what it needs in callee-saved registers.
assembly::Program finish_by_calls(const Target& target, Direction d);
std::vector<Xbyak::Reg64> saved_by_finish_by_calls();

/// The first tag_bytes bytes of `high` to the message's tag.
assembly::Program store_tag();

/// eax := 1 if the message's tag is the first tag_bytes bytes of `high`, else 0 and zeros to the whole of out. The
/// comparison takes the same time for any difference; the branch is on the verdict alone.
assembly::Program check_tag();

/// Zeros in all vectors.
assembly::Strip wipe_vectors();
/// Zeros in the parts of the frame that held secrets. Clobbers group and block 0, not eax.
assembly::Program wipe_message_frame(const Choices& choices);

}  // namespace stitchgcm::gcm
