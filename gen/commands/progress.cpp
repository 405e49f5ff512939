// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace stitchgcm::commands {

Progress::Progress(std::FILE* results, std::size_t total) : results_(results), total_(total) {
  constexpr std::size_t kUsualColumns = 80;
  if (isatty(STDERR_FILENO) == 0) return;
  winsize size{};
  columns_ = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

Progress::~Progress() { erase(); }

void Progress::now(const std::string& name, const std::string& what) {
  const std::lock_guard lock(mutex_);
  doing_[name] = what;
  draw();
}

void Progress::done(const std::string& name, const std::string& line) {
  const std::lock_guard lock(mutex_);
  doing_.erase(name);
  done_++;
  erase();
  fmt::print(results_, "{}\n", line);
  std::fflush(results_);
  draw();
}

void Progress::erase() {
  if (columns_ != 0) fmt::print(stderr, "\r\x1b[K");
}

void Progress::draw() {
  if (columns_ == 0) return;
  std::string line = fmt::format("{} of {} done", done_, total_);
  for (const auto& [name, what] : doing_) line += fmt::format("; {}: {}", name, what);
  // A line that wraps around could not be written over.
  if (line.size() >= columns_) line.resize(columns_ - 1);
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
}

}  // namespace stitchgcm::commands
