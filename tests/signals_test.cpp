// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// A signal that arrives between any two instructions, with its handler on the same stack, destroys everything below the
// red zone. Each instruction of each routine is stepped through with such a handler.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/routine_calls.hpp"

namespace tests {
namespace {

TEST_CASE("signals: routines survive a signal on their own stack after each of their instructions") {
  for_each_routine_table("signals", [](const Backend& backend, Tally& tally) {
    ControlledCall controlled;
    CallMemory memory;
    std::size_t steps = 0;
    for (const std::size_t key_bytes : key_lengths) {
      // Portable's code takes a thousand times the steps of a message here; one batch is all it has.
      const std::vector<MessageShape> shapes =
          backend.is_portable()
              ? std::vector<MessageShape>{{40, 20, 12}}
              : std::vector<MessageShape>{{0, 0, 12}, {40, 33, 12}, {129, 0, 16}, {300, 20, 12}, {1031, 20, 60}};
      const std::vector<std::size_t> block_counts =
          backend.is_portable() ? std::vector<std::size_t>{3} : std::vector<std::size_t>{1, 8, 9, 33, 70};
      for (const RoutineCall& call : routine_calls(memory, {backend, key_bytes, shapes, block_counts})) {
        call.set_up();
        controlled.call(call.function, call.arguments, {.single_step = true});
        steps += controlled.steps();
        const std::string wrong = call.wrong(controlled.result());
        const std::vector<std::string> broken = controlled.broken_rules(true);
        tally.expect(wrong.empty() && broken.empty() && controlled.steps() > 0, [&] {
          return fmt::format("{}, {} signals: {} {}", call.name, controlled.steps(), wrong, joined(broken));
        });
      }
    }
    tally.note(fmt::format("{} signals", steps));
  });
}

TEST_CASE("signals: control: a function that keeps something below the red zone is caught, one that uses it is not") {
  ControlledCall controlled;
  controlled.call(stitchgcm_test_keeps_in_red_zone, {}, {.single_step = true});
  CHECK(controlled.result() == 1);
  CHECK(controlled.steps() > 4);
  controlled.call(stitchgcm_test_keeps_below_red_zone, {}, {.single_step = true});
  CHECK(controlled.result() != 1);
  controlled.call(stitchgcm_test_keeps_below_red_zone, {}, {});
  CHECK(controlled.result() == 1);
}

}  // namespace
}  // namespace tests
