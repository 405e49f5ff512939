// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// C2SP Wycheproof's cases for AES-GCM and for AES-GMAC (GCM of an empty text whose AAD is the message).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/messages.hpp"
#include "support/vectors.hpp"

namespace tests {
namespace {

Bytes field(const nlohmann::json& test, const char* name) {
  return test.contains(name) ? unhex(test[name].get<std::string>()) : Bytes{};
}

// The IV of length 0: SP 800-38D does not allow it, so the library must refuse it in both directions.
void expect_no_empty_iv(Tally& tally, const Key& key, const Header& header, View text, Bytes tag) {
  Bytes out(text.size());
  const stitchgcm_message message = message_of(header, text, out.data(), tag.data());
  const stitchgcm_status sealed = stitchgcm_seal(key.get(), &message);
  const stitchgcm_status opened = stitchgcm_open(key.get(), &message);
  tally.expect(sealed == STITCHGCM_ERROR_IV_BYTES && opened == STITCHGCM_ERROR_IV_BYTES, [&] {
    return fmt::format("{}: seal says \"{}\", open \"{}\"", case_text(key, "empty IV", Place::separate, header, 0),
                       stitchgcm_status_text(sealed), stitchgcm_status_text(opened));
  });
}

void run_file(const nlohmann::json& file, bool mac, const Backend& backend, Tally& tally) {
  for (const nlohmann::json& group : file["testGroups"]) {
    for (const nlohmann::json& test : group["tests"]) {
      const Key key(backend, field(test, "key"));
      const Bytes iv = field(test, "iv");
      const Bytes aad = mac ? field(test, "msg") : field(test, "aad");
      const Bytes text = mac ? Bytes{} : field(test, "msg");
      const Bytes sealed = mac ? Bytes{} : field(test, "ct");
      const Bytes tag = field(test, "tag");
      const Header header{iv, aad, tag.size()};
      Tally one("", "");
      if (iv.empty()) {
        expect_no_empty_iv(one, key, header, text, tag);
      } else if (test["result"] == "valid") {
        expect_seals(one, key, Place::separate, header, text, sealed, tag);
        expect_opens(one, key, Place::in_place, header, sealed, tag, text);
      } else {
        expect_refuses(one, key, Place::separate, header, sealed, tag, "open of an invalid case");
      }
      tally.expect(one.failed() == 0,
                   [&] { return fmt::format("tcId {}: {}", test["tcId"].get<int>(), one.first_message()); });
    }
  }
}

void run_vectors(const char* title, const char* name, bool mac) {
  const auto file = read_vectors(title, name);
  if (!file) return;
  for_each_backend(title, [&](const Backend& backend, Tally& tally) {
    run_file(*file, mac, backend, tally);
    CHECK(tally.run() == (*file)["numberOfTests"].get<std::size_t>());
  });
}

TEST_CASE("values: Wycheproof's AES-GCM cases are sealed and opened, or refused, as the file says") {
  run_vectors("Wycheproof AES-GCM", "wycheproof_aes_gcm_test.json", false);
}

TEST_CASE("values: Wycheproof's AES-GMAC cases are accepted or refused as the file says") {
  run_vectors("Wycheproof AES-GMAC", "wycheproof_aes_gmac_test.json", true);
}

}  // namespace
}  // namespace tests
