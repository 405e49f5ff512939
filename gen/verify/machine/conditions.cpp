// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Whether a condition holds, from what the last instruction that set the flags computed.
//
// Where both operands are known numbers the flags are computed. Else conditions of equality and order are questions to
// the facts, about the operands as integers in [0, 2^bits).
#include <map>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

enum class Test { zero, carry, carry_or_zero, less, less_or_equal, sign, overflow };
struct Condition {
  Test test;
  bool negated;
};

Condition condition_of(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_JZ: return {Test::zero, false};
    case ZYDIS_MNEMONIC_JNZ: return {Test::zero, true};
    case ZYDIS_MNEMONIC_JB: return {Test::carry, false};
    case ZYDIS_MNEMONIC_JNB: return {Test::carry, true};
    case ZYDIS_MNEMONIC_JBE: return {Test::carry_or_zero, false};
    case ZYDIS_MNEMONIC_JNBE: return {Test::carry_or_zero, true};
    case ZYDIS_MNEMONIC_JL: return {Test::less, false};
    case ZYDIS_MNEMONIC_JNL: return {Test::less, true};
    case ZYDIS_MNEMONIC_JLE: return {Test::less_or_equal, false};
    case ZYDIS_MNEMONIC_JNLE: return {Test::less_or_equal, true};
    case ZYDIS_MNEMONIC_JS: return {Test::sign, false};
    case ZYDIS_MNEMONIC_JNS: return {Test::sign, true};
    case ZYDIS_MNEMONIC_JO: return {Test::overflow, false};
    case ZYDIS_MNEMONIC_JNO: return {Test::overflow, true};
    default: throw Refused("a condition that is not followed");
  }
}

/// The flags of a - b, a + b, or of a result a, each number of `bits` bits.
bool test_of_known(Test test, Flags::Kind kind, std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  a &= all;
  b &= all;
  const std::uint64_t r = (kind == Flags::Kind::difference ? a - b : kind == Flags::Kind::sum ? a + b : a) & all;
  const auto top = [bits](std::uint64_t v) { return (v >> (bits - 1) & 1) != 0; };
  bool carry = false, overflow = false;
  if (kind == Flags::Kind::difference) carry = a < b, overflow = top((a ^ b) & (a ^ r));
  if (kind == Flags::Kind::sum) carry = r < a, overflow = top((a ^ r) & (b ^ r));
  const bool zero = r == 0, sign = top(r);
  switch (test) {
    case Test::zero: return zero;
    case Test::carry: return carry;
    case Test::carry_or_zero: return carry || zero;
    case Test::less: return sign != overflow;
    case Test::less_or_equal: return sign != overflow || zero;
    case Test::sign: return sign;
    case Test::overflow: return overflow;
  }
  return false;
}

constexpr Wide kTwoTo64 = Wide{1} << 64;

/// A number as an integer in [0, 2^64): value, or value + 2^64 where value is negative.
struct Unsigned {
  Affine value;
  Range range;  // of the integer
  bool wrapped;
};

Unsigned as_unsigned(const Facts& facts, const Scalar& s, int bits) {
  if (s.is_data()) throw Refused("a branch that depends on data");
  if (!s.is_number())
    throw Refused(
        "a branch that depends on a pointer's address, or on what is "
        "not known");
  const Affine a = truncated(facts, s.value, bits);
  const Range r = facts.range(a);
  if (r.low >= 0 && r.high < kTwoTo64) return {a, r, false};
  if (r.low >= -kTwoTo64 && r.high < 0) return {a, {r.low + kTwoTo64, r.high + kTwoTo64}, true};
  // What a subtraction left may have either sign, and is looked at by sign.
  if (r.low >= INT64_MIN && r.high <= INT64_MAX) {
    if (facts.nonnegative(a)) return {a, {0, r.high}, false};
    return {a, {r.low + kTwoTo64, kTwoTo64 - 1}, true};
  }
  throw Refused("a comparison of numbers that may be negative or too large");
}

