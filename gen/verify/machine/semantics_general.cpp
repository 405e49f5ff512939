// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Integer instructions.
//
// Public numbers are computed as expressions in the lengths; data as lanes. Which of the two a value is never changes by
// itself: only what is constant, or made of public numbers alone, is public.
#include <fmt/format.h>

#include <map>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

Flags result_flags(const Scalar& value, int bits) { return {Flags::Kind::result, value, {}, bits, {}}; }

/// Writes the result, then the flags; the address, if there is one, is computed while the registers are as they were.
void finish(const Execution& e, const Operand& to, const Scalar& value, const Flags& flags) {
  write_scalar(e, to, value);
  e.state.flags = flags;
}

Scalar sum(const Execution& e, const Scalar& a, const Scalar& b, int bits, int sign) {
  if (a.is_number() && b.is_number()) return Scalar::number(truncated(e.facts(), a.value + b.value * sign, bits));
  if (bits == 64 && a.is_pointer() && b.is_number()) return Scalar::pointer(a.region, a.value + b.value * sign);
  if (bits == 64 && a.is_number() && b.is_pointer() && sign > 0) return Scalar::pointer(b.region, a.value + b.value);
  if (bits == 64 && a.is_pointer() && b.is_pointer() && a.region == b.region && sign < 0) {
    return Scalar::number(a.value - b.value);
  }
  throw Refused("a sum or difference of data, or of pointers that have nothing to do with each other");
}

void mov(const Execution& e) {
  Scalar value = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  if (value.is_number() && bits == 32) value = Scalar::number(truncated(e.facts(), value.value, 32));
  write_scalar(e, e.operand(0), value);
}

void movzx(const Execution& e) { write_scalar(e, e.operand(0), read_scalar(e, e.operand(1))); }

void lea(const Execution& e) {
  const MemoryOperand& m = e.operand(1).memory;
  if (m.absolute) {
    write_scalar(e, e.operand(0), Scalar::pointer(e.state.constants, static_cast<std::int64_t>(*m.absolute)));
    return;
  }
  Scalar value = Scalar::number(m.displacement);
  const auto add = [&](const std::optional<int>& n, int scale) {
    if (!n) return;
    const Scalar& s = e.state.general[static_cast<std::size_t>(*n)];
    Scalar scaled = s;
    if (s.is_number()) {
      scaled.value = s.value * scale;
    } else if (scale != 1) {
      throw Refused("a multiple of data or of a pointer");
    }
    value = sum(e, value, scaled, 64, 1);
  };
  add(m.base, 1);
  add(m.index, m.scale);
  if (bits_of(e.operand(0)) == 32 && value.is_number()) value.value = truncated(e.facts(), value.value, 32);
  write_scalar(e, e.operand(0), value);
}

template <int sign>
void add_or_sub(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  const Flags flags{sign > 0 ? Flags::Kind::sum : Flags::Kind::difference, a, b, bits, {}};
  finish(e, e.operand(0), sum(e, a, b, bits, sign), flags);
}

void cmp(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0));
  Scalar b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  if (b.is_number()) b.value = truncated(e.facts(), b.value, bits);
  e.state.flags = {Flags::Kind::difference, a, b, bits, {}};
}

void test(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  if (!(a == b)) throw Refused("a test of two different values");
  e.state.flags = result_flags(a, bits_of(e.operand(0)));
}

