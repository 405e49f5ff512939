// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Sealing and opening one message by way of the public functions, with the buffers of the test.
#pragma once

#include <string>

#include "backends.hpp"
#include "openssl.hpp"
#include "stitchgcm.h"

namespace tests {

/// A key made for one backend; throws std::runtime_error when the library refuses it or says that it is of another.
class Key {
 public:
  Key(const Backend& backend, View bytes);
  const stitchgcm_key* get() const { return &key_; }
  const std::string& backend() const { return backend_; }
  std::size_t bytes() const { return bytes_; }

 private:
  stitchgcm_key key_{};
  std::string backend_;
  std::size_t bytes_;
};

/// What seal and open take besides the text.
struct Header {
  View iv;
  View aad;
  std::size_t tag_bytes = 16;
};

/// The library's message. A null pointer stands for each empty span, which the header allows.
stitchgcm_message message_of(const Header& header, View in, std::uint8_t* out, std::uint8_t* tag);

enum class Place { separate, in_place };
inline constexpr std::array<Place, 2> places{Place::separate, Place::in_place};

/// "aesni_avx aes128 seal in place: text 17, aad 20, tag 16, iv cafebabefacedbaddecaf888 (12)"
std::string case_text(const Key& key, const char* what, Place place, const Header& header, std::size_t text_bytes);

/// Seals `text` and counts one case: status OK, and ciphertext and tag are those wanted.
bool expect_seals(Tally& tally, const Key& key, Place place, const Header& header, View text, View want_text,
                  View want_tag);

/// Opens `sealed` and counts one case: status OK and the text is `want`.
bool expect_opens(Tally& tally, const Key& key, Place place, const Header& header, View sealed, View tag, View want);

/// Opens a message that is not authentic and counts one case: STITCHGCM_ERROR_TAG and zeros in the output.
bool expect_refuses(Tally& tally, const Key& key, Place place, const Header& header, View sealed, View tag,
                    const char* why);

/// Both directions, separate and in place, against what OpenSSL sealed.
void expect_both_ways(Tally& tally, const Key& key, const Header& header, View text, const Sealed& want);

}  // namespace tests
