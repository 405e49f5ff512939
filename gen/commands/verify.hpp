// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// stitchgcm verify: proofs of the machine code.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stitchgcm::commands {

struct VerifyRequest {
  std::vector<std::string> symbols;  // or:
  bool all = false;
  std::vector<std::filesystem::path> objects;  // none: those assembled from the emitted files
  std::filesystem::path emitted = "emitted";
  std::string prefix = "stitchgcm";
  std::string compiler = "gcc";  // that assembles
  bool force = false;            // prove again what the cache has
  std::filesystem::path cache;   // empty: the usual folder
  std::string json;              // a file, or "-"
  std::filesystem::path proofs;  // the page
  bool mutate = false;           // instead: what becomes of damaged routines
  std::optional<std::size_t> sample;
  std::uint64_t seed = 1;
  unsigned jobs = 0;  // 0: one for each CPU

  void add_to(CLI::App& app);
};

/// Proves what is asked for and reports it, or proves it with each instruction damaged. 0 if all is proved, or each
/// damaged routine refused or explained; kDiffers if not, kWrongArguments for a symbol that
/// there is not, or nothing to work on. Throws std::runtime_error, before anything is written, if the code cannot be
/// read.
int verify(const VerifyRequest& request);

}  // namespace stitchgcm::commands
