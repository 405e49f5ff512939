// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// All cases of NIST's CAVP files for AES-GCM: tags of 4, 8 and 12..16 bytes, IVs of 1..128 bytes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/messages.hpp"
#include "support/vectors.hpp"

namespace tests {
namespace {

void run_case(const Backend& backend, Tally& tally, const CavpFile& file, const CavpCase& c) {
  const Key key(backend, c.key);
  const Header header{c.iv, c.aad, c.tag.size()};
  Tally one("", "");
  if (file.seals) {
    expect_seals(one, key, Place::separate, header, c.text, c.sealed, c.tag);
  } else if (c.authentic) {
    expect_opens(one, key, Place::separate, header, c.sealed, c.tag, c.text);
  } else {
    expect_refuses(one, key, Place::separate, header, c.sealed, c.tag, "open of a FAIL case");
  }
  tally.expect(one.failed() == 0, [&] { return c.where + ": " + one.first_message(); });
}

TEST_CASE("values: every NIST CAVP case gives the file's ciphertext and tag, plaintext, or FAIL") {
  constexpr std::size_t cases_of_all_six_files = 47250;
  std::vector<std::pair<CavpFile, std::vector<CavpCase>>> files;
  std::size_t cases = 0;
  for (const CavpFile& file : cavp_files()) {
    if (!std::filesystem::exists(file.path)) {
      REQUIRE_MESSAGE(
          environment_flag("STITCHGCM_ALLOW_MISSING_VECTORS"),
          file.path.string() << " is not there: install python3-cryptography-vectors, or set STITCHGCM_CAVP "
                                "to the folder, or STITCHGCM_ALLOW_MISSING_VECTORS=1 to go without");
      announce(fmt::format("SKIPPED CAVP: {} is not there", file.path.string()));
      continue;
    }
    files.emplace_back(file, read_cavp(file.path));
    cases += files.back().second.size();
  }
  if (files.empty()) return;
  if (files.size() == cavp_files().size()) CHECK(cases == cases_of_all_six_files);
  for_each_backend("CAVP", [&](const Backend& backend, Tally& tally) {
    for (const auto& [file, list] : files) {
      for (const CavpCase& c : list) run_case(backend, tally, file, c);
    }
  });
}

}  // namespace
}  // namespace tests
