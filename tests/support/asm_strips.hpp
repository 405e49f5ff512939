// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Strips and programs of the generator, made on the spot for its tests.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "asm/recorder.hpp"

namespace tests {

/// The strip that record(recorder) writes. Each cut() in it ends a piece.
template <class Record>
stitchgcm::assembly::Strip strip_of(const std::string& stage, Record&& record) {
  stitchgcm::assembly::Recorder recorder(stage);
  record(recorder);
  return recorder.strip();
}

/// What the exception says that body() ends in; "" when it ends in none.
template <class Body>
std::string refusal_of(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// "`INSTRUCTION` (STAGE, NOTE, turn TURN)": how messages name an instruction.
std::string place(std::string_view instruction, std::string_view stage, std::string_view note, int turn = 0);

/// Which of `parts` are not in `message`, and the message; "" when all are.
std::string missing_from(const std::string& message, const std::vector<std::string>& parts);

}  // namespace tests
