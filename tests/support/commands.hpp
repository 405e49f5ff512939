// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Runs other programs, in folders of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tests {

/// An empty folder that goes with the value.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct CommandResult {
  int code = 0;  // exit code, or 128 + the signal that ended it
  std::string out;
  std::string error;
};

/// Runs a program found on PATH, without standard input. Throws std::runtime_error if it cannot be started.
CommandResult run_command(const std::vector<std::string>& command);

/// What it prints; throws std::runtime_error with all that it said if its exit code is not 0.
std::string output_of(const std::vector<std::string>& command);

/// Whether a program of this name is on PATH.
bool is_installed(const std::string& program);

/// A whole file. Throws std::runtime_error if it cannot be read.
std::string contents(const std::filesystem::path& file);

/// Replaces a whole file, making its folders.
void write_file(const std::filesystem::path& file, const std::string& text);

/// The files below a folder that end in `extension` ("" for all), sorted.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, const std::string& extension = "");

}  // namespace tests
