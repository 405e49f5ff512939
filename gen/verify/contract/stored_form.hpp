// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// How a context stores powers of H, and what GHASH's sums of products stand for before they are reduced.
//
// With the 16 bytes of a block reversed, bit i is the coefficient of x^i of a polynomial over GF(2), and SP 800-38D's
// field is that of polynomials modulo P = x^128 + x^127 + x^126 + x^121 + 1, with the product a . b = a b x^-127.
// (The standard numbers bits from the other end, where the modulus is x^128 + x^7 + x^2 + x + 1: reflection turns one
// into the other and shifts products by 127.) A power is stored times x, so that a stored product a h' is a . h times
// x^128, which two folds of 64 bits take away.
#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify {

/// H^exponent as stitchgcm_layout.h says that a context holds it.
struct StoredPower {
  Lane value, middle;
};
StoredPower stored_power(LanePool& pool, int exponent);

/// Sums of products of blocks (bytes reversed) with stored powers, not reduced: `low` and `high` of the products of the
/// low and of the high halves, `middle` of the products of the halves' sums (Karatsuba). They stand for
///   (low + (low + middle + high) x^64 + high x^128) x^-128 mod P,  bytes reversed.
struct Sums {
  Lane low, high, middle;
};
/// The block, in SP 800-38D's byte order, that the sums stand for.
Lane value_of_sums(LanePool& pool, const Sums& sums);
/// Sums that stand for `value`, with any low and high: every such triple is one of these.
Sums any_sums_of(LanePool& pool, Lane value, Lane low, Lane high);

}  // namespace stitchgcm::verify
