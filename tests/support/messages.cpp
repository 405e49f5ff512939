// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tests {
namespace {

constexpr std::uint8_t canary = 0xc5;
constexpr std::size_t canaries = 32;

std::uint8_t* pointer_or_null(Bytes& bytes, std::size_t used) { return used == 0 ? nullptr : bytes.data(); }

bool intact(View canary_bytes) {
  return std::all_of(canary_bytes.begin(), canary_bytes.end(), [](std::uint8_t byte) { return byte == canary; });
}

// Text and tag after a call, with canaries behind each.
struct Buffers {
  Bytes in;
  Bytes out;
  Bytes tag;

  Buffers(Place place, View text, View tag_bytes)
      : in(text.begin(), text.end()), out(place == Place::in_place ? in : Bytes(text.size(), canary)) {
    out.resize(text.size() + canaries, canary);
    tag.assign(tag_bytes.begin(), tag_bytes.end());
    tag.resize(tag_bytes.size() + canaries, canary);
  }

  View source(Place place, std::size_t bytes) const {
    return place == Place::in_place ? View(out).first(bytes) : View(in).first(bytes);
  }
};

}  // namespace

Key::Key(const Backend& backend, View bytes) : backend_(backend.name), bytes_(bytes.size()) {
  const stitchgcm_status status = stitchgcm_key_init_for(&key_, backend.name.c_str(), bytes.data(), bytes.size());
  if (status != STITCHGCM_OK) {
    throw std::runtime_error(
        fmt::format("{}: key of {} bytes refused: {}", backend.name, bytes.size(), stitchgcm_status_text(status)));
  }
  const char* made_for = stitchgcm_key_backend(&key_);
  if (made_for == nullptr || made_for != backend.name) {
    throw std::runtime_error(fmt::format("a key made for {} says {}", backend.name, made_for ? made_for : "null"));
  }
}

stitchgcm_message message_of(const Header& header, View in, std::uint8_t* out, std::uint8_t* tag) {
  stitchgcm_message message{};
  message.iv = header.iv.empty() ? nullptr : header.iv.data();
  message.iv_bytes = header.iv.size();
  message.aad = header.aad.empty() ? nullptr : header.aad.data();
  message.aad_bytes = header.aad.size();
  message.in = in.empty() ? nullptr : in.data();
  message.out = out;
  message.bytes = in.size();
  message.tag = tag;
  message.tag_bytes = header.tag_bytes;
  return message;
}

std::string case_text(const Key& key, const char* what, Place place, const Header& header, std::size_t text_bytes) {
  constexpr std::size_t most_iv_bytes = 32;
  const View shown = header.iv.first(std::min(header.iv.size(), most_iv_bytes));
  return fmt::format("{} aes{} {} {}: text {}, aad {}, tag {}, iv {}{} ({})", key.backend(), 8 * key.bytes(), what,
                     place == Place::in_place ? "in place" : "to another buffer", text_bytes, header.aad.size(),
                     header.tag_bytes, hex(shown), shown.size() < header.iv.size() ? ".." : "", header.iv.size());
}

bool expect_seals(Tally& tally, const Key& key, Place place, const Header& header, View text, View want_text,
                  View want_tag) {
  Buffers b(place, text, Bytes(header.tag_bytes, canary));
  const stitchgcm_message message =
      message_of(header, b.source(place, text.size()), pointer_or_null(b.out, text.size()), b.tag.data());
  const stitchgcm_status status = stitchgcm_seal(key.get(), &message);
  const View out = View(b.out).first(text.size());
  const View tag = View(b.tag).first(header.tag_bytes);
  want_tag = want_tag.first(header.tag_bytes);
  const bool canaries_intact =
      intact(View(b.out).subspan(text.size())) && intact(View(b.tag).subspan(header.tag_bytes));
  const bool right = status == STITCHGCM_OK && equal(out, want_text) && equal(tag, want_tag) && canaries_intact;
  return tally.expect(right, [&] {
    return fmt::format("{}: status \"{}\"; ciphertext differs {}; tag differs {}; bytes behind out and tag {}",
                       case_text(key, "seal", place, header, text.size()), stitchgcm_status_text(status),
                       difference_text(out, want_text), difference_text(tag, want_tag),
                       canaries_intact ? "intact" : "OVERWRITTEN");
  });
}

namespace {

bool expect_open_result(Tally& tally, const Key& key, Place place, const Header& header, View sealed, View tag,
                        View want, stitchgcm_status want_status, const char* what) {
  Buffers b(place, sealed, tag.first(header.tag_bytes));
  const stitchgcm_message message =
      message_of(header, b.source(place, sealed.size()), pointer_or_null(b.out, sealed.size()), b.tag.data());
  const stitchgcm_status status = stitchgcm_open(key.get(), &message);
  const View out = View(b.out).first(sealed.size());
  const bool canaries_intact = intact(View(b.out).subspan(sealed.size()));
  const bool right = status == want_status && equal(out, want) && canaries_intact;
  return tally.expect(right, [&] {
    return fmt::format("{}: status \"{}\", want \"{}\"; plaintext differs {}; bytes behind out {}",
                       case_text(key, what, place, header, sealed.size()), stitchgcm_status_text(status),
                       stitchgcm_status_text(want_status), difference_text(out, want),
                       canaries_intact ? "intact" : "OVERWRITTEN");
  });
}

}  // namespace

bool expect_opens(Tally& tally, const Key& key, Place place, const Header& header, View sealed, View tag, View want) {
  return expect_open_result(tally, key, place, header, sealed, tag, want, STITCHGCM_OK, "open");
}

bool expect_refuses(Tally& tally, const Key& key, Place place, const Header& header, View sealed, View tag,
                    const char* why) {
  const Bytes zeros(sealed.size());
  return expect_open_result(tally, key, place, header, sealed, tag, zeros, STITCHGCM_ERROR_TAG, why);
}

void expect_both_ways(Tally& tally, const Key& key, const Header& header, View text, const Sealed& want) {
  for (const Place place : places) {
    expect_seals(tally, key, place, header, text, want.text, want.tag);
    expect_opens(tally, key, place, header, want.text, want.tag, text);
  }
}

}  // namespace tests
