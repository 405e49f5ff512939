// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Vector instructions that compute: lane by lane.
#include <fmt/format.h>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

std::size_t at(int l) { return static_cast<std::size_t>(l); }

/// f of each lane of the operand `source`.
template <class F>
void each_lane(const Execution& e, std::size_t source, F f) {
  const int count = lanes_of(e.instruction);
  Lanes values{};
  for (int l = 0; l < count; l++) values[at(l)] = f(lane_of(e, e.operand(source), l));
  write_lanes(e, e.operand(0), values, count);
}

/// f of each lane of the two sources.
template <class F>
void each_pair(const Execution& e, F f) {
  const std::size_t first = first_source(e);
  const int count = lanes_of(e.instruction);
  Lanes values{};
  for (int l = 0; l < count; l++) {
    values[at(l)] = f(lane_of(e, e.operand(first), l), lane_of(e, e.operand(first + 1), l));
  }
  write_lanes(e, e.operand(0), values, count);
}

Lane inverse(LanePool& pool, Lane a) { return pool.exclusive_or(a, pool.constant(~Bits128{0})); }

// Logic

void exclusive_or(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().exclusive_or(a, b); });
}
void bitwise_and(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().bitwise_and(a, b); });
}
void and_not(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().bitwise_and(inverse(e.pool(), a), b); });
}
void bitwise_or(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().bitwise_or(a, b); });
}

/// Any function of three bits, as a sum of products of them: bit 4 a + 2 b + c of the immediate is its value at a, b,
/// c.
void ternary_logic(const Execution& e) {
  LanePool& pool = e.pool();
  // Bit s of `products` says whether the product of the operands in the set s is part of the sum.
  unsigned products = static_cast<unsigned>(immediate(e));
  for (const unsigned operand : {1u, 2u, 4u}) {
    for (unsigned s = 0; s < 8; s++) {
      if ((s & operand) != 0) products ^= (products >> (s ^ operand) & 1) << s;
    }
  }
  const int count = lanes_of(e.instruction);
  Lanes values{};
  for (int l = 0; l < count; l++) {
    const std::array<Lane, 3> of = {lane_of(e, e.operand(2), l), lane_of(e, e.operand(1), l),
                                    lane_of(e, e.operand(0), l)};
    for (unsigned s = 0; s < 8; s++) {
      if ((products >> s & 1) == 0) continue;
      Lane product = pool.constant(~Bits128{0});
      for (unsigned n = 0; n < 3; n++) {
        if ((s >> n & 1) != 0) product = pool.bitwise_and(product, of[n]);
      }
      values[at(l)] = pool.exclusive_or(values[at(l)], product);
    }
  }
  write_lanes(e, e.operand(0), values, count);
}

/// By the mask: the second source where it has a 1, else the first, or 0.
void blend_by_mask(const Execution& e) {
  LanePool& pool = e.pool();
  const std::uint64_t mask = e.instruction.mask ? mask_value(e, *e.instruction.mask) : ~std::uint64_t{0};
  const int count = lanes_of(e.instruction);
  Lanes values{};
  for (int l = 0; l < count; l++) {
    const Bits128 selected = selected_bits(mask, l, e.row.element);
    const Lane other = e.instruction.zeroing ? pool.constant(0) : lane_of(e, e.operand(1), l);
    values[at(l)] = pool.exclusive_or(pool.mask(lane_of(e, e.operand(2), l), selected), pool.mask(other, ~selected));
  }
  Lanes& to = e.state.vector[at(e.operand(0).reg.number)];
  for (int l = 0; l < kVectorLanes; l++) to[at(l)] = l < count ? values[at(l)] : pool.constant(0);
}

// AES and GHASH

void shuffle_bytes(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().shuffle_bytes(a, b); });
}
void aes_round(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().aes_round(a, b); });
}
void aes_last_round(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().aes_last_round(a, b); });
}
void carryless_multiply(const Execution& e) {
  const int halves = immediate(e);
  each_pair(e, [&](Lane a, Lane b) { return e.pool().carryless_multiply(a, b, halves); });
}

