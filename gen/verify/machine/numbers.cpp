// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include <fmt/format.h>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

/// a = high * 2^n + low with `low` in [0, 2^n), where the facts know so much. A sum of lengths of which the multiples of
/// 2^n are taken out, and the rest stays within one multiple.
struct Split {
  Affine high, low;
};
Split split(const Facts& facts, const Affine& value, int n) {
  const Wide modulus = Wide{1} << n;
  const Affine a = facts.resolve(value);
  if (n >= 63) {
    const Range r = facts.range(a);
    if (r.low >= 0 && r.high < modulus) return {0, a};
    throw Refused("a number that may be negative or too large");
  }
  const std::int64_t m = static_cast<std::int64_t>(modulus);
  Affine high = static_cast<std::int64_t>(floor_divide(a.constant(), modulus));
  Affine low = a.constant() - high.constant() * m;
  for (const Affine::Term& t : a.terms()) {
    if (t.coefficient % m == 0) {
      high += Affine(t.variable) * (t.coefficient / m);
    } else {
      low += Affine(t.variable) * t.coefficient;
    }
  }
  const Range r = facts.range(low);
  const Wide first = floor_divide(r.low, modulus), last = floor_divide(r.high, modulus);
  if (first != last) {
    if (last - first > Facts::kFew) {
      // A whole length may stand in the way of its low bits.
      throw Refused(fmt::format("the low {} bits of a number that may have many values", n));
    }
    throw Undecided{low - static_cast<std::int64_t>((first + 1) * modulus)};
  }
  const std::int64_t multiple = static_cast<std::int64_t>(first);
  return {high + multiple, low - multiple * m};
}

}  // namespace

Affine truncated(const Facts& facts, const Affine& value, int bits) {
  if (bits >= 64) return value;
  return split(facts, value, bits).low;
}

Affine shifted_right(const Facts& facts, const Affine& value, int n) {
  const Range r = facts.range(value);
  if (r.low < 0 || r.high >= Wide{1} << 64) throw Refused("a shift of a number that may be negative or too large");
  return split(facts, value, n).high;
}

Lane as_lane(LanePool& pool, const Facts& facts, const Scalar& s) {
  switch (s.kind) {
    case Scalar::Kind::lane: return s.lane;
    case Scalar::Kind::number:
      return pool.integer(facts.resolve(s.value).is_constant() ? facts.resolve(s.value) : s.value);
    case Scalar::Kind::pointer: throw Refused("a pointer used as data");
    case Scalar::Kind::unknown: break;
  }
  throw Refused("a register is read that may hold one thing or another");
}

Scalar normal(LanePool& pool, Lane lane) {
  if (!pool.is_constant(lane)) return Scalar::data(lane);
  return Scalar::number(static_cast<std::int64_t>(low_half(pool.constant_value(lane))));
}

Lane map64(LanePool& pool, const std::string& name, Lane a, const std::function<std::uint64_t(std::uint64_t)>& f) {
  return pool.apply(pool.linear(name, [&f](Bits128 v) { return Bits128{f(low_half(v))}; }), a);
}

}  // namespace stitchgcm::verify
