// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Arguments that are wrong: one status each, and nothing written. The limits themselves are in limits_test.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "support/attempt.hpp"

namespace tests {
namespace {

template <class Body>
void for_each_key(std::string_view title, const Body& body) {
  for_each_backend(title, [&](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes, 3);
      body(Key(backend, key_value), key_value, tally);
    }
  });
}

// A successful call, so that the hit counter shows which backend a test was about although all else was refused.
void expect_valid(Tally& tally, const Key& key, View key_value) {
  Random random(1);
  const Bytes iv = random.bytes(12);
  const Bytes text = random.bytes(40);
  expect_both_ways(tally, key, Header{iv, {}}, text, OpenSslGcm(key_value).seal(iv, {}, text));
}

TEST_CASE("misuse: tag lengths other than 4, 8 and 12..16 are refused") {
  for_each_key("tag lengths refused", [](const Key& key, const Bytes& key_value, Tally& tally) {
    expect_valid(tally, key, key_value);
    for (const std::size_t text_bytes : {0, 1, 33, 200}) {
      Attempt attempt(9, key_value, text_bytes);
      for (const std::size_t tag_bytes : {0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 17, 32, 255, 256 + 16}) {
        attempt.expect_refused(tally, key.get(), STITCHGCM_ERROR_TAG_BYTES, fmt::format("a tag of {} bytes", tag_bytes),
                               [&](stitchgcm_message& m) { m.tag_bytes = tag_bytes; });
      }
      // Lengths whose low 32 bits would be right.
      for (const std::uint64_t high : {std::uint64_t{1} << 32, std::uint64_t{1} << 63}) {
        attempt.expect_refused(tally, key.get(), STITCHGCM_ERROR_TAG_BYTES, fmt::format("a tag of {} bytes", high + 16),
                               [&](stitchgcm_message& m) { m.tag_bytes = static_cast<std::size_t>(high + 16); });
      }
    }
  });
}

TEST_CASE("misuse: key lengths other than 16, 24 and 32 are refused and leave the key's memory alone") {
  for (const Backend& backend : runnable_backends("key lengths")) {
    Tally tally("key lengths refused", backend.name);
    const Bytes bytes = counting_bytes(64);
    for (std::size_t n = 0; n <= bytes.size(); ++n) {
      if (n == 16 || n == 24 || n == 32) continue;
      stitchgcm_key key;
      std::memset(&key, 0xc5, sizeof key);
      stitchgcm_key before = key;
      const stitchgcm_status for_backend = stitchgcm_key_init_for(&key, backend.name.c_str(), bytes.data(), n);
      const stitchgcm_status for_selected = stitchgcm_key_init(&key, bytes.data(), n);
      tally.expect(for_backend == STITCHGCM_ERROR_KEY_BYTES && for_selected == STITCHGCM_ERROR_KEY_BYTES &&
                       std::memcmp(&key, &before, sizeof key) == 0,
                   [&] {
                     return fmt::format("{}: key of {} bytes: \"{}\" and \"{}\"", backend.name, n,
                                        stitchgcm_status_text(for_backend), stitchgcm_status_text(for_selected));
                   });
    }
    tally.report();
  }
}

TEST_CASE("misuse: a backend that does not exist is refused and leaves the key's memory alone") {
  const Bytes bytes = counting_bytes(32);
  stitchgcm_key key;
  std::memset(&key, 0xc5, sizeof key);
  const stitchgcm_key before = key;
  for (const char* name : {"", "aesn", "portable ", "PORTABLE", "no such backend"}) {
    CAPTURE(name);
    CHECK(stitchgcm_key_init_for(&key, name, bytes.data(), bytes.size()) == STITCHGCM_ERROR_BACKEND);
    CHECK(std::memcmp(&key, &before, sizeof key) == 0);
  }
}

TEST_CASE("misuse: null pointers for the key, its bytes or its backend are refused") {
  const Bytes bytes = counting_bytes(16);
  stitchgcm_key key;
  std::memset(&key, 0xc5, sizeof key);
  const stitchgcm_key before = key;
  CHECK(stitchgcm_key_init(nullptr, bytes.data(), 16) == STITCHGCM_ERROR_NULL);
  CHECK(stitchgcm_key_init(&key, nullptr, 16) == STITCHGCM_ERROR_NULL);
  CHECK(stitchgcm_key_init_for(nullptr, "portable", bytes.data(), 16) == STITCHGCM_ERROR_NULL);
  CHECK(stitchgcm_key_init_for(&key, "portable", nullptr, 16) == STITCHGCM_ERROR_NULL);
  CHECK(stitchgcm_key_init_for(&key, nullptr, bytes.data(), 16) == STITCHGCM_ERROR_NULL);
  CHECK(std::memcmp(&key, &before, sizeof key) == 0);
}