/// Of dwords d0 d1 d2 d3: S(d1), RotWord(S(d1)) ^ rcon, S(d3), RotWord(S(d3)) ^ rcon, with S the S-box on each byte.
void key_assist(const Execution& e) {
  LanePool& pool = e.pool();
  const Bits128 rcon = static_cast<Bits128>(immediate(e));
  // LanePool has ShiftRows(SubBytes()): undo ShiftRows, which moves row r of the state by r columns.
  BytePermutation p;
  for (int i = 0; i < 16; i++) {
    const int dword = i < 8 ? 1 : 3, turn = i / 4 % 2;
    const int byte = 4 * dword + (i % 4 + turn) % 4;
    p[at(i)] = static_cast<std::int8_t>((byte - 4 * (byte % 4) + 16) % 16);
  }
  each_lane(e, 1, [&](Lane a) {
    return pool.exclusive_or(pool.apply(pool.permute_bytes(p), pool.substitute_bytes(a)),
                             pool.constant(rcon << 32 | rcon << 96));
  });
}

// Sums

/// A public length that is added must be a number.
Lane settled(const Execution& e, Lane a) {
  const std::optional<Affine> number = e.pool().as_integer(a);
  if (!number) return a;
  e.facts().constant(*number, "a number that is added to a counter");
  Substitution known;
  for (const Affine::Term& t : number->terms()) known.emplace(t.variable, e.facts().resolve(t.variable));
  return e.pool().substitute(a, known);
}

/// Each element of a constant negated.
Bits128 negated(Bits128 v, int width) {
  Bits128 out = 0;
  for (int i = 0; i < 128; i += width) out |= ((Bits128{0} - (v >> i & low_bits(width))) & low_bits(width)) << i;
  return out;
}

void add_dwords(const Execution& e) {
  each_pair(e, [&](Lane a, Lane b) { return e.pool().add32(settled(e, a), settled(e, b)); });
}
void subtract_dwords(const Execution& e) {
  LanePool& pool = e.pool();
  each_pair(e, [&](Lane a, Lane b) {
    if (a == b) return pool.constant(0);
    const Lane minus = settled(e, b);
    if (!pool.is_constant(minus)) throw Refused("a value that is not known is subtracted: " + pool.describe(b));
    return pool.add32(settled(e, a), pool.constant(negated(pool.constant_value(minus), 32)));
  });
}

/// Of 64 bits only what is known can be added, or 0.
template <int sign>
void add_qwords(const Execution& e) {
  LanePool& pool = e.pool();
  each_pair(e, [&](Lane a, Lane b) {
    if (b == pool.constant(0)) return a;
    if (a == pool.constant(0) && sign > 0) return b;
    if (!pool.is_constant(a) || !pool.is_constant(b)) {
      throw Refused("a sum of 64 bits of values that are not known: " + pool.describe(a) + ", " + pool.describe(b));
    }
    const Bits128 x = pool.constant_value(a);
    const Bits128 y = sign > 0 ? pool.constant_value(b) : negated(pool.constant_value(b), 64);
    return pool.constant(bits128(low_half(x) + low_half(y), high_half(x) + high_half(y)));
  });
}

/// For each dword all ones if holds(dword of a, dword of b), else 0.
template <class F>
Bits128 mask_of_dwords(Bits128 a, Bits128 b, F holds) {
  Bits128 out = 0;
  for (int i = 0; i < 128; i += 32) {
    if (holds(static_cast<std::int32_t>(a >> i), static_cast<std::int32_t>(b >> i))) out |= low_bits(32) << i;
  }
  return out;
}

/// a > b, signed. Of what is not known only 0 > b is followed: the signs of b.
void greater_dwords(const Execution& e) {
  LanePool& pool = e.pool();
  const auto greater = [](std::int32_t x, std::int32_t y) { return x > y; };
  const LinearMap signs = pool.linear("signs of dwords", [&](Bits128 v) { return mask_of_dwords(0, v, greater); });
  each_pair(e, [&](Lane a, Lane b) {
    if (a == pool.constant(0)) return pool.apply(signs, b);
    if (!pool.is_constant(a) || !pool.is_constant(b)) {
      throw Refused("a comparison of values that are not known: " + pool.describe(a) + ", " + pool.describe(b));
    }
    return pool.constant(mask_of_dwords(pool.constant_value(a), pool.constant_value(b), greater));
  });
}

