// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every length of text, AAD and IV, against OpenSSL, and against the hashes of gcm_sweeps.json where that file is.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/messages.hpp"
#include "support/vectors.hpp"

namespace tests {
namespace {

constexpr const char* sweep_file = "gcm_sweeps.json";

// The entry of a group for a key length (and text length, where entries have one); null when there is none.
nlohmann::json entry_of(const std::optional<nlohmann::json>& file, const char* group, std::size_t key_bytes,
                        std::optional<std::size_t> text_bytes = std::nullopt) {
  if (!file) return nullptr;
  for (const nlohmann::json& entry : (*file)[group]) {
    if (entry["keybits"] == 8 * key_bytes && (!text_bytes || entry["ptlen"] == *text_bytes)) return entry;
  }
  return nullptr;
}

// Compares the tags so far with the file's hash, where the file has one for tags 0..n.
class TagHash {
 public:
  TagHash(Tally& tally, nlohmann::json entry, std::string what)
      : tally_(tally), entry_(std::move(entry)), what_(std::move(what)) {}

  // `tag` is the one that the library's was just compared with, and `n` its index.
  void add(const Block& tag, std::size_t n) {
    hash_.add(tag);
    const std::string name = std::to_string(n);
    if (entry_.is_null() || !entry_["sha256_of_tags_0_to"].contains(name)) return;
    tally_.expect(hash_.hex() == entry_["sha256_of_tags_0_to"][name], [&] {
      return fmt::format("{}: the tags 0..{} hash to something else than the file says", what_, n);
    });
  }

 private:
  Tally& tally_;
  nlohmann::json entry_;
  std::string what_;
  Sha256 hash_;
};

// C without table look-ups takes half a minute for all of them, and has no loop that a long text would be news to.
constexpr std::size_t portable_all = 4200;
constexpr std::size_t portable_step = 61;

void sweep_text(const Backend& backend, Tally& tally, std::size_t key_bytes, const nlohmann::json& entry) {
  constexpr std::size_t last = 16641;
  const Bytes key_value = counting_bytes(key_bytes);
  const Key key(backend, key_value);
  const OpenSslGcm openssl(key_value);
  const Bytes text = pattern(last);
  const Bytes iv = iv12();
  const Bytes aad = aad20();
  const std::size_t dense = backend.is_portable() ? portable_all : last;
  TagHash tags(tally, entry, fmt::format("{} aes{} text sweep", backend.name, 8 * key_bytes));
  for (std::size_t n = 0; n <= last; ++n) {
    const View message = View(text).first(n);
    const Sealed want = openssl.seal(iv, aad, message);
    if (n <= dense || n % portable_step == 0 || n == last) {
      expect_both_ways(tally, key, Header{iv, aad}, message, want);
    }
    tags.add(want.tag, n);
    if (n == last && !entry.is_null()) {
      tally.expect(sha256_hex(want.text) == entry["ct_sha256_N"],
                   [&] { return fmt::format("aes{}: ciphertext of {} bytes is not the file's", 8 * key_bytes, n); });
    }
  }
}

TEST_CASE("values: texts of every length 0..16641 are sealed and opened as OpenSSL does") {
  const auto file = read_vectors("the hashes of the text sweep", sweep_file);
  for_each_backend("text sweep", [&](const Backend& backend, Tally& tally) {
    if (backend.is_portable()) {
      tally.note(fmt::format("all lengths to {}, then only every {}st", portable_all, portable_step));
    }
    for (const std::size_t key_bytes : key_lengths) {
      sweep_text(backend, tally, key_bytes, entry_of(file, "sweep", key_bytes));
    }
  });
}

void sweep_aad(const Backend& backend, Tally& tally, std::size_t key_bytes, std::size_t text_bytes,
               const nlohmann::json& entry) {
  constexpr std::size_t last = 4097;
  const Bytes key_value = counting_bytes(key_bytes);
  const Key key(backend, key_value);
  const OpenSslGcm openssl(key_value);
  const Bytes text = pattern(text_bytes);
  const Bytes aad = pattern(last);
  const Bytes iv = iv12();
  TagHash tags(tally, entry, fmt::format("{} aes{} AAD sweep, text {}", backend.name, 8 * key_bytes, text_bytes));
  for (std::size_t n = 0; n <= last; ++n) {
    const Header header{iv, View(aad).first(n)};
    const Sealed want = openssl.seal(iv, header.aad, text);
    expect_seals(tally, key, Place::separate, header, text, want.text, want.tag);
    expect_opens(tally, key, Place::in_place, header, want.text, want.tag, text);
    tags.add(want.tag, n);
  }
}

TEST_CASE("values: AAD of every length 0..4097 with texts of 0, 33 and 300 bytes gives OpenSSL's tag") {
  const auto file = read_vectors("the hashes of the AAD sweep", sweep_file);
  for_each_backend("AAD sweep", [&](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      for (const std::size_t text_bytes : {0, 33, 300}) {
        sweep_aad(backend, tally, key_bytes, text_bytes, entry_of(file, "aadsweep", key_bytes, text_bytes));
      }
    }
  });
}

TEST_CASE("values: IVs of every length 1..300 give OpenSSL's ciphertext and tag") {
  const auto file = read_vectors("the hashes of the IV sweep", sweep_file);
  for_each_backend("IV sweep", [&](const Backend& backend, Tally& tally) {
    const Bytes ivs = pattern(300, 3);
    const Bytes text = pattern(64);
    const Bytes aad = aad20();
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      Sha256 hash;
      for (std::size_t n = 1; n <= ivs.size(); ++n) {
        const Header header{View(ivs).first(n), aad};
        const Sealed want = openssl.seal(header.iv, aad, text);
        expect_both_ways(tally, key, header, text, want);
        hash.add(want.text);
        hash.add(want.tag);
      }
      const nlohmann::json entry = entry_of(file, "ivlen", key_bytes);
      if (entry.is_null()) continue;
      tally.expect(hash.hex() == entry["sha256_ct_tag"], [&] {
        return fmt::format("{} aes{}: ciphertexts and tags of IVs 1..300 hash to something else than the file says",
                           backend.name, 8 * key_bytes);
      });
    }
  });
}

