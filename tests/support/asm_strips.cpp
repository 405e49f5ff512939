// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm_strips.hpp"

#include <fmt/format.h>

namespace tests {

std::string place(std::string_view instruction, std::string_view stage, std::string_view note, int turn) {
  return fmt::format("`{}` ({}, {}, turn {})", instruction, stage, note, turn);
}

std::string missing_from(const std::string& message, const std::vector<std::string>& parts) {
  std::string missing;
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) missing += fmt::format("\n  no \"{}\"", part);
  }
  return missing.empty() ? "" : fmt::format("{}\n  in \"{}\"", missing, message);
}

}  // namespace tests
