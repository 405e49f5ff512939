// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm_machine.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "asm/recorder.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t code_bytes = std::size_t{1} << 17;
constexpr std::size_t constants_bytes = 3072;
constexpr std::uint64_t compared_flags = 0x8c5;  // OF SF ZF PF CF
constexpr std::uint64_t random_flags = 0x8d5;    // those and AF
constexpr std::uint64_t fixed_flags = 0x202;     // IF, and the bit that is always 1
constexpr std::array<const char*, 16> general_names{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

void protect(std::span<std::uint8_t> memory, int protection) {
  if (mprotect(memory.data(), memory.size(), protection) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
}

void require_near_pointer(const Instruction& i) {
  constexpr std::int64_t reach = Machine::region_bytes / 2 - 1024;  // pointers move by a few hundred bytes
  for (const ZydisDecodedOperand& o : i.operands) {
    if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || o.mem.type == ZYDIS_MEMOP_TYPE_AGEN || i.reference) continue;
    if (o.mem.index != ZYDIS_REGISTER_NONE || o.mem.disp.value < -reach || o.mem.disp.value > reach) {
      throw std::logic_error("too far from a pointer to be run: " + i.text());
    }
  }
}

}  // namespace

ExecutableMemory::ExecutableMemory(std::size_t code_size, std::size_t data_size) {
  const std::size_t data_end = whole_pages(data_size), bytes = data_end + whole_pages(code_size);
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  auto* const start = static_cast<std::uint8_t*>(mapping);
  data_ = {start, data_end};
  code_ = {start + data_end, bytes - data_end};
}

ExecutableMemory::~ExecutableMemory() { munmap(data_.data(), data_.size() + code_.size()); }

std::span<std::uint8_t> ExecutableMemory::open_code() {
  protect(code_, PROT_READ | PROT_WRITE);
  return code_;
}

void ExecutableMemory::close_code() { protect(code_, PROT_READ | PROT_EXEC); }

std::string first_difference(const MachineState& got, const MachineState& want) {
  for (std::size_t r = 0; r < 16; r++) {
    if (got.general[r] != want.general[r]) return general_names[r];
  }
  for (std::size_t r = 0; r < 16; r++) {
    if (got.vectors[r] != want.vectors[r]) return fmt::format("ymm{}", r);
  }
  if (got.flags != want.flags) return fmt::format("flags {:03x}, not {:03x}", got.flags, want.flags);
  if (const auto at = first_difference(View(got.memory), View(want.memory))) {
    return fmt::format("byte {} of memory", *at);
  }
  return {};
}

std::string why_no_machine() {
  if (!__builtin_cpu_supports("avx")) return "this CPU has no AVX";
  if (!__builtin_cpu_supports("aes")) return "this CPU has no AES-NI";
  if (!__builtin_cpu_supports("pclmul")) return "this CPU has no PCLMULQDQ";
  return {};
}

struct Machine::Registers {
  std::array<std::uint64_t, 16> general;
  std::array<std::array<std::uint8_t, 32>, 16> vectors;
  std::uint64_t flags;
  std::uint64_t caller_rsp;
};

// The first page of data: these, then the constants.
Machine::Machine(Regions regions)
    : regions_(std::move(regions)), executable_(code_bytes, page_bytes + regions_.size() * region_bytes) {
  static_assert(sizeof(Registers) <= page_bytes - constants_bytes);
  for (const auto& [pointer, name] : regions_) region_index_.try_emplace(name, region_index_.size());
}

Machine::Registers& Machine::registers() const { return *reinterpret_cast<Registers*>(executable_.data().data()); }

std::span<std::uint8_t> Machine::memory() const {
  return executable_.data().subspan(page_bytes, region_index_.size() * region_bytes);
}

const std::uint8_t* Machine::place_constant(const Constant& c) {
  const auto [it, fresh] = constants_.try_emplace(c.name, nullptr);
  if (!fresh) return it->second;
  const auto room = executable_.data().subspan(page_bytes - constants_bytes, constants_bytes);
  if (c.bytes.size() > room.size() - constants_end_) throw std::logic_error("too many constants to be run");
  it->second = room.data() + constants_end_;
  std::memcpy(room.data() + constants_end_, c.bytes.data(), c.bytes.size());
  constants_end_ += (c.bytes.size() + 15) / 16 * 16;
  return it->second;
}

