// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Vector instructions that only move bytes. Each is a rule that says, for each byte of the result, which byte of which
// operand it is.
#include <bit>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

std::size_t at(int n) { return static_cast<std::size_t>(n); }

/// A byte of the first or the second source, counted from its low end; or 0.
struct Byte {
  enum class Of : std::uint8_t { nothing, first, second } of = Of::nothing;
  int number = 0;
};
constexpr Byte kZero{};
constexpr Byte first(int n) { return {Byte::Of::first, n}; }
constexpr Byte second(int n) { return {Byte::Of::second, n}; }

/// All lanes of a source; of memory all bytes are read, whether they are used or not.
Lanes lanes_of_source(const Execution& e, const Operand& o) {
  Lanes lanes{};
  for (int l = 0; l < std::max(1, bits_of(o) / 128); l++) lanes[at(l)] = lane_of(e, o, l);
  return lanes;
}

/// Lane l of the result of a rule: byte n of it is rule(16 l + n).
template <class F>
Lane moved(const Execution& e, const Lanes& a, const Lanes& b, int l, F rule) {
  std::array<Byte, 16> from;
  for (int n = 0; n < 16; n++) from[at(n)] = rule(16 * l + n);
  LanePool& pool = e.pool();
  Lane sum = pool.constant(0);
  std::uint32_t done = 0;
  for (int n = 0; n < 16; n++) {
    const Byte wanted = from[at(n)];
    if ((done >> n & 1) != 0 || wanted.of == Byte::Of::nothing) continue;
    // All bytes that come from the same lane, at once.
    BytePermutation p;
    p.fill(-1);
    bool whole = true;
    for (int m = 0; m < 16; m++) {
      const Byte other = from[at(m)];
      const bool same = other.of == wanted.of && other.number / 16 == wanted.number / 16;
      if (same) {
        p[at(m)] = static_cast<std::int8_t>(other.number % 16);
        done |= 1u << m;
      }
      whole = whole && p[at(m)] == m;
    }
    const Lane source = (wanted.of == Byte::Of::first ? a : b)[at(wanted.number / 16)];
    sum = pool.exclusive_or(sum, whole ? source : pool.apply(pool.permute_bytes(p), source));
  }
  return sum;
}

/// Moves bytes of operand `source` to operand 0.
template <class F>
void move_from(const Execution& e, std::size_t source, F rule) {
  const Lanes a = lanes_of_source(e, e.operand(source));
  const int count = std::max(1, bits_of(e.operand(0)) / 128);
  Lanes values{};
  for (int l = 0; l < count; l++) values[at(l)] = moved(e, a, a, l, rule);
  write_lanes(e, e.operand(0), values, count);
}

/// Moves bytes of the two sources to operand 0.
template <class F>
void move_from_two(const Execution& e, F rule) {
  const std::size_t source = first_source(e);
  const Lanes a = lanes_of_source(e, e.operand(source)), b = lanes_of_source(e, e.operand(source + 1));
  const int count = std::max(1, bits_of(e.operand(0)) / 128);
  Lanes values{};
  for (int l = 0; l < count; l++) values[at(l)] = moved(e, a, b, l, rule);
  write_lanes(e, e.operand(0), values, count);
}

/// A rule for the 16 bytes of a lane, used in each.
template <class F>
auto in_each_lane(F rule) {
  return [rule](int n) {
    Byte b = rule(n % 16);
    b.number += n / 16 * 16;
    return b;
  };
}

// Within lanes

void shuffle_dwords(const Execution& e) {
  const int control = immediate(e);
  move_from(e, 1, in_each_lane([control](int n) { return first(4 * (control >> (2 * (n / 4)) & 3) + n % 4); }));
}

void align(const Execution& e) {
  const int shift = immediate(e);
  move_from_two(e, in_each_lane([shift](int n) {
                  return n + shift < 16 ? second(n + shift) : n + shift < 32 ? first(n + shift - 16) : kZero;
                }));
}

