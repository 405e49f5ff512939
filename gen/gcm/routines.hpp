// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The catalogue: every emitted symbol of the backend, a short function each.
#include "asm/routine.hpp"
#include "gcm/choices.hpp"

namespace stitchgcm::gcm {

/// All emitted files of the backend aesni_avx, in the order of the manifest.
std::vector<assembly::SourceFile> aesni_avx(const Choices& choices);

}  // namespace stitchgcm::gcm
