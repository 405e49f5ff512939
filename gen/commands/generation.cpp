// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/generation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gcm/routines.hpp"

namespace stitchgcm::commands {
namespace {

namespace fs = std::filesystem;

/// A word of a shell command, whatever is in it.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Shows how a checked-in file differs, with diff(1).
void show_difference(const fs::path& checked_in, const std::string& generated) {
  char name[] = "/tmp/stitchgcm-check-XXXXXX";
  const int fd = mkstemp(name);
  if (fd < 0) return;
  close(fd);
  std::ofstream(name, std::ios::binary) << generated;
  std::fflush(stdout);
  const std::string path = checked_in.string();
  const std::string command =
      fmt::format("diff -u --label {} --label {} -- {} {} | head -60", quoted(path + " (checked in)"),
                  quoted(path + " (generated)"), quoted(path), quoted(name));
  if (std::system(command.c_str()) != 0) fmt::print("(diff could not be run)\n");
  std::remove(name);
}

}  // namespace

int list(const What& what) {
  for (const assembly::SourceFile& f : gcm::aesni_avx(what.choices)) {
    for (const assembly::LoweredRoutine& r : assembly::lower(f).routines) {
      fmt::print("{:<44} {:>6} bytes  {}\n", what.emission.prefix + "_" + r.routine->symbol, r.bytes,
                 r.routine->summary);
    }
  }
  return 0;
}

int emit_tree(const What& what, const fs::path& folder) {
  const emit::Tree tree = what.tree();
  emit::write(tree, folder);
  fmt::print("{} files in {}, each reassembled with GNU as and with clang to Xbyak's bytes\n", tree.size(),
             folder.string());
  return 0;
}

int check(const What& what, const fs::path& folder) {
  const emit::Tree tree = what.tree();
  const auto differences = emit::compare(tree, folder);
  for (const emit::Difference& d : differences) {
    switch (d.kind) {
      case emit::Difference::Kind::missing: fmt::print("missing: {}\n", (folder / d.path).string()); break;
      case emit::Difference::Kind::unexpected: fmt::print("not generated: {}\n", (folder / d.path).string()); break;
      case emit::Difference::Kind::changed:
        fmt::print("differs: {}\n", (folder / d.path).string());
        show_difference(folder / d.path, tree.at(d.path));
        break;
    }
  }
  if (differences.empty()) {
    fmt::print("{} is exactly what the builders generate ({} files)\n", folder.string(), tree.size());
    return 0;
  }
  fmt::print("{} of {} files differ from what the builders generate; to repair: ./scripts/regen\n", differences.size(),
             tree.size());
  return kDiffers;
}

}  // namespace stitchgcm::commands
