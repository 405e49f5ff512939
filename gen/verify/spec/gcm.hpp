// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// NIST SP 800-38D, Galois/Counter Mode, in its own terms: blocks in the standard's byte order, no layout of ours.
#include <span>

#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify::spec {

/// One step of GHASH (6.4): (Y ^ X) * H.
inline Lane ghash_step(LanePool& pool, Lane y, Lane x) { return pool.multiply_by_power(pool.exclusive_or(y, x), 1); }

/// The first `bytes` bytes, then zeros: the last block of a string, padded as GHASH wants it (7.1, step 5).
inline Lane first_bytes(LanePool& pool, Lane x, int bytes) { return pool.mask(x, low_bits(8 * bytes)); }

/// [a]64 || [b]64, two numbers of bits as one block (7.1, steps 2 and 5); big-endian.
Lane lengths_block(LanePool& pool, const Affine& a_bits, const Affine& b_bits);

/// IV || 0^31 || 1, for an IV of 96 bits (7.1, step 2).
Lane j0_of_12_bytes(LanePool& pool, Lane iv);

/// A counter block: its first 96 bits, and 32 bits that count, big-endian (6.2 and 6.5). `number` is that count as
/// LanePool::counter gives it, in bits 0..31, little-endian.
Lane counter_block(LanePool& pool, Lane first_96_bits, Lane number);

/// GHASH of any number of blocks that has no other formula: after blocks [from, from + count) of what `text` names,
/// begun with y. A name for a value: whoever uses it must use the same blocks. ghash(y, from, n + 1) =
/// ghash_step(ghash(y, from, n), block from + n), which proofs by induction use one way and callers the other.
Lane ghash_of_many(LanePool& pool, const std::string& text, Lane y, const Affine& from, const Affine& count);

}  // namespace stitchgcm::verify::spec
