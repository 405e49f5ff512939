// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What the emitted files and the header say of each routine: prototype, formula, contract, roles. No code.
#include "asm/routine.hpp"
#include "gcm/choices.hpp"

namespace stitchgcm::gcm {

assembly::Routine init_prototype(KeyLength k);
assembly::Routine powers_prototype();
assembly::Routine seal_prototype();
assembly::Routine open_prototype();
assembly::Routine blocks_prototype(Direction d);
assembly::Routine batches_prototype(Direction d, KeyLength k);
assembly::Routine ctr32_prototype();
assembly::Routine ghash_prototype();

}  // namespace stitchgcm::gcm
