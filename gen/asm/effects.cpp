// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/effects.hpp"

#include <algorithm>
#include <stdexcept>

namespace stitchgcm::assembly {
namespace {

bool is_vector(ZydisRegister r) { return ZydisRegisterGetClass(whole(r)) == ZYDIS_REGCLASS_ZMM; }

bool is_memory(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_MEMORY; }

/// Kinds of instructions whose effect is what Zydis lists of operands and flags, but for what this file says.
bool is_understood_kind(const Instruction& i) {
  switch (i.decoded.meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_EXPAND:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_WIDENOP: return true;
    // A bit number in a register reaches beyond the operand's bytes.
    case ZYDIS_CATEGORY_BITBYTE: return std::none_of(i.operands.begin(), i.operands.end(), is_memory);
    case ZYDIS_CATEGORY_MISC: return i.decoded.mnemonic == ZYDIS_MNEMONIC_LEA;
    default: return false;
  }
}

bool is_understood_register(ZydisRegister r) {
  switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
    case ZYDIS_REGCLASS_MASK:
    case ZYDIS_REGCLASS_FLAGS:
    case ZYDIS_REGCLASS_IP: return true;
    default: return false;
  }
}

bool is_understood_operand(const Instruction& i, const ZydisDecodedOperand& o) {
  if (o.type == ZYDIS_OPERAND_TYPE_REGISTER) return is_understood_register(o.reg.value);
  if (!is_memory(o)) return true;
  // push, pop and string instructions: what they access is not where their operand says.
  return o.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && i.decoded.address_width == 64 &&
         o.mem.segment != ZYDIS_REGISTER_FS && o.mem.segment != ZYDIS_REGISTER_GS;
}

bool is_masked_store(const Instruction& i) {
  switch (i.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default: return i.decoded.avx.mask.reg != ZYDIS_REGISTER_NONE && i.decoded.avx.mask.reg != ZYDIS_REGISTER_K0;
  }
}

}  // namespace

void require_understood(const Instruction& i) {
  // Zydis lists no operands for these two, so the generic rules would take them for no-ops.
  const bool unlisted =
      i.decoded.mnemonic == ZYDIS_MNEMONIC_VZEROALL || i.decoded.mnemonic == ZYDIS_MNEMONIC_VZEROUPPER;
  const bool repeated =
      (i.decoded.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  const bool operands = std::all_of(i.operands.begin(), i.operands.end(),
                                    [&](const ZydisDecodedOperand& o) { return is_understood_operand(i, o); });
  if (unlisted || repeated || !operands || !is_understood_kind(i)) {
    throw std::runtime_error("not allowed in stitched code, as the order check does not follow what it does: " +
                             i.text() + " (" + i.stage + (i.note.empty() ? ")" : ", " + i.note + ")"));
  }
}

ZydisRegister whole(ZydisRegister r) { return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r); }

bool is_flags_or_ip(ZydisRegister r) {
  const auto c = ZydisRegisterGetClass(r);
  return c == ZYDIS_REGCLASS_FLAGS || c == ZYDIS_REGCLASS_IP;
}

bool is_high_byte(ZydisRegister r) {
  return r == ZYDIS_REGISTER_AH || r == ZYDIS_REGISTER_CH || r == ZYDIS_REGISTER_DH || r == ZYDIS_REGISTER_BH;
}

bool keeps_old_part(const Instruction& i, const ZydisDecodedOperand& o) {
  if ((o.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0) return true;
  if (is_memory(o)) return is_masked_store(i);
  // Of a source that is 0; the manuals differ, the CPUs keep the register.
  if (i.decoded.mnemonic == ZYDIS_MNEMONIC_BSF || i.decoded.mnemonic == ZYDIS_MNEMONIC_BSR) return true;
  if (is_vector(o.reg.value)) return i.decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  const auto c = ZydisRegisterGetClass(o.reg.value);
  return c == ZYDIS_REGCLASS_GPR8 || c == ZYDIS_REGCLASS_GPR16;
}

bool may_keep_flags(const Instruction& i) {
  if (i.decoded.meta.category != ZYDIS_CATEGORY_SHIFT && i.decoded.meta.category != ZYDIS_CATEGORY_ROTATE) return false;
  const auto count = std::find_if(i.operands.begin(), i.operands.end(),
                                  [](const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE; });
  if (count == i.operands.end()) return true;
  return (count->imm.value.u & (i.decoded.operand_width == 64 ? 63 : 31)) == 0;
}

bool is_zero_idiom(const Instruction& i) {
  const auto same = [&](size_t a, size_t b) {
    return i.operands[a].type == ZYDIS_OPERAND_TYPE_REGISTER && i.operands[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           i.operands[a].reg.value == i.operands[b].reg.value;
  };
  switch (i.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_XOR: return i.decoded.operand_width >= 32 && same(0, 1);
    case ZYDIS_MNEMONIC_VPXOR: return same(1, 2);
    case ZYDIS_MNEMONIC_VPXORD:
    case ZYDIS_MNEMONIC_VPXORQ: return i.decoded.avx.mask.reg == ZYDIS_REGISTER_K0 && same(2, 3);
    default: return false;
  }
}

bool is_plain_move(const Instruction& i) {
  switch (i.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQU: return true;
    case ZYDIS_MNEMONIC_VMOVDQA64:
    case ZYDIS_MNEMONIC_VMOVDQU64: return i.decoded.avx.mask.reg == ZYDIS_REGISTER_K0;
    default: return false;
  }
}

bool is_exchange(const Instruction& i) {
  return i.decoded.mnemonic == ZYDIS_MNEMONIC_XCHG && i.decoded.operand_width == 64 &&
         i.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && i.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

}  // namespace stitchgcm::assembly
