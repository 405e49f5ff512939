// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Read-only data that the builders use, by name.
#include "asm/instruction.hpp"

namespace stitchgcm::gcm {

using assembly::Constant;

/// vpshufb pattern that reverses the 16 bytes of a block: SP 800-38D's byte order to the multiplier's and back.
const Constant& byte_reverse();
/// x^128 mod P in the reflected order, in the low half: what a reduction multiplies by. See ghash.hpp.
const Constant& reduction();
/// n in the lowest 32 bits, n = 0..8: what is added to a counter block whose bytes are reversed.
const Constant& counter_steps();
inline constexpr int kCounterStepBytes = 16;
/// Of counters that start at 8 i + 2, as those of a 12-byte IV do: see counter_patterns.hpp.
const Constant& counter_patterns_from_2();
/// All ones but for the lowest three bits; and those, in the last byte of a block in SP 800-38D's order.
const Constant& multiple_of_8();
const Constant& below_8();
/// Minus n in the lowest 32 bits, n = 0..8.
const Constant& counter_steps_back();
/// 16 bytes of ff, then 16 of 00: the 16 bytes at offset 16 - n keep the first n bytes of a block.
const Constant& keep_bytes();
/// A carry out of bit 127 when H is multiplied by x: the reduction, and the bit that comes in at the bottom.
const Constant& times_x();
/// For the key schedule: vpshufb patterns that put one word of a register, rotated or not, into all four.
const Constant& rotate_word3();
const Constant& repeat_word3();
const Constant& rotate_word1();
/// Round constants 1, 2, 4 ... 36 (hexadecimal) of FIPS 197, each in the first byte of all four words.
const Constant& round_constants();

}  // namespace stitchgcm::gcm
