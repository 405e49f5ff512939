// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Tags of every length, and messages that are not authentic in one bit: refused, and no byte of plaintext given.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/messages.hpp"

namespace tests {
namespace {

constexpr std::array<std::size_t, 7> tag_lengths{4, 8, 12, 13, 14, 15, 16};

struct Parts {
  Bytes iv;
  Bytes aad;
  Bytes text;
  Sealed sealed;
};

Parts parts(Random& random, const OpenSslGcm& openssl, std::size_t iv, std::size_t aad, std::size_t text) {
  Parts p{random.bytes(iv), random.bytes(aad), random.bytes(text), {}};
  p.sealed = openssl.seal(p.iv, p.aad, p.text);
  return p;
}

template <class Body>
void for_each_key(std::string_view title, const Body& body) {
  for_each_backend(title, [&](const Backend& backend, Tally& tally) {
    Random random(0x7a6);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = random.bytes(key_bytes);
      body(Key(backend, key_value), OpenSslGcm(key_value), random, tally);
    }
  });
}

void flip(Bytes& bytes, std::size_t bit) { bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8)); }

TEST_CASE("tags: a tag of n bytes is the first n of the whole one, and no byte after it is written") {
  for_each_key("tag lengths", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    for (const std::size_t text : {0, 1, 16, 33, 130, 1000}) {
      const Parts p = parts(random, openssl, 12, text % 21, text);
      for (const std::size_t tag_bytes : tag_lengths) {
        expect_both_ways(tally, key, Header{p.iv, p.aad, tag_bytes}, p.text, p.sealed);
      }
    }
  });
}

TEST_CASE("tags: a right prefix does not pass for a longer tag") {
  for_each_key("tag prefixes", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    for (const std::size_t text : {0, 40}) {
      const Parts p = parts(random, openssl, 12, 20, text);
      for (std::size_t right = 0; right < 16; ++right) {
        Bytes tag(p.sealed.tag.begin(), p.sealed.tag.end());
        for (std::size_t i = right; i < 16; ++i) tag[i] ^= 0xff;
        for (const std::size_t tag_bytes : tag_lengths) {
          const Header header{p.iv, p.aad, tag_bytes};
          if (tag_bytes > right) {
            expect_refuses(tally, key, Place::separate, header, p.sealed.text, tag, "open with a wrong end of the tag");
          } else {
            expect_opens(tally, key, Place::separate, header, p.sealed.text, tag, p.text);
          }
        }
      }
    }
  });
}

TEST_CASE("tags: each flipped bit of the tag is refused, for each length of tag") {
  for_each_key("tag bits", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    const Parts p = parts(random, openssl, 12, 20, 77);
    for (const std::size_t tag_bytes : tag_lengths) {
      for (std::size_t bit = 0; bit < 8 * tag_bytes; ++bit) {
        Bytes tag(p.sealed.tag.begin(), p.sealed.tag.end());
        flip(tag, bit);
        expect_refuses(tally, key, places[bit % 2], Header{p.iv, p.aad, tag_bytes}, p.sealed.text, tag,
                       "open with a flipped bit in the tag");
      }
    }
  });
}

TEST_CASE("tags: each flipped bit of the ciphertext is refused and leaves only zeros in the output") {
  for_each_key("ciphertext bits", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    for (const std::size_t text : {1, 16, 17, 100, 127, 128, 129, 300, 1027}) {
      const Parts p = parts(random, openssl, 12, 20, text);
      // Every bit of the short ones; of the long ones every 7th, so that all bits of a byte and all bytes are met.
      const std::size_t step = text <= 129 ? 1 : 7;
      for (std::size_t bit = 0; bit < 8 * text; bit += step) {
        Bytes sealed = p.sealed.text;
        flip(sealed, bit);
        expect_refuses(tally, key, places[bit / step % 2], Header{p.iv, p.aad}, sealed, p.sealed.tag,
                       "open with a flipped bit in the ciphertext");
      }
    }
  });
}

TEST_CASE("tags: each flipped bit of the AAD and of the IV is refused") {
  for_each_key("AAD and IV bits", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    for (const std::size_t iv_bytes : {1, 12, 16, 40}) {
      for (const std::size_t aad_bytes : {1, 16, 20, 130}) {
        const Parts p = parts(random, openssl, iv_bytes, aad_bytes, 50);
        for (std::size_t bit = 0; bit < 8 * aad_bytes; ++bit) {
          Bytes aad = p.aad;
          flip(aad, bit);
          expect_refuses(tally, key, Place::separate, Header{p.iv, aad}, p.sealed.text, p.sealed.tag,
                         "open with a flipped bit in the AAD");
        }
        for (std::size_t bit = 0; bit < 8 * iv_bytes; ++bit) {
          Bytes iv = p.iv;
          flip(iv, bit);
          expect_refuses(tally, key, Place::separate, Header{iv, p.aad}, p.sealed.text, p.sealed.tag,
                         "open with a flipped bit in the IV");
        }
      }
    }
  });
}

TEST_CASE("tags: a byte more or less of ciphertext, AAD or IV is refused") {
  for_each_key("lengths changed", [](const Key& key, const OpenSslGcm& openssl, Random& random, Tally& tally) {
    for (const std::size_t text : {1, 16, 31, 128, 200}) {
      // The last bytes are zeros: padding must not make the two messages equal.
      for (const std::size_t aad : {1, 16, 31}) {
        Parts p = parts(random, openssl, 16, aad, text);
        p.iv.back() = p.aad.back() = 0;
        p.sealed = openssl.seal(p.iv, p.aad, p.text);
        const auto refused = [&](View iv, View changed_aad, View sealed, const char* why) {
          expect_refuses(tally, key, Place::separate, Header{iv, changed_aad}, sealed, p.sealed.tag, why);
        };
        Bytes longer = p.aad;
        longer.push_back(0);
        refused(p.iv, longer, p.sealed.text, "open with a zero more of AAD");
        refused(p.iv, View(p.aad).first(aad - 1), p.sealed.text, "open with a zero less of AAD");
        longer = p.iv;
        longer.push_back(0);
        refused(longer, p.aad, p.sealed.text, "open with a zero more of IV");
        refused(View(p.iv).first(15), p.aad, p.sealed.text, "open with a zero less of IV");
        longer = p.sealed.text;
        longer.push_back(0);
        refused(p.iv, p.aad, longer, "open with a zero more of ciphertext");
        refused(p.iv, p.aad, View(p.sealed.text).first(text - 1), "open with a byte less of ciphertext");
      }
    }
  });
}

}  // namespace
}  // namespace tests
