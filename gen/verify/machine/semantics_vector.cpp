// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Vector instructions, lane by lane.
#include <fmt/format.h>

#include <map>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

using Lanes = std::array<Lane, kVectorLanes>;

bool is_vector(const Operand& o) { return o.kind == Operand::Kind::reg && o.reg.kind == RegisterKind::vector; }

Lanes& vector_of(const Execution& e, const Operand& o) {
  if (!is_vector(o)) throw Refused("a vector register is expected");
  return e.state.vector[static_cast<std::size_t>(o.reg.number)];
}

/// How many lanes the instruction works on.
int lanes_of(const Execution& e) {
  int bits = 128;
  for (const Operand& o : e.instruction.operands) {
    if (is_vector(o)) bits = std::max(bits, o.reg.bits);
  }
  return bits / 128;
}

void require_no_mask(const Execution& e) {
  if (e.instruction.mask)
    throw Refused("a mask on an instruction that is not followed with one: " + e.instruction.form);
}

/// Memory operands of legacy instructions must be aligned; so must those of vmovdqa and its like.
void require_aligned(const Execution& e, const Address& a, int bytes) {
  const Region& r = e.state.memory.region(a.region);
  const Affine place = e.facts().resolve(a.place);
  if (r.alignment % bytes != 0 || !place.divisible_by(bytes))
    throw Refused("an aligned access where alignment is not known");
}

/// Lane l of an operand; of memory, 16 bytes.
Lane lane_of(const Execution& e, const Operand& o, int l) {
  if (is_vector(o)) return vector_of(e, o)[static_cast<std::size_t>(l)];
  if (o.kind != Operand::Kind::memory) throw Refused("a vector operand is expected");
  const Address a = address_of(e, o.memory);
  if (e.instruction.encoding == Encoding::legacy) require_aligned(e, a, 16);
  return load_lane(e, {a.region, a.place + 16 * l}, 16);
}

/// VEX and EVEX instructions write zeros above what they compute, legacy ones leave it.
void write_lanes(const Execution& e, const Operand& to, const Lanes& values, int count) {
  Lanes& lanes = vector_of(e, to);
  for (int l = 0; l < kVectorLanes; l++) {
    if (l < count) {
      lanes[static_cast<std::size_t>(l)] = values[static_cast<std::size_t>(l)];
    } else if (e.instruction.encoding != Encoding::legacy) {
      lanes[static_cast<std::size_t>(l)] = e.pool().constant(0);
    }
  }
}

/// The two sources of an operation: VEX and EVEX name the result apart, legacy instructions write over the first.
std::pair<std::size_t, std::size_t> sources(const Execution& e) {
  const bool legacy = e.instruction.encoding == Encoding::legacy;
  return legacy ? std::pair<std::size_t, std::size_t>{0, 1} : std::pair<std::size_t, std::size_t>{1, 2};
}

int immediate(const Execution& e) {
  const Operand& o = e.instruction.operands.back();
  if (o.kind != Operand::Kind::immediate) throw Refused("an immediate operand is expected");
  return static_cast<int>(o.immediate & 0xff);
}

template <class F>
void lane_by_lane(const Execution& e, F f) {
  require_no_mask(e);
  const auto [first, second] = sources(e);
  const int count = lanes_of(e);
  Lanes values{};
  for (int l = 0; l < count; l++) {
    values[static_cast<std::size_t>(l)] = f(lane_of(e, e.operand(first), l), lane_of(e, e.operand(second), l));
  }
  write_lanes(e, e.operand(0), values, count);
}

template <class F>
void lane_by_lane_of_one(const Execution& e, std::size_t source, F f) {
  require_no_mask(e);
  const int count = lanes_of(e);
  Lanes values{};
  for (int l = 0; l < count; l++) values[static_cast<std::size_t>(l)] = f(lane_of(e, e.operand(source), l));
  write_lanes(e, e.operand(0), values, count);
}

void move(const Execution& e, int alignment) {
  require_no_mask(e);
  const int count = lanes_of(e);
  const Operand &to = e.operand(0), &from = e.operand(1);
  if (to.kind == Operand::Kind::memory) {
    const Address a = address_of(e, to.memory);
    if (alignment > 1) require_aligned(e, a, 16 * count);
    const Lanes values = vector_of(e, from);
    // All or nothing.
    e.state.memory.check_access(e.facts(), a.region, a.place, 16 * count, true);
    for (int l = 0; l < count; l++) {
      e.state.memory.store(e.facts(), a.region, a.place + 16 * l, values[static_cast<std::size_t>(l)], 0, 16);
    }
    return;
  }
  Lanes values{};
  if (from.kind == Operand::Kind::memory) {
    const Address a = address_of(e, from.memory);
    if (alignment > 1) require_aligned(e, a, 16 * count);
    for (int l = 0; l < count; l++)
      values[static_cast<std::size_t>(l)] = load_lane(e, {a.region, a.place + 16 * l}, 16);
  } else {
    values = vector_of(e, from);
  }
  write_lanes(e, to, values, count);
}
void move_unaligned(const Execution& e) { move(e, 1); }
void move_aligned(const Execution& e) { move(e, 16); }

