// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The C header: what each backend needs of the CPU, and prototypes and contracts of all emitted routines.
#include "asm/lower.hpp"
#include "emit/options.hpp"

namespace stitchgcm::emit {

std::string header(const std::vector<assembly::LoweredFile>& files, const Options& options);

}  // namespace stitchgcm::emit
