// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The CPU features that code needs, computed from its decoded instructions.
#include <set>
#include <string>

#include "asm/lower.hpp"

namespace stitchgcm::emit {

/// Names as in the Intel manual: "AES", "AVX", "PCLMULQDQ". Throws std::runtime_error for an instruction set that is
/// not in the table, so that a new instruction cannot slip in without the runtime testing for it.
std::set<std::string> features(const assembly::LoweredRoutine& routine);

/// "AES AVX PCLMULQDQ"
std::string joined(const std::set<std::string>& names);

}  // namespace stitchgcm::emit
