// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Integer instructions.
//
// Public numbers are computed as expressions in the lengths; data as lanes. Which of the two a value is never changes
// by itself: only what is constant, or made of public numbers alone, is public.
#include <fmt/format.h>

#include <bit>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

Flags result_flags(const Scalar& value, int bits) { return {Flags::Kind::result, value, {}, bits, {}}; }
/// ZF is that of the value; the others are not followed.
Flags zero_flag(const Scalar& value, int bits) { return {Flags::Kind::zero, value, {}, bits, {}}; }

/// Writes the result, then the flags.
void finish(const Execution& e, const Operand& to, const Scalar& value, const Flags& flags) {
  write_scalar(e, to, value);
  e.state.flags = flags;
}

Lane lane_of_scalar(const Execution& e, const Scalar& s) { return as_lane(e.pool(), e.facts(), s); }

bool same_register(const Operand& a, const Operand& b) {
  return a.kind == Operand::Kind::reg && b.kind == Operand::Kind::reg && a.reg.number == b.reg.number;
}

/// The number with all its bits if the operand is a register that holds one, else as read_scalar reads it: for
/// operations that ask for low bits only, so that a length need not be split for others.
Scalar read_whole(const Execution& e, const Operand& o) {
  if (o.kind == Operand::Kind::reg) {
    const Scalar& s = e.state.general[static_cast<std::size_t>(o.reg.number)];
    if (s.is_number()) return s;
  }
  return read_scalar(e, o);
}

// Moves

void mov(const Execution& e) { write_scalar(e, e.operand(0), read_scalar(e, e.operand(1))); }

void movsx(const Execution& e) {
  const int from = bits_of(e.operand(1)), to = bits_of(e.operand(0));
  const Scalar a = read_scalar(e, e.operand(1));
  const auto extended = [from, to](std::uint64_t v) {
    const std::uint64_t all = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
    return (v >> (from - 1) & 1) != 0 ? v | (all & ~std::uint64_t{0} << from) : v;
  };
  if (a.is_data()) {
    const Lane lane = map64(e.pool(), fmt::format("movsx {} from {}", to, from), a.lane, extended);
    write_scalar(e, e.operand(0), normal(e.pool(), lane));
    return;
  }
  if (const auto known = known_constant(e.facts(), a)) {
    const std::uint64_t value = extended(static_cast<std::uint64_t>(*known));
    write_scalar(e, e.operand(0), Scalar::number(static_cast<std::int64_t>(value)));
    return;
  }
  if (!a.is_number() || e.facts().range(a.value).high >= Wide{1} << (from - 1)) {
    throw Refused("a sign extension of a number that may be negative, or of a pointer");
  }
  write_scalar(e, e.operand(0), a);
}

void xchg(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  write_scalar(e, e.operand(0), b);
  write_scalar(e, e.operand(1), a);
}

Lane bytes_swapped(const Execution& e, const Scalar& a, int bits) {
  return map64(e.pool(), fmt::format("bswap{}", bits), lane_of_scalar(e, a), [bits](std::uint64_t v) {
    std::uint64_t r = 0;
    for (int i = 0; i < bits / 8; i++) r |= (v >> (8 * i) & 0xff) << (bits - 8 - 8 * i);
    return r;
  });
}

void bswap(const Execution& e) {
  const Operand& o = e.operand(0);
  write_scalar(e, o, normal(e.pool(), bytes_swapped(e, read_scalar(e, o), bits_of(o))));
}

void movbe(const Execution& e) {
  const Operand& from = e.operand(1);
  write_scalar(e, e.operand(0), normal(e.pool(), bytes_swapped(e, read_scalar(e, from), bits_of(from))));
}

void cmov(const Execution& e) {
  const bool moves = condition_holds(e.machine, *condition_of_other(e.instruction.mnemonic), e.state);
  // The operand is read in any case, and of 32 bits the upper half becomes 0 in any case.
  const Scalar other = read_scalar(e, e.operand(1));
  write_scalar(e, e.operand(0), moves ? other : read_scalar(e, e.operand(0)));
}

