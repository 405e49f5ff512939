// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Counts the cases of one test, keeps the first few failure messages, and prints one line at the end. A sweep of a
// million cases that all fail then says so in five lines, and a sweep that ran nothing fails too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace tests {

/// Prints one line at once, so that it is there even if the next test crashes.
void announce(const std::string& line);

class Tally {
 public:
  /// `subject` is what ran the cases, as a rule the name of a backend.
  Tally(std::string title, std::string subject) : title_(std::move(title)), subject_(std::move(subject)) {}

  /// Counts one case. `describe()` returns the message and is called for a failure only.
  template <class Describe>
  bool expect(bool holds, Describe&& describe) {
    ++run_;
    if (!holds) fail(describe());
    return holds;
  }

  /// One case: the bytes are equal. `what` names them; `describe()` says which case it was.
  template <class Describe>
  bool expect_equal(View got, View want, const char* what, Describe&& describe) {
    return expect(equal(got, want),
                  [&] { return describe() + ": " + what + " differs " + difference_text(got, want); });
  }

  /// Prints "SKIPPED title: why (subject)"; a tally that ran nothing is then no failure.
  void skip(const std::string& why);

  /// Something the reader should know of the run, such as cases that were left out; printed, not a failure.
  void note(const std::string& text) const;

  std::size_t run() const { return run_; }
  std::size_t failed() const { return failed_; }
  /// The first failure's message, or "".
  std::string first_message() const { return messages_.empty() ? "" : messages_.front(); }

  /// Prints "title: N run, M failed (subject)" and makes the running doctest case fail when M > 0 or N = 0.
  void report() const;

 private:
  void fail(std::string message);

  std::string title_;
  std::string subject_;
  std::size_t run_ = 0;
  std::size_t failed_ = 0;
  bool skipped_ = false;
  std::vector<std::string> messages_;
};

}  // namespace tests
