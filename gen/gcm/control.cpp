// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/control.hpp"

namespace stitchgcm::gcm {

assembly::Strip compare(const Xbyak::Operand& a, int value) {
  Code c("control");
  c.cmp(a, static_cast<uint32_t>(value));
  return c.strip();
}

assembly::Strip is_zero(const Xbyak::Reg64& x) {
  Code c("control");
  c.test(x, x);
  return c.strip();
}

}  // namespace stitchgcm::gcm
