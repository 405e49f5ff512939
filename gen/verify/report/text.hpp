// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Reports for a terminal.
#include <string>

#include "verify/report/finding.hpp"

namespace stitchgcm::verify {

/// One line: proved or FAILED, symbol, cases, paths, instructions that were followed, seconds, lengths.
std::string line_of(const Finding& finding);

/// What is known of a failure, a line for each: case, instruction, source, lengths on the path, reason, execution.
/// Empty if it did not fail.
std::string failure_text(const Finding& finding);

/// The last lines: how much is proved, and what the proofs rest on.
std::string summary(const Report& report);

}  // namespace stitchgcm::verify
