// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Whether a condition holds, from what the last instruction that set the flags computed.
#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

enum class Test { zero, carry, carry_or_zero, less, less_or_equal, sign };
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
    default: throw Refused("a condition that is not followed");
  }
}

/// The number as an integer in [0, 2^bits).
Affine as_unsigned(const Facts& facts, const Scalar& s, int bits) {
  if (s.is_data()) throw Refused("a branch that depends on data");
  if (!s.is_number()) throw Refused("a branch that depends on a pointer's address, or on what is not known");
  if (bits < 64) return truncated(facts, s.value, bits);
  const Range r = facts.range(s.value);
  if (r.low >= 0 && r.high < Wide{1} << 64) return s.value;
  const Affine a = facts.resolve(s.value);
  if (a.is_constant()) return a;  // handled below, as a constant
  if (r.low >= INT64_MIN && r.high <= INT64_MAX) throw Undecided{a};
  throw Refused("a comparison of numbers that may be negative or too large");
}

/// a >= b as integers in [0, 2^bits), constants above 2^63 included.
bool not_below(const Facts& facts, const Scalar& a, const Scalar& b, int bits) {
  const Affine x = as_unsigned(facts, a, bits), y = as_unsigned(facts, b, bits);
  if (x.is_constant() && y.is_constant()) {
    return static_cast<std::uint64_t>(x.constant()) >= static_cast<std::uint64_t>(y.constant());
  }
  // A constant from 2^63 on is more than any length.
  if (y.is_constant() && y.constant() < 0) return false;
  if (x.is_constant() && x.constant() < 0) return true;
  return facts.nonnegative(x - y);
}

bool equal(const Memory& memory, const Facts& facts, const Scalar& a, const Scalar& b, int bits) {
  if (a.is_pointer() && b.is_pointer()) {
    if (a.region == b.region) return facts.zero(a.value - b.value);
    // Two bytes that exist, in different regions, have different addresses.
    for (const Scalar& s : {a, b}) {
      const Region& r = memory.region(s.region);
      const bool inside =
          r.exists ? facts.resolve(s.value).is_constant() && r.exists(facts.resolve(s.value).constant(), 1)
                   : facts.implies_nonnegative(s.value - r.from) && facts.implies_nonnegative(r.to - s.value - 1);
      if (!inside) throw Refused("a comparison of pointers into different buffers");
    }
    return false;
  }
  const Affine x = as_unsigned(facts, a, bits), y = as_unsigned(facts, b, bits);
  if (x.is_constant() && y.is_constant()) return x.constant() == y.constant();
  if ((x.is_constant() && x.constant() < 0) || (y.is_constant() && y.constant() < 0)) return false;
  return facts.zero(x - y);
}

bool test_holds(const Machine& machine, Test test, const State& state) {
  const Flags& f = state.flags;
  const Facts& facts = state.facts;
  const Scalar zero = Scalar::number(0);
  switch (f.kind) {
    case Flags::Kind::undefined: throw Refused("a condition on flags that are not known");
    case Flags::Kind::difference:
      if (test == Test::zero) return equal(state.memory, facts, f.a, f.b, f.bits);
      if (test == Test::carry) return !not_below(facts, f.a, f.b, f.bits);
      if (test == Test::carry_or_zero) return not_below(facts, f.b, f.a, f.bits);
      if (test == Test::less || test == Test::less_or_equal) {
        // Signed is as unsigned where both are below half of the numbers.
        for (const Scalar* s : {&f.a, &f.b}) {
          const Affine a = as_unsigned(facts, *s, f.bits);
          const Range r = facts.range(a);
          if (r.low < 0 || r.high >= Wide{1} << (f.bits - 1)) throw Refused("a signed comparison of large numbers");
        }
        return test == Test::less ? !not_below(facts, f.a, f.b, f.bits) : not_below(facts, f.b, f.a, f.bits);
      }
      break;
    case Flags::Kind::sum:
      if (test == Test::zero && f.a.is_number() && f.b.is_number()) {
        return equal(state.memory, facts, Scalar::number(truncated(facts, f.a.value + f.b.value, f.bits)), zero,
                     f.bits);
      }
      break;
    case Flags::Kind::result:
    case Flags::Kind::zero:
      if (test == Test::zero) return equal(state.memory, facts, f.a, zero, f.bits);
      if (f.kind == Flags::Kind::zero) break;
      if (test == Test::carry) return false;
      if (test == Test::carry_or_zero) return equal(state.memory, facts, f.a, zero, f.bits);
      break;
    case Flags::Kind::lane_zero: {
      if (test == Test::carry) return true;
      if (test != Test::zero) break;
      LanePool& pool = machine.pool;
      if (pool.is_constant(f.lane)) return pool.constant_value(f.lane) == 0;
      if (!machine.may_reveal_whether_zero || !machine.may_reveal_whether_zero(state, f.lane)) {
        throw Refused("a branch that depends on data");
      }
      if (!state.verdict) throw Reveals{f.lane};
      return *state.verdict;
    }
  }
  throw Refused("a condition on flags that are not followed");
}

}  // namespace

bool condition_holds(const Machine& machine, ZydisMnemonic mnemonic, const State& state) {
  const Condition c = condition_of(mnemonic);
  return test_holds(machine, c.test, state) != c.negated;
}

}  // namespace stitchgcm::verify
