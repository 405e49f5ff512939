// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// A key is const while it is used, keeps nothing of a message, holds no pointer, and is gone once it is cleared.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/messages.hpp"

namespace tests {
namespace {

View bytes_of(const stitchgcm_key* key) { return {reinterpret_cast<const std::uint8_t*>(key), sizeof *key}; }

// Messages with the IV, AAD and text lengths that take different ways through a routine.
struct Example {
  Bytes iv;
  Bytes aad;
  Bytes text;
};

std::vector<Example> examples(Random& random) {
  std::vector<Example> list;
  for (const std::size_t iv_bytes : {12, 16, 12, 1, 60}) {
    for (const std::size_t text_bytes : {0, 1, 100, 128, 300, 1031}) {
      list.push_back({random.bytes(iv_bytes), random.bytes(random.below(50)), random.bytes(text_bytes)});
    }
  }
  return list;
}

TEST_CASE("contexts: one key seals and opens message after message, and no call changes it") {
  for_each_backend("key reuse", [](const Backend& backend, Tally& tally) {
    Random random(0x8a);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      const View key_memory = bytes_of(key.get());
      const Bytes fresh(key_memory.begin(), key_memory.end());
      const std::vector<Example> list = examples(random);
      // Each pair of neighbours in both orders: what one message leaves behind would show in the next.
      for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        for (const std::size_t j : {i, i + 1, i}) {
          const Example& e = list[j];
          expect_both_ways(tally, key, Header{e.iv, e.aad}, e.text, openssl.seal(e.iv, e.aad, e.text));
        }
        const Bytes wrong_tag(16, 0x5a);
        expect_refuses(tally, key, Place::separate, Header{list[i].iv, {}}, list[i].text, wrong_tag, "open, forged");
      }
      tally.expect_equal(key_memory, fresh, "the key after all messages",
                         [&] { return fmt::format("{} aes{}", backend.name, 8 * key_bytes); });
    }
  });
}

TEST_CASE("contexts: a key copied to another address works after the original is cleared and freed") {
  for_each_backend("copied keys", [](const Backend& backend, Tally& tally) {
    Random random(0x8b);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      const OpenSslGcm openssl(key_value);
      const Bytes text = random.bytes(300);
      const Bytes iv = random.bytes(12);
      const Sealed want = openssl.seal(iv, {}, text);
      // Every address that the structure's alignment allows, modulo a cache line.
      for (std::size_t offset = 0; offset < 64; offset += alignof(stitchgcm_key)) {
        Bytes memory(sizeof(stitchgcm_key) + 128);
        const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
        std::uint8_t* const place = memory.data() + (64 - misalignment) + offset;
        {
          auto original = std::make_unique<stitchgcm_key>();
          REQUIRE(stitchgcm_key_init_for(original.get(), backend.name.c_str(), key_value.data(), key_bytes) ==
                  STITCHGCM_OK);
          std::memcpy(place, original.get(), sizeof(stitchgcm_key));
          stitchgcm_key_clear(original.get());
        }
        const auto* copy = reinterpret_cast<const stitchgcm_key*>(place);
        Bytes sealed(text.size());
        Block tag{};
        const stitchgcm_message message = message_of(Header{iv, {}}, text, sealed.data(), tag.data());
        const stitchgcm_status status = stitchgcm_seal(copy, &message);
        tally.expect(status == STITCHGCM_OK && equal(sealed, want.text) && equal(tag, want.tag), [&] {
          return fmt::format("{} aes{}, copy at 64 * n + {}: status \"{}\", ciphertext differs {}, tag differs {}",
                             backend.name, 8 * key_bytes, offset, stitchgcm_status_text(status),
                             difference_text(sealed, want.text), difference_text(tag, want.tag));
        });
      }
    }
  });
}

TEST_CASE("contexts: a key is made the same whatever its memory held before") {
  for_each_backend("key memory", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      stitchgcm_key from_zeros;
      stitchgcm_key from_ones;
      std::memset(&from_zeros, 0x00, sizeof from_zeros);
      std::memset(&from_ones, 0xff, sizeof from_ones);
      REQUIRE(stitchgcm_key_init_for(&from_zeros, backend.name.c_str(), key_value.data(), key_bytes) == STITCHGCM_OK);
      REQUIRE(stitchgcm_key_init_for(&from_ones, backend.name.c_str(), key_value.data(), key_bytes) == STITCHGCM_OK);
      tally.expect_equal(bytes_of(&from_ones), bytes_of(&from_zeros), "the key",
                         [&] { return fmt::format("{} aes{}", backend.name, 8 * key_bytes); });
    }
  });
}

void expect_no_key(Tally& tally, const stitchgcm_key& key, const std::string& what) {
  const Bytes iv = iv12();
  Bytes text = pattern(40);
  const Bytes before = text;
  Block tag{};
  const stitchgcm_message message = message_of(Header{iv, {}}, text, text.data(), tag.data());
  const stitchgcm_status sealed = stitchgcm_seal(&key, &message);
  const stitchgcm_status opened = stitchgcm_open(&key, &message);
  const bool untouched = equal(text, before) && equal(tag, Block{});
  tally.expect(sealed == STITCHGCM_ERROR_KEY && opened == STITCHGCM_ERROR_KEY && untouched &&
                   stitchgcm_key_backend(&key) == nullptr,
               [&] {
                 return fmt::format("{}: seal says \"{}\", open \"{}\", output {}", what, stitchgcm_status_text(sealed),
                                    stitchgcm_status_text(opened), untouched ? "untouched" : "WRITTEN");
               });
}

TEST_CASE("contexts: a key that is cleared holds only zeros and is refused like one that was never set") {
  for_each_backend("cleared keys", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      stitchgcm_key key;
      std::memset(&key, 0, sizeof key);
      expect_no_key(tally, key, "a key of zeros");
      const Bytes key_value = counting_bytes(key_bytes, 1);
      REQUIRE(stitchgcm_key_init_for(&key, backend.name.c_str(), key_value.data(), key_bytes) == STITCHGCM_OK);
      stitchgcm_key_clear(&key);
      const View memory = bytes_of(&key);
      tally.expect(std::all_of(memory.begin(), memory.end(), [](std::uint8_t b) { return b == 0; }),
                   [&] { return fmt::format("{} aes{}: bytes are left after clear", backend.name, 8 * key_bytes); });
      expect_no_key(tally, key, fmt::format("{} aes{} cleared", backend.name, 8 * key_bytes));
    }
    stitchgcm_key_clear(nullptr);
  });
}

}  // namespace
}  // namespace tests
