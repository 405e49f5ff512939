// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's AES and GHASH on known values, against the standards' own examples and against the tests' slow field.
#include <doctest/doctest.h>

#include "support/gf128.hpp"
#include "support/verify_lanes.hpp"
#include "verify/algebra/galois.hpp"
#include "verify/spec/aes.hpp"

namespace {

using namespace stitchgcm::verify;
using tests::block_value;
using tests::hex;

/// AES by the verifier's specification, of a key and a block that are known.
std::string encrypted(std::string_view key_digits, std::string_view block_digits) {
  LanePool pool;
  const auto words = [&](std::size_t from) {
    return pool.constant(block_value(key_digits.substr(std::min(from, key_digits.size()))));
  };
  const int rounds = static_cast<int>(key_digits.size() / 8) + 6;
  const std::vector<Lane> keys = spec::aes_key_expansion(pool, words(0), words(32), rounds);
  return hex(pool.constant_value(spec::aes_encrypt(pool, keys, pool.constant(block_value(block_digits)))));
}

}  // namespace

TEST_CASE("AES of known states: the first round of FIPS 197, appendix B") {
  const Bits128 after_sub_bytes = sub_bytes(block_value("193de3bea0f4e22b9ac68d2ae9f84808"));
  CHECK(hex(after_sub_bytes) == "d42711aee0bf98f1b8b45de51e415230");
  const Bits128 after_shift_rows = shift_rows(after_sub_bytes);
  CHECK(hex(after_shift_rows) == "d4bf5d30e0b452aeb84111f11e2798e5");
  CHECK(hex(mix_columns(after_shift_rows)) == "046681e5e0cb199a48f8d37a2806264c");
}

TEST_CASE("AES in lanes: the examples of FIPS 197, appendices B and C") {
  CHECK(encrypted("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734") ==
        "3925841d02dc09fbdc118597196a0b32");
  const std::string key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  const std::string text = "00112233445566778899aabbccddeeff";
  CHECK(encrypted(key.substr(0, 32), text) == "69c4e0d86a7b0430d8cdb78070b4c55a");
  CHECK(encrypted(key.substr(0, 48), text) == "dda97ca4864cdfe06eaf70a0ec0d7191");
  CHECK(encrypted(key, text) == "8ea2b7ca516745bfeafc49904b496089");
}

TEST_CASE("GHASH's field: test case 2 of the GCM specification") {
  const Bits128 h = block_value("66e94bd4ef8a2c3b884cfa59ca342b2e");
  const Bits128 x1 = field_product(block_value("0388dace60b6a392f328c2b971b2fe78"), h);
  CHECK(hex(x1) == "5e2ec746917062882c85b0685353deb7");
  CHECK(hex(field_product(x1 ^ block_value("00000000000000000000000000000080"), h)) ==
        "f38cbb1ad69223dcc3457ae5b6b0f885");
}

TEST_CASE("GHASH's field: products and inverses are those of the slow field") {
  tests::Random random(21);
  for (int trial = 0; trial < 50; trial++) {
    const tests::Block a = random.block(), b = random.block();
    const auto product = bytes_of(field_product(from_bytes(a), from_bytes(b)));
    REQUIRE(hex(tests::View(product)) == hex(tests::View(tests::gf128::multiply(a, b))));
    REQUIRE(hex(field_product(from_bytes(a), field_inverse(from_bytes(a)))) == hex(kFieldOne));
  }
  const Bits128 any = from_bytes(random.block());
  CHECK(hex(field_product(any, kFieldOne)) == hex(any));
}

TEST_CASE("carry-less products: bit n is the parity of the pairs of bits whose places add up to n") {
  tests::Random random(22);
  for (int trial = 0; trial < 20; trial++) {
    const std::uint64_t a = random.word(), b = random.word();
    Bits128 expected = 0;
    for (int i = 0; i < 64; i++) {
      for (int j = 0; j < 64; j++) {
        if ((a >> i & b >> j & 1) != 0) expected ^= bit(i + j);
      }
    }
    REQUIRE(hex(carryless_product(a, b)) == hex(expected));
  }
}
