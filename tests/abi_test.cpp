// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every routine keeps the rules of the System V ABI: registers, flags, floating-point modes, the caller's frame, and
// clean upper halves, from every phase of the stack.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/routine_calls.hpp"

namespace tests {
namespace {

// One of each way through a routine: no text, partial blocks, one batch, more than one, AAD and IV in several blocks.
const std::vector<MessageShape> shapes{{0, 0, 12},    {0, 20, 12},  {1, 0, 12},     {16, 13, 16},   {40, 33, 12},
                                       {128, 16, 60}, {129, 0, 12}, {300, 300, 12}, {1031, 20, 12}, {4112, 0, 12}};
const std::vector<std::size_t> block_counts{0, 1, 2, 7, 8, 9, 16, 33, 70};

void run(ControlledCall& controlled, const RoutineCall& call, const CallOptions& options, bool uppers_must_be_zero,
         Tally& tally) {
  call.set_up();
  controlled.call(call.function, call.arguments, options);
  const std::string wrong = call.wrong(controlled.result());
  const std::vector<std::string> broken = controlled.broken_rules(uppers_must_be_zero);
  tally.expect(wrong.empty() && broken.empty(), [&] {
    return fmt::format("{}, phase {}, {} uppers: {}{}{}", call.name, options.phase,
                       options.dirty_uppers ? "dirty" : "clean", wrong, wrong.empty() || broken.empty() ? "" : "; ",
                       joined(broken));
  });
}

TEST_CASE("ABI: routines keep saved registers, rsp, DF, MXCSR, the x87 state and the caller's frame") {
  for_each_routine_table("ABI", [](const Backend& backend, Tally& tally) {
    ControlledCall controlled;
    CallMemory memory;
    for (const std::size_t key_bytes : key_lengths) {
      for (const RoutineCall& call : routine_calls(memory, {backend, key_bytes, shapes, block_counts})) {
        // Clean upper halves stay clean on every backend.
        run(controlled, call, {}, true, tally);
      }
    }
  });
}

TEST_CASE("ABI: bits 128 and up of the vector registers are zero on return even if they were not before") {
  if (vector_level() == VectorLevel::xmm) {
    announce("SKIPPED upper halves: this CPU has no AVX");
    return;
  }
  for_each_routine_table("upper halves", [](const Backend& backend, Tally& tally) {
    // A compiler's code without AVX does not know that there are upper halves; nobody can ask it to clear them.
    if (backend.is_portable()) tally.note("only the ABI's rules: compiled code need not clear what it did not set");
    ControlledCall controlled;
    CallMemory memory;
    for (const std::size_t key_bytes : key_lengths) {
      for (const RoutineCall& call : routine_calls(memory, {backend, key_bytes, shapes, block_counts})) {
        run(controlled, call, {.dirty_uppers = true}, !backend.is_portable(), tally);
      }
    }
  });
}

TEST_CASE("ABI: routines are right from every phase of the stack that is a multiple of 16") {
  for_each_routine_table("stack phases", [](const Backend& backend, Tally& tally) {
    ControlledCall controlled;
    CallMemory memory;
    for (const std::size_t key_bytes : key_lengths) {
      const std::vector<RoutineCall> calls =
          routine_calls(memory, {backend, key_bytes, {{40, 33, 12}, {300, 20, 16}}, {9, 33}});
      // 4096 bytes of phases: a frame that is aligned by hand to 32, 64 or a page meets each of them.
      for (std::size_t phase = 0; phase < 256; ++phase) {
        for (const RoutineCall& call : calls) run(controlled, call, {.phase = phase}, true, tally);
      }
    }
  });
}

std::string broken_by(AnyFunction function, bool dirty_uppers = false) {
  ControlledCall controlled;
  controlled.call(function, {}, {.dirty_uppers = dirty_uppers});
  return joined(controlled.broken_rules(true));
}

TEST_CASE("ABI: control: functions that break one rule each are caught, and those that break none are not") {
  CHECK(broken_by(stitchgcm_test_does_nothing) == "");
  CHECK(broken_by(stitchgcm_test_clobbers_scratch) == "");
  const auto caught = [](AnyFunction function, const std::string& by) {
    const std::string broken = broken_by(function);
    CHECK_MESSAGE(broken.find(by) == 0, "want a complaint that starts with \"" << by << "\", got \"" << broken << "\"");
    CHECK_MESSAGE(broken.find("; ") == std::string::npos, "one fault was seen as several: " << broken);
  };
  caught(stitchgcm_test_clobbers_rbx, "rbx was");
  caught(stitchgcm_test_clobbers_rbp, "rbp was");
  caught(stitchgcm_test_clobbers_r12, "r12 was");
  caught(stitchgcm_test_clobbers_r13, "r13 was");
  caught(stitchgcm_test_clobbers_r14, "r14 was");
  caught(stitchgcm_test_clobbers_r15, "r15 was");
  caught(stitchgcm_test_pops_too_much, "rsp was");
  caught(stitchgcm_test_sets_direction, "the direction flag");
  caught(stitchgcm_test_changes_mxcsr, "MXCSR was");
  caught(stitchgcm_test_changes_x87_control, "the x87 control word");
  caught(stitchgcm_test_leaves_x87_value, "the x87 registers");
  caught(stitchgcm_test_writes_above_its_frame, "the caller's frame differs at byte 0");
  if (vector_level() != VectorLevel::xmm) {
    caught(stitchgcm_test_dirties_ymm7, "vector register 7");
    CHECK(broken_by(stitchgcm_test_does_nothing, true) != "");
  }
}

}  // namespace
}  // namespace tests