void vpxor(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().exclusive_or(a, b); });
}
void vpand(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().bitwise_and(a, b); });
}
void vpandn(const Execution& e) {
  const Lane ones = e.pool().constant(~Bits128{0});
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().bitwise_and(e.pool().exclusive_or(a, ones), b); });
}
void vpor(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().bitwise_or(a, b); });
}
void vpshufb(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().shuffle_bytes(a, b); });
}
void vaesenc(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().aes_round(a, b); });
}
void vaesenclast(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().aes_last_round(a, b); });
}
void vpclmulqdq(const Execution& e) {
  const int halves = immediate(e);
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().carryless_multiply(a, b, halves); });
}

/// A public length that is added must be a number.
Lane settled(const Execution& e, Lane a) {
  const std::optional<Affine> number = e.pool().as_integer(a);
  if (!number) return a;
  const std::int64_t value = e.facts().constant(*number, "a number that is added to a counter");
  Substitution known;
  for (const Affine::Term& t : number->terms()) known.emplace(t.variable, e.facts().resolve(t.variable));
  static_cast<void>(value);
  return e.pool().substitute(a, known);
}
void vpaddd(const Execution& e) {
  lane_by_lane(e, [&](Lane a, Lane b) { return e.pool().add32(settled(e, a), settled(e, b)); });
}

