// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Runs strips on this CPU from a chosen state of all registers, flags and memory, to see whether two orders of the same
// instructions really compute the same.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "asm/dataflow.hpp"
#include "bytes.hpp"

namespace tests {

/// Memory for code, which is either writable or executable, and for data that the code reaches relative to rip.
class ExecutableMemory {
 public:
  ExecutableMemory(std::size_t code_bytes, std::size_t data_bytes);
  ~ExecutableMemory();
  ExecutableMemory(const ExecutableMemory&) = delete;
  ExecutableMemory& operator=(const ExecutableMemory&) = delete;

  /// Makes the code writable.
  std::span<std::uint8_t> open_code();
  /// Makes it executable.
  void close_code();
  std::span<std::uint8_t> data() const { return data_; }

  template <class Function>
  Function* function(std::size_t offset = 0) const {
    return reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(code_.data() + offset));
  }

 private:
  std::span<std::uint8_t> data_;
  std::span<std::uint8_t> code_;
};

/// Everything that a strip can read or write.
struct MachineState {
  std::array<std::uint64_t, 16> general{};  // rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ..
  std::array<std::array<std::uint8_t, 32>, 16> vectors{};
  std::uint64_t flags = 0;  // CF PF ZF SF OF. AF, which logic and shifts leave undefined, is not looked at.
  Bytes memory;             // the regions, one after the other
  bool operator==(const MachineState&) const = default;
};

/// The first place at which two states differ, such as "xmm3", "flags", "byte 4100 of memory"; "" when they are equal.
std::string first_difference(const MachineState& got, const MachineState& want);

/// Why this CPU cannot run strips with AVX, AES-NI and PCLMULQDQ; "" when it can.
std::string why_no_machine();

class Machine {
 public:
  /// Memory of region_bytes for each region. The pointers into it stand in its middle, all at one place.
  explicit Machine(stitchgcm::assembly::Regions regions);

  /// Random vectors, memory and flags; general registers that are random, or often 0, 1 and the like.
  MachineState random_state(Random& random) const;

  /// The code that runs next. Throws std::logic_error for a displacement that may lead out of a region.
  void load(const stitchgcm::assembly::Strip& strip);

  MachineState run(const MachineState& before);

  static constexpr std::size_t region_bytes = 8192;

 private:
  struct Registers;
  Registers& registers() const;
  std::span<std::uint8_t> memory() const;
  const std::uint8_t* place_constant(const stitchgcm::assembly::Constant& c);

  stitchgcm::assembly::Regions regions_;
  std::map<std::string, std::size_t> region_index_;
  std::map<std::string, const std::uint8_t*> constants_;
  std::size_t constants_end_ = 0;
  ExecutableMemory executable_;
};

/// Runs both orders from `states` random states for each way in which the pointers may stand. Where the first run that
/// differs does so; "" when none does.
std::string native_difference(const stitchgcm::assembly::Strip& in_order, const stitchgcm::assembly::Strip& reordered,
                              const stitchgcm::assembly::PointerCases& cases, int states);

}  // namespace tests
