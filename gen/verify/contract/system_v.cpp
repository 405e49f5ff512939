// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/system_v.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stitchgcm::verify {
namespace {

constexpr const char* kGeneralNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

bool tells_secret(LanePool& pool, Lane lane) { return pool.mentions_secret(lane) || pool.depends_on_residue(lane); }

Lane bytes_of_piece(LanePool& pool, const Piece& p) {
  return pool.mask(p.lane, low_bits(8 * (p.first_byte + p.bytes)) & ~low_bits(8 * p.first_byte));
}

}  // namespace

Lane anything(LanePool& pool, Secrecy secrecy) {
  // The count of atoms grows with each, so no two are the same.
  const Name name = pool.name(secrecy == Secrecy::secret ? "anything secret" : "anything", secrecy);
  return pool.input(name, static_cast<std::int64_t>(pool.size().atoms));
}

State routine_entry(const Setting& setting) {
  LanePool& pool = setting.pool;
  State s;
  const Name general = pool.name("caller's register", Secrecy::is_public);
  const Name vector = pool.name("caller's vector", Secrecy::is_public);
  for (int i = 0; i < kGeneralRegisters; i++) {
    s.general[static_cast<std::size_t>(i)] = Scalar::data(pool.mask(pool.input(general, i), low_bits(64)));
  }
  for (int i = 0; i < kVectorRegisters; i++) {
    for (int l = 0; l < kVectorLanes; l++) {
      s.vector[static_cast<std::size_t>(i)][static_cast<std::size_t>(l)] = pool.input(vector, kVectorLanes * i + l);
    }
  }
  Region stack;
  stack.name = "the stack";
  stack.from = 0;
  stack.to = 8;
  stack.writable = true;
  s.stack = s.memory.add(stack);
  Region return_address;
  return_address.name = "the return address";
  return_address.readable = false;
  const RegionId caller = s.memory.add(return_address);
  s.general[rsp] = Scalar::pointer(s.stack);
  s.memory.edit(s.stack).windows[Affine(0)].slots[0] = Scalar::pointer(caller);
  s.general[rsp] = Scalar::pointer(s.stack);

  Region constants;
  constants.name = "read-only data";
  constants.alignment = setting.image.constants_alignment();
  const Image& image = setting.image;
  constants.exists = [&image](std::int64_t place, std::int64_t bytes) {
    return !image.constants(static_cast<std::uint64_t>(place), static_cast<std::size_t>(bytes)).empty();
  };
  const auto block = [&pool, &image](const Facts&, const Affine& index) {
    std::array<std::uint8_t, 16> bytes{};  // those that do not exist are never looked at
    for (std::size_t i = 0; i < 16; i++) {
      const auto byte = image.constants(static_cast<std::uint64_t>(16 * index.constant()) + i, 1);
      if (!byte.empty()) bytes[i] = byte[0];
    }
    return pool.constant(from_bytes(bytes));
  };
  constants.initial = std::make_shared<Content>(Content{"read-only data", block});
  s.constants = s.memory.add(constants);
  return s;
}

void check_routine_exit(const Setting& setting, const State& entry, const State& exit, const ExitRules& rules) {
  LanePool& pool = setting.pool;
  const auto now = [&exit](int r) -> const Scalar& { return exit.general[static_cast<std::size_t>(r)]; };
  if (!(now(rsp) == Scalar::pointer(entry.stack, 8))) throw Refused("rsp is not what it was at the call");
  for (int r : rules.preserved) {
    if (!(now(r) == entry.general[static_cast<std::size_t>(r)])) {
      throw Refused(fmt::format("{} must be preserved and is not", kGeneralNames[r]));
    }
  }
  for (int r = 0; r < kGeneralRegisters; r++) {
    if (now(r).is_data() && tells_secret(pool, now(r).lane)) {
      throw Refused(fmt::format("a secret is left in {}: {}", kGeneralNames[r], pool.describe(now(r).lane)));
    }
  }
  for (int r = 0; r < kVectorRegisters; r++) {
    for (int l = 0; l < kVectorLanes; l++) {
      const Lane lane = exit.vector[static_cast<std::size_t>(r)][static_cast<std::size_t>(l)];
      const Lane before = entry.vector[static_cast<std::size_t>(r)][static_cast<std::size_t>(l)];
      if (r >= rules.vectors) {
        if (lane == before) continue;
        throw Refused(fmt::format("vector register {} is changed, which the backend does not use", r));
      }
      if (rules.vectors_zero && lane != pool.constant(0)) {
        throw Refused(fmt::format("bits {} and up of vector register {} are not zero on return: {}", 128 * l, r,
                                  pool.describe(lane)));
      }
    }
  }
  for (const auto& [place, window] : exit.memory.region(exit.stack).windows) {
    for (const auto& [offset, piece] : window.pieces) {
      const Lane left = bytes_of_piece(pool, piece);
      if (tells_secret(pool, left)) {
        throw Refused(fmt::format("a secret is left in the stack, {} bytes from the return address: {}", offset,
                                  pool.describe(left)));
      }
    }
  }
}

void after_call(const Setting& setting, State& state, const std::vector<int>& clobbered) {
  for (int r : clobbered) state.general[static_cast<std::size_t>(r)] = Scalar::unknown();
  for (int r = 0; r < ExitRules{}.vectors; r++) {
    for (Lane& lane : state.vector[static_cast<std::size_t>(r)]) lane = anything(setting.pool, Secrecy::secret);
  }
  state.flags = {};
  state.mask = {};
  // What the callee leaves below rsp holds no secret, which its own proof shows.
  Region& stack = state.memory.edit(state.stack);
  const std::int64_t top = state.general[rsp].value.constant();
  for (auto& [place, window] : stack.windows) {
    std::erase_if(window.pieces, [top](const auto& p) { return p.first < top; });
    std::erase_if(window.slots, [top](const auto& p) { return p.first < top; });
  }
}

}  // namespace stitchgcm::verify