/// a & b of public numbers: one of them must be 2^n - 1 or -2^n.
Scalar number_and(const Execution& e, const Affine& a, const Affine& b, int bits) {
  const Affine x = e.facts().resolve(a), y = e.facts().resolve(b);
  if (x.is_constant() && y.is_constant()) return Scalar::number(x.constant() & y.constant());
  const Affine& value = y.is_constant() ? a : b;
  const Affine& mask = y.is_constant() ? y : x;
  if (!mask.is_constant()) throw Refused("AND of two lengths");
  const auto m = static_cast<std::uint64_t>(truncated(e.facts(), mask, bits).constant());
  if ((m & (m + 1)) == 0) return Scalar::number(truncated(e.facts(), value, std::popcount(m)));
  const std::uint64_t low = ~m & (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
  if ((low & (low + 1)) == 0) return Scalar::number(value - truncated(e.facts(), value, std::popcount(low)));
  throw Refused("AND of a length with a mask that is neither 2^n - 1 nor -2^n");
}

void and_(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  Scalar value;
  if (a.is_number() && b.is_number()) {
    value = number_and(e, a.value, b.value, bits);
  } else {
    value = normal(e.pool(), e.pool().bitwise_and(as_lane(e.pool(), e.facts(), a), as_lane(e.pool(), e.facts(), b)));
  }
  finish(e, e.operand(0), value, result_flags(value, bits));
}

void or_(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  if (!a.is_number() || !b.is_number()) {
    const Lane both = e.pool().bitwise_or(as_lane(e.pool(), e.facts(), a), as_lane(e.pool(), e.facts(), b));
    const Scalar value = normal(e.pool(), both);
    finish(e, e.operand(0), value, result_flags(value, bits));
    return;
  }
  const Affine x = e.facts().resolve(a.value), y = e.facts().resolve(b.value);
  if (x.is_constant() && y.is_constant()) {
    const Scalar value = Scalar::number(x.constant() | y.constant());
    finish(e, e.operand(0), value, result_flags(value, bits));
  } else if (e.facts().zero(a.value)) {
    finish(e, e.operand(0), b, result_flags(b, bits));
  } else if (e.facts().zero(b.value)) {
    finish(e, e.operand(0), a, result_flags(a, bits));
  } else {
    // Neither is 0, so the result is not: that is all that is known.
    finish(e, e.operand(0), Scalar::unknown(), {Flags::Kind::zero, Scalar::number(1), {}, bits, {}});
  }
}

void xor_(const Execution& e) {
  const Operand &to = e.operand(0), &from = e.operand(1);
  const int bits = bits_of(to);
  const bool same =
      to.kind == Operand::Kind::reg && from.kind == Operand::Kind::reg && to.reg.number == from.reg.number;
  if (same) {
    // 0, whatever it was.
    finish(e, to, Scalar::number(0), result_flags(Scalar::number(0), bits));
    return;
  }
  const Scalar a = read_scalar(e, to), b = read_scalar(e, from);
  const Scalar value =
      normal(e.pool(), e.pool().exclusive_or(as_lane(e.pool(), e.facts(), a), as_lane(e.pool(), e.facts(), b)));
  finish(e, to, value, result_flags(value, bits));
}

void neg(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0));
  const int bits = bits_of(e.operand(0));
  if (!a.is_number()) throw Refused("the negative of data or of a pointer");
  const Flags flags{Flags::Kind::difference, Scalar::number(0), a, bits, {}};
  finish(e, e.operand(0), Scalar::number(truncated(e.facts(), a.value * -1, bits)), flags);
}

template <int sign>
void inc_or_dec(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0));
  const int bits = bits_of(e.operand(0));
  const Scalar value = sum(e, a, Scalar::number(1), bits, sign);
  // CF stays what it was, which is not followed; ZF is that of the result.
  finish(e, e.operand(0), value, {Flags::Kind::zero, value, {}, bits, {}});
}

/// The count of a shift, as the CPU takes it.
int count_of(const Execution& e, const Operand& o, int bits) {
  const Scalar s = read_scalar(e, o);
  if (!s.is_number()) throw Refused("a shift by data");
  return static_cast<int>(e.facts().constant(truncated(e.facts(), s.value, bits == 64 ? 6 : 5), "a shift count"));
}

enum class Shift { left, right };

template <Shift direction>
void shift(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const int n = count_of(e, e.operand(1), bits);
  const Scalar a = read_scalar(e, e.operand(0));
  Scalar value;
  if (a.is_number()) {
    if (direction == Shift::left) {
      const Affine multiple = n == 63 ? a.value * INT64_MIN : a.value * (std::int64_t{1} << n);
      value = Scalar::number(truncated(e.facts(), multiple, bits));
    } else {
      value = Scalar::number(n == 0 ? a.value : shifted_right(e.facts(), a.value, n));
    }
  } else if (a.is_data()) {
    const std::uint64_t kept = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const auto f = [=](std::uint64_t v) { return (direction == Shift::left ? v << n : (v & kept) >> n) & kept; };
    value = normal(
        e.pool(),
        map64(e.pool(), fmt::format("{} by {} of {}", direction == Shift::left ? "shl" : "shr", n, bits), a.lane, f));
  } else {
    throw Refused("a shift of a pointer");
  }
  // A count of 0 leaves the flags, others set ZF: only what both have in common would be known.
  finish(e, e.operand(0), value, n == 0 ? e.state.flags : Flags{Flags::Kind::zero, value, {}, bits, {}});
}

template <Shift direction>
void shift_double(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  if (bits != 64) throw Refused("a double shift of less than 64 bits");
  const int n = count_of(e, e.operand(2), bits);
  LanePool& pool = e.pool();
  const Lane a = as_lane(pool, e.facts(), read_scalar(e, e.operand(0)));
  const Lane b = as_lane(pool, e.facts(), read_scalar(e, e.operand(1)));
  const bool left = direction == Shift::left;
  const auto own = [=](std::uint64_t v) { return left ? v << n : v >> n; };
  const auto other = [=](std::uint64_t v) { return n == 0 ? 0 : left ? v >> (64 - n) : v << (64 - n); };
  const std::string name = fmt::format("{} by {}", left ? "shld" : "shrd", n);
  const Lane sum_of_both =
      pool.exclusive_or(map64(pool, name + " of the first", a, own), map64(pool, name + " of the second", b, other));
  finish(e, e.operand(0), normal(pool, sum_of_both), n == 0 ? e.state.flags : Flags{});
}

void bswap(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const Lane a = as_lane(e.pool(), e.facts(), read_scalar(e, e.operand(0)));
  const Lane reversed = map64(e.pool(), fmt::format("bswap{}", bits), a, [bits](std::uint64_t v) {
    std::uint64_t r = 0;
    for (int i = 0; i < bits / 8; i++) r |= (v >> (8 * i) & 0xff) << (bits - 8 - 8 * i);
    return r;
  });
  write_scalar(e, e.operand(0), normal(e.pool(), reversed));
}

