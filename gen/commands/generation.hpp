// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// stitchgcm list, emit and check: what the builders generate. Each returns the program's exit code.
#include <filesystem>

#include "commands/what.hpp"

namespace stitchgcm::commands {

/// Prints each symbol with its size and what it computes.
int list(const What& what);

/// Makes the folder what the builders generate. PROOFS.md stays as it is.
int emit_tree(const What& what, const std::filesystem::path& folder);

/// Prints how the folder differs from what the builders generate, and of what code PROOFS.md does not speak. kDiffers
/// if there is anything.
int check(const What& what, const std::filesystem::path& folder);

}  // namespace stitchgcm::commands