TEST_CASE("misuse: a null pointer whose length is not 0 is refused, and so is a null key or message") {
  for_each_key("null pointers", [](const Key& key, const Bytes& key_value, Tally& tally) {
    expect_valid(tally, key, key_value);
    Attempt attempt(11, key_value, 50);
    const auto refused = [&](const char* what, auto spoil) {
      attempt.expect_refused(tally, key.get(), STITCHGCM_ERROR_NULL, fmt::format("a null {}", what), spoil);
    };
    refused("iv", [](stitchgcm_message& m) { m.iv = nullptr; });
    refused("aad", [](stitchgcm_message& m) { m.aad = nullptr; });
    refused("in", [](stitchgcm_message& m) { m.in = nullptr; });
    refused("out", [](stitchgcm_message& m) { m.out = nullptr; });
    refused("tag", [](stitchgcm_message& m) { m.tag = nullptr; });
    for (const bool opens : {false, true}) {
      attempt.set_up(opens);
      const stitchgcm_message message = attempt.message();
      attempt.expect_status(tally, nullptr, &message, STITCHGCM_ERROR_NULL, "a null key", opens);
      attempt.expect_status(tally, key.get(), nullptr, STITCHGCM_ERROR_NULL, "a null message", opens);
    }
  });
}

TEST_CASE("misuse: null is fine wherever the length is 0") {
  for_each_key("null with length 0", [](const Key& key, const Bytes& key_value, Tally& tally) {
    const OpenSslGcm openssl(key_value);
    Random random(12);
    const Bytes iv = random.bytes(12);
    const Bytes some = random.bytes(33);
    // message_of() passes a null pointer for each that is empty, and expect_seals() for an empty output.
    for (const View aad : {View{}, View(some)}) {
      for (const View text : {View{}, View(some)}) {
        expect_both_ways(tally, key, Header{iv, aad}, text, openssl.seal(iv, aad, text));
      }
    }
  });
}

TEST_CASE("misuse: an IV of length 0 is refused, with a pointer and with null") {
  for_each_key("empty IV", [](const Key& key, const Bytes& key_value, Tally& tally) {
    expect_valid(tally, key, key_value);
    for (const std::size_t text_bytes : {0, 40}) {
      Attempt attempt(13, key_value, text_bytes);
      attempt.expect_refused(tally, key.get(), STITCHGCM_ERROR_IV_BYTES, "an IV of 0 bytes",
                             [](stitchgcm_message& m) { m.iv_bytes = 0; });
      attempt.expect_refused(tally, key.get(), STITCHGCM_ERROR_IV_BYTES, "a null IV of 0 bytes",
                             [](stitchgcm_message& m) {
                               m.iv = nullptr;
                               m.iv_bytes = 0;
                             });
    }
  });
}

TEST_CASE("misuse: a key whose public fields make no sense is refused") {
  for_each_key("damaged keys", [](const Key& key, const Bytes& key_value, Tally& tally) {
    expect_valid(tally, key, key_value);
    Attempt attempt(14, key_value, 40);
    const auto refused = [&](const std::string& what, auto spoil) {
      stitchgcm_key damaged = *key.get();
      spoil(damaged.context);
      attempt.expect_refused(tally, &damaged, STITCHGCM_ERROR_KEY, what, [](stitchgcm_message&) {});
    };
    for (const std::uint32_t rounds : {0u, 1u, 9u, 11u, 13u, 15u, 16u, 0xffffffffu}) {
      refused(fmt::format("a key of {} rounds", rounds), [&](stitchgcm_context& c) { c.rounds = rounds; });
    }
    for (const std::size_t backend : {stitchgcm_backends_count, std::size_t{1000}, std::size_t{0xffffffff}}) {
      refused(fmt::format("a key of backend {}", backend),
              [&](stitchgcm_context& c) { c.backend = static_cast<std::uint32_t>(backend); });
    }
    refused("a key of form 0", [](stitchgcm_context& c) { c.form = 0; });
    refused("a key of form 2", [](stitchgcm_context& c) { c.form = 2; });
  });
}

TEST_CASE("misuse: every status has a sentence of its own, and numbers that are none have one too") {
  std::vector<std::string> sentences;
  for (int status = STITCHGCM_OK; status <= STITCHGCM_ERROR_BACKEND; ++status) {
    const char* text = stitchgcm_status_text(static_cast<stitchgcm_status>(status));
    REQUIRE(text != nullptr);
    CHECK(std::strlen(text) > 0);
    for (const std::string& other : sentences) CHECK(other != text);
    sentences.emplace_back(text);
  }
  // The first number after the last status, which the enumeration's type can hold.
  CHECK(stitchgcm_status_text(static_cast<stitchgcm_status>(STITCHGCM_ERROR_BACKEND + 1)) != nullptr);
}

}  // namespace
}  // namespace tests