ZydisMnemonic condition_of_move(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_CMOVB: return ZYDIS_MNEMONIC_JB;
    case ZYDIS_MNEMONIC_CMOVBE: return ZYDIS_MNEMONIC_JBE;
    case ZYDIS_MNEMONIC_CMOVNB: return ZYDIS_MNEMONIC_JNB;
    case ZYDIS_MNEMONIC_CMOVNBE: return ZYDIS_MNEMONIC_JNBE;
    case ZYDIS_MNEMONIC_CMOVZ: return ZYDIS_MNEMONIC_JZ;
    case ZYDIS_MNEMONIC_CMOVNZ: return ZYDIS_MNEMONIC_JNZ;
    default: throw Refused("a conditional move on a condition that is not followed");
  }
}

void cmov(const Execution& e) {
  const bool moves = condition_holds(e.machine, condition_of_move(e.instruction.mnemonic), e.state);
  // The operand is read in any case, and of 32 bits the upper half becomes 0.
  const Scalar other = read_scalar(e, e.operand(1));
  write_scalar(e, e.operand(0), moves ? other : read_scalar(e, e.operand(0)));
}

template <int sign>
void with_carry(const Execution& e) {
  const int carry = condition_holds(e.machine, ZYDIS_MNEMONIC_JB, e.state) ? 1 : 0;
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  const Scalar value = sum(e, sum(e, a, b, bits, sign), Scalar::number(carry), bits, sign);
  finish(e, e.operand(0), value, {Flags::Kind::zero, value, {}, bits, {}});
}

void push(const Execution& e) {
  const Scalar value = read_scalar(e, e.operand(0));
  Scalar& top = e.state.general[rsp];
  const Scalar below = sum(e, top, Scalar::number(8), 64, -1);
  e.state.memory.store_scalar(e.facts(), below.region, below.value, value);
  top = below;
}

void pop(const Execution& e) {
  Scalar& top = e.state.general[rsp];
  if (!top.is_pointer()) throw Refused("rsp is no pointer");
  if (e.operand(0).kind != Operand::Kind::reg || e.operand(0).reg.number == rsp)
    throw Refused("a pop to somewhere else");
  const Scalar value = e.state.memory.load_scalar(e.pool(), e.facts(), top.region, top.value, 8);
  const Scalar above = sum(e, top, Scalar::number(8), 64, 1);
  write_scalar(e, e.operand(0), value);
  top = above;
}

void no_operation(const Execution&) {}

}  // namespace

Semantics general_semantics(ZydisMnemonic m) {
  static const std::map<ZydisMnemonic, Semantics> kTable = {
      {ZYDIS_MNEMONIC_MOV, mov},
      {ZYDIS_MNEMONIC_MOVZX, movzx},
      {ZYDIS_MNEMONIC_LEA, lea},
      {ZYDIS_MNEMONIC_ADD, add_or_sub<1>},
      {ZYDIS_MNEMONIC_SUB, add_or_sub<-1>},
      {ZYDIS_MNEMONIC_ADC, with_carry<1>},
      {ZYDIS_MNEMONIC_SBB, with_carry<-1>},
      {ZYDIS_MNEMONIC_INC, inc_or_dec<1>},
      {ZYDIS_MNEMONIC_DEC, inc_or_dec<-1>},
      {ZYDIS_MNEMONIC_NEG, neg},
      {ZYDIS_MNEMONIC_CMP, cmp},
      {ZYDIS_MNEMONIC_TEST, test},
      {ZYDIS_MNEMONIC_AND, and_},
      {ZYDIS_MNEMONIC_OR, or_},
      {ZYDIS_MNEMONIC_XOR, xor_},
      {ZYDIS_MNEMONIC_SHL, shift<Shift::left>},
      {ZYDIS_MNEMONIC_SHR, shift<Shift::right>},
      {ZYDIS_MNEMONIC_SHLD, shift_double<Shift::left>},
      {ZYDIS_MNEMONIC_SHRD, shift_double<Shift::right>},
      {ZYDIS_MNEMONIC_BSWAP, bswap},
      {ZYDIS_MNEMONIC_CMOVB, cmov},
      {ZYDIS_MNEMONIC_CMOVBE, cmov},
      {ZYDIS_MNEMONIC_CMOVNB, cmov},
      {ZYDIS_MNEMONIC_CMOVNBE, cmov},
      {ZYDIS_MNEMONIC_CMOVZ, cmov},
      {ZYDIS_MNEMONIC_CMOVNZ, cmov},
      {ZYDIS_MNEMONIC_PUSH, push},
      {ZYDIS_MNEMONIC_POP, pop},
      {ZYDIS_MNEMONIC_NOP, no_operation},
      {ZYDIS_MNEMONIC_ENDBR64, no_operation},
  };
  const auto found = kTable.find(m);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace stitchgcm::verify
