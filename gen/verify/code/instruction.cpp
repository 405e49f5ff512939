// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/instruction.hpp"

namespace stitchgcm::verify {
namespace {

bool names_its_target(const Instruction& i) {
  return i.operands.size() == 1 && i.operands[0].kind == Operand::Kind::immediate;
}

}  // namespace

bool is_conditional_jump(const Instruction& i) {
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JNLE:
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JNP:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JNZ:
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_JZ: return names_its_target(i);
    default: return false;
  }
}

bool is_jump(const Instruction& i) {
  return (i.mnemonic == ZYDIS_MNEMONIC_JMP && names_its_target(i)) || is_conditional_jump(i);
}

bool ends_block(const Instruction& i) { return is_jump(i) || i.mnemonic == ZYDIS_MNEMONIC_RET; }

}  // namespace stitchgcm::verify
