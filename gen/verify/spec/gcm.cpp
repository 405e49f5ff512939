// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify::spec {

Lane lengths_block(LanePool& pool, const Affine& a_bits, const Affine& b_bits) {
  // As little-endian numbers b is first; reversed as a whole both are big-endian and a is first.
  BytePermutation to_high_half;
  to_high_half.fill(-1);
  for (int i = 0; i < 8; i++) to_high_half[static_cast<std::size_t>(8 + i)] = static_cast<std::int8_t>(i);
  const Lane a = pool.apply(pool.permute_bytes(to_high_half), pool.integer(a_bits));
  return pool.apply(pool.reverse_bytes(), pool.exclusive_or(a, pool.integer(b_bits)));
}

Lane j0_of_12_bytes(LanePool& pool, Lane iv) {
  return pool.exclusive_or(first_bytes(pool, iv, 12), pool.constant(bit(120)));
}

Lane counter_block(LanePool& pool, Lane first_96_bits, Lane number) {
  return pool.exclusive_or(first_bytes(pool, first_96_bits, 12), pool.apply(pool.reverse_bytes(), number));
}

Lane ghash_of_many(LanePool& pool, const std::string& text, Lane y, const Affine& from, const Affine& count) {
  if (count == Affine(0)) return y;
  return pool.input(pool.name("GHASH of " + text, Secrecy::secret), from, count, y);
}

}  // namespace stitchgcm::verify::spec
