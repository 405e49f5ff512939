// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "attempt.hpp"

#include <fmt/format.h>

namespace tests {
namespace {

constexpr std::uint8_t canary = 0xc5;
constexpr std::size_t tag_room = 64;  // more than any tag length that a test asks for and that might be believed

}  // namespace

Attempt::Attempt(std::uint64_t seed, View key, std::size_t text_bytes, std::size_t aad_bytes, std::size_t iv_bytes) {
  Random random(seed);
  iv_ = random.bytes(iv_bytes);
  aad_ = random.bytes(aad_bytes);
  text_ = random.bytes(text_bytes);
  sealed_ = OpenSslGcm(key).seal(iv_, aad_, text_);
  set_up(false);
}

void Attempt::set_up(bool opens) {
  in_ = opens ? sealed_.text : text_;
  out_.assign(text_.size(), canary);
  tag_.assign(tag_room, canary);
  if (opens) std::copy(sealed_.tag.begin(), sealed_.tag.end(), tag_.begin());
}

stitchgcm_message Attempt::message() { return message_of(Header{iv_, aad_}, in_, out_.data(), tag_.data()); }

void Attempt::expect_status(Tally& tally, const stitchgcm_key* key, const stitchgcm_message* message,
                            stitchgcm_status want, const std::string& what, bool opens) {
  const Bytes out_before = out_;
  const Bytes tag_before = tag_;
  const stitchgcm_status got = opens ? stitchgcm_open(key, message) : stitchgcm_seal(key, message);
  const bool untouched = equal(out_, out_before) && equal(tag_, tag_before);
  tally.expect(got == want && untouched, [&] {
    return fmt::format("{} with {}: status \"{}\", want \"{}\"; out and tag {}", opens ? "open" : "seal", what,
                       stitchgcm_status_text(got), stitchgcm_status_text(want), untouched ? "untouched" : "WRITTEN");
  });
}

}  // namespace tests
