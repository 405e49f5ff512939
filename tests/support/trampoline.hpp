// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Calls a function with every register and the stack under the test's control, and says which rules of the System V ABI
// for x86-64 it broke.
#pragma once

#include <functional>
#include <string>

#include "bytes.hpp"
#include "guard_pages.hpp"

namespace tests {

/// All registers. trampoline.S knows the offsets.
struct alignas(64) CpuState {
  std::array<std::array<std::uint8_t, 64>, 32> vector;
  std::array<std::uint64_t, 8> mask;
  std::array<std::uint64_t, 16> general;  // in the order of their encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15
  std::uint64_t flags;
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
  std::uint16_t x87_tags;
};
static_assert(offsetof(CpuState, mask) == 2048 && offsetof(CpuState, general) == 2112 &&
              offsetof(CpuState, flags) == 2240 && offsetof(CpuState, mxcsr) == 2248 &&
              offsetof(CpuState, x87_control) == 2252 && offsetof(CpuState, x87_tags) == 2254);

/// The widest vector registers that CPU and system have.
enum class VectorLevel { xmm, ymm, zmm };
VectorLevel vector_level();

using AnyFunction = void (*)();

/// The address of a function with any arguments, which the trampoline passes in registers.
template <class Result, class... Arguments>
AnyFunction any_function(Result (*function)(Arguments...)) {
  static_assert(sizeof...(Arguments) <= 6, "the trampoline passes arguments in registers only");
  return reinterpret_cast<AnyFunction>(function);
}

struct CallOptions {
  std::size_t phase = 0;      // rsp at the call is 4096 * n - 16 * phase
  bool dirty_uppers = false;  // bits 128 and up of the vector registers are random, not zero
  bool single_step = false;   // SIGTRAP on this stack after each instruction; its handler scribbles below the red zone
};

class ControlledCall {
 public:
  ControlledCall();

  /// Random values, the same in each call, in all registers but those that hold the arguments and rsp; a rounding mode
  /// that is not the default in MXCSR and in the x87 control word; arithmetic flags set, DF clear.
  void call(AnyFunction function, const std::array<std::uint64_t, 6>& arguments, const CallOptions& options = {});

  std::uint64_t result() const { return after_.general[0]; }

  /// What the function did that it must not, in words; empty when nothing. With `uppers_must_be_zero`, that includes
  /// anything but zero in bits 128 and up of vector registers 0..15.
  std::vector<std::string> broken_rules(bool uppers_must_be_zero) const;

  const CpuState& after() const { return after_; }

  /// The 4 KiB below rsp as the function left them (without single_step: then they are the handler's).
  View below_stack_pointer() const;

  /// Instructions that were stepped through.
  std::size_t steps() const { return steps_; }

 private:
  std::uint8_t* stack_pointer() const { return reinterpret_cast<std::uint8_t*>(before_.general[4]); }
  void fill_registers(const std::array<std::uint64_t, 6>& arguments, const CallOptions& options);

  GuardedBuffer stack_;
  CpuState before_{};
  CpuState after_{};
  Bytes callers_frame_;
  std::size_t steps_ = 0;
};

/// Joined with "; ".
std::string joined(const std::vector<std::string>& texts);

// The controls of trampoline.S: functions that break one rule each, which the tests must catch.
extern "C" {
void stitchgcm_test_does_nothing(void);
void stitchgcm_test_clobbers_scratch(void);
void stitchgcm_test_clobbers_rbx(void);
void stitchgcm_test_clobbers_rbp(void);
void stitchgcm_test_clobbers_r12(void);
void stitchgcm_test_clobbers_r13(void);
void stitchgcm_test_clobbers_r14(void);
void stitchgcm_test_clobbers_r15(void);
void stitchgcm_test_pops_too_much(void);
void stitchgcm_test_sets_direction(void);
void stitchgcm_test_changes_mxcsr(void);
void stitchgcm_test_changes_x87_control(void);
void stitchgcm_test_leaves_x87_value(void);
void stitchgcm_test_writes_above_its_frame(void);
void stitchgcm_test_dirties_ymm7(void);
void stitchgcm_test_leaks_to_vector(const void*);
void stitchgcm_test_leaks_to_high_vector(const void*);
void stitchgcm_test_leaks_to_integer(const void*);
void stitchgcm_test_leaks_to_red_zone(const void*);
void stitchgcm_test_leaks_to_deep_stack(const void*);
void stitchgcm_test_keeps_in_red_zone(void);
void stitchgcm_test_keeps_below_red_zone(void);
}

}  // namespace tests
