// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/text.hpp"

#include <fmt/format.h>

namespace stitchgcm::verify {
namespace {

std::string count(std::uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// What a path assumes may be long; JSON has all of it.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 600;
  if (text.size() <= kMost) return text;
  return text.substr(0, text.rfind(',', kMost)) + ", ..";
}

/// A line of a failure; further lines of the text go under its begin.
std::string field(const char* name, const std::string& text) {
  constexpr std::size_t kIndent = 15;
  std::string value;
  for (const char c : text) {
    value += c;
    if (c == '\n') value += std::string(kIndent, ' ');
  }
  return fmt::format("  {:<{}}{}\n", fmt::format("{}:", name), kIndent - 2, value);
}

}  // namespace

std::string line_of(const Finding& f) {
  const Verdict& v = f.verdict;
  return fmt::format("{} {}: {}, {}, {}, {:.1f} s{}; {}", v.proved ? "proved" : "FAILED", v.symbol,
                     count(v.cases.size(), "case"), count(v.statistics.paths, "path"),
                     count(v.statistics.instructions, "instruction"), v.seconds,
                     f.from_cache ? " when it was proved" : "", v.lengths);
}

std::string failure_text(const Finding& f) {
  if (!f.verdict.failure) return "";
  const Failure& failure = *f.verdict.failure;
  std::string text;
  if (!f.verdict.failed_case.empty()) text += field("case", f.verdict.failed_case);
  if (!failure.instruction.empty()) {
    text +=
        field("instruction", fmt::format("{}, {} bytes from the begin of the function", failure.instruction, f.offset));
  }
  if (f.place) {
    text += field("source", fmt::format("{}:{}{}{}", f.place->file, f.place->line,
                                        f.place->stage.empty() ? "" : ", stage: " + f.place->stage,
                                        f.place->note.empty() ? "" : ", note: " + f.place->note));
  }
  if (!failure.path.empty()) text += field("lengths", shortened(failure.path));
  text += field("reason", failure.reason);
  if (!f.execution.empty()) text += field("execution", f.execution);
  return text;
}

std::string summary(const Report& report) {
  const auto proved =
      std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& f) { return f.verdict.proved; });
  std::string text;
  for (const std::string& fault : report.faults) text += fault + "\n";
  text += fmt::format("{} of {} proved", proved, count(report.findings.size(), "symbol"));
  if (!report.all_proved()) return text + "\n";
  text += ". The proofs rest on this:\n";
  for (const std::string& a : assumptions()) text += fmt::format("  * {}\n", a);
  return text;
}

}  // namespace stitchgcm::verify
