// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What emitted text looks like, in samples of a few lines under tests/golden. After a change that is meant, run the
// tests once with STITCHGCM_BLESS=1 and review the difference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "emit/gas.hpp"
#include "support/commands.hpp"
#include "support/emit_samples.hpp"
#include "support/tally.hpp"

namespace tests {
namespace {

using namespace stitchgcm;
namespace fs = std::filesystem;

constexpr std::ptrdiff_t longest_sample = 30;  // lines

/// All of a routine's body from the first banner to the one of the return, without frame and endbr64.
std::string body_lines(const assembly::LoweredRoutine& r, const emit::Options& options = {}) {
  const auto is_banner = [](const assembly::Item& i) { return std::holds_alternative<assembly::Banner>(i.value); };
  const auto is_return = [&](const assembly::Item& i) {
    return is_banner(i) && std::get<assembly::Banner>(i.value).text == "return";
  };
  const auto first = std::ranges::find_if(r.items, is_banner), end = std::ranges::find_if(r.items, is_return);
  return emit::gas_lines(r, options, static_cast<std::size_t>(first - r.items.begin()),
                         static_cast<std::size_t>(end - first));
}

void check_golden(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(STITCHGCM_SOURCE_FOLDER) / "tests" / "golden" / (name + ".txt");
  CHECK_MESSAGE(std::ranges::count(text, '\n') <= longest_sample, name << " is longer than a sample should be");
  const char* bless = std::getenv("STITCHGCM_BLESS");
  if (bless && std::string(bless) == "1") {
    write_file(file, text);
    announce("BLESSED " + file.string());
    return;
  }
  const std::string golden = fs::exists(file) ? contents(file) : "";
  const auto at = std::ranges::mismatch(text, golden).in1 - text.begin();
  const auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
  CHECK_MESSAGE(text == golden, file.string() << " is not what is emitted, from line " << line
                                              << "; if that is meant: STITCHGCM_BLESS=1, and review the difference. "
                                              << "Emitted:\n"
                                              << text);
}

TEST_CASE("golden: stitched strips, with notes, turns and the second strip indented") {
  const LoweredSample s = stitched_sample();
  check_golden("stitched", body_lines(s.routine(0)));
}

TEST_CASE("golden: the same in AT&T syntax") {
  const LoweredSample s = stitched_sample();
  check_golden("stitched_att", body_lines(s.routine(0), {.syntax = assembly::Syntax::att}));
}

TEST_CASE("golden: a ladder, its labels and its comparisons") {
  const LoweredSample s = ladder_sample();
  check_golden("ladder", body_lines(s.routine(0)));
}

TEST_CASE("golden: a frame with its CFI") {
  const LoweredSample s = frame_sample();
  check_golden("frame", emit::gas_lines(s.routine(0), {}, 0, s.routine(0).items.size()));
}

TEST_CASE("golden: a constant and its uses") {
  const LoweredSample s = constant_sample();
  const std::string text = emit::gas(s.file(), {});
  const std::size_t data = text.find("\nREAD_ONLY_DATA\n"), end = text.find("\n\n", data + 1);
  REQUIRE(end != std::string::npos);
  check_golden("constant", body_lines(s.routine(0)) + text.substr(data, end + 1 - data));
}

}  // namespace
}  // namespace tests
