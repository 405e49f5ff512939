// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Mask registers. They hold public numbers that are known; what depends on a length is split until it is one.
#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

constexpr std::uint64_t ones(int bits) { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

std::optional<std::uint64_t>& mask_of(const Execution& e, std::size_t operand) {
  return e.state.mask[static_cast<std::size_t>(e.operand(operand).reg.number)];
}

bool is_mask(const Operand& o) { return o.kind == Operand::Kind::reg && o.reg.kind == RegisterKind::mask; }

/// The low `bits` bits of an operand.
std::uint64_t read(const Execution& e, std::size_t operand, int bits) {
  const Operand& o = e.operand(operand);
  if (is_mask(o)) return mask_value(e, o.reg.number) & ones(bits);
  const Scalar s = read_scalar(e, o);
  if (!s.is_number()) throw Refused("a mask that depends on data");
  return static_cast<std::uint64_t>(e.facts().constant(s.value, "a mask")) & ones(bits);
}

/// What is above the low `bits` bits becomes 0, in registers of both kinds.
template <int bits>
void move(const Execution& e) {
  const std::uint64_t value = read(e, 1, bits);
  if (is_mask(e.operand(0))) {
    mask_of(e, 0) = value;
  } else {
    write_scalar(e, e.operand(0), Scalar::number(static_cast<std::int64_t>(value)));
  }
}

template <int bits>
void inverse(const Execution& e) {
  mask_of(e, 0) = ~read(e, 1, bits) & ones(bits);
}

template <int bits>
void exclusive_or(const Execution& e) {
  const bool same = e.operand(1).reg.number == e.operand(2).reg.number;
  mask_of(e, 0) = same ? 0 : read(e, 1, bits) ^ read(e, 2, bits);
}

template <int bits>
void exclusive_nor(const Execution& e) {
  const bool same = e.operand(1).reg.number == e.operand(2).reg.number;
  mask_of(e, 0) = same ? ones(bits) : ~(read(e, 1, bits) ^ read(e, 2, bits)) & ones(bits);
}

template <int bits>
void bitwise_and(const Execution& e) {
  mask_of(e, 0) = read(e, 1, bits) & read(e, 2, bits);
}

template <int bits>
void bitwise_or(const Execution& e) {
  mask_of(e, 0) = read(e, 1, bits) | read(e, 2, bits);
}

template <int bits>
void shift_left(const Execution& e) {
  const int n = immediate(e);
  mask_of(e, 0) = n < bits ? read(e, 1, bits) << n & ones(bits) : 0;
}

template <int bits>
void shift_right(const Execution& e) {
  const int n = immediate(e);
  mask_of(e, 0) = n < bits ? read(e, 1, bits) >> n : 0;
}

constexpr Kinds k = kind::k, i = kind::i, r32 = kind::r32, r64 = kind::r64;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_KMOVB, kVex, {k, k | r32 | kind::m8}, move<8>},
    {ZYDIS_MNEMONIC_KMOVB, kVex, {r32 | kind::m8, k}, move<8>},
    {ZYDIS_MNEMONIC_KMOVW, kVex, {k, k | r32 | kind::m16}, move<16>},
    {ZYDIS_MNEMONIC_KMOVW, kVex, {r32 | kind::m16, k}, move<16>},
    {ZYDIS_MNEMONIC_KMOVD, kVex, {k, k | r32 | kind::m32}, move<32>},
    {ZYDIS_MNEMONIC_KMOVD, kVex, {r32 | kind::m32, k}, move<32>},
    {ZYDIS_MNEMONIC_KMOVQ, kVex, {k, k | r64 | kind::m64}, move<64>},
    {ZYDIS_MNEMONIC_KMOVQ, kVex, {r64 | kind::m64, k}, move<64>},
    {ZYDIS_MNEMONIC_KNOTD, kVex, {k, k}, inverse<32>},
    {ZYDIS_MNEMONIC_KNOTQ, kVex, {k, k}, inverse<64>},
    {ZYDIS_MNEMONIC_KXORB, kVex, {k, k, k}, exclusive_or<8>},
    {ZYDIS_MNEMONIC_KXORW, kVex, {k, k, k}, exclusive_or<16>},
    {ZYDIS_MNEMONIC_KXORD, kVex, {k, k, k}, exclusive_or<32>},
    {ZYDIS_MNEMONIC_KXORQ, kVex, {k, k, k}, exclusive_or<64>},
    {ZYDIS_MNEMONIC_KXNORB, kVex, {k, k, k}, exclusive_nor<8>},
    {ZYDIS_MNEMONIC_KXNORW, kVex, {k, k, k}, exclusive_nor<16>},
    {ZYDIS_MNEMONIC_KXNORD, kVex, {k, k, k}, exclusive_nor<32>},
    {ZYDIS_MNEMONIC_KXNORQ, kVex, {k, k, k}, exclusive_nor<64>},
    {ZYDIS_MNEMONIC_KANDD, kVex, {k, k, k}, bitwise_and<32>},
    {ZYDIS_MNEMONIC_KANDQ, kVex, {k, k, k}, bitwise_and<64>},
    {ZYDIS_MNEMONIC_KORD, kVex, {k, k, k}, bitwise_or<32>},
    {ZYDIS_MNEMONIC_KORQ, kVex, {k, k, k}, bitwise_or<64>},
    {ZYDIS_MNEMONIC_KSHIFTLQ, kVex, {k, k, i}, shift_left<64>},
    {ZYDIS_MNEMONIC_KSHIFTRQ, kVex, {k, k, i}, shift_right<64>},
};

}  // namespace

std::span<const Row> mask_rows() { return kRows; }

}  // namespace stitchgcm::verify
