// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/roles.hpp"

namespace stitchgcm::gcm {

assembly::PointerCases pointer_cases() {
  const auto with_text = [](const char* in, const char* out) {
    return assembly::Regions{{ZYDIS_REGISTER_RBX, "context"}, {ZYDIS_REGISTER_RSI, in},
                             {ZYDIS_REGISTER_RDI, out},       {ZYDIS_REGISTER_RSP, "frame"},
                             {ZYDIS_REGISTER_R8, "powers"},   {ZYDIS_REGISTER_R14, "patterns"}};
  };
  return {with_text("text", "text"), with_text("in", "out")};
}

}  // namespace stitchgcm::gcm
