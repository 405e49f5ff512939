// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What comes before the text of a message: J0, the lengths in registers, and GHASH of the AAD.
#include "asm/program.hpp"
#include "gcm/choices.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// SP 800-38D, 7.1 step 2: the frame's J0 := IV || 0^31 || 1 for an IV of 12 bytes, else GHASH(IV || 0.. ||
/// [bits(IV)]64); bytes reversed; counter_patterns := the patterns for J0 + 1 (see counter_patterns.hpp).
/// Calls ghash. Clobbers everything but context and message.
assembly::Program make_j0(const Target& target, FirstCounters how);

/// batches, whole, partial := the text's length as 128 batches + 16 whole + partial.
assembly::Program split_text_length();

/// in, out := the message's; end_power := the place of the power that follows the batches: of H^(whole + (partial > 0)
/// + 1).
assembly::Program text_pointers();

/// GHASH of the AAD, its last block padded with zeros. If the text has at most kLastGroupBatches batches, the sums
/// hold the products of its blocks with the powers that the text and the lengths leave; else hash := Y, and the sums
/// are 0. Without AAD both are 0. All but the last 64 bytes go through ghash. To be called before split_text_length
/// (which it includes). `aggregate`: false if the text will not go on with the sums.
assembly::Program hash_aad(const Target& target, bool aggregate);

}  // namespace stitchgcm::gcm