void vpshufd(const Execution& e) {
  const int control = immediate(e);
  BytePermutation p;
  for (int i = 0; i < 16; i++) {
    p[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(4 * (control >> (2 * (i / 4)) & 3) + i % 4);
  }
  lane_by_lane_of_one(e, 1, [&](Lane a) { return e.pool().apply(e.pool().permute_bytes(p), a); });
}

/// Bytes of two lanes: result byte i is byte p[i] of b for p[i] < 16, byte p[i] - 16 of a for less than 32, else 0.
template <class F>
void bytes_of_two(const Execution& e, F from) {
  BytePermutation of_a, of_b;
  for (int i = 0; i < 16; i++) {
    const int n = from(i);
    of_b[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(n < 16 ? n : -1);
    of_a[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(n >= 16 && n < 32 ? n - 16 : -1);
  }
  LanePool& pool = e.pool();
  lane_by_lane(e, [&](Lane a, Lane b) {
    return pool.exclusive_or(pool.apply(pool.permute_bytes(of_a), a), pool.apply(pool.permute_bytes(of_b), b));
  });
}
void vpalignr(const Execution& e) {
  const int shift = immediate(e);
  bytes_of_two(e, [shift](int i) { return i + shift; });
}
void vpunpcklqdq(const Execution& e) {
  bytes_of_two(e, [](int i) { return i < 8 ? 16 + i : i - 8; });
}
void vpunpckhqdq(const Execution& e) {
  bytes_of_two(e, [](int i) { return i < 8 ? 24 + i : i; });
}

template <bool left>
void shift_bytes(const Execution& e) {
  const int n = immediate(e);
  BytePermutation p;
  for (int i = 0; i < 16; i++) {
    const int from = left ? i - n : i + n;
    p[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(from >= 0 && from < 16 ? from : -1);
  }
  lane_by_lane_of_one(e, sources(e).first, [&](Lane a) { return e.pool().apply(e.pool().permute_bytes(p), a); });
}

enum class Kind { left, right, arithmetic_right };

template <int width, Kind kind>
void shift_elements(const Execution& e) {
  const int n = immediate(e);
  const auto element = [n](std::uint64_t v) -> std::uint64_t {
    constexpr std::uint64_t kAll = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (width % 64)) - 1;
    if (kind == Kind::left) return n < width ? v << n & kAll : 0;
    if (kind == Kind::right) return n < width ? v >> n : 0;
    const int count = std::min(n, width - 1);
    const bool negative = (v >> (width - 1) & 1) != 0;
    return ((v >> count) | (negative ? kAll & ~(kAll >> count) : 0)) & kAll;
  };
  const auto all = [element](Bits128 v) {
    Bits128 out = 0;
    for (int i = 0; i < 128; i += width) {
      const Bits128 part = v >> i & low_bits(width);
      out |= Bits128{element(low_half(part))} << i;
    }
    return out;
  };
  const LinearMap m = e.pool().linear(fmt::format("shift {} of {} by {}", static_cast<int>(kind), width, n), all);
  lane_by_lane_of_one(e, sources(e).first, [&](Lane a) { return e.pool().apply(m, a); });
}

/// n bytes at byte `to` of a lane.
Lane place_bytes(LanePool& pool, Lane a, int from, int n, int to) {
  BytePermutation p;
  p.fill(-1);
  for (int i = 0; i < n; i++) p[static_cast<std::size_t>(to + i)] = static_cast<std::int8_t>(from + i);
  return pool.apply(pool.permute_bytes(p), a);
}

/// movd, movq: between the low end of a vector and a general register or memory.
template <int bytes>
void move_low(const Execution& e) {
  require_no_mask(e);
  LanePool& pool = e.pool();
  const Operand &to = e.operand(0), &from = e.operand(1);
  const Bits128 kept = low_bits(8 * bytes);
  if (is_vector(to)) {
    Lane value;
    if (is_vector(from)) {
      value = pool.mask(vector_of(e, from)[0], kept);
    } else if (from.kind == Operand::Kind::memory) {
      value = as_lane(pool, e.facts(), read_scalar(e, from));
    } else {
      value = pool.mask(as_lane(pool, e.facts(), read_scalar(e, from)), kept);
    }
    write_lanes(e, to, {value}, 1);
    return;
  }
  const Lane value = pool.mask(vector_of(e, from)[0], kept);
  if (to.kind == Operand::Kind::memory) {
    const Address a = address_of(e, to.memory);
    e.state.memory.store(e.facts(), a.region, a.place, value, 0, bytes);
  } else {
    write_scalar(e, to, normal(pool, value));
  }
}

template <int bytes>
void insert(const Execution& e) {
  require_no_mask(e);
  LanePool& pool = e.pool();
  const auto [first, second] = sources(e);
  const int at = (immediate(e) * bytes) % 16;
  const Lane into = vector_of(e, e.operand(first))[0];
  const Lane value = as_lane(pool, e.facts(), read_scalar(e, e.operand(second)));
  const Bits128 replaced = low_bits(8 * bytes) << (8 * at);
  write_lanes(e, e.operand(0), {pool.exclusive_or(pool.mask(into, ~replaced), place_bytes(pool, value, 0, bytes, at))},
              1);
}

template <int bytes>
void extract(const Execution& e) {
  require_no_mask(e);
  LanePool& pool = e.pool();
  const int at = (immediate(e) * bytes) % 16;
  const Lane value = place_bytes(pool, vector_of(e, e.operand(1))[0], at, bytes, 0);
  if (e.operand(0).kind == Operand::Kind::memory) {
    const Address a = address_of(e, e.operand(0).memory);
    e.state.memory.store(e.facts(), a.region, a.place, value, 0, bytes);
  } else {
    write_scalar(e, e.operand(0), normal(pool, value));
  }
}

void vptest(const Execution& e) {
  require_no_mask(e);
  const Operand &a = e.operand(0), &b = e.operand(1);
  if (!is_vector(a) || !is_vector(b) || a.reg.number != b.reg.number || lanes_of(e) != 1) {
    throw Refused("vptest of two different values");
  }
  e.state.flags = {Flags::Kind::lane_zero, {}, {}, 64, vector_of(e, a)[0]};
}

void vzeroupper(const Execution& e) {
  for (std::size_t r = 0; r < 16; r++) {
    for (std::size_t l = 1; l < kVectorLanes; l++) e.state.vector[r][l] = e.pool().constant(0);
  }
}
void vzeroall(const Execution& e) {
  for (std::size_t r = 0; r < 16; r++) e.state.vector[r].fill(e.pool().constant(0));
}

}  // namespace

Semantics vector_semantics(ZydisMnemonic m) {
  static const std::map<ZydisMnemonic, Semantics> kTable = {
      {ZYDIS_MNEMONIC_VMOVDQU, move_unaligned},
      {ZYDIS_MNEMONIC_MOVDQU, move_unaligned},
      {ZYDIS_MNEMONIC_VMOVDQA, move_aligned},
      {ZYDIS_MNEMONIC_MOVDQA, move_aligned},
      {ZYDIS_MNEMONIC_VPXOR, vpxor},
      {ZYDIS_MNEMONIC_PXOR, vpxor},
      {ZYDIS_MNEMONIC_VPAND, vpand},
      {ZYDIS_MNEMONIC_PAND, vpand},
      {ZYDIS_MNEMONIC_VPANDN, vpandn},
      {ZYDIS_MNEMONIC_PANDN, vpandn},
      {ZYDIS_MNEMONIC_VPOR, vpor},
      {ZYDIS_MNEMONIC_POR, vpor},
      {ZYDIS_MNEMONIC_VPADDD, vpaddd},
      {ZYDIS_MNEMONIC_PADDD, vpaddd},
      {ZYDIS_MNEMONIC_VPSHUFB, vpshufb},
      {ZYDIS_MNEMONIC_PSHUFB, vpshufb},
      {ZYDIS_MNEMONIC_VPSHUFD, vpshufd},
      {ZYDIS_MNEMONIC_PSHUFD, vpshufd},
      {ZYDIS_MNEMONIC_VAESENC, vaesenc},
      {ZYDIS_MNEMONIC_AESENC, vaesenc},
      {ZYDIS_MNEMONIC_VAESENCLAST, vaesenclast},
      {ZYDIS_MNEMONIC_AESENCLAST, vaesenclast},
      {ZYDIS_MNEMONIC_VPCLMULQDQ, vpclmulqdq},
      {ZYDIS_MNEMONIC_PCLMULQDQ, vpclmulqdq},
      {ZYDIS_MNEMONIC_VPALIGNR, vpalignr},
      {ZYDIS_MNEMONIC_PALIGNR, vpalignr},
      {ZYDIS_MNEMONIC_VPUNPCKLQDQ, vpunpcklqdq},
      {ZYDIS_MNEMONIC_PUNPCKLQDQ, vpunpcklqdq},
      {ZYDIS_MNEMONIC_VPUNPCKHQDQ, vpunpckhqdq},
      {ZYDIS_MNEMONIC_PUNPCKHQDQ, vpunpckhqdq},
      {ZYDIS_MNEMONIC_VPSLLDQ, shift_bytes<true>},
      {ZYDIS_MNEMONIC_PSLLDQ, shift_bytes<true>},
      {ZYDIS_MNEMONIC_VPSRLDQ, shift_bytes<false>},
      {ZYDIS_MNEMONIC_PSRLDQ, shift_bytes<false>},
      {ZYDIS_MNEMONIC_VPSLLD, shift_elements<32, Kind::left>},
      {ZYDIS_MNEMONIC_PSLLD, shift_elements<32, Kind::left>},
      {ZYDIS_MNEMONIC_VPSRLD, shift_elements<32, Kind::right>},
      {ZYDIS_MNEMONIC_PSRLD, shift_elements<32, Kind::right>},
      {ZYDIS_MNEMONIC_VPSRAD, shift_elements<32, Kind::arithmetic_right>},
      {ZYDIS_MNEMONIC_PSRAD, shift_elements<32, Kind::arithmetic_right>},
      {ZYDIS_MNEMONIC_VPSLLQ, shift_elements<64, Kind::left>},
      {ZYDIS_MNEMONIC_PSLLQ, shift_elements<64, Kind::left>},
      {ZYDIS_MNEMONIC_VPSRLQ, shift_elements<64, Kind::right>},
      {ZYDIS_MNEMONIC_PSRLQ, shift_elements<64, Kind::right>},
      {ZYDIS_MNEMONIC_VMOVD, move_low<4>},
      {ZYDIS_MNEMONIC_MOVD, move_low<4>},
      {ZYDIS_MNEMONIC_VMOVQ, move_low<8>},
      {ZYDIS_MNEMONIC_MOVQ, move_low<8>},
      {ZYDIS_MNEMONIC_VPINSRD, insert<4>},
      {ZYDIS_MNEMONIC_PINSRD, insert<4>},
      {ZYDIS_MNEMONIC_VPINSRQ, insert<8>},
      {ZYDIS_MNEMONIC_PINSRQ, insert<8>},
      {ZYDIS_MNEMONIC_VPEXTRD, extract<4>},
      {ZYDIS_MNEMONIC_PEXTRD, extract<4>},
      {ZYDIS_MNEMONIC_VPEXTRQ, extract<8>},
      {ZYDIS_MNEMONIC_PEXTRQ, extract<8>},
      {ZYDIS_MNEMONIC_VPTEST, vptest},
      {ZYDIS_MNEMONIC_PTEST, vptest},
      {ZYDIS_MNEMONIC_VZEROUPPER, vzeroupper},
      {ZYDIS_MNEMONIC_VZEROALL, vzeroall},
  };
  const auto found = kTable.find(m);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace stitchgcm::verify
