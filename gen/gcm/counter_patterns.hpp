// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Eight whitened counter blocks at a time, from two, without a carry chain or a byte shuffle a block.
//
// Let the counter be 8 i + r, 0 <= r < 8, in its last 32 bits. The next eight are 8 i + (r + j), 0 <= j < 8: the three
// low bits are those of r + j, and the bits above are those of 8 i, or of 8 (i + 1) where r + j >= 8. With
//   now  = block(8 i) ^ round key 0,  next = block(8 (i + 1)) ^ round key 0,  difference = (now ^ next) | 7 in the
//   last byte
// the state that goes into AES round 1 is
//   (pattern[j] & difference) ^ now
// where pattern[j] is r + j as a 4-bit number with sign, extended to 32 bits: ones above bit 2 where r + j >= 8. r
// does not change from batch to batch, so there are eight patterns to a message; and no step depends on r, which is a
// secret when J0 comes out of GHASH.
#include "asm/strip.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// The eight patterns for `counter` (bytes reversed) to 128 bytes at `to`. Clobbers product[0] and product[1].
assembly::Strip make_counter_patterns(const Xbyak::RegExp& to);

/// now, next, difference, counter and start of the batch frame, from `counter`. Clobbers blocks 2..4.
assembly::Strip first_counters();

/// block[j] := counter block ^ round key 0, 0 <= j < 8; then the frame is moved on by eight counters. Cut after each.
void counter_blocks(Code& c);

/// `counter` := the next counter, after all that counter_blocks made; the frame's secrets are wiped.
assembly::Strip last_counter();

}  // namespace stitchgcm::gcm