void setcc(const Execution& e) {
  const bool holds = condition_holds(e.machine, *condition_of_other(e.instruction.mnemonic), e.state);
  write_scalar(e, e.operand(0), Scalar::number(holds ? 1 : 0));
}

// Sums

Scalar sum(const Execution& e, const Scalar& a, const Scalar& b, int bits, int sign) {
  if (a.is_number() && b.is_number()) return Scalar::number(truncated(e.facts(), a.value + b.value * sign, bits));
  if (bits == 64 && a.is_pointer() && b.is_number()) return Scalar::pointer(a.region, a.value + b.value * sign);
  if (bits == 64 && a.is_number() && b.is_pointer() && sign > 0) return Scalar::pointer(b.region, a.value + b.value);
  if (bits == 64 && a.is_pointer() && b.is_pointer() && a.region == b.region && sign < 0) {
    return Scalar::number(a.value - b.value);
  }
  throw Refused(
      "a sum or difference of data, or of pointers that have nothing "
      "to do with each other");
}

void lea(const Execution& e) {
  const MemoryOperand& m = e.operand(1).memory;
  if (m.absolute) {
    write_scalar(e, e.operand(0), Scalar::pointer(e.state.constants, static_cast<std::int64_t>(*m.absolute)));
    return;
  }
  Scalar value = Scalar::number(m.displacement);
  const auto add = [&](const std::optional<int>& n, int scale) {
    if (!n) return;
    Scalar scaled = e.state.general[static_cast<std::size_t>(*n)];
    if (scaled.kind == Scalar::Kind::unknown) {
      throw Refused(fmt::format("{} is read where it may hold one thing or another", name_of_general(*n)));
    }
    if (scaled.is_number()) {
      scaled.value = scaled.value * scale;
    } else if (scale != 1) {
      throw Refused("a multiple of data or of a pointer");
    }
    value = sum(e, value, scaled, 64, 1);
  };
  add(m.base, 1);
  add(m.index, m.scale);
  write_scalar(e, e.operand(0), value);
}

template <int sign>
void add_or_sub(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  if (sign < 0 && same_register(e.operand(0), e.operand(1))) {
    // 0, whatever it was.
    finish(e, e.operand(0), Scalar::number(0), result_flags(Scalar::number(0), bits));
    return;
  }
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const Flags flags{sign > 0 ? Flags::Kind::sum : Flags::Kind::difference, a, b, bits, {}};
  finish(e, e.operand(0), sum(e, a, b, bits, sign), flags);
}

template <int sign>
void with_carry(const Execution& e) {
  const Scalar carry = Scalar::number(condition_holds(e.machine, ZYDIS_MNEMONIC_JB, e.state) ? 1 : 0);
  const int bits = bits_of(e.operand(0));
  Scalar value = Scalar::number(0);
  if (sign > 0 || !same_register(e.operand(0), e.operand(1))) {
    value = sum(e, read_scalar(e, e.operand(0)), read_scalar(e, e.operand(1)), bits, sign);
  }
  value = sum(e, value, carry, bits, sign);
  finish(e, e.operand(0), value, zero_flag(value, bits));
}

template <int sign>
void inc_or_dec(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const Scalar value = sum(e, read_scalar(e, e.operand(0)), Scalar::number(1), bits, sign);
  // CF stays what it was, which is not followed.
  finish(e, e.operand(0), value, zero_flag(value, bits));
}

void neg(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0));
  const int bits = bits_of(e.operand(0));
  const Scalar zero = Scalar::number(0);
  finish(e, e.operand(0), sum(e, zero, a, bits, -1), {Flags::Kind::difference, zero, a, bits, {}});
}

void cmp(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  e.state.flags = {Flags::Kind::difference, a, b, bits_of(e.operand(0)), {}};
}

