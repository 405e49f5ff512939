// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/features.hpp"

#include <stdexcept>

namespace stitchgcm::emit {

std::set<std::string> features(const assembly::LoweredRoutine& routine) {
  std::set<std::string> names;
  for (const assembly::Item& item : routine.items) {
    const auto* i = std::get_if<assembly::Instruction>(&item.value);
    if (!i) continue;
    switch (i->decoded.meta.isa_set) {
      case ZYDIS_ISA_SET_I86:
      case ZYDIS_ISA_SET_I186:
      case ZYDIS_ISA_SET_I386:
      case ZYDIS_ISA_SET_I486:
      case ZYDIS_ISA_SET_I486REAL:
      case ZYDIS_ISA_SET_LONGMODE:
      case ZYDIS_ISA_SET_CMOV:
      case ZYDIS_ISA_SET_CET: break;  // every x86-64 CPU; endbr64 is a no-op where CET is not known
      case ZYDIS_ISA_SET_AVX: names.insert("AVX"); break;
      case ZYDIS_ISA_SET_AVXAES: names.insert({"AVX", "AES"}); break;
      default:
        throw std::runtime_error("no CPU feature is known for " + i->text() + " (instruction set " +
                                 ZydisISASetGetString(i->decoded.meta.isa_set) + ")");
    }
    // The 128-bit VEX form is counted as AVX, but has a CPUID bit of its own.
    if (i->decoded.mnemonic == ZYDIS_MNEMONIC_VPCLMULQDQ) names.insert("PCLMULQDQ");
  }
  return names;
}

std::string joined(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : " ") + n;
  return all;
}

}  // namespace stitchgcm::emit
