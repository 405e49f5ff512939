// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The functions of AES and GHASH on values that are known.
#include "verify/algebra/bits128.hpp"

namespace stitchgcm::verify {

/// The product of two blocks in GHASH's field, in SP 800-38D's byte and bit order (6.3).
Bits128 field_product(Bits128 a, Bits128 b);
/// The multiplicative identity of the field: the block 80 00 .. 00.
inline constexpr Bits128 kFieldOne = 0x80;
/// 1 / a; a != 0.
Bits128 field_inverse(Bits128 a);

/// a b over GF(2), without reduction.
Bits128 carryless_product(std::uint64_t a, std::uint64_t b);

/// FIPS 197, 5.1.1 and 5.1.2: SubBytes on each byte, ShiftRows, MixColumns of a state in memory order.
Bits128 sub_bytes(Bits128 state);
Bits128 shift_rows(Bits128 state);
Bits128 mix_columns(Bits128 state);

}  // namespace stitchgcm::verify
