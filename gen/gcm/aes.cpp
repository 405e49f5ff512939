// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/aes.hpp"

#include <fmt/format.h>

namespace stitchgcm::gcm {

namespace {

void aes_round(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key, const Xbyak::Address& key_at,
               bool last, const std::string& note) {
  // One load for all states: with every key as a memory operand, the loads would be the bottleneck.
  c.load(key, key_at);
  c.cut(note);
  for (const Xbyak::Xmm& x : states) {
    if (last) {
      c.vaesenclast(x, x, key);
    } else {
      c.vaesenc(x, x, key);
    }
    c.cut(note);
  }
}

/// Rounds first..last, none of which is the final one.
assembly::Strip middle_rounds(std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key, int first, int last) {
  Code c("aes");
  for (int i = first; i <= last; i++) aes_round(c, states, key, c.r.round_key_at(i), false, fmt::format("round {}", i));
  return c.strip();
}

assembly::Strip rounds_compared_with(int n) {
  Code c("control");
  c.cmp(Xbyak::util::dword[c.r.context + (layout::kRounds - Roles::context_bias)], n);
  return c.strip("rounds");
}

}  // namespace

void aes_rounds(Code& c, std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key, int rounds) {
  for (int i = 1; i <= rounds; i++) {
    aes_round(c, states, key, c.r.round_key_at(i), i == rounds, fmt::format("AES round {}", i));
  }
}

assembly::Program aes_rounds_of_context(std::span<const Xbyak::Xmm> states, const Xbyak::Xmm& key) {
  using assembly::Condition;
  Code last("aes");
  last.mov(last.r.scratch.cvt32(), Xbyak::util::dword[last.r.context + (layout::kRounds - Roles::context_bias)]);
  last.shl(last.r.scratch.cvt32(), 4);
  last.cut("the last round key");
  aes_round(last, states, key,
            Xbyak::util::ptr[last.r.context + last.r.scratch + (layout::kRoundKeys - Roles::context_bias)], true,
            "last round");
  return assembly::Program(middle_rounds(states, key, 1, 9)) +
         when("aes192", rounds_compared_with(10), Condition::above,
              assembly::Program(middle_rounds(states, key, 10, 11)) +
                  when("aes256", rounds_compared_with(12), Condition::above, middle_rounds(states, key, 12, 13))) +
         last.strip();
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
