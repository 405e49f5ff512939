// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The field of GHASH, one bit at a time: slow, and written straight from SP 800-38D section 6, so that the tests do not
// share a mistake with the code under test.
#pragma once

#include "bytes.hpp"

namespace tests::gf128 {

Block add(const Block& a, const Block& b);

/// a * b in GF(2^128) with the bit order of SP 800-38D, 6.3.
Block multiply(const Block& a, const Block& b);

/// a^exponent; a^0 = 1.
Block power(const Block& a, unsigned exponent);

/// The element x: the block whose bit 1 is set.
Block x();

/// 1 / a = a^(2^128 - 2); a != 0.
Block inverse(const Block& a);

/// GHASH_H from the accumulator `y` on: y := (y ^ X_i) * H for each block of `data`, the last one padded with zeros.
Block ghash(const Block& hash_key, Block y, View data);

/// J0 of an IV, SP 800-38D section 7.1 step 2.
Block j0(const Block& hash_key, View iv);

/// The IV of 16 bytes whose J0 is the given block: how a test chooses where the counter starts.
Bytes iv_for_j0(const Block& hash_key, const Block& wanted);

}  // namespace tests::gf128
