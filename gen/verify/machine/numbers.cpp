// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Public numbers where they lose bits, and the way between numbers and data.
//
// A number is an expression in lengths, modulo 2^64. Its low n bits, or what is left of it without them, are
// expressions too if the number can be written as 2^n high + low with 0 <= low < 2^n for all lengths that the facts
// allow: terms that are multiples of 2^n go into `high`, and the rest must stay within one multiple of 2^n. If it spans
// a few of them, the path is split.
#include <fmt/format.h>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

struct Split {
  Affine high, low;
};

/// 0 <= n < 64. The equation holds for the expression's value as an integer, before it is taken modulo 2^64.
Split split(const Facts& facts, const Affine& value, int n) {
  const Wide modulus = Wide{1} << n;
  const Affine a = facts.resolve(value);
  if (n == 63) {
    const Range r = facts.range(a);
    if (r.low >= 0 && r.high < modulus) return {0, a};
    throw Refused("the low 63 bits of a number that may be larger, or negative");
  }
  const auto m = static_cast<std::int64_t>(modulus);
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
  if (r.low < INT64_MIN || r.high > INT64_MAX) throw Refused("bits of a number that may be too large");
  Wide first = floor_divide(r.low, modulus);
  const Wide last = floor_divide(r.high, modulus);
  if (last - first > Facts::kFew) {
    throw Refused(fmt::format("the low {} bits of a number that may have many values", n));
  }
  if (last * modulus > INT64_MAX) throw Refused("bits of a number that may be too large");
  // The facts may say more than the range.
  while (first != last && facts.nonnegative(low - static_cast<std::int64_t>((first + 1) * modulus))) first++;
  const auto multiple = static_cast<std::int64_t>(first);
  return {high + multiple, low - multiple * m};
}

}  // namespace

Affine truncated(const Facts& facts, const Affine& value, int bits) {
  if (bits >= 64) return value;
  if (value.is_constant()) return value.constant() & ((std::int64_t{1} << bits) - 1);
  return split(facts, value, bits).low;
}

Affine shifted_right(const Facts& facts, const Affine& value, int n) {
  if (n == 0) return value;
  const Affine a = facts.resolve(value);
  if (a.is_constant()) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant()) >> n);
  const Range r = facts.range(a);
  if (r.low < 0 || r.high >= Wide{1} << 64) {
    throw Refused("a shift to the right of a number that may be negative or too large");
  }
  return split(facts, a, n).high;
}

std::optional<std::int64_t> known_constant(const Facts& facts, const Scalar& s) {
  if (!s.is_number()) return std::nullopt;
  const Affine a = facts.resolve(s.value);
  if (!a.is_constant()) return std::nullopt;
  return a.constant();
}

Lane as_lane(LanePool& pool, const Facts& facts, const Scalar& s) {
  switch (s.kind) {
    case Scalar::Kind::lane: return s.lane;
    case Scalar::Kind::number: {
      const Affine known = facts.resolve(s.value);
      return pool.integer(known.is_constant() ? known : s.value);
    }
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
