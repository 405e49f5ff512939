// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Shifts and rotations of general registers, and the instructions that take some bits of one.
#include <fmt/format.h>

#include <bit>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

constexpr std::uint64_t ones(int bits) { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

/// A public number of which the low `bits` bits count, as one that may be used to shift: known, or settled by a split.
int settled(const Execution& e, const Operand& o, int bits, const char* what) {
  // All bits of a register may be looked at: what is above cl makes no difference to the low bits.
  Scalar s;
  if (o.kind == Operand::Kind::reg) s = e.state.general[static_cast<std::size_t>(o.reg.number)];
  if (!s.is_number()) s = read_scalar(e, o);
  if (!s.is_number()) throw Refused(fmt::format("{} that depends on data", what));
  return static_cast<int>(e.facts().constant(truncated(e.facts(), s.value, bits), what));
}

/// As the CPU takes it: modulo the width.
int count_of(const Execution& e, const Operand& o, int bits) {
  return settled(e, o, bits == 64 ? 6 : 5, "a shift count");
}

enum class Shift { left, right, arithmetic_right, rotate_left, rotate_right };

constexpr const char* name_of(Shift s) {
  switch (s) {
    case Shift::left: return "shl";
    case Shift::right: return "shr";
    case Shift::arithmetic_right: return "sar";
    case Shift::rotate_left: return "rol";
    case Shift::rotate_right: return "ror";
  }
  return "";
}

/// v < 2^bits; 0 <= n < bits.
std::uint64_t shifted_bits(Shift s, std::uint64_t v, int n, int bits) {
  const std::uint64_t all = ones(bits);
  const bool negative = (v >> (bits - 1) & 1) != 0;
  switch (s) {
    case Shift::left: return v << n & all;
    case Shift::right: return v >> n;
    case Shift::arithmetic_right: return v >> n | (negative ? all & ~(all >> n) : 0);
    case Shift::rotate_left: return n == 0 ? v : (v << n | v >> (bits - n)) & all;
    case Shift::rotate_right: return n == 0 ? v : (v >> n | v << (bits - n)) & all;
  }
  return 0;
}

Scalar shifted(const Execution& e, Shift s, const Scalar& a, int n, int bits) {
  if (n == 0) return a;
  if (const auto known = known_constant(e.facts(), a)) {
    return Scalar::number(
        static_cast<std::int64_t>(shifted_bits(s, static_cast<std::uint64_t>(*known) & ones(bits), n, bits)));
  }
  if (a.is_number() && s == Shift::left) {
    const Affine multiple = a.value * static_cast<std::int64_t>(std::uint64_t{1} << n);
    return Scalar::number(truncated(e.facts(), multiple, bits));
  }
  const bool positive = a.is_number() && e.facts().range(a.value).high < Wide{1} << (bits - 1);
  if (a.is_number() && (s == Shift::right || (s == Shift::arithmetic_right && positive))) {
    return Scalar::number(shifted_right(e.facts(), a.value, n));
  }
  if (a.is_pointer()) throw Refused("a shift of a pointer");
  const auto f = [=](std::uint64_t v) { return shifted_bits(s, v & ones(bits), n, bits); };
  const Lane lane = as_lane(e.pool(), e.facts(), a);
  return normal(e.pool(), map64(e.pool(), fmt::format("{} by {} of {}", name_of(s), n, bits), lane, f));
}

template <Shift s>
void shift(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const int n = count_of(e, e.operand(1), bits);
  const Scalar value = shifted(e, s, read_scalar(e, e.operand(0)), n, bits);
  // A count of 0 leaves the flags. Rotations set CF and OF only, which is not followed.
  const bool rotates = s == Shift::rotate_left || s == Shift::rotate_right;
  Flags flags = rotates ? Flags{} : Flags{Flags::Kind::zero, value, {}, bits, {}};
  if (n == 0) flags = e.state.flags;
  write_scalar(e, e.operand(0), value);
  e.state.flags = flags;
}

/// Leaves the flags.
template <Shift s>
void shift_to(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const int n = count_of(e, e.operand(2), bits);
  write_scalar(e, e.operand(0), shifted(e, s, read_scalar(e, e.operand(1)), n, bits));
}

template <Shift s>
void shift_double(const Execution& e) {
  const int n = count_of(e, e.operand(2), 64);
  LanePool& pool = e.pool();
  const Lane a = as_lane(pool, e.facts(), read_scalar(e, e.operand(0)));
  const Lane b = as_lane(pool, e.facts(), read_scalar(e, e.operand(1)));
  const bool left = s == Shift::left;
  const auto own = [=](std::uint64_t v) { return left ? v << n : v >> n; };
  const auto other = [=](std::uint64_t v) { return n == 0 ? 0 : left ? v >> (64 - n) : v << (64 - n); };
  const std::string name = fmt::format("{} by {}", left ? "shld" : "shrd", n);
  const Lane both =
      pool.exclusive_or(map64(pool, name + " of the first", a, own), map64(pool, name + " of the second", b, other));
  const Flags flags = n == 0 ? e.state.flags : Flags{};
  write_scalar(e, e.operand(0), normal(pool, both));
  e.state.flags = flags;
}

/// Bits [start, start + count) of a, as a number from bit 0 on.
Scalar bits_from(const Execution& e, const Scalar& a, int start, int count, int bits) {
  if (count == 0 || start >= bits) return Scalar::number(0);
  const Scalar rest = shifted(e, Shift::right, a, start, bits);
  if (count >= bits) return rest;
  if (rest.is_number()) return Scalar::number(truncated(e.facts(), rest.value, count));
  return normal(e.pool(), e.pool().mask(as_lane(e.pool(), e.facts(), rest), low_bits(count)));
}

void finish_bits(const Execution& e, const Scalar& value, int bits) {
  write_scalar(e, e.operand(0), value);
  e.state.flags = {Flags::Kind::zero, value, {}, bits, {}};
}

void bzhi(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const int count = settled(e, e.operand(2), 8, "a number of bits");
  finish_bits(e, bits_from(e, read_scalar(e, e.operand(1)), 0, count, bits), bits);
}

void bextr(const Execution& e) {
  const int bits = bits_of(e.operand(0));
  const int control = settled(e, e.operand(2), 16, "a choice of bits");
  finish_bits(e, bits_from(e, read_scalar(e, e.operand(1)), control & 0xff, control >> 8, bits), bits);
}

constexpr Kinds r = kind::r, m = kind::m, i = kind::i, cl = kind::r8;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_SHL, kLegacy, {r | m, cl | i}, shift<Shift::left>},
    {ZYDIS_MNEMONIC_SHR, kLegacy, {r | m, cl | i}, shift<Shift::right>},
    {ZYDIS_MNEMONIC_SAR, kLegacy, {r | m, cl | i}, shift<Shift::arithmetic_right>},
    {ZYDIS_MNEMONIC_ROL, kLegacy, {r | m, cl | i}, shift<Shift::rotate_left>},
    {ZYDIS_MNEMONIC_ROR, kLegacy, {r | m, cl | i}, shift<Shift::rotate_right>},
    {ZYDIS_MNEMONIC_SHLX, kVex, {r, r | m, r}, shift_to<Shift::left>},
    {ZYDIS_MNEMONIC_SHRX, kVex, {r, r | m, r}, shift_to<Shift::right>},
    {ZYDIS_MNEMONIC_SARX, kVex, {r, r | m, r}, shift_to<Shift::arithmetic_right>},
    {ZYDIS_MNEMONIC_RORX, kVex, {r, r | m, i}, shift_to<Shift::rotate_right>},
    {ZYDIS_MNEMONIC_SHLD, kLegacy, {kind::r64, kind::r64, cl | i}, shift_double<Shift::left>},
    {ZYDIS_MNEMONIC_SHRD, kLegacy, {kind::r64, kind::r64, cl | i}, shift_double<Shift::right>},
    {ZYDIS_MNEMONIC_BZHI, kVex, {r, r | m, r}, bzhi},
    {ZYDIS_MNEMONIC_BEXTR, kVex, {r, r | m, r}, bextr},
};

}  // namespace

std::span<const Row> shift_rows() { return kRows; }

}  // namespace stitchgcm::verify