/// a - b without wrap-around.
Affine exact_difference(const Affine& a, const Affine& b) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  for (const Affine* x : {&a, &b}) {
    bool large = x->constant() >= kLarge || x->constant() < -kLarge;
    for (const Affine::Term& t : x->terms()) large = large || t.coefficient >= kLarge || t.coefficient < -kLarge;
    if (large) throw Refused("a comparison with numbers that are too large");
  }
  return a - b;
}

/// a >= b.
bool not_below(const Facts& facts, const Unsigned& a, const Unsigned& b) {
  if (a.range.low >= b.range.high) return true;
  if (a.range.high < b.range.low) return false;
  if (a.wrapped != b.wrapped) throw Refused("a comparison of numbers of which one may be negative");
  return facts.nonnegative(exact_difference(a.value, b.value));
}

bool equal_numbers(const Facts& facts, const Unsigned& a, const Unsigned& b) {
  if (a.range.low > b.range.high || a.range.high < b.range.low) return false;
  if (a.wrapped != b.wrapped) throw Refused("a comparison of numbers of which one may be negative");
  return facts.zero(exact_difference(a.value, b.value));
}

bool equal_pointers(const Memory& memory, const Facts& facts, const Scalar& a, const Scalar& b) {
  if (a.region == b.region) {
    const Affine difference = exact_difference(a.value, b.value);
    const Range r = facts.range(difference);
    if (r.low <= -kTwoTo64 || r.high >= kTwoTo64) throw Refused("a comparison of pointers too far from each other");
    return facts.zero(difference);
  }
  // Two bytes that exist, in different regions, have different addresses.
  for (const Scalar& s : {a, b}) {
    const Region& r = memory.region(s.region);
    const Affine place = facts.resolve(s.value);
    const bool inside = r.exists
                            ? place.is_constant() && r.exists(place.constant(), 1)
                            : facts.implies_nonnegative(place - r.from) && facts.implies_nonnegative(r.to - place - 1);
    if (!inside) throw Refused("a comparison of pointers into different buffers");
  }
  return false;
}

bool equal(const State& state, const Scalar& a, const Scalar& b, int bits) {
  if (a.is_pointer() && b.is_pointer()) return equal_pointers(state.memory, state.facts, a, b);
  return equal_numbers(state.facts, as_unsigned(state.facts, a, bits), as_unsigned(state.facts, b, bits));
}

/// Of a - b, by order and equality.
bool test_of_difference(Test test, const State& state) {
  const Flags& f = state.flags;
  if (test == Test::zero) return equal(state, f.a, f.b, f.bits);
  const Unsigned a = as_unsigned(state.facts, f.a, f.bits), b = as_unsigned(state.facts, f.b, f.bits);
  const auto require_positive = [&f](const Unsigned& x) {
    // Signed is as unsigned where both are below half of the numbers.
    if (x.range.high >= Wide{1} << (f.bits - 1)) throw Refused("a signed comparison of large numbers");
  };
  switch (test) {
    case Test::carry: return !not_below(state.facts, a, b);
    case Test::carry_or_zero: return not_below(state.facts, b, a);
    case Test::less:
    case Test::less_or_equal:
      require_positive(a);
      require_positive(b);
      return test == Test::less ? !not_below(state.facts, a, b) : not_below(state.facts, b, a);
    default: throw Refused("a condition on flags that are not followed");
  }
}

bool test_of_lane(const Machine& machine, Test test, const State& state) {
  if (test == Test::carry || test == Test::carry_or_zero) return true;
  if (test != Test::zero) throw Refused("a condition on flags that are not followed");
  const Lane lane = state.flags.lane;
  if (machine.pool.is_constant(lane)) return machine.pool.constant_value(lane) == 0;
  if (!machine.may_reveal_whether_zero || !machine.may_reveal_whether_zero(state, lane)) {
    throw Refused("a branch that depends on data");
  }
  if (!state.verdict) throw Reveals{lane};
  return *state.verdict;
}