void imul(const Execution& e) {
  const std::size_t first = e.operands() == 3 ? 1 : 0;
  const Scalar a = read_scalar(e, e.operand(first)), b = read_scalar(e, e.operand(first + 1));
  const auto x = known_constant(e.facts(), a), y = known_constant(e.facts(), b);
  if (!a.is_number() || !b.is_number() || (!x && !y)) throw Refused("a product of which no factor is a known number");
  const Affine product = x ? b.value * *x : a.value * *y;
  finish(e, e.operand(0), Scalar::number(truncated(e.facts(), product, bits_of(e.operand(0)))), {});
}

// Bit by bit

/// a & b of public numbers: one of them must be 2^n - 1 or -2^n.
Scalar number_and(const Execution& e, const Affine& a, const Affine& b, int bits) {
  const Affine x = e.facts().resolve(a), y = e.facts().resolve(b);
  if (x.is_constant() && y.is_constant()) return Scalar::number(x.constant() & y.constant());
  const Affine& value = y.is_constant() ? a : b;
  const Affine& mask = y.is_constant() ? y : x;
  if (!mask.is_constant()) throw Refused("AND of two lengths");
  const auto m = static_cast<std::uint64_t>(truncated(e.facts(), mask, bits).constant());
  if (m + 1 == 0) return Scalar::number(value);
  if ((m & (m + 1)) == 0) return Scalar::number(truncated(e.facts(), value, std::popcount(m)));
  const std::uint64_t low = ~m & (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
  if ((low & (low + 1)) == 0) return Scalar::number(value - truncated(e.facts(), value, std::popcount(low)));
  throw Refused("AND of a length with a mask that is neither 2^n - 1 nor -2^n");
}

Scalar and_of(const Execution& e, const Scalar& a, const Scalar& b, int bits) {
  if (a.is_number() && b.is_number()) return number_and(e, a.value, b.value, bits);
  return normal(e.pool(), e.pool().bitwise_and(lane_of_scalar(e, a), lane_of_scalar(e, b)));
}

/// The two operands of and, test. A mask that is positive as a 32-bit number leaves nothing of the upper half.
std::pair<Scalar, Scalar> operands_of_and(const Execution& e) {
  const Operand& mask = e.operand(1);
  const bool small =
      mask.kind == Operand::Kind::immediate && mask.immediate <= INT32_MAX && bits_of(e.operand(0)) >= 32;
  return {small ? read_whole(e, e.operand(0)) : read_scalar(e, e.operand(0)), read_scalar(e, mask)};
}

void and_(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const auto [a, b] = operands_of_and(e);
  const Scalar value = and_of(e, a, b, bits);
  finish(e, e.operand(0), value, result_flags(value, bits));
}

void test(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const auto [a, b] = operands_of_and(e);
  // Of a value with itself it is a question about the value, a pointer's too.
  e.state.flags = result_flags(a == b ? a : and_of(e, a, b, bits), bits);
}

void andn(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const Scalar a = read_scalar(e, e.operand(1)), b = read_scalar(e, e.operand(2));
  const Lane ones = e.pool().constant(low_bits(bits));
  const Scalar inverse = a.is_number() ? Scalar::number(truncated(e.facts(), a.value * -1 - 1, bits))
                                       : normal(e.pool(), e.pool().exclusive_or(lane_of_scalar(e, a), ones));
  const Scalar value = and_of(e, inverse, b, bits);
  finish(e, e.operand(0), value, result_flags(value, bits));
}

/// True if no bit can be set in both: one is in [0, 2^n), the other a multiple of 2^n.
bool disjoint(const Facts& facts, const Affine& a, const Affine& b) {
  const Range r = facts.range(b);
  if (r.low < 0 || r.high >= Wide{1} << 62) return false;
  return a.divisible_by(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(r.high) + 1)));
}

