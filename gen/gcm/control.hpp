// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Tests for `when` and `repeat`: a comparison as a strip.
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

assembly::Strip compare(const Xbyak::Operand& a, int value);
/// Zero flag: x is 0.
assembly::Strip is_zero(const Xbyak::Reg64& x);

}  // namespace stitchgcm::gcm
