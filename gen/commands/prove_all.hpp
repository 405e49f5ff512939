// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Many proofs, side by side, each from the cache if it is there.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "verify/report/finding.hpp"

namespace stitchgcm::commands {

struct Proofs {
  const verify::Image& image;
  const std::vector<std::unique_ptr<verify::Contract>>& contracts;  // of all that may be called
  const std::vector<const verify::Contract*>& wanted;               // each has its symbol in the image
  const std::vector<std::filesystem::path>& sources;                // where a failure may have its line
  std::string prefix;
  bool force;
  std::filesystem::path cache;  // empty: the usual folder
  unsigned jobs;                // 0: one for each CPU
  std::FILE* lines;             // for a line a symbol
};

/// A finding for each contract that is wanted, in that order. A line is printed when a symbol is done, and its proof is
/// kept at once, so that a run that is interrupted goes on there the next time.
std::vector<verify::Finding> prove_all(const Proofs& proofs);

}  // namespace stitchgcm::commands
