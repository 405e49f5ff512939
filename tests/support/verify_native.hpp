// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Single instructions on this CPU, with all registers and the memory that they reach under the test's control.
#pragma once

#include <optional>

#include "trampoline.hpp"

namespace tests {

/// A page for code, and memory for data close enough for rip-relative operands. What lies around both faults.
class NativeCode {
 public:
  static constexpr std::size_t kDataBytes = 4096;

  NativeCode();
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  /// Where run() puts the code.
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(code_); }
  std::span<std::uint8_t> data() const { return {data_, kDataBytes}; }

  /// Runs the instructions from `before`; what they left. Of vector registers only those that vector_level() says are
  /// loaded and stored; MXCSR and the x87 state are left alone.
  CpuState run(View code, const CpuState& before);

 private:
  std::uint8_t* mapping_ = nullptr;
  std::uint8_t* writable_code_ = nullptr;
  std::uint8_t* code_ = nullptr;
  std::uint8_t* data_ = nullptr;
};

/// What the CPU lacks to execute the instruction: "AVX-512". Nothing if it has all. Throws std::runtime_error for
/// instructions of extensions that are not known here.
std::optional<std::string> missing_feature(View instruction);

}  // namespace tests
