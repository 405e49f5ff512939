// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Random messages give the same bytes on every backend, which are OpenSSL's.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/messages.hpp"

namespace tests {
namespace {

constexpr std::size_t keys = 64;
constexpr std::size_t last_text = 2600;
constexpr std::size_t portable_step = 31;

// The AAD of each message: text length and key number choose it, so that all meet all.
constexpr std::array<std::size_t, 5> aad_lengths{0, 1, 16, 20, 4097};

// Mostly 12 bytes, as in protocols; one message in eight has another IV.
std::size_t iv_length(Random& random) { return random.below(8) == 0 ? 1 + random.below(128) : 12; }

void run_key(const Backend& backend, Tally& tally, std::size_t number) {
  Random random(0x5eed + number);
  const Bytes key_value = random.bytes(key_lengths[number % key_lengths.size()]);
  const Key key(backend, key_value);
  const OpenSslGcm openssl(key_value);
  const Bytes texts = random.bytes(last_text);
  const Bytes aads = random.bytes(aad_lengths.back());
  for (std::size_t n = 0; n <= last_text; ++n) {
    for (std::size_t a = 0; a < aad_lengths.size(); ++a) {
      const Bytes iv = random.bytes(iv_length(random));
      if (backend.is_portable() && (n + 5 * a + number) % portable_step != 0) continue;
      const Header header{iv, View(aads).first(aad_lengths[a])};
      const View text = View(texts).first(n);
      const Sealed want = openssl.seal(iv, header.aad, text);
      const Place seal_place = places[n % 2];
      const Place open_place = places[(n + 1) % 2];
      expect_seals(tally, key, seal_place, header, text, want.text, want.tag);
      expect_opens(tally, key, open_place, header, want.text, want.tag, text);
    }
  }
}

TEST_CASE("values: every backend gives OpenSSL's bytes for 64 random keys, texts 0..2600 and five AAD lengths") {
  for_each_backend("random messages", [](const Backend& backend, Tally& tally) {
    if (backend.is_portable()) tally.note(fmt::format("only one message in {}", portable_step));
    for (std::size_t number = 0; number < keys; ++number) run_key(backend, tally, number);
  });
}

TEST_CASE("values: a message sealed by one backend is opened by each other") {
  const std::vector<Backend> backends = runnable_backends("sealed here, opened there");
  for (const Backend& sealer : backends) {
    for (const Backend& opener : backends) {
      Tally tally("sealed here, opened there", sealer.name + " -> " + opener.name);
      Random random(0xab);
      for (const std::size_t key_bytes : key_lengths) {
        const Bytes key_value = random.bytes(key_bytes);
        const Key sealing(sealer, key_value);
        const Key opening(opener, key_value);
        for (const std::size_t bytes : {0, 1, 15, 16, 17, 127, 128, 129, 255, 256, 257, 1000, 2600}) {
          const Bytes text = random.bytes(bytes);
          const Bytes aad = random.bytes(random.below(100));
          const Bytes iv = random.bytes(1 + random.below(40));
          const Header header{iv, aad};
          Bytes sealed(bytes);
          Block tag{};
          const stitchgcm_message message = message_of(header, text, sealed.data(), tag.data());
          tally.expect(stitchgcm_seal(sealing.get(), &message) == STITCHGCM_OK,
                       [&] { return case_text(sealing, "seal", Place::separate, header, bytes); });
          expect_opens(tally, opening, Place::separate, header, sealed, tag, text);
        }
      }
      tally.report();
    }
  }
}

}  // namespace
}  // namespace tests
