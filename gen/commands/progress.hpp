// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a long command does just now: one line of a terminal, written again and again; nothing where there is no
// terminal.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace stitchgcm::commands {

class Progress {
 public:
  /// Lines of results go to `results`; what is being done goes to standard error if that is a terminal.
  Progress(std::FILE* results, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `what` is done for `name` now. From any thread, like the others.
  void now(const std::string& name, const std::string& what);
  /// `name` is done, with this line as its result.
  void done(const std::string& name, const std::string& line);

 private:
  void erase();
  void draw();

  std::mutex mutex_;
  std::FILE* results_;
  std::size_t total_, done_ = 0;
  std::size_t columns_ = 0;  // of the terminal; 0: there is none
  std::map<std::string, std::string> doing_;
};

}  // namespace stitchgcm::commands
