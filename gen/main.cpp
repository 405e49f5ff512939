// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands/generation.hpp"
#include "commands/verify.hpp"
#include "commands/what.hpp"

int main(int argc, char** argv) {
  using namespace stitchgcm::commands;
  CLI::App app{
      "AES-GCM routines for x86-64: described as builders, encoded by Xbyak, emitted as assembler text, proved"};
  app.require_subcommand(1);
  app.footer("Example: stitchgcm emit && stitchgcm check\nHelp on a command: stitchgcm emit --help");

  What what;
  std::filesystem::path folder = "emitted";
  CLI::App* list_command = app.add_subcommand("list", "Print each symbol, its size and what it computes");
  list_command->footer("Example: stitchgcm list");
  CLI::App* emit_command = app.add_subcommand("emit", "Write the .S files, the header and MANIFEST");
  emit_command->footer(
      "Examples:\n  stitchgcm emit                                  writes ./emitted\n"
      "  stitchgcm emit --output /tmp/acme --prefix acme\n"
      "  stitchgcm emit --output /tmp/variant --choice encrypt.aes_start=-12000");
  CLI::App* check_command = app.add_subcommand(
      "check", "Fail unless a folder is exactly what emit would write, and its PROOFS.md speaks of that code");
  check_command->footer("Example: stitchgcm check");
  for (CLI::App* c : {list_command, emit_command, check_command}) what.add_to(*c);
  for (CLI::App* c : {emit_command, check_command}) c->add_option("--output", folder, "the folder (default: emitted)");

  VerifyRequest request;
  CLI::App* verify_command =
      app.add_subcommand("verify", "Prove that machine code is AES-GCM, for all lengths, constant time, in bounds");
  verify_command->footer(
      "Examples:\n  stitchgcm verify --all                          what is in ./emitted\n"
      "  stitchgcm verify --all --proofs emitted/PROOFS.md\n"
      "  stitchgcm verify stitchgcm_ghash_aesni_avx --force\n"
      "  stitchgcm verify --all --object build/*.o --json -\n"
      "Exit code: 0 all is proved, 1 something is not, 2 wrong arguments");
  request.add_to(*verify_command);

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
    if (check_command->parsed()) return check(what, folder);
    return verify(request);
  } catch (const std::exception& e) {
    fmt::print(stderr, "stitchgcm: {}\n", e.what());
    return kDiffers;
  }
}
