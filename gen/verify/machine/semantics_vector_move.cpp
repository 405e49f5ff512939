// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Moves of whole vectors, between registers and to and from memory; with a mask, of some of their elements.
#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

std::size_t at(int n) { return static_cast<std::size_t>(n); }

void move(const Execution& e) { write_lanes(e, e.operand(0), vector_of(e, e.operand(1)), lanes_of(e.instruction)); }

/// Runs of consecutive bytes of 16 bytes that the mask selects: f(first byte, bytes).
template <class F>
void for_each_run(Bits128 selected, F f) {
  for (int i = 0; i < 16;) {
    int bytes = 0;
    while (i + bytes < 16 && (selected >> (8 * (i + bytes)) & 1) != 0) bytes++;
    if (bytes != 0) f(i, bytes);
    i += bytes + 1;
  }
}

/// Bytes that the mask leaves out are not accessed.
void masked_load(const Execution& e, const Address& a, std::uint64_t mask) {
  LanePool& pool = e.pool();
  const int count = lanes_of(e.instruction);
  Lanes values{};
  for (int l = 0; l < count; l++) {
    for_each_run(selected_bits(mask, l, e.row.element), [&](int first, int bytes) {
      BytePermutation p;
      p.fill(-1);
      for (int i = 0; i < bytes; i++) p[at(first + i)] = static_cast<std::int8_t>(i);
      const Lane part = load_lane(e, {a.region, a.place + 16 * l + first}, bytes);
      values[at(l)] = pool.exclusive_or(values[at(l)], pool.apply(pool.permute_bytes(p), part));
    });
  }
  write_lanes(e, e.operand(0), values, count);
}

void masked_store(const Execution& e, const Address& a, std::uint64_t mask) {
  const Lanes values = vector_of(e, e.operand(1));
  // All of them may be written, or none is.
  for (const bool write : {false, true}) {
    for (int l = 0; l < lanes_of(e.instruction); l++) {
      for_each_run(selected_bits(mask, l, e.row.element), [&](int first, int bytes) {
        const Affine place = a.place + 16 * l + first;
        if (write) {
          store_lane(e, {a.region, place}, values[at(l)], first, bytes);
        } else {
          e.state.memory.check_access(e.facts(), a.region, place, bytes, true);
        }
      });
    }
  }
}

enum class Alignment { none, required };

template <Alignment alignment>
void move_memory(const Execution& e) {
  const bool stores = e.operand(0).kind == Operand::Kind::memory;
  const Operand& o = e.operand(stores ? 0 : 1);
  const Address a = address_of(e, o.memory);
  if (alignment == Alignment::required) require_aligned(e, a, o.memory.bits / 8);
  if (e.instruction.mask) {
    const std::uint64_t mask = mask_value(e, *e.instruction.mask);
    if (stores) return masked_store(e, a, mask);
    return masked_load(e, a, mask);
  }
  const int count = lanes_of(e.instruction);
  Lanes values{};
  if (stores) {
    values = vector_of(e, e.operand(1));
  } else {
    // Not by lane_of: there, legacy instructions want alignment.
    for (int l = 0; l < count; l++) values[at(l)] = load_lane(e, {a.region, a.place + 16 * l}, 16);
  }
  write_lanes(e, e.operand(0), values, count);
}

constexpr Kinds v = kind::v, mv = kind::mv, x = kind::x, m128 = kind::m128;
constexpr auto kUnaligned = move_memory<Alignment::none>, kAligned = move_memory<Alignment::required>;