/// Elements of `bytes` bytes from the low (or high) halves of both, in turn.
template <int bytes, bool high>
void unpack(const Execution& e) {
  move_from_two(e, in_each_lane([](int n) {
                  const int element = n / (2 * bytes), from = (high ? 8 : 0) + bytes * element + n % bytes;
                  return n / bytes % 2 == 0 ? first(from) : second(from);
                }));
}

template <bool left>
void shift_bytes(const Execution& e) {
  const int count = immediate(e);
  move_from(e, first_source(e), in_each_lane([count](int n) {
              const int from = left ? n - count : n + count;
              return from >= 0 && from < 16 ? first(from) : kZero;
            }));
}

/// By the bits of the immediate: of dwords one for each of the whole, of words one for each of a lane.
template <int bytes>
void blend(const Execution& e) {
  const int control = immediate(e);
  move_from_two(e, [control](int n) { return (control >> (n / bytes % 8) & 1) != 0 ? second(n) : first(n); });
}

// Between lanes

void permute_qwords(const Execution& e) {
  const int control = immediate(e);
  move_from(e, 1, [control](int n) { return first(n / 32 * 32 + 8 * (control >> (2 * (n / 8 % 4)) & 3) + n % 8); });
}

void permute_halves(const Execution& e) {
  const int control = immediate(e);
  move_from_two(e, [control](int n) {
    const int choice = control >> (4 * (n / 16)) & 15, from = 16 * (choice & 1) + n % 16;
    return (choice & 8) != 0 ? kZero : (choice & 2) != 0 ? second(from) : first(from);
  });
}

/// The lower half of the result's lanes are lanes of the first source, the upper half of the second.
void shuffle_lanes(const Execution& e) {
  const int control = immediate(e), lanes = lanes_of(e.instruction);
  move_from_two(e, [control, lanes](int n) {
    const int l = n / 16, bits = lanes == 4 ? 2 : 1;
    const int from = 16 * (control >> (bits * l) & (lanes - 1)) + n % 16;
    return l < lanes / 2 ? first(from) : second(from);
  });
}

/// The two sources side by side, shifted right by elements of `bytes` bytes.
template <int bytes>
void align_elements(const Execution& e) {
  const int whole = 16 * lanes_of(e.instruction);
  const int shift = immediate(e) * bytes % whole;
  move_from_two(e, [=](int n) { return n + shift < whole ? second(n + shift) : first(n + shift - whole); });
}

/// The low `bytes` bytes, again and again.
template <int bytes>
void broadcast(const Execution& e) {
  move_from(e, 1, [](int n) { return first(n % bytes); });
}

/// The second source in place of the part of the first that the immediate chooses.
template <int bytes>
void insert(const Execution& e) {
  const int parts = std::max(1, 16 * lanes_of(e.instruction) / bytes);
  const int part = immediate(e) & (parts - 1);
  move_from_two(e, [part](int n) { return n / bytes == part ? second(n % bytes) : first(n); });
}

/// The part that the immediate chooses; of registers and memory of other kinds see extract_scalar.
template <int bytes>
void extract(const Execution& e) {
  const int parts = 16 * lanes_of(e.instruction) / bytes;
  const int part = immediate(e) & (parts - 1);
  move_from(e, 1, [part](int n) { return first(part * bytes + n); });
}

// To and from general registers, and memory of less than 16 bytes

/// The low `bytes` bytes, and zeros above.
template <int bytes>
void move_to_vector(const Execution& e) {
  move_from(e, 1, [](int n) { return n < bytes ? first(n) : kZero; });
}

void write_part(const Execution& e, int bytes, int part) {
  const Lanes a = vector_of(e, e.operand(1));
  const Lane value = moved(e, a, a, 0, [=](int n) { return n < bytes ? first(part * bytes + n) : kZero; });
  const Operand& to = e.operand(0);
  if (to.kind == Operand::Kind::memory) {
    store_lane(e, address_of(e, to.memory), value, 0, bytes);
  } else {
    write_scalar(e, to, normal(e.pool(), value));
  }
}

