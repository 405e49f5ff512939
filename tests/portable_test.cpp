// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The portable backend against the examples that the standards print, and its parts against their definitions. That all
// backends agree with it, and that its routines keep their contracts, is tested where all backends are.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "portable_aes.h"
#include "portable_ghash.h"
#include "portable_sbox.h"
#include "support/gf128.hpp"
#include "support/messages.hpp"

namespace tests {
namespace {

const stitchgcm_routines& portable_routines(std::size_t key_bytes) { return portable_backend().routines(key_bytes); }

stitchgcm_context portable_context(View key) {
  stitchgcm_context context{};
  context.rounds = static_cast<std::uint32_t>(key.size() / 4 + 6);
  context.backend = static_cast<std::uint32_t>(portable_backend().index);
  context.form = 1;
  portable_routines(key.size()).init(&context, key.data());
  return context;
}

// a * b in GF(2)[x] / (x^8 + x^4 + x^3 + x + 1), bit by bit.
unsigned multiply_bytes(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a <<= 1;
    if ((a & 0x100) != 0) a ^= 0x11b;
  }
  return product;
}

// FIPS 197, section 5.1.1, as it is written there: a^-1 = a^254, then b_i ^ b_i+4 ^ b_i+5 ^ b_i+6 ^ b_i+7 ^ 63_i.
unsigned substituted(unsigned a) {
  unsigned inverse = 1;
  for (int i = 0; i < 254; ++i) inverse = multiply_bytes(inverse, a);
  unsigned result = 0x63;
  for (unsigned i = 0; i < 8; ++i) {
    for (const unsigned j : {0u, 4u, 5u, 6u, 7u}) result ^= (inverse >> ((i + j) % 8) & 1) << i;
  }
  return result;
}

TEST_CASE("portable: the S-box as logic is FIPS 197's for all 256 bytes, wherever they stand in a word") {
  for (unsigned first = 0; first < 256; ++first) {
    std::array<std::uint64_t, 8> bit{};
    const auto byte_at = [&](unsigned place) { return (first + 5 * place) % 256; };
    for (unsigned place = 0; place < 64; ++place) {
      for (unsigned b = 0; b < 8; ++b) bit[b] |= static_cast<std::uint64_t>(byte_at(place) >> b & 1) << place;
    }
    stitchgcm_portable_sub_bytes(bit.data());
    for (unsigned place = 0; place < 64; ++place) {
      unsigned got = 0;
      for (unsigned b = 0; b < 8; ++b) got |= static_cast<unsigned>(bit[b] >> place & 1) << b;
      REQUIRE_MESSAGE(got == substituted(byte_at(place)),
                      fmt::format("S-box of {:02x} at place {}: got {:02x}, want {:02x}", byte_at(place), place, got,
                                  substituted(byte_at(place))));
    }
  }
}

TEST_CASE("portable: key schedules end as FIPS 197, appendix A, prints them") {
  struct Example {
    const char* key;
    const char* last_round_key;
  };
  for (const Example& example : {
           Example{"2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"},
           Example{"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "e98ba06f448c773c8ecc720401002202"},
           Example{"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                   "fe4890d1e6188d0b046df344706c631e"},
       }) {
    const stitchgcm_context context = portable_context(unhex(example.key));
    CHECK_MESSAGE(hex(context.round_key[context.rounds]) == example.last_round_key,
                  "last round key of " << example.key);
  }
}

TEST_CASE("portable: AES gives the ciphertexts of FIPS 197, appendix C") {
  struct Example {
    std::size_t key_bytes;
    const char* ciphertext;
  };
  const Bytes plaintext = unhex("00112233445566778899aabbccddeeff");
  for (const Example& example : {
           Example{16, "69c4e0d86a7b0430d8cdb78070b4c55a"},
           Example{24, "dda97ca4864cdfe06eaf70a0ec0d7191"},
           Example{32, "8ea2b7ca516745bfeafc49904b496089"},
       }) {
    // One block of keystream over zeros is AES of the counter block.
    const stitchgcm_context context = portable_context(counting_bytes(example.key_bytes));
    Block counter = block_of(plaintext);
    Block block{};
    portable_routines(example.key_bytes).ctr32(&context, block.data(), block.data(), 1, counter.data());
    CHECK_MESSAGE(hex(block) == example.ciphertext, "AES-" << 8 * example.key_bytes);
  }
}

TEST_CASE("portable: each of the four blocks of a batch is encrypted as if it were alone") {
  Random random(0x41);
  const stitchgcm_context context = portable_context(random.bytes(32));
  stitchgcm_portable_keys keys;
  stitchgcm_portable_aes_slice_keys(&keys, &context, context.rounds);
  const Bytes together = random.bytes(STITCHGCM_PORTABLE_BATCH_BYTES);
  Bytes encrypted(together.size());
  stitchgcm_portable_aes_encrypt(&keys, together.data(), encrypted.data());
  for (std::size_t n = 0; n < STITCHGCM_PORTABLE_BLOCKS; ++n) {
    Bytes alone(together.size());
    std::copy_n(together.begin() + static_cast<std::ptrdiff_t>(16 * n), 16, alone.begin());
    stitchgcm_portable_aes_encrypt(&keys, alone.data(), alone.data());
    CHECK_MESSAGE(equal(View(alone).first(16), View(encrypted).subspan(16 * n, 16)), "block " << n << " of the batch");
  }
}

// Hash keys that no test reaches by way of AES: the neutral and the zero element, single coefficients, all of them.
std::vector<Block> telling_elements() {
  std::vector<Block> elements(1);
  for (unsigned bit = 0; bit < 128; ++bit) {
    elements.emplace_back();
    elements.back()[bit / 8] = static_cast<std::uint8_t>(0x80 >> bit % 8);
  }
  for (const unsigned byte : {0xffu, 0xaau, 0x55u, 0x11u, 0x88u}) {
    elements.emplace_back();
    elements.back().fill(static_cast<std::uint8_t>(byte));
  }
  return elements;
}

stitchgcm_context context_of_hash_key(const Block& hash_key) {
  stitchgcm_context context{};
  std::copy(hash_key.begin(), hash_key.end(), context.hash_key);
  stitchgcm_portable_ghash_powers(&context);
  return context;
}

TEST_CASE(
    "portable: GHASH of one block is the product bit by bit, for factors of one, of half and of all coefficients") {
  for (const Block& hash_key : telling_elements()) {
    const stitchgcm_context context = context_of_hash_key(hash_key);
    for (const Block& factor : telling_elements()) {
      Block got{};
      stitchgcm_portable_ghash(&context, got.data(), factor.data(), factor.size());
      REQUIRE_MESSAGE(hex(got) == hex(gf128::multiply(factor, hash_key)), hex(factor) << " * " << hex(hash_key));
    }
  }
}

TEST_CASE("portable: the stored powers are H^k / x with its bytes reversed, and the xor of their halves") {
  // In the bit order of SP 800-38D, the factor x of the mirrored order is a division.
  const Block one_over_x = gf128::inverse(gf128::x());
  Random random(0x42);
  std::vector<Block> hash_keys = telling_elements();
  for (int i = 0; i < 20; ++i) hash_keys.push_back(random.block());
  for (const Block& hash_key : hash_keys) {
    const stitchgcm_context context = context_of_hash_key(hash_key);
    Block want = one_over_x;
    for (unsigned k = 1; k <= STITCHGCM_POWERS; ++k) {
      const auto& power = context.power[STITCHGCM_POWERS - k];
      const auto& middle = context.middle[STITCHGCM_POWERS - k];
      want = gf128::multiply(want, hash_key);
      Block reversed = want;
      std::reverse(reversed.begin(), reversed.end());
      REQUIRE_MESSAGE(hex(power) == hex(reversed), "value of H^" << k << ", H = " << hex(hash_key));
      for (std::size_t i = 0; i < 16; ++i) {
        const unsigned both_halves = power[i % 8] ^ power[i % 8 + 8];
        REQUIRE_MESSAGE(middle[i] == both_halves, "byte " << i << " of middle of H^" << k << ", H = " << hex(hash_key));
      }
    }
  }
}

struct GcmExample {
  int number;
  std::string key, iv, aad, text, ciphertext, tag;
};

// D. McGrew and J. Viega, The Galois/Counter Mode of Operation (GCM), submission to NIST, appendix B.
std::vector<GcmExample> gcm_examples() {
  const std::string zero_key(64, '0');
  const std::string zero_iv(24, '0');
  const std::string zero_block(32, '0');
  const std::string key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
  const std::string iv_96 = "cafebabefacedbaddecaf888";
  const std::string iv_64 = "cafebabefacedbad";
  const std::string iv_480 =
      "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b5254"
      "16aedbf5a0de6a57a637b39b";
  const std::string aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
  const std::string text =
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
      "b16aedf5aa0de657ba637b391aafd255";
  return {
      {1, zero_key.substr(0, 32), zero_iv, "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
      {2, zero_key.substr(0, 32), zero_iv, "", zero_block, "0388dace60b6a392f328c2b971b2fe78",
       "ab6e47d42cec13bdf53a67b21257bddf"},
      {3, key.substr(0, 32), iv_96, "", text,
       "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
       "1ba30b396a0aac973d58e091473f5985",
       "4d5c2af327cd64a62cf35abd2ba6fab4"},
      {4, key.substr(0, 32), iv_96, aad, text.substr(0, 120),
       "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
       "1ba30b396a0aac973d58e091",
       "5bc94fbc3221a5db94fae95ae7121a47"},
      {5, key.substr(0, 32), iv_64, aad, text.substr(0, 120),
       "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42"
       "4989b5e1ebac0f07c23f4598",
       "3612d2e79e3b0785561be14aaca2fccb"},
      {6, key.substr(0, 32), iv_480, aad, text.substr(0, 120),
       "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6f"
       "d62875d2aca417034c34aee5",
       "619cc5aefffe0bfa462af43c1699d050"},
      {7, zero_key.substr(0, 48), zero_iv, "", "", "", "cd33b28ac773f74ba00ed1f312572435"},
      {8, zero_key.substr(0, 48), zero_iv, "", zero_block, "98e7247c07f0fe411c267e4384b0f600",
       "2ff58d80033927ab8ef4d4587514f0fb"},
      {9, key.substr(0, 48), iv_96, "", text,
       "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f47"
       "18e2448b2fe324d9ccda2710acade256",
       "9924a7c8587336bfb118024db8674a14"},
      {10, key.substr(0, 48), iv_96, aad, text.substr(0, 120),
       "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f47"
       "18e2448b2fe324d9ccda2710",
       "2519498e80f1478f37ba55bd6d27618c"},
      {11, key.substr(0, 48), iv_64, aad, text.substr(0, 120),
       "0f10f599ae14a154ed24b36e25324db8c566632ef2bbb34f8347280fc4507057fddc29df9a471f75c66541d4d4dad1c9"
       "e93a19a58e8b473fa0f062f7",
       "65dcc57fcf623a24094fcca40d3533f8"},
      {12, key.substr(0, 48), iv_480, aad, text.substr(0, 120),
       "d27e88681ce3243c4830165a8fdcf9ff1de9a1d8e6b447ef6ef7b79828666e4581e79012af34ddd9e2f037589b292db3"
       "e67c036745fa22e7e9b7373b",
       "dcf566ff291c25bbb8568fc3d376a6d9"},
      {13, zero_key.substr(0, 64), zero_iv, "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
      {14, zero_key.substr(0, 64), zero_iv, "", zero_block, "cea7403d4d606b6e074ec5d3baf39d18",
       "d0d1c8a799996bf0265b98b5d48ab919"},
      {15, key.substr(0, 64), iv_96, "", text,
       "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
       "c5f61e6393ba7a0abcc9f662898015ad",
       "b094dac5d93471bdec1a502270e3cc6c"},
      {16, key.substr(0, 64), iv_96, aad, text.substr(0, 120),
       "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
       "c5f61e6393ba7a0abcc9f662",
       "76fc6ece0f4e1768cddf8853bb2d551b"},
      {17, key.substr(0, 64), iv_64, aad, text.substr(0, 120),
       "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f78"
       "62ac430e64abe499f47c9b1f",
       "3a337dbf46a792c45e454913fe2ea8f2"},
      {18, key.substr(0, 64), iv_480, aad, text.substr(0, 120),
       "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf40fc0c3b780f244452da3ebf1c5d82cde"
       "a2418997200ef82e44ae7e3f",
       "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"},
  };
}

TEST_CASE("portable: seal and open give the 18 examples of the GCM specification") {
  for (const GcmExample& example : gcm_examples()) {
    const Key key(portable_backend(), unhex(example.key));
    const Bytes iv = unhex(example.iv);
    const Bytes aad = unhex(example.aad);
    const Bytes text = unhex(example.text);
    const Sealed want{unhex(example.ciphertext), block_of(unhex(example.tag))};
    Tally tally(fmt::format("GCM specification, test case {}", example.number), key.backend());
    expect_both_ways(tally, key, Header{iv, aad}, text, want);
    CHECK_MESSAGE(tally.failed() == 0, "test case " << example.number << ": " << tally.first_message());
  }
}

}  // namespace
}  // namespace tests
