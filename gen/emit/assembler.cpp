// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/assembler.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "emit/elf_object.hpp"

extern char** environ;

namespace stitchgcm::emit {
namespace {

using namespace assembly;
namespace fs = std::filesystem;

/// A folder that goes with the value.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "stitchgcm-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder for temporary files: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program with its messages to a file. Throws with the messages if it fails.
void run(const std::vector<std::string>& command, const fs::path& messages) {
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", command[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("{} failed:\n{}", fmt::join(command, " "), contents(messages)));
  }
}

std::string name_of(const Item& item) {
  if (const auto* i = std::get_if<Instruction>(&item.value)) {
    return fmt::format(": `{}` ({}: {})", i->text(), i->stage, i->note);
  }
  if (const auto* j = std::get_if<Jump>(&item.value)) return ": the jump to " + j->target;
  if (const auto* c = std::get_if<FunctionCall>(&item.value)) return ": the call of " + c->symbol;
  return {};
}

/// "symbol + 12: `instruction` (stage: note)" for a place in the code.
std::string place(const LoweredFile& file, size_t offset) {
  for (const LoweredRoutine& r : file.routines) {
    if (offset < r.offset || offset >= r.offset + r.bytes) continue;
    for (const Item& item : r.items) {
      if (offset < item.offset || offset >= item.offset + item.bytes.size()) continue;
      return fmt::format("{} + {}{}", r.routine->symbol, item.offset - r.offset, name_of(item));
    }
  }
  return fmt::format("offset {}", offset);
}

std::string hex(std::span<const uint8_t> bytes, size_t from) {
  return fmt::format("{:02x}", fmt::join(bytes.subspan(from, std::min<size_t>(8, bytes.size() - from)), " "));
}

void compare_bytes(const LoweredFile& file, std::span<const uint8_t> ours, std::span<const uint8_t> theirs,
                   const std::string& what, bool code) {
  const auto [a, b] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  // Sections may be padded at their end.
  if (a == ours.end() && std::all_of(b, theirs.end(), [](uint8_t x) { return x == kFiller || x == 0; })) return;
  const size_t at = static_cast<size_t>(a - ours.begin());
  throw std::runtime_error(fmt::format(
      "{} at {}: Xbyak has {}, the assembler {}", what, code ? place(file, at) : fmt::format("offset {}", at),
      at < ours.size() ? hex(ours, at) : "no more bytes", at < theirs.size() ? hex(theirs, at) : "no more bytes"));
}

void compare_relocations(const LoweredFile& file, const ElfObject& object, const Options& options) {
  if (file.relocations.size() != object.relocations.size()) {
    throw std::runtime_error(fmt::format("relocations: {} expected, the assembler has {}", file.relocations.size(),
                                         object.relocations.size()));
  }
  for (size_t k = 0; k < file.relocations.size(); k++) {
    const Relocation& ours = file.relocations[k];
    const ElfRelocation& theirs = object.relocations[k];
    std::string target = options.prefix + "_" + ours.symbol;
    int64_t addend = ours.addend;
    if (ours.symbol.empty()) {
      const auto c = std::find_if(file.constants.begin(), file.constants.end(),
                                  [&](const PlacedConstant& p) { return p.constant.name == ours.constant; });
      target = ".rodata";
      addend += static_cast<int64_t>(c->offset);
    }
    const bool relative = theirs.type == R_X86_64_PC32 || theirs.type == R_X86_64_PLT32;
    if (!relative || ours.offset != theirs.offset || target != theirs.target || addend != theirs.addend) {
      throw std::runtime_error(fmt::format("relocation at {}: expected {} + {}, the assembler has {} + {} (type {})",
                                           place(file, ours.offset), target, addend, theirs.target, theirs.addend,
                                           theirs.type));
    }
  }
}

void compare_symbols(const LoweredFile& file, const ElfObject& object, const Options& options) {
  if (file.routines.size() != object.functions.size()) throw std::runtime_error("the number of global functions");
  for (size_t k = 0; k < file.routines.size(); k++) {
    const LoweredRoutine& ours = file.routines[k];
    const ElfFunction& theirs = object.functions[k];
    if (theirs.name != options.prefix + "_" + ours.routine->symbol || theirs.offset != ours.offset ||
        theirs.bytes != ours.bytes || !theirs.hidden) {
      throw std::runtime_error(fmt::format("symbol {}: the assembler has {} at {}, {} bytes{}", ours.routine->symbol,
                                           theirs.name, theirs.offset, theirs.bytes,
                                           theirs.hidden ? "" : ", not hidden"));
    }
  }
}

}  // namespace

void require_same_bytes(const LoweredFile& file, const std::string& text, const Options& options,
                        const Assemblers& assemblers) {
  const TemporaryFolder folder;
  const fs::path source = folder.path() / (file.source->name + ".S"), object = folder.path() / "out.o";
  std::ofstream(source, std::ios::binary) << text;
  for (const std::string& driver : {assemblers.gnu, assemblers.clang}) {
    try {
      run({driver, "-c", source.string(), "-o", object.string()}, folder.path() / "messages");
      const ElfObject o = read_elf_object(object);
      compare_bytes(file, file.code, o.text, "code", true);
      compare_bytes(file, file.data, o.read_only_data, "read-only data", false);
      compare_relocations(file, o, options);
      compare_symbols(file, o, options);
    } catch (const std::exception& e) {
      throw std::runtime_error(
          fmt::format("{}/{}.S through {}: {}", file.source->backend, file.source->name, driver, e.what()));
    }
  }
}

}  // namespace stitchgcm::emit
