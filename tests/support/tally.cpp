// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "tally.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>

namespace tests {

void announce(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Tally::note(const std::string& text) const { announce(fmt::format("{}: {} ({})", title_, text, subject_)); }

void Tally::skip(const std::string& why) {
  skipped_ = true;
  announce(fmt::format("SKIPPED {}: {} ({})", title_, why, subject_));
}

void Tally::fail(std::string message) {
  constexpr std::size_t most_messages = 5;
  ++failed_;
  if (messages_.size() < most_messages) messages_.push_back(std::move(message));
}

void Tally::report() const {
  if (skipped_ && run_ == 0) return;
  note(fmt::format("{} run, {} failed", run_, failed_));
  for (const std::string& message : messages_) FAIL_CHECK(message);
  CHECK_MESSAGE(failed_ == 0, title_ << ", " << subject_ << ": " << failed_ << " of " << run_ << " failed");
  CHECK_MESSAGE(run_ > 0, title_ << ", " << subject_ << ": nothing was run");
}

}  // namespace tests
