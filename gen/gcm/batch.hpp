// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Whole batches of eight blocks: AES of a batch stitched with GHASH of the batch before it, as one pipelined loop.
#include "asm/pipeline.hpp"
#include "gcm/aes.hpp"
#include "gcm/ghash.hpp"

namespace stitchgcm::gcm {

inline constexpr int kBatchBlocks = 8;
/// A reduction ends every group of batches. The last group also holds the end of the message, up to nine blocks (seven
/// whole ones, a partial one, the lengths), so it has fewer batches.
inline constexpr int kGroupBatches = layout::kPowerCount / kBatchBlocks;
inline constexpr int kLastGroupBatches = (layout::kPowerCount - 9) / kBatchBlocks;

/// The loop, before it is put into a program: for `explain` and for the tests.
assembly::PipelinedLoop batch_loop(Direction d, KeyLength k, const BatchSchedule& s);

/// The program of the internal routine encrypt_batches or decrypt_batches. With n = batches >= 1:
///   out := in ^ AES(key, counter + i) block by block, i = 0 .. 8n - 1; in, out += 128n bytes; counter += 8n;
///   sums := what is left to reduce of GHASH of the 8n blocks of ciphertext, as products with powers that end at the
///   one
///   before `end_power`. It goes on from hash = Y if n > kLastGroupBatches, else from the sums at entry.
/// Roles in: context, in, out, batches, end_power, counter_patterns, counter, hash, low, high, middle. Out: in, out,
/// counter, the sums. Clobbers scratch, power, group, batches, all other vectors.
assembly::Program batches(Direction d, KeyLength k, const BatchSchedule& s);

/// power := the place of H^(8 * batches) for the group that comes next, group := its batches (see batch.cpp).
assembly::Program next_group();

}  // namespace stitchgcm::gcm
