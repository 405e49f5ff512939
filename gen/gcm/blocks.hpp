// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The routines on whole blocks that know no message: ctr32 and ghash.
#include "asm/program.hpp"
#include "gcm/choices.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// out := in ^ AES(key, counter + i), i < blocks; counter += blocks (mod 2^32 in its last four bytes).
assembly::Program ctr32();

/// Y := (..((Y ^ X1) H ^ X2) H ^ .. ^ Xn) H.
assembly::Program ghash();

}  // namespace stitchgcm::gcm
