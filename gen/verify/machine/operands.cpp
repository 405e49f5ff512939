// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Where operands are, and what they hold.
#include <fmt/format.h>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

constexpr const char* kNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

const Scalar& general(const Execution& e, int n) { return e.state.general[static_cast<std::size_t>(n)]; }

}  // namespace

const Operand& Execution::operand(std::size_t n) const {
  if (n >= instruction.operands.size()) throw Refused("an operand that is missing");
  return instruction.operands[n];
}

int bits_of(const Operand& o) {
  if (o.kind == Operand::Kind::reg) return o.reg.bits;
  return o.kind == Operand::Kind::memory ? o.memory.bits : 64;
}

Address address_of(const Execution& e, const MemoryOperand& m) {
  if (m.absolute) return {e.state.constants, static_cast<std::int64_t>(*m.absolute)};
  std::optional<RegionId> region;
  Affine place = m.displacement;
  const auto add = [&](int n, int scale) {
    const Scalar& s = general(e, n);
    switch (s.kind) {
      case Scalar::Kind::number: place += s.value * scale; return;
      case Scalar::Kind::pointer:
        if (region || scale != 1) throw Refused("an address made of two pointers");
        region = s.region;
        place += s.value;
        return;
      case Scalar::Kind::lane: throw Refused(fmt::format("a secret in an address: {} holds data", kNames[n]));
      case Scalar::Kind::unknown:
        throw Refused(fmt::format("{} is read where it may hold one thing or another", kNames[n]));
    }
  };
  if (m.base) add(*m.base, 1);
  if (m.index) add(*m.index, m.scale);
  if (!region) throw Refused("an access to memory without a pointer");
  return {*region, place};
}

Lane load_lane(const Execution& e, const Address& a, int bytes) {
  return e.state.memory.load(e.pool(), e.facts(), a.region, a.place, bytes);
}

Scalar read_scalar(const Execution& e, const Operand& o) {
  LanePool& pool = e.pool();
  const int bits = bits_of(o);
  switch (o.kind) {
    case Operand::Kind::immediate: return Scalar::number(static_cast<std::int64_t>(o.immediate));
    case Operand::Kind::memory: {
      const Address a = address_of(e, o.memory);
      const Scalar s = e.state.memory.load_scalar(pool, e.facts(), a.region, a.place, bits / 8);
      if (s.is_number()) return Scalar::number(truncated(e.facts(), s.value, bits));
      return s;
    }
    case Operand::Kind::reg: break;
  }
  if (o.reg.kind != RegisterKind::general || o.reg.high_byte)
    throw Refused("a register of a kind that is not followed here");
  const Scalar& s = general(e, o.reg.number);
  if (s.kind == Scalar::Kind::unknown) {
    throw Refused(fmt::format("{} is read where it may hold one thing or another", kNames[o.reg.number]));
  }
  if (bits == 64) return s;
  if (s.is_number()) return Scalar::number(truncated(e.facts(), s.value, bits));
  if (s.is_pointer()) throw Refused("part of a pointer is used");
  return normal(pool, pool.mask(s.lane, low_bits(bits)));
}

void write_scalar(const Execution& e, const Operand& o, const Scalar& value) {
  LanePool& pool = e.pool();
  const int bits = bits_of(o);
  if (o.kind == Operand::Kind::memory) {
    const Address a = address_of(e, o.memory);
    if (bits == 64) {
      e.state.memory.store_scalar(e.facts(), a.region, a.place, value);
    } else {
      const Lane lane = pool.mask(as_lane(pool, e.facts(), value), low_bits(bits));
      e.state.memory.store(e.facts(), a.region, a.place, lane, 0, bits / 8);
    }
    return;
  }
  if (o.kind != Operand::Kind::reg || o.reg.kind != RegisterKind::general || o.reg.high_byte) {
    throw Refused("a write to an operand of a kind that is not followed here");
  }
  Scalar& to = e.state.general[static_cast<std::size_t>(o.reg.number)];
  if (bits == 64) {
    to = value;
  } else if (bits == 32) {
    // The upper half becomes 0.
    if (value.is_number()) {
      to = Scalar::number(truncated(e.facts(), value.value, 32));
    } else if (value.is_pointer()) {
      throw Refused("part of a pointer is kept");
    } else {
      to = value.is_data() ? normal(pool, pool.mask(value.lane, low_bits(32))) : value;
    }
  } else {
    throw Refused("a write to part of a register");
  }
}

}  // namespace stitchgcm::verify
