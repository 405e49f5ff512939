// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/stored_form.hpp"

namespace stitchgcm::verify {
namespace {

// x^128 mod P.
constexpr Bits128 kReduction = bit(127) | bit(126) | bit(121) | bit(0);

Bits128 times_x(Bits128 a) { return (a << 1) ^ ((a >> 127) != 0 ? kReduction : 0); }
/// The inverse of times_x: P is odd, so a + P is even where a is odd.
Bits128 divided_by_x(Bits128 a) {
  const bool odd = (a & 1) != 0;
  return ((odd ? a ^ kReduction : a) >> 1) | (odd ? bit(127) : 0);
}
Bits128 times_x_to(Bits128 a, int n) {
  for (; n > 0; n--) a = times_x(a);
  for (; n < 0; n++) a = divided_by_x(a);
  return a;
}

LinearMap shift_map(LanePool& pool, int n) {
  return pool.linear("times x^" + std::to_string(n), [n](Bits128 a) { return times_x_to(a, n); });
}

Lane sum_of_halves_in_both(LanePool& pool, Lane a) {
  BytePermutation exchanged;
  for (int i = 0; i < 16; i++) exchanged[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i ^ 8);
  return pool.exclusive_or(a, pool.apply(pool.permute_bytes(exchanged), a));
}

/// (1 + x^64) low x^-128 + (1 + x^64) high x^-64: what low and high add to the value, bytes reversed.
Lane part_of_low_and_high(LanePool& pool, Lane low, Lane high) {
  const auto term = [&pool](Lane a, int n) { return pool.apply(shift_map(pool, n), a); };
  return pool.exclusive_or(pool.exclusive_or(term(low, -128), term(low, -64)),
                           pool.exclusive_or(high, term(high, -64)));
}

}  // namespace

StoredPower stored_power(LanePool& pool, int exponent) {
  const Lane value = pool.apply(shift_map(pool, 1), pool.apply(pool.reverse_bytes(), pool.power(exponent)));
  return {value, sum_of_halves_in_both(pool, value)};
}

Lane value_of_sums(LanePool& pool, const Sums& s) {
  const Lane reversed =
      pool.exclusive_or(part_of_low_and_high(pool, s.low, s.high), pool.apply(shift_map(pool, -64), s.middle));
  return pool.lift(pool.apply(pool.reverse_bytes(), reversed));
}

Sums any_sums_of(LanePool& pool, Lane value, Lane low, Lane high) {
  const Lane reversed = pool.apply(pool.reverse_bytes(), value);
  const Lane middle =
      pool.apply(shift_map(pool, 64), pool.exclusive_or(reversed, part_of_low_and_high(pool, low, high)));
  return {low, high, middle};
}

}  // namespace stitchgcm::verify
