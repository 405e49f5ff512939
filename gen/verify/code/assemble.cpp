// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/assemble.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

extern char** environ;

namespace stitchgcm::verify {
namespace {

namespace fs = std::filesystem;

/// Runs the command with all that it says in a file. True if it ended with 0. Throws if it cannot be run.
bool run(std::vector<std::string> words, const fs::path& messages) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("{} cannot be run: {}", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The first message that calls itself an error, or else the first one; compilers begin with where they are.
std::string first_error(const fs::path& messages) {
  std::ifstream in(messages);
  std::string first;
  for (std::string line; std::getline(in, line);) {
    if (line.find("rror: ") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler says nothing of why" : first;
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
    if (std::find(objects.begin(), objects.end(), object) != objects.end()) {
      throw std::runtime_error(fmt::format("{}: another source makes an object of the same name", source.string()));
    }
    if (!run({compiler, "-c", "-o", object.string(), source.string()}, messages)) {
      throw std::runtime_error(fmt::format("{} is not assembled: {}", source.string(), first_error(messages)));
    }
    objects.push_back(object);
  }
  return objects;
}

}  // namespace stitchgcm::verify
