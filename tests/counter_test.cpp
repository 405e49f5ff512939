// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The counter's last 32 bits count modulo 2^32 and carry through every byte (SP 800-38D, 6.2): wherever in a wide loop
// that happens, and never into the bytes before them. A 16-byte IV is solved for each J0 wanted.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/gf128.hpp"
#include "support/messages.hpp"

namespace tests {
namespace {

Block counter_block(const Block& start, std::uint32_t low) {
  Block block = start;
  for (std::size_t i = 0; i < 4; ++i) block[12 + i] = static_cast<std::uint8_t>(low >> (24 - 8 * i));
  return block;
}

void run_from(const Block& j0, const Key& key, const OpenSslGcm& openssl, Tally& tally, View text) {
  const Bytes iv = gf128::iv_for_j0(openssl.hash_key(), j0);
  expect_both_ways(tally, key, Header{iv, {}}, text, openssl.seal(iv, {}, text));
}

// Twelve bytes of ones: a carry out of the counter changes all of them.
Block ones_before() {
  Block block{};
  block.fill(0xff);
  return block;
}

TEST_CASE("counter: a wrap k blocks after J0 is right for every k of 0..170") {
  for_each_backend("counter wrap", [](const Backend& backend, Tally& tally) {
    Random random(0xc0);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      const Bytes text = random.bytes(2600);
      for (std::uint32_t k = 0; k <= 170; ++k) {
        run_from(counter_block(k % 2 == 0 ? ones_before() : random.block(), 0u - k), key, openssl, tally, text);
      }
    }
  });
}

TEST_CASE("counter: carries between its bytes are right for texts of every loop") {
  for_each_backend("counter carry", [](const Backend& backend, Tally& tally) {
    Random random(0xc1);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      for (const std::uint32_t low : {0xfeu, 0xfffcu, 0xfffeu, 0xfffffau, 0xfffffeu, 0x7ffffffdu, 0xffffff00u}) {
        for (const std::size_t bytes : {1, 16, 33, 100, 128, 129, 256, 300, 1000, 2600, 4200}) {
          const Bytes text = random.bytes(bytes);
          run_from(counter_block(ones_before(), low), key, openssl, tally, text);
          run_from(counter_block(random.block(), low), key, openssl, tally, text);
        }
      }
    }
  });
}

TEST_CASE("counter: texts of more than 255 and of more than 65535 blocks are right with a 12-byte IV") {
  for_each_backend("counter of long texts", [](const Backend& backend, Tally& tally) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    Random random(0xc2);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      for (const std::size_t bytes : {std::size_t{4064}, std::size_t{4080}, std::size_t{4081}, std::size_t{4096},
                                      std::size_t{4113}, std::size_t{5000}, mebibyte + 4096 + 17}) {
        const Bytes text = random.bytes(bytes);
        const Bytes iv = random.bytes(12);
        expect_both_ways(tally, key, Header{iv, {}}, text, openssl.seal(iv, {}, text));
      }
    }
  });
}

}  // namespace
}  // namespace tests
