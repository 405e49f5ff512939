// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The command line.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "emit/tree.hpp"
#include "gcm/routines.hpp"

namespace {

using namespace stitchgcm;
namespace fs = std::filesystem;

constexpr int kDiffers = 1, kWrongArguments = 2;

/// Options that say what is generated; the same for every command.
struct What {
  emit::Options emission;
  emit::Assemblers assemblers;
  gcm::Choices choices;
  std::vector<std::string> choice_words;
  bool att = false;

  void add_to(CLI::App& app) {
    app.add_option("--prefix", emission.prefix, "of every global symbol (default: stitchgcm)")
        ->check([](const std::string& p) -> std::string {
          const bool good =
              !p.empty() && !std::isdigit(static_cast<unsigned char>(p[0])) &&
              std::all_of(p.begin(), p.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
          return good ? "" : "\"" + p + "\" is no C identifier";
        });
    app.add_flag("--att", att, "AT&T syntax instead of Intel's");
    app.add_option("--choice", choice_words,
                   "NAME=VALUE: another value for a builder's choice, e.g. end=calls, first_counters=memory, "
                   "encrypt.aes_start=-12000")
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--gnu", assemblers.gnu, "driver for GNU as (default: gcc)");
    app.add_option("--clang", assemblers.clang, "driver for clang's assembler (default: clang)");
  }

  /// Throws std::invalid_argument.
  void finish() {
    if (emission.prefix != "stitchgcm") emission.command += " --prefix " + emission.prefix;
    if (att) {
      emission.syntax = assembly::Syntax::att;
      emission.command += " --att";
    }
    for (const std::string& w : choice_words) {
      const size_t equals = w.find('=');
      if (equals == std::string::npos) throw std::invalid_argument("--choice takes NAME=VALUE, not \"" + w + "\"");
      choices.set(w.substr(0, equals), w.substr(equals + 1));
      emission.command += " --choice " + w;
    }
  }

  emit::Tree tree() const { return emit::generate(gcm::aesni_avx(choices), emission, assemblers); }
};

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"AES-GCM routines for x86-64: described as builders, encoded by Xbyak, emitted as assembler text"};
  app.require_subcommand(1);
  app.footer("Example: stitchgcm emit && stitchgcm check\nHelp on a command: stitchgcm emit --help");

  What what;
  fs::path folder = "emitted";
  CLI::App* list_command = app.add_subcommand("list", "Print each symbol, its size and what it computes");
  list_command->footer("Example: stitchgcm list");
  CLI::App* emit_command = app.add_subcommand("emit", "Write the .S files, the header and MANIFEST");
  emit_command->footer(
      "Examples:\n  stitchgcm emit                                  writes ./emitted\n"
      "  stitchgcm emit --output /tmp/acme --prefix acme\n"
      "  stitchgcm emit --output /tmp/variant --choice encrypt.aes_start=-12000");
  CLI::App* check_command = app.add_subcommand("check", "Fail unless a folder is exactly what emit would write");
  check_command->footer("Example: stitchgcm check");
  for (CLI::App* c : {list_command, emit_command, check_command}) what.add_to(*c);
  for (CLI::App* c : {emit_command, check_command}) c->add_option("--output", folder, "the folder (default: emitted)");

  try {
    app.parse(argc, argv);
    what.finish();
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "stitchgcm: {}\n", e.what());
    return kWrongArguments;
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "stitchgcm: {}\n", e.what());
    return kWrongArguments;
  }

  try {
    if (list_command->parsed()) return list(what);
    if (emit_command->parsed()) return emit_tree(what, folder);
    return check(what, folder);
  } catch (const std::exception& e) {
    fmt::print(stderr, "stitchgcm: {}\n", e.what());
    return kDiffers;
  }
}
