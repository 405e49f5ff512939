// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/ghash.hpp"

namespace stitchgcm::gcm {

PowerAt power_in_context(const Roles& r, int exponent) {
  return {r.context, layout::power(exponent) - Roles::context_bias};
}

void multiply_and_add(Code& c, const PowerAt& h, int multiply_group) {
  const auto& [x, m, t] = c.r.product;
  int multiplied = 0;
  const auto count = [&] {
    if (++multiplied % multiply_group == 0) c.cut("multiply");
  };
  // x is needed twice, so its first product goes to the third register and the second replaces it.
  c.vpclmulqdq(t, x, h.value(), 0x00), count();
  c.vpclmulqdq(x, x, h.value(), 0x11), count();
  c.vpclmulqdq(m, m, h.middle(), 0x00), count();
  c.add(c.r.low, c.r.low, t), c.cut("sum");
  c.add(c.r.high, c.r.high, x), c.cut("sum");
  c.add(c.r.middle, c.r.middle, m), c.cut("sum");
}

void multiply_block_and_add(Code& c, const PowerAt& h) {
  const auto& [x, m, t] = c.r.product;
  c.vpshufd(m, x, 0x4e), c.cut("halves exchanged");
  c.add(m, m, x), c.cut("low ^ high");
  multiply_and_add(c, h);
}

void reduce(Code& c) {
  const auto& [t, u, unused] = c.r.product;
  const auto fold = [&c, &t = t, &u = u](const Xbyak::Xmm& from, const Xbyak::Xmm& into, const char* note) {
    c.vpclmulqdq(t, from, c.constant(reduction()), 0x00), c.cut(note);
    c.vpshufd(u, from, 0x4e), c.cut(note);
    c.add(into, into, t), c.cut(note);
    c.add(into, into, u), c.cut(note);
  };
  c.add(c.r.middle, c.r.middle, c.r.low), c.cut("Karatsuba: middle - low - high");
  c.add(c.r.middle, c.r.middle, c.r.high), c.cut("Karatsuba: middle - low - high");
  // middle stands at 2^64: its low half belongs to low's high half, its high half to high's low half. The folds work on
  // (low's low half -> middle), then (middle's low half -> high), so the halves never have to be moved there.
  fold(c.r.low, c.r.middle, "fold the lowest 64 bits");
  fold(c.r.middle, c.r.high, "fold the next 64 bits");
}

void clear_sums(Code& c) {
  c.clear(c.r.low), c.clear(c.r.high), c.clear(c.r.middle);
  c.cut("no products yet");
}

void multiply(Code& c, const Xbyak::Xmm& x, const PowerAt& h) {
  const auto& [t, m, u] = c.r.product;
  c.vpshufd(m, x, 0x4e);
  c.add(m, m, x);
  c.vpclmulqdq(c.r.low, x, h.value(), 0x00);
  c.vpclmulqdq(c.r.high, x, h.value(), 0x11);
  c.vpclmulqdq(c.r.middle, m, h.middle(), 0x00);
  c.cut("multiply");
  reduce(c);
}

}  // namespace stitchgcm::gcm
