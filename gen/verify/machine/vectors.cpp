// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Vector operands: lanes of registers and memory, and what writing under a mask leaves.
#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

std::size_t at(int l) { return static_cast<std::size_t>(l); }

/// All lanes, or none.
void store_lanes(const Execution& e, const MemoryOperand& m, const Lanes& values) {
  const Address a = address_of(e, m);
  const int bytes = m.bits / 8;
  e.state.memory.check_access(e.facts(), a.region, a.place, bytes, true);
  for (int done = 0; done < bytes; done += 16) {
    store_lane(e, {a.region, a.place + done}, values[at(done / 16)], 0, std::min(16, bytes - done));
  }
}

}  // namespace

bool is_vector(const Operand& o) { return o.kind == Operand::Kind::reg && o.reg.kind == RegisterKind::vector; }

const Lanes& vector_of(const Execution& e, const Operand& o) { return e.state.vector[at(o.reg.number)]; }

int lanes_of(const Instruction& i) { return i.encoding == Encoding::legacy ? 1 : std::max(1, i.vector_bits / 128); }

int immediate(const Execution& e) { return static_cast<int>(e.instruction.operands.back().immediate & 0xff); }

std::size_t first_source(const Execution& e) { return e.instruction.encoding == Encoding::legacy ? 0 : 1; }

Lane lane_of(const Execution& e, const Operand& o, int l) {
  if (is_vector(o)) return vector_of(e, o)[at(l)];
  if (o.kind == Operand::Kind::reg) return as_lane(e.pool(), e.facts(), read_scalar(e, o));
  const int bytes = o.memory.bits / 8;
  if (bytes <= 8) return as_lane(e.pool(), e.facts(), read_scalar(e, o));
  const Address a = address_of(e, o.memory);
  if (e.instruction.encoding == Encoding::legacy) require_aligned(e, a, 16);
  return load_lane(e, {a.region, a.place + 16 * l}, std::min(16, bytes - 16 * l));
}

std::uint64_t mask_value(const Execution& e, int number) {
  const auto& value = e.state.mask[at(number)];
  if (!value) throw Refused("a mask that is not known");
  return *value;
}

Bits128 selected_bits(std::uint64_t mask, int l, int element) {
  const int elements = 16 / element;
  Bits128 bits = 0;
  for (int i = 0; i < elements; i++) {
    if ((mask >> (l * elements + i) & 1) != 0) bits |= low_bits(8 * element) << (8 * element * i);
  }
  return bits;
}

void write_lanes(const Execution& e, const Operand& to, Lanes values, int count) {
  if (!is_vector(to)) {
    store_lanes(e, to.memory, values);
    return;
  }
  LanePool& pool = e.pool();
  Lanes& lanes = e.state.vector[at(to.reg.number)];
  if (e.instruction.mask) {
    const std::uint64_t mask = mask_value(e, *e.instruction.mask);
    for (int l = 0; l < count; l++) {
      const Bits128 selected = selected_bits(mask, l, e.row.element);
      const Lane left_out = e.instruction.zeroing ? pool.constant(0) : pool.mask(lanes[at(l)], ~selected);
      values[at(l)] = pool.exclusive_or(pool.mask(values[at(l)], selected), left_out);
    }
  }
  for (int l = 0; l < kVectorLanes; l++) {
    if (l < count) {
      lanes[at(l)] = values[at(l)];
    } else if (e.instruction.encoding != Encoding::legacy) {
      lanes[at(l)] = pool.constant(0);
    }
  }
}

}  // namespace stitchgcm::verify