void or_(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0)), b = read_scalar(e, e.operand(1));
  const int bits = bits_of(e.operand(0));
  Scalar value;
  Flags flags;
  if (!a.is_number() || !b.is_number()) {
    value = normal(e.pool(), e.pool().bitwise_or(lane_of_scalar(e, a), lane_of_scalar(e, b)));
  } else {
    const Affine x = e.facts().resolve(a.value), y = e.facts().resolve(b.value);
    if (x.is_constant() && y.is_constant()) {
      value = Scalar::number(x.constant() | y.constant());
    } else if (x == y) {
      value = a;
    } else if (disjoint(e.facts(), x, y) || disjoint(e.facts(), y, x)) {
      value = Scalar::number(x + y);
    } else if (e.facts().zero(a.value)) {
      value = b;
    } else if (e.facts().zero(b.value)) {
      value = a;
    } else {
      // Neither is 0, so the result is not: that is all that is known.
      finish(e, e.operand(0), Scalar::unknown(), zero_flag(Scalar::number(1), bits));
      return;
    }
  }
  finish(e, e.operand(0), value, result_flags(value, bits));
}

void xor_(const Execution& e) {
  const Operand &to = e.operand(0), &from = e.operand(1);
  const int bits = bits_of(to);
  Scalar value = Scalar::number(0);
  // A register with itself is 0, whatever it was.
  if (!same_register(to, from)) {
    const Scalar a = read_scalar(e, to), b = read_scalar(e, from);
    value = normal(e.pool(), e.pool().exclusive_or(lane_of_scalar(e, a), lane_of_scalar(e, b)));
  }
  finish(e, to, value, result_flags(value, bits));
}

void not_(const Execution& e) {
  const Scalar a = read_scalar(e, e.operand(0));
  const int bits = bits_of(e.operand(0));
  const Scalar value =
      a.is_number() ? Scalar::number(truncated(e.facts(), a.value * -1 - 1, bits))
                    : normal(e.pool(), e.pool().exclusive_or(lane_of_scalar(e, a), e.pool().constant(low_bits(bits))));
  write_scalar(e, e.operand(0), value);
}

// Stack

void push(const Execution& e) {
  const Scalar value = read_scalar(e, e.operand(0));
  Scalar& top = e.state.general[rsp];
  if (!top.is_pointer()) throw Refused("rsp is no pointer");
  const Affine below = top.value - 8;
  store_scalar(e, {top.region, below}, value);
  top.value = below;
}

Scalar popped(const Execution& e, const Scalar& top) {
  if (!top.is_pointer()) throw Refused("the stack is read by something that is no pointer");
  return e.state.memory.load_scalar(e.pool(), e.facts(), top.region, top.value, 8);
}

void pop(const Execution& e) {
  if (e.operand(0).reg.number == rsp) throw Refused("a pop to rsp");
  const Scalar value = popped(e, e.state.general[rsp]);
  write_scalar(e, e.operand(0), value);
  e.state.general[rsp].value += 8;
}

void leave(const Execution& e) {
  Scalar top = e.state.general[rbp];
  const Scalar value = popped(e, top);
  top.value += 8;
  e.state.general[rsp] = top;
  e.state.general[rbp] = value;
}

void no_operation(const Execution&) {}
/// Touches the cache only; what it tells of the address must be public, too.
void prefetch(const Execution& e) { address_of(e, e.operand(0).memory); }

