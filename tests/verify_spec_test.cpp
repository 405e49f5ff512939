// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's transcription of SP 800-38D and FIPS 197, evaluated: it gives what NIST's CAVP files say.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "support/tally.hpp"
#include "support/vectors.hpp"
#include "support/verify_lanes.hpp"
#include "verify/spec/aes.hpp"
#include "verify/spec/gcm.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

/// GCM (SP 800-38D, 7.1) put together from the parts that contracts use, each a formula that is evaluated.
class EvaluatedGcm {
 public:
  explicit EvaluatedGcm(View key) {
    const Lane first = block(key.first(16)), rest = block(key.subspan(16));
    const int rounds = static_cast<int>(key.size() / 4) + 6;
    for (const Lane k : spec::aes_key_expansion(pool_, first, rest, rounds)) keys_.push_back(known(k));
    values_.hash_key = pool_.evaluate(cipher(pool_.constant(0)), values_);
  }

  struct Sealed {
    Bytes text, tag;
  };
  /// Ciphertext and whole tag of a plaintext; or, the other way, plaintext and the tag of its ciphertext.
  Sealed apply(View iv, View aad, View text, bool seals) {
    const Lane j0 = first_counter_block(iv);
    Bytes out;
    for (std::size_t at = 0; at < text.size(); at += 16) {
      const View part = text.subspan(at, std::min<std::size_t>(16, text.size() - at));
      const Lane keystream = cipher(count_from(j0, 1 + static_cast<std::int64_t>(at / 16)));
      const Lane sum = pool_.exclusive_or(block(part), keystream);
      append(out, spec::first_bytes(pool_, sum, static_cast<int>(part.size())), part.size());
    }
    const View ciphertext = seals ? View(out) : text;
    Lane y = hash(hash(pool_.constant(0), aad), ciphertext);
    y = step(y, spec::lengths_block(pool_, bits(aad), bits(ciphertext)));
    Bytes tag;
    append(tag, pool_.exclusive_or(y, cipher(j0)), 16);
    return {out, tag};
  }

 private:
  static Affine bits(View string) { return Affine(8 * static_cast<std::int64_t>(string.size())); }

  /// The formula's value as a formula.
  Lane known(Lane formula) { return pool_.constant(pool_.evaluate(formula, values_)); }
  /// Up to 16 bytes, then zeros.
  Lane block(View bytes) {
    Block whole{};
    std::copy(bytes.begin(), bytes.end(), whole.begin());
    return pool_.constant(from_bytes(whole));
  }
  void append(Bytes& to, Lane formula, std::size_t bytes) {
    const auto value = bytes_of(pool_.evaluate(formula, values_));
    to.insert(to.end(), value.begin(), value.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  Lane cipher(Lane x) { return known(spec::aes_encrypt(pool_, keys_, x)); }
  Lane step(Lane y, Lane x) { return known(spec::ghash_step(pool_, y, x)); }
  Lane hash(Lane y, View string) {
    for (std::size_t at = 0; at < string.size(); at += 16) {
      y = step(y, block(string.subspan(at, std::min<std::size_t>(16, string.size() - at))));
    }
    return y;
  }
  Lane first_counter_block(View iv) {
    if (iv.size() == 12) return known(spec::j0_of_12_bytes(pool_, block(iv)));
    return step(hash(pool_.constant(0), iv), spec::lengths_block(pool_, 0, bits(iv)));
  }
  /// The counter block that comes `blocks` after j0.
  Lane count_from(Lane j0, std::int64_t blocks) {
    const auto bytes = bytes_of(pool_.constant_value(j0));
    std::int64_t count = 0;
    for (std::size_t i = 12; i < 16; i++) count = count << 8 | bytes[i];
    return known(spec::counter_block(pool_, j0, pool_.integer((count + blocks) & 0xffffffff)));
  }

  LanePool pool_;
  Assignment values_ = random_values(1);
  std::vector<Lane> keys_;
};

/// Every so many cases: all lengths of keys, IVs, AAD and texts that the files have are among them.
constexpr std::size_t kEvery = 97;

TEST_CASE("spec: GCM as the contracts say it gives NIST CAVP's ciphertexts, plaintexts and tags") {
  Tally tally("CAVP of the verifier's specification", "formulas, evaluated");
  std::set<std::pair<std::size_t, std::size_t>> lengths;  // of keys and IVs
  for (const CavpFile& file : cavp_files()) {
    if (!std::filesystem::exists(file.path)) {
      REQUIRE_MESSAGE(environment_flag("STITCHGCM_ALLOW_MISSING_VECTORS"), file.path.string() << " is not there");
      announce(fmt::format("SKIPPED CAVP: {} is not there", file.path.string()));
      continue;
    }
    const std::vector<CavpCase> cases = read_cavp(file.path);
    for (std::size_t i = 0; i < cases.size(); i += kEvery) {
      const CavpCase& c = cases[i];
      lengths.emplace(c.key.size(), c.iv.size());
      EvaluatedGcm gcm(c.key);
      const auto [text, tag] = gcm.apply(c.iv, c.aad, file.seals ? c.text : c.sealed, file.seals);
      const bool same_tag = std::equal(c.tag.begin(), c.tag.end(), tag.begin());
      const bool same_text = text == (file.seals ? c.sealed : c.text);
      tally.expect(c.authentic ? same_tag && same_text : !same_tag, [&] {
        return fmt::format("{}: the specification gives text {} and tag {}", c.where, hex(text), hex(tag));
      });
    }
  }
  tally.report();
  CHECK_MESSAGE(lengths.size() >= 9, "the cases have too few lengths of keys and IVs: ", lengths.size());
}

}  // namespace
}  // namespace tests
