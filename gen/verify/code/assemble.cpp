// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/assemble.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

extern char** environ;

namespace stitchgcm::verify {
namespace {

namespace fs = std::filesystem;

/// Runs the command with its messages in a file. True if it ended with 0.
bool run(std::vector<std::string> words, const fs::path& messages) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("{} cannot be run: {}", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "stitchgcm-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<fs::path> assemble(const std::vector<fs::path>& sources, const fs::path& folder,
                               const std::string& compiler) {
  std::vector<fs::path> objects;
  for (const fs::path& source : sources) {
    const std::string name = source.parent_path().filename().string() + "_" + source.stem().string();
    const fs::path object = folder / (name + ".o"), messages = folder / (name + ".messages");
    if (!run({compiler, "-c", "-o", object.string(), source.string()}, messages)) {
      throw std::runtime_error(fmt::format("{} is not assembled: {}", source.string(), first_line(messages)));
    }
    objects.push_back(object);
  }
  return objects;
}

}  // namespace stitchgcm::verify
