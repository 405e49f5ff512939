// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a run of the verifier has to say.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "verify/proof/prove.hpp"
#include "verify/report/source_place.hpp"

namespace stitchgcm::verify {

/// Of one symbol.
struct Finding {
  Verdict verdict;
  std::string code_hash;  // as in MANIFEST; see code/fingerprint.hpp
  bool from_cache = false;
  // Of a failure:
  std::uint64_t offset = 0;          // of the instruction, in the function
  std::optional<SourcePlace> place;  // of the instruction, in the emitted source
  std::string execution;             // what the code itself did at such lengths
};

/// Of all that was asked for.
struct Report {
  std::vector<Finding> findings;    // in the order of the contracts
  std::vector<std::string> faults;  // what is wrong with the objects as a whole
  bool all_proved() const {
    return faults.empty() &&
           std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.verdict.proved; });
  }
};

/// Everything that has to be true beside what the verifier checks, a sentence or two each.
const std::vector<std::string>& assumptions();

}  // namespace stitchgcm::verify