constexpr Row kRows[] = {
    {ZYDIS_MNEMONIC_MOVDQU, kLegacy, {x, x}, move},
    {ZYDIS_MNEMONIC_MOVDQU, kLegacy, {x, m128}, kUnaligned},
    {ZYDIS_MNEMONIC_MOVDQU, kLegacy, {m128, x}, kUnaligned},
    {ZYDIS_MNEMONIC_MOVUPS, kLegacy, {x, x}, move},
    {ZYDIS_MNEMONIC_MOVUPS, kLegacy, {x, m128}, kUnaligned},
    {ZYDIS_MNEMONIC_MOVUPS, kLegacy, {m128, x}, kUnaligned},
    {ZYDIS_MNEMONIC_MOVDQA, kLegacy, {x, x}, move},
    {ZYDIS_MNEMONIC_MOVDQA, kLegacy, {x, m128}, kAligned},
    {ZYDIS_MNEMONIC_MOVDQA, kLegacy, {m128, x}, kAligned},
    {ZYDIS_MNEMONIC_MOVAPS, kLegacy, {x, x}, move},
    {ZYDIS_MNEMONIC_MOVAPS, kLegacy, {x, m128}, kAligned},
    {ZYDIS_MNEMONIC_MOVAPS, kLegacy, {m128, x}, kAligned},
    {ZYDIS_MNEMONIC_VMOVDQU, kVex, {v, v}, move},
    {ZYDIS_MNEMONIC_VMOVDQU, kVex, {v, mv}, kUnaligned},
    {ZYDIS_MNEMONIC_VMOVDQU, kVex, {mv, v}, kUnaligned},
    {ZYDIS_MNEMONIC_VMOVUPS, kVex, {v, v}, move},
    {ZYDIS_MNEMONIC_VMOVUPS, kVex, {v, mv}, kUnaligned},
    {ZYDIS_MNEMONIC_VMOVUPS, kVex, {mv, v}, kUnaligned},
    {ZYDIS_MNEMONIC_VMOVDQA, kVex, {v, v}, move},
    {ZYDIS_MNEMONIC_VMOVDQA, kVex, {v, mv}, kAligned},
    {ZYDIS_MNEMONIC_VMOVDQA, kVex, {mv, v}, kAligned},
    {ZYDIS_MNEMONIC_VMOVDQU8, kEvex, {v, v}, move, 1},
    {ZYDIS_MNEMONIC_VMOVDQU8, kEvex, {v, mv}, kUnaligned, 1},
    {ZYDIS_MNEMONIC_VMOVDQU8, kEvex, {mv, v}, kUnaligned, 1},
    {ZYDIS_MNEMONIC_VMOVDQU16, kEvex, {v, v}, move, 2},
    {ZYDIS_MNEMONIC_VMOVDQU16, kEvex, {v, mv}, kUnaligned, 2},
    {ZYDIS_MNEMONIC_VMOVDQU16, kEvex, {mv, v}, kUnaligned, 2},
    {ZYDIS_MNEMONIC_VMOVDQU32, kEvex, {v, v}, move, 4},
    {ZYDIS_MNEMONIC_VMOVDQU32, kEvex, {v, mv}, kUnaligned, 4},
    {ZYDIS_MNEMONIC_VMOVDQU32, kEvex, {mv, v}, kUnaligned, 4},
    {ZYDIS_MNEMONIC_VMOVDQU64, kEvex, {v, v}, move, 8},
    {ZYDIS_MNEMONIC_VMOVDQU64, kEvex, {v, mv}, kUnaligned, 8},
    {ZYDIS_MNEMONIC_VMOVDQU64, kEvex, {mv, v}, kUnaligned, 8},
    {ZYDIS_MNEMONIC_VMOVDQA32, kEvex, {v, v}, move, 4},
    {ZYDIS_MNEMONIC_VMOVDQA32, kEvex, {v, mv}, kAligned, 4},
    {ZYDIS_MNEMONIC_VMOVDQA32, kEvex, {mv, v}, kAligned, 4},
    {ZYDIS_MNEMONIC_VMOVDQA64, kEvex, {v, v}, move, 8},
    {ZYDIS_MNEMONIC_VMOVDQA64, kEvex, {v, mv}, kAligned, 8},
    {ZYDIS_MNEMONIC_VMOVDQA64, kEvex, {mv, v}, kAligned, 8},
};

}  // namespace

std::span<const Row> vector_move_rows() { return kRows; }

}  // namespace stitchgcm::verify
