// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// A valid message in buffers of its own, to be spoilt by a test in one respect.
#pragma once

#include "messages.hpp"

namespace tests {

class Attempt {
 public:
  /// Random contents; for open, `in` and the tag are what OpenSSL sealed.
  Attempt(std::uint64_t seed, View key, std::size_t text_bytes, std::size_t aad_bytes = 20, std::size_t iv_bytes = 12);

  /// Whole and valid for seal and for open, whichever is set up: out is apart from in.
  stitchgcm_message message();

  /// Fills `in` and the tag for sealing or for opening, and `out` with canaries.
  void set_up(bool opens);

  /// Spoils a fresh message for seal and one for open by `spoil`, and counts one case for each: the library says
  /// `want` and writes nothing, neither to out nor to the tag. `what` says what was spoilt.
  template <class Spoil>
  void expect_refused(Tally& tally, const stitchgcm_key* key, stitchgcm_status want, const std::string& what,
                      Spoil&& spoil) {
    for (const bool opens : {false, true}) {
      set_up(opens);
      stitchgcm_message m = message();
      spoil(m);
      expect_status(tally, key, &m, want, what, opens);
    }
  }

  /// Counts one case: seal or open of `message` (which may be null) says `want` and writes nothing.
  void expect_status(Tally& tally, const stitchgcm_key* key, const stitchgcm_message* message, stitchgcm_status want,
                     const std::string& what, bool opens);

  const Bytes& text() const { return text_; }
  const Sealed& sealed() const { return sealed_; }

 private:
  Bytes iv_;
  Bytes aad_;
  Bytes text_;
  Sealed sealed_;
  Bytes in_;
  Bytes out_;
  Bytes tag_;
};

}  // namespace tests
