// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/aes.hpp"

#include <fmt/format.h>

namespace stitchgcm::gcm {

void aes_rounds(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key, int rounds) {
  for (int i = 1; i <= rounds; i++) {
    const std::string note = fmt::format("AES round {}", i);
    // One load for all states: with every key as a memory operand, the loads would be the bottleneck.
    c.load(key, c.r.round_key_at(i));
    c.cut(note);
    for (const Xbyak::Xmm& x : states) {
      if (i == rounds) {
        c.vaesenclast(x, x, key);
      } else {
        c.vaesenc(x, x, key);
      }
      c.cut(note);
    }
  }
}

void whiten(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key) {
  c.load(key, c.r.round_key_at(0));
  c.cut("round key 0");
  for (const Xbyak::Xmm& x : states) {
    c.reverse_bytes(x, x);
    c.add(x, x, key);
    c.cut("counter block ^ round key 0");
  }
}

}  // namespace stitchgcm::gcm
