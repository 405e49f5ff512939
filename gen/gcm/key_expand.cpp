// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/key_expand.hpp"

#include <fmt/format.h>

namespace stitchgcm::gcm {
namespace {

using namespace Xbyak::util;
using Xbyak::Xmm;

/// SubWord by way of AESENCLAST: with one word in all four columns ShiftRows moves nothing, so that
/// AESENCLAST(w w w w, k) = SubWord(w) in every word, ^ k. AESKEYGENASSIST does the same more slowly on most CPUs.
void sub_word(Code& c, const Xmm& to, const Xmm& from, const Constant& pattern, const Xbyak::Operand& round_constant) {
  c.vpshufb(to, from, c.constant(pattern));
  c.vaesenclast(to, to, round_constant);
}

/// Words w0 w1 w2 w3 := w0, w0 ^ w1, w0 ^ w1 ^ w2, w0 ^ w1 ^ w2 ^ w3.
void running_sum(Code& c, const Xmm& x, const Xmm& t) {
  c.vpslldq(t, x, 4);
  c.add(x, x, t);
  c.vpslldq(t, x, 8);
  c.add(x, x, t);
}

/// The state that becomes H goes one round on with each round key as it is made.
class HashKey {
 public:
  HashKey(Code& c, int rounds) : c_(c), rounds_(rounds) {}

  void round(const Xmm& key) {
    const Xmm h = c_.r.block(0);
    if (next_ == 0) {
      c_.move(h, key);
    } else if (next_ == rounds_) {
      c_.vaesenclast(h, h, key);
    } else {
      c_.vaesenc(h, h, key);
    }
    next_++;
  }

 private:
  Code& c_;
  int rounds_;
  int next_ = 0;
};

Xbyak::Address round_constant(Code& c, int i) { return c.constant(round_constants(), layout::kBlockBytes * (i - 1)); }

void aes128(Code& c, const Xbyak::Reg64& key) {
  const Xmm k = c.r.block(1), t = c.r.block(2), w = c.r.block(3);
  HashKey h(c, rounds(KeyLength::aes128));
  c.load(k, ptr[key]);
  c.store(c.r.round_key_at(0), k);
  h.round(k);
  c.cut("round key 0");
  for (int i = 1; i <= 10; i++) {
    sub_word(c, w, k, rotate_word3(), round_constant(c, i));
    running_sum(c, k, t);
    c.add(k, k, w);
    c.store(c.r.round_key_at(i), k);
    h.round(k);
    c.cut(fmt::format("round key {}", i));
  }
}

/// Six words a step: four in k, two in the low half of l. Round keys straddle them, so H's rounds read them back.
void aes192(Code& c, const Xbyak::Reg64& key) {
  const Xmm k = c.r.block(1), l = c.r.block(2), t = c.r.block(3), w = c.r.block(4);
  const auto words = [&](int first) { return c.r.context_at(layout::kRoundKeys + 4 * first); };
  c.load(k, ptr[key]);
  c.vmovq(l, ptr[key + 16]);
  c.store(words(0), k);
  c.vmovq(words(4), l);
  c.cut("words 0..5");
  for (int i = 1; i <= 8; i++) {
    sub_word(c, w, l, rotate_word1(), round_constant(c, i));
    running_sum(c, k, t);
    c.add(k, k, w);
    c.store(words(6 * i), k);
    if (i < 8) {
      c.vpslldq(t, l, 4);
      c.add(l, l, t);
      c.vpshufd(t, k, 0xff);
      c.add(l, l, t);
      c.vmovq(words(6 * i + 4), l);
    }
    c.cut(fmt::format("words {}..{}", 6 * i, i < 8 ? 6 * i + 5 : 6 * i + 3));
  }
  HashKey h(c, rounds(KeyLength::aes192));
  for (int i = 0; i <= 12; i++) {
    c.load(k, c.r.round_key_at(i));
    h.round(k);
    c.cut(fmt::format("H: round {}", i));
  }
}

void aes256(Code& c, const Xbyak::Reg64& key) {
  const Xmm even = c.r.block(1), odd = c.r.block(2), t = c.r.block(3), w = c.r.block(4), zero = c.r.block(5);
  HashKey h(c, rounds(KeyLength::aes256));
  c.load(even, ptr[key]);
  c.load(odd, ptr[key + 16]);
  c.store(c.r.round_key_at(0), even);
  c.store(c.r.round_key_at(1), odd);
  c.clear(zero);
  h.round(even);
  h.round(odd);
  c.cut("round keys 0 and 1");
  for (int i = 2; i <= 14; i++) {
    const Xmm k = i % 2 == 0 ? even : odd;
    if (i % 2 == 0) {
      sub_word(c, w, odd, rotate_word3(), round_constant(c, i / 2));
    } else {
      sub_word(c, w, even, repeat_word3(), zero);
    }
    running_sum(c, k, t);
    c.add(k, k, w);
    c.store(c.r.round_key_at(i), k);
    h.round(k);
    c.cut(fmt::format("round key {}", i));
  }
}

}  // namespace

assembly::Strip key_expand(KeyLength k, const Xbyak::Reg64& key) {
  Code c("key schedule");
  switch (k) {
    case KeyLength::aes128: aes128(c, key); break;
    case KeyLength::aes192: aes192(c, key); break;
    case KeyLength::aes256: aes256(c, key); break;
  }
  c.store(c.r.context_at(layout::kHashKey), c.r.block(0));
  c.cut("H = AES(key, 0)");
  c.mov(dword[c.r.context + (layout::kRounds - Roles::context_bias)], rounds(k));
  return c.strip("rounds");
}

}  // namespace stitchgcm::gcm