MachineState Machine::random_state(Random& random) const {
  static constexpr std::array<std::uint64_t, 8> special{0, 1, 2, 8, 31, 32, 64, ~std::uint64_t{0}};
  MachineState s;
  for (std::uint64_t& r : s.general) r = random.below(3) == 0 ? special[random.below(special.size())] : random.word();
  for (auto& v : s.vectors) std::ranges::copy(random.bytes(v.size()), v.begin());
  s.flags = random.word() & random_flags;
  s.memory = random.bytes(memory().size());
  for (const auto& [pointer, name] : regions_) {
    s.general[static_cast<std::size_t>(ZydisRegisterGetId(pointer))] =
        reinterpret_cast<std::uintptr_t>(memory().data() + region_index_.at(name) * region_bytes + region_bytes / 2);
  }
  return s;
}

void Machine::load(const Strip& strip) {
  const auto code = executable_.open_code();
  Xbyak::CodeGenerator c(code.size(), code.data());
  Registers& values = registers();
  const auto saved = {rbx, rbp, r12, r13, r14, r15};
  const auto at = [](const void* address) { return ptr[rip + address]; };

  for (const Xbyak::Reg64& r : saved) c.push(r);
  c.mov(at(&values.caller_rsp), rsp);
  for (int r = 0; r < 16; r++) c.vmovdqu(Xbyak::Ymm(r), at(&values.vectors[static_cast<std::size_t>(r)]));
  c.push(qword[rip + static_cast<const void*>(&values.flags)]);
  c.popfq();
  for (int r = 0; r < 16; r++) c.mov(Xbyak::Reg64(r), at(&values.general[static_cast<std::size_t>(r)]));
  for (const Piece& p : strip.pieces) {
    for (const Instruction& i : p.code) {
      require_near_pointer(i);
      Bytes bytes = i.bytes;
      if (i.reference) {
        const std::uint8_t* target = place_constant(*i.reference->constant) + i.reference->offset;
        const auto distance = static_cast<std::int32_t>(target - (c.getCurr() + bytes.size()));
        std::memcpy(bytes.data() + i.reference_position(), &distance, sizeof distance);
      }
      c.db(bytes.data(), bytes.size());
    }
  }
  for (int r = 0; r < 16; r++) c.mov(at(&values.general[static_cast<std::size_t>(r)]), Xbyak::Reg64(r));
  c.mov(rsp, at(&values.caller_rsp));
  c.pushfq();
  c.pop(qword[rip + static_cast<const void*>(&values.flags)]);
  for (int r = 0; r < 16; r++) c.vmovdqu(at(&values.vectors[static_cast<std::size_t>(r)]), Xbyak::Ymm(r));
  c.vzeroupper();
  c.cld();
  for (auto r = saved.end(); r != saved.begin();) c.pop(*--r);
  c.ret();
  executable_.close_code();
}

MachineState Machine::run(const MachineState& before) {
  Registers& values = registers();
  values.general = before.general;
  values.vectors = before.vectors;
  values.flags = before.flags | fixed_flags;
  std::ranges::copy(before.memory, memory().begin());
  executable_.function<void()>()();
  return {values.general, values.vectors, values.flags & compared_flags, {memory().begin(), memory().end()}};
}

std::string native_difference(const Strip& in_order, const Strip& reordered, const PointerCases& cases, int states) {
  Random random(0x5717c4);
  for (const Regions& regions : cases) {
    // One machine for both, so that the pointers are the same numbers.
    Machine machine(regions);
    std::vector<MachineState> before, want;
    machine.load(in_order);
    for (int n = 0; n < states; n++) {
      before.push_back(machine.random_state(random));
      want.push_back(machine.run(before.back()));
    }
    machine.load(reordered);
    for (std::size_t n = 0; n < before.size(); n++) {
      const std::string difference = first_difference(machine.run(before[n]), want[n]);
      if (!difference.empty()) return difference;
    }
  }
  return {};
}

}  // namespace tests
