// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Where operands are, and what they hold.
#include <fmt/format.h>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

constexpr const char* kNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

Scalar& general(const Execution& e, int n) { return e.state.general[static_cast<std::size_t>(n)]; }

[[noreturn]] void refuse_unknown(int n) {
  throw Refused(fmt::format("{} is read where it may hold one thing or another", kNames[n]));
}

Scalar read_memory(const Execution& e, const MemoryOperand& m) {
  const Address a = address_of(e, m);
  const Scalar s = e.state.memory.load_scalar(e.pool(), e.facts(), a.region, a.place, m.bits / 8);
  return s.is_number() ? Scalar::number(truncated(e.facts(), s.value, m.bits)) : s;
}

Scalar read_register(const Execution& e, const RegisterOperand& r) {
  const Scalar& s = general(e, r.number);
  if (s.kind == Scalar::Kind::unknown) refuse_unknown(r.number);
  if (r.bits == 64) return s;
  if (s.is_number()) return Scalar::number(truncated(e.facts(), s.value, r.bits));
  if (s.is_pointer()) throw Refused(fmt::format("part of a pointer is used: {}", kNames[r.number]));
  return normal(e.pool(), e.pool().mask(s.lane, low_bits(r.bits)));
}

void write_memory(const Execution& e, const MemoryOperand& m, const Scalar& value) {
  const Address a = address_of(e, m);
  if (m.bits == 64) {
    store_scalar(e, a, value);
    return;
  }
  const Lane lane = e.pool().mask(as_lane(e.pool(), e.facts(), value), low_bits(m.bits));
  store_lane(e, a, lane, 0, m.bits / 8);
}

Scalar low_dword(const Execution& e, const Scalar& value) {
  switch (value.kind) {
    case Scalar::Kind::number: return Scalar::number(truncated(e.facts(), value.value, 32));
    case Scalar::Kind::lane: return normal(e.pool(), e.pool().mask(value.lane, low_bits(32)));
    case Scalar::Kind::pointer: throw Refused("part of a pointer is kept");
    case Scalar::Kind::unknown: break;
  }
  return value;
}

/// `old` with the low byte of `value`.
Scalar with_low_byte(const Execution& e, const Scalar& old, const Scalar& value) {
  if (!old.is_number() && !old.is_data()) {
    // What is not known must not hide data.
    if (!value.is_number()) throw Refused("data is written to a byte of a register that holds no data");
    return Scalar::unknown();
  }
  LanePool& pool = e.pool();
  return normal(pool, pool.exclusive_or(pool.mask(as_lane(pool, e.facts(), old), low_bits(64) & ~low_bits(8)),
                                        pool.mask(as_lane(pool, e.facts(), value), low_bits(8))));
}

}  // namespace

int bits_of(const Operand& o) {
  if (o.kind == Operand::Kind::reg) return o.reg.bits;
  return o.kind == Operand::Kind::memory ? o.memory.bits : 64;
}

const char* name_of_general(int number) { return kNames[number]; }

Address address_of(const Execution& e, const MemoryOperand& m) {
  if (m.absolute) return {e.state.constants, static_cast<std::int64_t>(*m.absolute)};
  std::optional<RegionId> region;
  Affine place = m.displacement;
  const auto add = [&](int n, int scale) {
    const Scalar& s = general(e, n);
    switch (s.kind) {
      case Scalar::Kind::number: place += s.value * scale; return;
      case Scalar::Kind::pointer:
        if (region) throw Refused("an address made of two pointers");
        if (scale != 1) throw Refused("an address made of a multiple of a pointer");
        region = s.region;
        place += s.value;
        return;
      case Scalar::Kind::lane: throw Refused(fmt::format("a secret in an address: {} holds data", kNames[n]));
      case Scalar::Kind::unknown: refuse_unknown(n);
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

void store_lane(const Execution& e, const Address& a, Lane lane, int first, int bytes) {
  Memory& memory = e.state.memory;
  memory.check_access(e.facts(), a.region, a.place, bytes, true);
  memory.split_numbers(e.pool(), e.facts(), a.region, a.place, bytes);
  memory.store(e.facts(), a.region, a.place, lane, first, bytes);
}

void store_scalar(const Execution& e, const Address& a, const Scalar& value) {
  Memory& memory = e.state.memory;
  memory.check_access(e.facts(), a.region, a.place, 8, true);
  memory.split_numbers(e.pool(), e.facts(), a.region, a.place, 8);
  memory.store_scalar(e.facts(), a.region, a.place, value);
}

void require_aligned(const Execution& e, const Address& a, int bytes) {
  const Region& r = e.state.memory.region(a.region);
  if (r.alignment % bytes != 0 || !e.facts().resolve(a.place).divisible_by(bytes)) {
    throw Refused(
        fmt::format("an access that must be aligned to {} bytes, in "
                    "{}, of which that is not known",
                    bytes, r.name));
  }
}

Scalar read_scalar(const Execution& e, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::immediate: return Scalar::number(static_cast<std::int64_t>(o.immediate));
    case Operand::Kind::memory: return read_memory(e, o.memory);
    case Operand::Kind::reg: return read_register(e, o.reg);
  }
  throw Refused("an operand of a kind that is not followed");
}

void write_scalar(const Execution& e, const Operand& o, const Scalar& value) {
  if (o.kind == Operand::Kind::memory) {
    write_memory(e, o.memory, value);
    return;
  }
  Scalar& to = general(e, o.reg.number);
  switch (o.reg.bits) {
    case 64: to = value; return;
    case 32: to = low_dword(e, value); return;
    case 8: to = with_low_byte(e, to, value); return;
    default: throw Refused("a write to part of a register");
  }
}

}  // namespace stitchgcm::verify
