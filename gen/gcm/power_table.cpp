// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/power_table.hpp"

#include <fmt/format.h>

#include "asm/schedule.hpp"
#include "gcm/ghash.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using assembly::Timed;
using namespace Xbyak::util;
using Xbyak::Xmm;

/// Powers that are made at once, and by what H^8 multiplies all of them in the loop.
constexpr int kAtOnce = 4;

/// h := H x mod P: a shift to the left by one bit over 128, and x^128 for the bit that falls out.
Strip times_x_of_h() {
  Code c("powers");
  const Xmm h = c.r.block(0), carry = c.r.block(1), sign = c.r.block(2);
  c.reverse_bytes(h, h);
  c.cut("H, bytes reversed");
  c.vpsrad(sign, h, 31);
  c.vpshufd(sign, sign, 0xff);
  c.vpand(sign, sign, c.constant(times_x()));
  c.cut("bit 127 set? then x^128 mod P");
  c.vpsrlq(carry, h, 63);
  c.vpslldq(carry, carry, 8);
  c.vpsllq(h, h, 1);
  c.add(h, h, carry);
  c.add(h, h, sign);
  return c.strip("H x");
}

void store_power(Code& c, const Xmm& value, const Xmm& t, const PowerAt& to) {
  c.store(to.value(), value);
  c.vpshufd(t, value, 0x4e);
  c.add(t, t, value);
  c.store(to.middle(), t);
}

Strip store_first() {
  Code c("powers");
  store_power(c, c.r.block(0), c.r.block(1), power_in_context(c.r, 1));
  return c.strip("H");
}

/// One multiplication among several that run side by side, in registers of its own: to := a * b.
struct Product {
  PowerAt a, b, to;
  int set;  // registers 4 set .. 4 set + 3, 0 <= set < 4
};
Strip multiplication(const Product& p) {
  Code c(fmt::format("product {}", p.set));
  const Xmm low(4 * p.set), high(4 * p.set + 1), middle(4 * p.set + 2), t(4 * p.set + 3);
  c.load(high, p.a.value());
  c.load(middle, p.a.middle());
  c.cut("a");
  c.vpclmulqdq(low, high, p.b.value(), 0x00);
  c.vpclmulqdq(high, high, p.b.value(), 0x11);
  c.vpclmulqdq(middle, middle, p.b.middle(), 0x00);
  c.cut("a b");
  c.add(middle, middle, low);
  c.add(middle, middle, high);
  c.cut("Karatsuba: middle - low - high");
  for (const auto& [from, into] : {std::pair{low, middle}, std::pair{middle, high}}) {
    c.vpclmulqdq(t, from, c.constant(reduction()), 0x00);
    c.vpshufd(from, from, 0x4e);
    c.cut("reduce");
    c.add(into, into, from);
    c.add(into, into, t);
    c.cut("reduce");
  }
  store_power(c, high, t, p.to);
  return c.strip("store");
}

/// Independent products, stitched piece by piece.
Strip side_by_side(const std::vector<Product>& products, const std::string& name) {
  std::vector<Timed> strips;
  for (const Product& p : products) {
    strips.push_back(assembly::spread(multiplication(p), 0, assembly::kBlockTime));
  }
  return assembly::stitch(strips, pointer_cases(), name);
}

/// Relative to `power`, where H^n stands in a run of eight: H^8 first.
PowerAt in_run(const Roles& r, int n) { return {r.power, layout::kPowerBytes * (8 - n)}; }

}  // namespace

Program power_table() {
  const Roles r;
  const auto h = [&](int exponent) { return power_in_context(r, exponent); };
  const auto product = [&](int a, int b, int set) { return Product{h(a), h(b), h(a + b), set}; };

  Code begin("powers");
  begin.lea(r.power, ptr[r.context + (layout::power(8) - Roles::context_bias)]);
  begin.mov(r.scratch.cvt32(), layout::kPowerCount / 8 - 1);
  begin.cut("eight powers at a time");

  Program eight_more;
  for (int first = 8; first > 0; first -= kAtOnce) {
    std::vector<Product> products;
    for (int n = first; n > first - kAtOnce; n--) {
      PowerAt to = in_run(r, n);
      to.displacement -= 8 * layout::kPowerBytes;
      products.push_back({in_run(r, n), h(8), to, first - n});
    }
    eight_more += side_by_side(products, "powers");
  }
  Code next("powers");
  next.sub(r.power, 8 * layout::kPowerBytes);
  next.sub(r.scratch.cvt32(), 1);
  next.cut("the next eight");

  return Program(times_x_of_h(), "H x") + store_first() + Program(multiplication(product(1, 1, 0)), "H^2") +
         Program(side_by_side({product(2, 1, 0), product(2, 2, 1)}, "H^3, H^4"), "H^3, H^4") +
         Program(side_by_side({product(4, 1, 0), product(4, 2, 1), product(4, 3, 2), product(4, 4, 3)}, "H^5..H^8"),
                 "H^5..H^8") +
         Program(begin.strip()) +
         repeat("eight", Program(Strip{}, "eight more powers: * H^8") + eight_more, next.strip(), Condition::not_equal);
}

}  // namespace stitchgcm::gcm
