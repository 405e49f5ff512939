// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// GHASH with aggregated products.
//
// The mathematics, once. SP 800-38D, 6.3 and 6.4: a block is a polynomial over GF(2) of degree < 128 whose coefficient
// of x^0 is the first bit, and GHASH is Y := (Y ^ X) * H modulo P = x^128 + x^7 + x^2 + x + 1. With the 16 bytes of a
// block reversed, bit i of the 128-bit register is the coefficient of x^(127-i). A carry-less multiplication of two
// registers a, b gives a 255-bit product whose bit k is the coefficient of x^(254-k), where the same reflection in 256
// bits would want x^(255-k): the product is short of a factor x. So the context holds each power of H times x, and no
// product has to be shifted.
//
// Reduction. Let the 256-bit product be C = c0 + c1 2^64 + c2 2^128 + c3 2^192 (registers: low = c1:c0, high = c3:c2).
// In the reflected order c0 holds the highest powers of x. P reads x^128 = 1 + x + x^2 + x^7, so that c0 may be cleared
// when c0 * (x^128 + P's tail, reflected) is added: the tail, x^63 + x^62 + x^57 as a register, is 0xc2 << 56, and
//     c2:c1 += c0 * tail + (c0 shifted by 64)
// which is one vpclmulqdq, one exchange of halves and two additions; the same step then clears c1.
//
// Aggregation. (..((Y ^ X1) H ^ X2) H ..) H = (Y ^ X1) H^n ^ X2 H^(n-1) ^ .. ^ Xn H: the products are summed
// unreduced, low, high and Karatsuba's middle, (a1 + a0)(b1 + b0), each on its own; one reduction ends a group of up to
// as many blocks as there are powers.
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// Where a power of H is: a base register and a displacement.
struct PowerAt {
  Xbyak::Reg64 base;
  int displacement;
  Xbyak::Address value() const { return Xbyak::util::ptr[base + displacement]; }
  Xbyak::Address middle() const { return Xbyak::util::ptr[base + (displacement + layout::kMiddle)]; }
};
/// H^exponent in the context that `r.context` points to.
PowerAt power_in_context(const Roles& r, int exponent);

/// low, high, middle += x * power. x (bytes reversed) in product[0], low ^ high of x in the low half of product[1].
/// Clobbers the three product registers. Cuts after every `multiply_group` multiplications and after each sum.
void multiply_and_add(Code& c, const PowerAt& h, int multiply_group = 3);

/// low, high, middle += x * power for x (bytes reversed) in product[0]; makes Karatsuba's middle operand by a shuffle.
void multiply_block_and_add(Code& c, const PowerAt& h);

/// y := low + middle x^64 + high x^128 reduced mod P, bytes reversed. Clobbers low, high, middle, product[0],
/// product[1]. y is `r.high`. Cut after each instruction of the chain.
void reduce(Code& c);

/// low, high, middle := 0.
void clear_sums(Code& c);

/// x := x * power / x^128 ... in full: one product and one reduction, where the power is in memory. For chains that
/// have nothing to aggregate. Clobbers low, high, middle and the product registers; the result is in `r.high`.
void multiply(Code& c, const Xbyak::Xmm& x, const PowerAt& h);

}  // namespace stitchgcm::gcm