/// a == b. Of what is not known only equality is.
void equal_dwords(const Execution& e) {
  LanePool& pool = e.pool();
  each_pair(e, [&](Lane a, Lane b) {
    if (a == b) return pool.constant(~Bits128{0});
    if (!pool.is_constant(a) || !pool.is_constant(b)) {
      throw Refused("a comparison of values that are not known: " + pool.describe(a) + ", " + pool.describe(b));
    }
    const auto equal = [](std::int32_t x, std::int32_t y) { return x == y; };
    return pool.constant(mask_of_dwords(pool.constant_value(a), pool.constant_value(b), equal));
  });
}

// Shifts

enum class Shift { left, right, arithmetic_right, rotate_left, rotate_right };

/// An element of `width` bits, shifted by n.
std::uint64_t shifted(Shift kind, std::uint64_t v, int n, int width) {
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const bool negative = (v >> (width - 1) & 1) != 0;
  switch (kind) {
    case Shift::left: return n < width ? v << n & all : 0;
    case Shift::right: return n < width ? v >> n : 0;
    case Shift::arithmetic_right: {
      const int count = std::min(n, width - 1);
      return v >> count | (negative ? all & ~(all >> count) : 0);
    }
    case Shift::rotate_left:
    case Shift::rotate_right: {
      const int left = (kind == Shift::rotate_left ? n : width - n % width) % width;
      return left == 0 ? v : (v << left | v >> (width - left)) & all;
    }
  }
  return 0;
}

template <int width, Shift kind>
void shift_elements(const Execution& e) {
  const int n = immediate(e);
  const auto f = [n](Bits128 v) {
    Bits128 out = 0;
    for (int i = 0; i < 128; i += width)
      out |= Bits128{shifted(kind, low_half(v >> i & low_bits(width)), n, width)} << i;
    return out;
  };
  const LinearMap m = e.pool().linear(fmt::format("shift {} of {} by {}", static_cast<int>(kind), width, n), f);
  each_lane(e, first_source(e), [&](Lane a) { return e.pool().apply(m, a); });
}

// What is left

void test_zero(const Execution& e) {
  const Operand &a = e.operand(0), &b = e.operand(1);
  if (a.reg.number != b.reg.number) throw Refused("vptest of two different values");
  e.state.flags = {Flags::Kind::lane_zero, {}, {}, 64, vector_of(e, a)[0]};
}

void zero_upper(const Execution& e) {
  for (std::size_t r = 0; r < 16; r++) {
    for (std::size_t l = 1; l < kVectorLanes; l++) e.state.vector[r][l] = e.pool().constant(0);
  }
}
void zero_all(const Execution& e) {
  for (std::size_t r = 0; r < 16; r++) e.state.vector[r].fill(e.pool().constant(0));
}

