// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The powers of H that a context keeps.
#include "asm/program.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// power[i] := H^(40 - i) x and its middle, for all i (see ghash.hpp for the factor x). H in block 0, with SP 800-38D's
/// byte order. Roles: context. Clobbers power, scratch, the vectors.
assembly::Program power_table();

}  // namespace stitchgcm::gcm
