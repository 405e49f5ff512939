// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Options that say what is generated; the same for every command that generates.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "emit/tree.hpp"
#include "gcm/choices.hpp"

namespace stitchgcm::commands {

/// Exit codes, beside 0.
inline constexpr int kDiffers = 1, kWrongArguments = 2;

/// --prefix, held to what C allows.
void add_prefix(CLI::App& app, std::string& prefix);

struct What {
  emit::Options emission;
  emit::Assemblers assemblers;
  gcm::Choices choices;
  std::vector<std::string> choice_words;
  bool att = false;

  void add_to(CLI::App& app);
  /// Throws std::invalid_argument.
  void finish();
  emit::Tree tree() const;
};

}  // namespace stitchgcm::commands