constexpr Kinds r = kind::r, m = kind::m, i = kind::i, r8 = kind::r8, m8 = kind::m8;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_MOV, kLegacy, {r | m, r | m | i}, mov},
    {ZYDIS_MNEMONIC_MOV, kLegacy, {r8 | m8, r8 | m8 | i}, mov},
    {ZYDIS_MNEMONIC_MOV, kLegacy, {kind::m16, kind::r16 | i}, mov},
    {ZYDIS_MNEMONIC_MOVZX, kLegacy, {r, r8 | m8 | kind::r16 | kind::m16}, mov},
    {ZYDIS_MNEMONIC_MOVSX, kLegacy, {r, r8 | m8 | kind::r16 | kind::m16}, movsx},
    {ZYDIS_MNEMONIC_MOVSXD, kLegacy, {kind::r64, kind::r32 | kind::m32}, movsx},
    {ZYDIS_MNEMONIC_MOVBE, kLegacy, {r | m, r | m}, movbe},
    {ZYDIS_MNEMONIC_BSWAP, kLegacy, {r}, bswap},
    {ZYDIS_MNEMONIC_XCHG, kLegacy, {r, r}, xchg},
    {ZYDIS_MNEMONIC_LEA, kLegacy, {r, kind::address}, lea},
    {ZYDIS_MNEMONIC_ADD, kLegacy, {r | m, r | m | i}, add_or_sub<1>},
    {ZYDIS_MNEMONIC_SUB, kLegacy, {r | m, r | m | i}, add_or_sub<-1>},
    {ZYDIS_MNEMONIC_ADC, kLegacy, {r | m, r | m | i}, with_carry<1>},
    {ZYDIS_MNEMONIC_SBB, kLegacy, {r | m, r | m | i}, with_carry<-1>},
    {ZYDIS_MNEMONIC_INC, kLegacy, {r | m}, inc_or_dec<1>},
    {ZYDIS_MNEMONIC_DEC, kLegacy, {r | m}, inc_or_dec<-1>},
    {ZYDIS_MNEMONIC_NEG, kLegacy, {r | m}, neg},
    {ZYDIS_MNEMONIC_NOT, kLegacy, {r | m}, not_},
    {ZYDIS_MNEMONIC_IMUL, kLegacy, {r, r | m}, imul},
    {ZYDIS_MNEMONIC_IMUL, kLegacy, {r, r | m, i}, imul},
    {ZYDIS_MNEMONIC_CMP, kLegacy, {r | m, r | m | i}, cmp},
    {ZYDIS_MNEMONIC_CMP, kLegacy, {r8 | m8, r8 | m8 | i}, cmp},
    {ZYDIS_MNEMONIC_TEST, kLegacy, {r | m, r | i}, test},
    {ZYDIS_MNEMONIC_TEST, kLegacy, {r8 | m8, r8 | i}, test},
    {ZYDIS_MNEMONIC_AND, kLegacy, {r | m, r | m | i}, and_},
    {ZYDIS_MNEMONIC_ANDN, kVex, {r, r, r | m}, andn},
    {ZYDIS_MNEMONIC_OR, kLegacy, {r | m, r | m | i}, or_},
    {ZYDIS_MNEMONIC_XOR, kLegacy, {r | m, r | m | i}, xor_},
    {ZYDIS_MNEMONIC_CMOVZ, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNZ, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVB, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNB, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVBE, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNBE, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVL, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNL, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVLE, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNLE, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVS, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_CMOVNS, kLegacy, {r, r | m}, cmov},
    {ZYDIS_MNEMONIC_SETZ, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNZ, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETB, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNB, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETBE, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNBE, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETL, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNL, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETLE, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNLE, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETS, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_SETNS, kLegacy, {r8 | m8}, setcc},
    {ZYDIS_MNEMONIC_PUSH, kLegacy, {kind::r64 | kind::m64}, push},
    {ZYDIS_MNEMONIC_POP, kLegacy, {kind::r64}, pop},
    {ZYDIS_MNEMONIC_LEAVE, kLegacy, {}, leave},
    {ZYDIS_MNEMONIC_NOP, kLegacy, {}, no_operation},
    {ZYDIS_MNEMONIC_ENDBR64, kLegacy, {}, no_operation},
    {ZYDIS_MNEMONIC_PREFETCHT0, kLegacy, {m8}, prefetch},
    {ZYDIS_MNEMONIC_PREFETCHT1, kLegacy, {m8}, prefetch},
    {ZYDIS_MNEMONIC_PREFETCHT2, kLegacy, {m8}, prefetch},
    {ZYDIS_MNEMONIC_PREFETCHNTA, kLegacy, {m8}, prefetch},
};

}  // namespace

std::span<const Row> general_rows() { return kRows; }

}  // namespace stitchgcm::verify