constexpr Kinds v = kind::v, mv = kind::mv, x = kind::x, m128 = kind::m128, i = kind::i;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_PXOR, kLegacy, {x, x | m128}, exclusive_or},
    {ZYDIS_MNEMONIC_XORPS, kLegacy, {x, x | m128}, exclusive_or},
    {ZYDIS_MNEMONIC_VPXOR, kVex, {v, v, v | mv}, exclusive_or},
    {ZYDIS_MNEMONIC_VXORPS, kVex, {v, v, v | mv}, exclusive_or},
    {ZYDIS_MNEMONIC_VPXORD, kEvex, {v, v, v | mv}, exclusive_or, 4},
    {ZYDIS_MNEMONIC_VPXORQ, kEvex, {v, v, v | mv}, exclusive_or, 8},
    {ZYDIS_MNEMONIC_PAND, kLegacy, {x, x | m128}, bitwise_and},
    {ZYDIS_MNEMONIC_VPAND, kVex, {v, v, v | mv}, bitwise_and},
    {ZYDIS_MNEMONIC_VPANDD, kEvex, {v, v, v | mv}, bitwise_and, 4},
    {ZYDIS_MNEMONIC_VPANDQ, kEvex, {v, v, v | mv}, bitwise_and, 8},
    {ZYDIS_MNEMONIC_PANDN, kLegacy, {x, x | m128}, and_not},
    {ZYDIS_MNEMONIC_VPANDN, kVex, {v, v, v | mv}, and_not},
    {ZYDIS_MNEMONIC_VPANDND, kEvex, {v, v, v | mv}, and_not, 4},
    {ZYDIS_MNEMONIC_VPANDNQ, kEvex, {v, v, v | mv}, and_not, 8},
    {ZYDIS_MNEMONIC_POR, kLegacy, {x, x | m128}, bitwise_or},
    {ZYDIS_MNEMONIC_VPOR, kVex, {v, v, v | mv}, bitwise_or},
    {ZYDIS_MNEMONIC_VPORD, kEvex, {v, v, v | mv}, bitwise_or, 4},
    {ZYDIS_MNEMONIC_VPORQ, kEvex, {v, v, v | mv}, bitwise_or, 8},
    {ZYDIS_MNEMONIC_VPTERNLOGD, kEvex, {v, v, v | mv, i}, ternary_logic, 4},
    {ZYDIS_MNEMONIC_VPTERNLOGQ, kEvex, {v, v, v | mv, i}, ternary_logic, 8},
    {ZYDIS_MNEMONIC_VPBLENDMB, kEvex, {v, v, v | mv}, blend_by_mask, 1},
    {ZYDIS_MNEMONIC_VPBLENDMD, kEvex, {v, v, v | mv}, blend_by_mask, 4},
    {ZYDIS_MNEMONIC_VPBLENDMQ, kEvex, {v, v, v | mv}, blend_by_mask, 8},

    {ZYDIS_MNEMONIC_PSHUFB, kLegacy, {x, x | m128}, shuffle_bytes},
    {ZYDIS_MNEMONIC_VPSHUFB, kVexOrEvex, {v, v, v | mv}, shuffle_bytes, 1},
    {ZYDIS_MNEMONIC_AESENC, kLegacy, {x, x | m128}, aes_round},
    {ZYDIS_MNEMONIC_VAESENC, kVexOrEvex, {v, v, v | mv}, aes_round},
    {ZYDIS_MNEMONIC_AESENCLAST, kLegacy, {x, x | m128}, aes_last_round},
    {ZYDIS_MNEMONIC_VAESENCLAST, kVexOrEvex, {v, v, v | mv}, aes_last_round},
    {ZYDIS_MNEMONIC_AESKEYGENASSIST, kLegacy, {x, x | m128, i}, key_assist},
    {ZYDIS_MNEMONIC_VAESKEYGENASSIST, kVex, {x, x | m128, i}, key_assist},
    {ZYDIS_MNEMONIC_PCLMULQDQ, kLegacy, {x, x | m128, i}, carryless_multiply},
    {ZYDIS_MNEMONIC_VPCLMULQDQ, kVexOrEvex, {v, v, v | mv, i}, carryless_multiply},

    {ZYDIS_MNEMONIC_PADDD, kLegacy, {x, x | m128}, add_dwords},
    {ZYDIS_MNEMONIC_VPADDD, kVexOrEvex, {v, v, v | mv}, add_dwords, 4},
    {ZYDIS_MNEMONIC_PSUBD, kLegacy, {x, x | m128}, subtract_dwords},
    {ZYDIS_MNEMONIC_VPSUBD, kVexOrEvex, {v, v, v | mv}, subtract_dwords, 4},
    {ZYDIS_MNEMONIC_PADDQ, kLegacy, {x, x | m128}, add_qwords<1>},
    {ZYDIS_MNEMONIC_VPADDQ, kVexOrEvex, {v, v, v | mv}, add_qwords<1>, 8},
    {ZYDIS_MNEMONIC_PSUBQ, kLegacy, {x, x | m128}, add_qwords<-1>},
    {ZYDIS_MNEMONIC_VPSUBQ, kVexOrEvex, {v, v, v | mv}, add_qwords<-1>, 8},
    {ZYDIS_MNEMONIC_PCMPGTD, kLegacy, {x, x | m128}, greater_dwords},
    {ZYDIS_MNEMONIC_VPCMPGTD, kVex, {v, v, v | mv}, greater_dwords},
    {ZYDIS_MNEMONIC_PCMPEQD, kLegacy, {x, x | m128}, equal_dwords},
    {ZYDIS_MNEMONIC_VPCMPEQD, kVex, {v, v, v | mv}, equal_dwords},

    {ZYDIS_MNEMONIC_PSLLD, kLegacy, {x, i}, shift_elements<32, Shift::left>},
    {ZYDIS_MNEMONIC_VPSLLD, kVex, {v, v, i}, shift_elements<32, Shift::left>},
    {ZYDIS_MNEMONIC_VPSLLD, kEvex, {v, v | mv, i}, shift_elements<32, Shift::left>, 4},
    {ZYDIS_MNEMONIC_PSRLD, kLegacy, {x, i}, shift_elements<32, Shift::right>},
    {ZYDIS_MNEMONIC_VPSRLD, kVex, {v, v, i}, shift_elements<32, Shift::right>},
    {ZYDIS_MNEMONIC_VPSRLD, kEvex, {v, v | mv, i}, shift_elements<32, Shift::right>, 4},
    {ZYDIS_MNEMONIC_PSRAD, kLegacy, {x, i}, shift_elements<32, Shift::arithmetic_right>},
    {ZYDIS_MNEMONIC_VPSRAD, kVex, {v, v, i}, shift_elements<32, Shift::arithmetic_right>},
    {ZYDIS_MNEMONIC_VPSRAD, kEvex, {v, v | mv, i}, shift_elements<32, Shift::arithmetic_right>, 4},
    {ZYDIS_MNEMONIC_PSLLQ, kLegacy, {x, i}, shift_elements<64, Shift::left>},
    {ZYDIS_MNEMONIC_VPSLLQ, kVex, {v, v, i}, shift_elements<64, Shift::left>},
    {ZYDIS_MNEMONIC_VPSLLQ, kEvex, {v, v | mv, i}, shift_elements<64, Shift::left>, 8},
    {ZYDIS_MNEMONIC_PSRLQ, kLegacy, {x, i}, shift_elements<64, Shift::right>},
    {ZYDIS_MNEMONIC_VPSRLQ, kVex, {v, v, i}, shift_elements<64, Shift::right>},
    {ZYDIS_MNEMONIC_VPSRLQ, kEvex, {v, v | mv, i}, shift_elements<64, Shift::right>, 8},
    {ZYDIS_MNEMONIC_VPSRAQ, kEvex, {v, v | mv, i}, shift_elements<64, Shift::arithmetic_right>, 8},
    {ZYDIS_MNEMONIC_VPROLD, kEvex, {v, v | mv, i}, shift_elements<32, Shift::rotate_left>, 4},
    {ZYDIS_MNEMONIC_VPROLQ, kEvex, {v, v | mv, i}, shift_elements<64, Shift::rotate_left>, 8},
    {ZYDIS_MNEMONIC_VPRORD, kEvex, {v, v | mv, i}, shift_elements<32, Shift::rotate_right>, 4},
    {ZYDIS_MNEMONIC_VPRORQ, kEvex, {v, v | mv, i}, shift_elements<64, Shift::rotate_right>, 8},

    {ZYDIS_MNEMONIC_PTEST, kLegacy, {x, x}, test_zero},
    {ZYDIS_MNEMONIC_VPTEST, kVex, {x, x}, test_zero},
    {ZYDIS_MNEMONIC_VZEROUPPER, kVex, {}, zero_upper},
    {ZYDIS_MNEMONIC_VZEROALL, kVex, {}, zero_all},
};

}  // namespace

std::span<const Row> vector_rows() { return kRows; }

}  // namespace stitchgcm::verify