template <int bytes>
void move_from_vector(const Execution& e) {
  write_part(e, bytes, 0);
}

template <int bytes>
void extract_scalar(const Execution& e) {
  write_part(e, bytes, immediate(e) & (16 / bytes - 1));
}

constexpr Kinds v = kind::v, mv = kind::mv, x = kind::x, y = kind::y, z = kind::z, r32 = kind::r32, r64 = kind::r64,
                m8 = kind::m8, m16 = kind::m16, m32 = kind::m32, m64 = kind::m64, m128 = kind::m128, m256 = kind::m256,
                i = kind::i;
constexpr Lengths kTwoOrFour = k256 | k512;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_PSHUFD, kLegacy, {x, x | m128, i}, shuffle_dwords},
    {ZYDIS_MNEMONIC_VPSHUFD, kVexOrEvex, {v, v | mv, i}, shuffle_dwords, 4},
    {ZYDIS_MNEMONIC_PALIGNR, kLegacy, {x, x | m128, i}, align},
    {ZYDIS_MNEMONIC_VPALIGNR, kVexOrEvex, {v, v, v | mv, i}, align, 1},
    {ZYDIS_MNEMONIC_PUNPCKLDQ, kLegacy, {x, x | m128}, unpack<4, false>},
    {ZYDIS_MNEMONIC_VPUNPCKLDQ, kVexOrEvex, {v, v, v | mv}, unpack<4, false>, 4},
    {ZYDIS_MNEMONIC_PUNPCKHDQ, kLegacy, {x, x | m128}, unpack<4, true>},
    {ZYDIS_MNEMONIC_VPUNPCKHDQ, kVexOrEvex, {v, v, v | mv}, unpack<4, true>, 4},
    {ZYDIS_MNEMONIC_PUNPCKLQDQ, kLegacy, {x, x | m128}, unpack<8, false>},
    {ZYDIS_MNEMONIC_VPUNPCKLQDQ, kVexOrEvex, {v, v, v | mv}, unpack<8, false>, 8},
    {ZYDIS_MNEMONIC_PUNPCKHQDQ, kLegacy, {x, x | m128}, unpack<8, true>},
    {ZYDIS_MNEMONIC_VPUNPCKHQDQ, kVexOrEvex, {v, v, v | mv}, unpack<8, true>, 8},
    {ZYDIS_MNEMONIC_PSLLDQ, kLegacy, {x, i}, shift_bytes<true>},
    {ZYDIS_MNEMONIC_VPSLLDQ, kVex, {v, v, i}, shift_bytes<true>},
    {ZYDIS_MNEMONIC_VPSLLDQ, kEvex, {v, v | mv, i}, shift_bytes<true>},
    {ZYDIS_MNEMONIC_PSRLDQ, kLegacy, {x, i}, shift_bytes<false>},
    {ZYDIS_MNEMONIC_VPSRLDQ, kVex, {v, v, i}, shift_bytes<false>},
    {ZYDIS_MNEMONIC_VPSRLDQ, kEvex, {v, v | mv, i}, shift_bytes<false>},
    {ZYDIS_MNEMONIC_PBLENDW, kLegacy, {x, x | m128, i}, blend<2>},
    {ZYDIS_MNEMONIC_VPBLENDW, kVex, {v, v, v | mv, i}, blend<2>},
    {ZYDIS_MNEMONIC_VPBLENDD, kVex, {v, v, v | mv, i}, blend<4>},

    {ZYDIS_MNEMONIC_VPERMQ, kVexOrEvex, {v, v | mv, i}, permute_qwords, 8, kTwoOrFour},
    {ZYDIS_MNEMONIC_VPERM2I128, kVex, {y, y, y | m256, i}, permute_halves},
    {ZYDIS_MNEMONIC_VPERM2F128, kVex, {y, y, y | m256, i}, permute_halves},
    {ZYDIS_MNEMONIC_VSHUFI32X4, kEvex, {v, v, v | mv, i}, shuffle_lanes, 4, kTwoOrFour},
    {ZYDIS_MNEMONIC_VSHUFI64X2, kEvex, {v, v, v | mv, i}, shuffle_lanes, 8, kTwoOrFour},
    {ZYDIS_MNEMONIC_VALIGND, kEvex, {v, v, v | mv, i}, align_elements<4>, 4},
    {ZYDIS_MNEMONIC_VALIGNQ, kEvex, {v, v, v | mv, i}, align_elements<8>, 8},

    {ZYDIS_MNEMONIC_VPBROADCASTB, kVex, {v, x | m8}, broadcast<1>},
    {ZYDIS_MNEMONIC_VPBROADCASTB, kEvex, {v, x | m8 | r32}, broadcast<1>, 1},
    {ZYDIS_MNEMONIC_VPBROADCASTW, kVex, {v, x | m16}, broadcast<2>},
    {ZYDIS_MNEMONIC_VPBROADCASTW, kEvex, {v, x | m16 | r32}, broadcast<2>, 2},
    {ZYDIS_MNEMONIC_VPBROADCASTD, kVex, {v, x | m32}, broadcast<4>},
    {ZYDIS_MNEMONIC_VPBROADCASTD, kEvex, {v, x | m32 | r32}, broadcast<4>, 4},
    {ZYDIS_MNEMONIC_VPBROADCASTQ, kVex, {v, x | m64}, broadcast<8>},
    {ZYDIS_MNEMONIC_VPBROADCASTQ, kEvex, {v, x | m64 | r64}, broadcast<8>, 8},
    {ZYDIS_MNEMONIC_VBROADCASTI128, kVex, {y, m128}, broadcast<16>},
    {ZYDIS_MNEMONIC_VBROADCASTF128, kVex, {y, m128}, broadcast<16>},
    {ZYDIS_MNEMONIC_VBROADCASTI32X4, kEvex, {v, m128}, broadcast<16>, 4, kTwoOrFour},
    {ZYDIS_MNEMONIC_VBROADCASTI64X2, kEvex, {v, m128}, broadcast<16>, 8, kTwoOrFour},
    {ZYDIS_MNEMONIC_VBROADCASTI32X8, kEvex, {z, m256}, broadcast<32>, 4},
    {ZYDIS_MNEMONIC_VBROADCASTI64X4, kEvex, {z, m256}, broadcast<32>, 8},

    {ZYDIS_MNEMONIC_VINSERTI128, kVex, {y, y, x | m128, i}, insert<16>},
    {ZYDIS_MNEMONIC_VINSERTF128, kVex, {y, y, x | m128, i}, insert<16>},
    {ZYDIS_MNEMONIC_VINSERTI32X4, kEvex, {v, v, x | m128, i}, insert<16>, 4, kTwoOrFour},
    {ZYDIS_MNEMONIC_VINSERTI64X2, kEvex, {v, v, x | m128, i}, insert<16>, 8, kTwoOrFour},
    {ZYDIS_MNEMONIC_VINSERTI32X8, kEvex, {z, z, y | m256, i}, insert<32>, 4},
    {ZYDIS_MNEMONIC_VINSERTI64X4, kEvex, {z, z, y | m256, i}, insert<32>, 8},
    {ZYDIS_MNEMONIC_VEXTRACTI128, kVex, {x | m128, y, i}, extract<16>},
    {ZYDIS_MNEMONIC_VEXTRACTF128, kVex, {x | m128, y, i}, extract<16>},
    {ZYDIS_MNEMONIC_VEXTRACTI32X4, kEvex, {x | m128, v, i}, extract<16>, 0, kTwoOrFour},
    {ZYDIS_MNEMONIC_VEXTRACTI64X2, kEvex, {x | m128, v, i}, extract<16>, 0, kTwoOrFour},
    {ZYDIS_MNEMONIC_VEXTRACTI32X8, kEvex, {y | m256, z, i}, extract<32>},
    {ZYDIS_MNEMONIC_VEXTRACTI64X4, kEvex, {y | m256, z, i}, extract<32>},

    {ZYDIS_MNEMONIC_MOVD, kLegacy, {x, r32 | m32}, move_to_vector<4>},
    {ZYDIS_MNEMONIC_MOVD, kLegacy, {r32 | m32, x}, move_from_vector<4>},
    {ZYDIS_MNEMONIC_VMOVD, kVexOrEvex, {x, r32 | m32}, move_to_vector<4>},
    {ZYDIS_MNEMONIC_VMOVD, kVexOrEvex, {r32 | m32, x}, move_from_vector<4>},
    {ZYDIS_MNEMONIC_MOVQ, kLegacy, {x, x | r64 | m64}, move_to_vector<8>},
    {ZYDIS_MNEMONIC_MOVQ, kLegacy, {r64 | m64, x}, move_from_vector<8>},
    {ZYDIS_MNEMONIC_VMOVQ, kVexOrEvex, {x, x | r64 | m64}, move_to_vector<8>},
    {ZYDIS_MNEMONIC_VMOVQ, kVexOrEvex, {r64 | m64, x}, move_from_vector<8>},
    {ZYDIS_MNEMONIC_PINSRB, kLegacy, {x, r32 | m8, i}, insert<1>},
    {ZYDIS_MNEMONIC_VPINSRB, kVexOrEvex, {x, x, r32 | m8, i}, insert<1>},
    {ZYDIS_MNEMONIC_PINSRW, kLegacy, {x, r32 | m16, i}, insert<2>},
    {ZYDIS_MNEMONIC_VPINSRW, kVexOrEvex, {x, x, r32 | m16, i}, insert<2>},
    {ZYDIS_MNEMONIC_PINSRD, kLegacy, {x, r32 | m32, i}, insert<4>},
    {ZYDIS_MNEMONIC_VPINSRD, kVexOrEvex, {x, x, r32 | m32, i}, insert<4>},
    {ZYDIS_MNEMONIC_PINSRQ, kLegacy, {x, r64 | m64, i}, insert<8>},
    {ZYDIS_MNEMONIC_VPINSRQ, kVexOrEvex, {x, x, r64 | m64, i}, insert<8>},
    {ZYDIS_MNEMONIC_PEXTRB, kLegacy, {r32 | m8, x, i}, extract_scalar<1>},
    {ZYDIS_MNEMONIC_VPEXTRB, kVexOrEvex, {r32 | m8, x, i}, extract_scalar<1>},
    {ZYDIS_MNEMONIC_PEXTRW, kLegacy, {r32 | m16, x, i}, extract_scalar<2>},
    {ZYDIS_MNEMONIC_VPEXTRW, kVexOrEvex, {r32 | m16, x, i}, extract_scalar<2>},
    {ZYDIS_MNEMONIC_PEXTRD, kLegacy, {r32 | m32, x, i}, extract_scalar<4>},
    {ZYDIS_MNEMONIC_VPEXTRD, kVexOrEvex, {r32 | m32, x, i}, extract_scalar<4>},
    {ZYDIS_MNEMONIC_PEXTRQ, kLegacy, {r64 | m64, x, i}, extract_scalar<8>},
    {ZYDIS_MNEMONIC_VPEXTRQ, kVexOrEvex, {r64 | m64, x, i}, extract_scalar<8>},
};

}  // namespace

std::span<const Row> byte_move_rows() { return kRows; }

}  // namespace stitchgcm::verify
