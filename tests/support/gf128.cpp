// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gf128.hpp"

#include <algorithm>

namespace tests::gf128 {
namespace {

// A block as two words, bit 0 of SP 800-38D in the top bit of `high`.
struct Element {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

Element element(const Block& block) {
  Element e;
  for (std::size_t i = 0; i < 8; ++i) {
    e.high = e.high << 8 | block[i];
    e.low = e.low << 8 | block[i + 8];
  }
  return e;
}

Block block(const Element& e) {
  Block bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(e.high >> (56 - 8 * i));
    bytes[i + 8] = static_cast<std::uint8_t>(e.low >> (56 - 8 * i));
  }
  return bytes;
}

Element multiply(const Element& a, Element v) {
  Element z;
  for (unsigned i = 0; i < 128; ++i) {
    const std::uint64_t bit = i < 64 ? a.high >> (63 - i) & 1 : a.low >> (127 - i) & 1;
    z.high ^= v.high & (0 - bit);
    z.low ^= v.low & (0 - bit);
    const std::uint64_t carry = v.low & 1;
    v.low = v.low >> 1 | v.high << 63;
    v.high = v.high >> 1 ^ ((0 - carry) & 0xe100000000000000);
  }
  return z;
}

}  // namespace

Block add(const Block& a, const Block& b) {
  Block sum{};
  std::transform(a.begin(), a.end(), b.begin(), sum.begin(),
                 [](std::uint8_t p, std::uint8_t q) { return static_cast<std::uint8_t>(p ^ q); });
  return sum;
}

Block multiply(const Block& a, const Block& b) { return block(multiply(element(a), element(b))); }

Block x() { return Block{0x40}; }

Block power(const Block& a, unsigned exponent) {
  Block product{0x80};
  for (unsigned i = 0; i < exponent; ++i) product = multiply(product, a);
  return product;
}

Block inverse(const Block& a) {
  // 2^128 - 2 is 127 ones and a zero in binary.
  Block square = a;
  Block product{0x80};
  for (int i = 0; i < 127; ++i) {
    square = multiply(square, square);
    product = multiply(product, square);
  }
  return product;
}

Block ghash(const Block& hash_key, Block y, View data) {
  for (std::size_t i = 0; i < data.size(); i += 16) {
    y = multiply(add(y, block_of(data.subspan(i))), hash_key);
  }
  return y;
}

namespace {

// 0^64 || [bits]64: the last block that GHASH takes of an IV.
Block length_block(std::uint64_t bits) { return block(Element{0, bits}); }

}  // namespace

Block j0(const Block& hash_key, View iv) {
  if (iv.size() == 12) {
    Block start = block_of(iv);
    start[15] = 1;
    return start;
  }
  return ghash(hash_key, ghash(hash_key, Block{}, iv), length_block(8 * std::uint64_t{iv.size()}));
}

Bytes iv_for_j0(const Block& hash_key, const Block& wanted) {
  // wanted = ((iv * H) ^ lengths) * H, solved for iv.
  const Block inverse_key = inverse(hash_key);
  const Block iv = multiply(add(multiply(wanted, inverse_key), length_block(128)), inverse_key);
  return Bytes(iv.begin(), iv.end());
}

}  // namespace tests::gf128