bool test_holds(const Machine& machine, Test test, const State& state) {
  const Flags& f = state.flags;
  const Scalar zero = Scalar::number(0);
  const auto a = known_constant(state.facts, f.a), b = known_constant(state.facts, f.b);
  const auto of_known = [&](std::int64_t x, std::int64_t y) {
    return test_of_known(test, f.kind, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y), f.bits);
  };
  switch (f.kind) {
    case Flags::Kind::undefined: throw Refused("a condition on flags that are not known");
    case Flags::Kind::difference: return a && b ? of_known(*a, *b) : test_of_difference(test, state);
    case Flags::Kind::sum:
      if (a && b) return of_known(*a, *b);
      if (test == Test::zero && f.a.is_number() && f.b.is_number()) {
        return equal(state, Scalar::number(f.a.value + f.b.value), zero, f.bits);
      }
      break;
    case Flags::Kind::result:
      if (a) return of_known(*a, 0);
      if (test == Test::carry || test == Test::overflow) return false;
      if (test == Test::zero || test == Test::carry_or_zero) return equal(state, f.a, zero, f.bits);
      break;
    case Flags::Kind::zero:
      if (test == Test::zero) return equal(state, f.a, zero, f.bits);
      break;
    case Flags::Kind::lane_zero: return test_of_lane(machine, test, state);
  }
  throw Refused("a condition on flags that are not followed");
}

}  // namespace

std::optional<ZydisMnemonic> condition_of_other(ZydisMnemonic m) {
  static const std::map<ZydisMnemonic, ZydisMnemonic> kJump = {
      {ZYDIS_MNEMONIC_CMOVZ, ZYDIS_MNEMONIC_JZ},   {ZYDIS_MNEMONIC_CMOVNZ, ZYDIS_MNEMONIC_JNZ},
      {ZYDIS_MNEMONIC_CMOVB, ZYDIS_MNEMONIC_JB},   {ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_JNB},
      {ZYDIS_MNEMONIC_CMOVBE, ZYDIS_MNEMONIC_JBE}, {ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_JNBE},
      {ZYDIS_MNEMONIC_CMOVL, ZYDIS_MNEMONIC_JL},   {ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_JNL},
      {ZYDIS_MNEMONIC_CMOVLE, ZYDIS_MNEMONIC_JLE}, {ZYDIS_MNEMONIC_CMOVNLE, ZYDIS_MNEMONIC_JNLE},
      {ZYDIS_MNEMONIC_CMOVS, ZYDIS_MNEMONIC_JS},   {ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_JNS},
      {ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_JZ},    {ZYDIS_MNEMONIC_SETNZ, ZYDIS_MNEMONIC_JNZ},
      {ZYDIS_MNEMONIC_SETB, ZYDIS_MNEMONIC_JB},    {ZYDIS_MNEMONIC_SETNB, ZYDIS_MNEMONIC_JNB},
      {ZYDIS_MNEMONIC_SETBE, ZYDIS_MNEMONIC_JBE},  {ZYDIS_MNEMONIC_SETNBE, ZYDIS_MNEMONIC_JNBE},
      {ZYDIS_MNEMONIC_SETL, ZYDIS_MNEMONIC_JL},    {ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_JNL},
      {ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_JLE},  {ZYDIS_MNEMONIC_SETNLE, ZYDIS_MNEMONIC_JNLE},
      {ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_JS},    {ZYDIS_MNEMONIC_SETNS, ZYDIS_MNEMONIC_JNS},
  };
  const auto found = kJump.find(m);
  if (found == kJump.end()) return std::nullopt;
  return found->second;
}

bool condition_holds(const Machine& machine, ZydisMnemonic mnemonic, const State& state) {
  const Condition c = condition_of(mnemonic);
  return test_holds(machine, c.test, state) != c.negated;
}

}  // namespace stitchgcm::verify
