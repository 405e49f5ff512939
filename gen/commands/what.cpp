// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/what.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "gcm/routines.hpp"

namespace stitchgcm::commands {

void add_prefix(CLI::App& app, std::string& prefix) {
  app.add_option("--prefix", prefix, "of every global symbol (default: stitchgcm)")
      ->check([](const std::string& p) -> std::string {
        const bool good = !p.empty() && !std::isdigit(static_cast<unsigned char>(p[0])) &&
                          std::all_of(p.begin(), p.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        return good ? "" : "\"" + p + "\" is no C identifier";
      });
}

void What::add_to(CLI::App& app) {
  add_prefix(app, emission.prefix);
  app.add_flag("--att", att, "AT&T syntax instead of Intel's");
  app.add_option("--choice", choice_words,
                 "NAME=VALUE: another value for a builder's choice, e.g. end=calls, first_counters=memory, "
                 "encrypt.aes_start=-12000")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--gnu", assemblers.gnu, "driver for GNU as (default: gcc)");
  app.add_option("--clang", assemblers.clang, "driver for clang's assembler (default: clang)");
}

void What::finish() {
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

emit::Tree What::tree() const { return emit::generate(gcm::aesni_avx(choices), emission, assemblers); }

}  // namespace stitchgcm::commands