TEST_CASE("values: the counter wraps inside each loop as gcm_sweeps.json says") {
  const auto file = read_vectors("counter wrap vectors", sweep_file);
  if (!file) return;
  for_each_backend("counter wrap vectors", [&](const Backend& backend, Tally& tally) {
    const Bytes aad = aad20();
    for (const nlohmann::json& entry : (*file)["wrap"]) {
      const Bytes key_value = counting_bytes(entry["keybits"].get<std::size_t>() / 8);
      const Key key(backend, key_value);
      const Bytes iv = unhex(entry["iv"].get<std::string>());
      const Bytes text = pattern(entry["ptlen"].get<std::size_t>());
      const Header header{iv, aad};
      Bytes sealed(text.size());
      Block tag{};
      const stitchgcm_message message = message_of(header, text, sealed.data(), tag.data());
      const stitchgcm_status status = stitchgcm_seal(key.get(), &message);
      tally.expect(status == STITCHGCM_OK && sha256_hex(sealed) == entry["ct_sha256"] && hex(tag) == entry["tag"], [&] {
        return fmt::format("{}: status \"{}\", tag {}, want {}; ciphertext hashes to {}, want {}",
                           case_text(key, "seal", Place::separate, header, text.size()), stitchgcm_status_text(status),
                           hex(tag), entry["tag"].get<std::string>(), sha256_hex(sealed),
                           entry["ct_sha256"].get<std::string>());
      });
      expect_opens(tally, key, Place::separate, header, sealed, unhex(entry["tag"].get<std::string>()), text);
    }
  });
}

}  // namespace
}  // namespace tests
