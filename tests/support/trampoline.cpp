// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "trampoline.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

extern "C" void stitchgcm_test_call(void (*function)(void), const tests::CpuState* before, tests::CpuState* after,
                                    int vector_level);

namespace tests {
namespace {

constexpr std::array<const char*, 16> general_names{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
enum General : std::size_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };
constexpr std::array<General, 6> argument_registers{rdi, rsi, rdx, rcx, r8, r9};
constexpr std::array<General, 7> saved_registers{rbx, rbp, rsp, r12, r13, r14, r15};

constexpr std::uint64_t arithmetic_flags = 0x8d5;  // OF SF ZF AF PF CF
constexpr std::uint64_t fixed_flags = 0x202;       // IF, and the bit that is always 1
constexpr std::uint64_t direction_flag = 0x400;
constexpr std::uint64_t trap_flag = 0x100;

// Rounding towards zero, all exceptions masked: not what a function that resets them would choose.
constexpr std::uint32_t unusual_mxcsr = 0x7f80;
constexpr std::uint32_t mxcsr_status = 0x3f;  // sticky exception bits, which a function may set
constexpr std::uint16_t unusual_x87_control = 0x0f7f;
constexpr std::uint16_t x87_empty = 0xffff;

constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr std::size_t below_bytes = 4096;
constexpr std::size_t red_zone_bytes = 128;
constexpr std::size_t frame_bytes = 512;  // of the caller's frame, which the function must leave alone
constexpr std::uint8_t stack_fill = 0x5c;
constexpr std::uint8_t scribble = 0xdb;

volatile sig_atomic_t step_count = 0;

// The kernel puts the interrupted state right below the red zone and calls this below it: only the gap between the two,
// and the red zone, can hold what was there before.
void on_step(int, siginfo_t*, void* context) {
  const auto* interrupted = static_cast<const ucontext_t*>(context);
  const auto stack_pointer = static_cast<std::uintptr_t>(interrupted->uc_mcontext.gregs[REG_RSP]);
  // The extended state (xsave) is the uppermost part of the frame, and says its own size.
  constexpr std::size_t size_at = 464 + 4;
  const auto* state = reinterpret_cast<const std::uint8_t*>(interrupted->uc_mcontext.fpregs);
  std::uint32_t state_bytes = 0;
  std::memcpy(&state_bytes, state + size_at, sizeof state_bytes);
  const auto state_end = reinterpret_cast<std::uintptr_t>(state) + state_bytes;
  const std::uintptr_t red_zone = stack_pointer - red_zone_bytes;
  if (state_end < red_zone && red_zone - state_end < below_bytes) {
    std::memset(reinterpret_cast<void*>(state_end), scribble, red_zone - state_end);
  }
  step_count = step_count + 1;
}

class StepHandler {
 public:
  StepHandler() {
    struct sigaction action = {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTRAP, &action, &previous_) != 0) {
      throw std::system_error(errno, std::generic_category(), "sigaction");
    }
    step_count = 0;
  }
  ~StepHandler() { sigaction(SIGTRAP, &previous_, nullptr); }
  StepHandler(const StepHandler&) = delete;
  StepHandler& operator=(const StepHandler&) = delete;

 private:
  struct sigaction previous_ = {};
};

bool all_equal(View bytes, std::uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t byte) { return byte == value; });
}

}  // namespace

VectorLevel vector_level() {
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0) return VectorLevel::zmm;
  return __builtin_cpu_supports("avx") != 0 ? VectorLevel::ymm : VectorLevel::xmm;
}

ControlledCall::ControlledCall() : stack_("the stack", stack_bytes) {}

void ControlledCall::fill_registers(const std::array<std::uint64_t, 6>& arguments, const CallOptions& options) {
  Random random(0xab1);
  for (std::size_t i = 0; i < before_.vector.size(); ++i) {
    before_.vector[i].fill(0);
    const Bytes value = random.bytes(options.dirty_uppers ? 64 : 16);
    std::copy(value.begin(), value.end(), before_.vector[i].begin());
  }
  for (std::uint64_t& value : before_.mask) value = random.word();
  for (std::uint64_t& value : before_.general) value = random.word();
  for (std::size_t i = 0; i < arguments.size(); ++i) before_.general[argument_registers[i]] = arguments[i];
  const auto end = reinterpret_cast<std::uintptr_t>(stack_.all().data() + stack_.all().size());
  before_.general[rsp] = end - 2 * 4096 - 16 * options.phase;
  before_.flags = fixed_flags | arithmetic_flags | (options.single_step ? trap_flag : 0);
  before_.mxcsr = unusual_mxcsr;
  before_.x87_control = unusual_x87_control;
}

void ControlledCall::call(AnyFunction function, const std::array<std::uint64_t, 6>& arguments,
                          const CallOptions& options) {
  fill_registers(arguments, options);
  stack_.fill(stack_fill);
  callers_frame_ = Random(0xf4a).bytes(frame_bytes);
  std::copy(callers_frame_.begin(), callers_frame_.end(), stack_pointer());
  const int level = static_cast<int>(vector_level());
  if (options.single_step) {
    const StepHandler handler;
    stitchgcm_test_call(function, &before_, &after_, level);
    steps_ = static_cast<std::size_t>(step_count);
  } else {
    stitchgcm_test_call(function, &before_, &after_, level);
  }
}

View ControlledCall::below_stack_pointer() const { return {stack_pointer() - below_bytes, below_bytes}; }

std::vector<std::string> ControlledCall::broken_rules(bool uppers_must_be_zero) const {
  std::vector<std::string> broken;
  for (const General saved : saved_registers) {
    if (after_.general[saved] != before_.general[saved]) {
      broken.push_back(fmt::format("{} was {:#x} and is {:#x}", general_names[saved], before_.general[saved],
                                   after_.general[saved]));
    }
  }
  if ((after_.flags & direction_flag) != 0) broken.emplace_back("the direction flag is set");
  if (((after_.mxcsr ^ before_.mxcsr) & ~mxcsr_status) != 0) {
    broken.push_back(fmt::format("MXCSR was {:#x} and is {:#x}", before_.mxcsr, after_.mxcsr));
  }
  if (after_.x87_control != before_.x87_control) {
    broken.push_back(
        fmt::format("the x87 control word was {:#x} and is {:#x}", before_.x87_control, after_.x87_control));
  }
  if (after_.x87_tags != x87_empty) {
    broken.push_back(fmt::format("the x87 registers are not empty (tags {:#x})", after_.x87_tags));
  }
  const View frame(stack_pointer(), callers_frame_.size());
  if (!equal(frame, callers_frame_)) {
    broken.push_back("the caller's frame differs " + difference_text(frame, callers_frame_));
  }
  // The registers wider than the CPU's were stored as zeros, for they never changed from that.
  for (std::size_t i = 0; uppers_must_be_zero && i < 16; ++i) {
    const View upper = View(after_.vector[i]).subspan(16);
    if (!all_equal(upper, 0)) broken.push_back(fmt::format("vector register {} has upper bits {}", i, hex(upper)));
  }
  return broken;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace tests
