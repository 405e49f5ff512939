// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/liveness.hpp"

#include <algorithm>

namespace stitchgcm::verify {
namespace {

Registers bit_of(const RegisterOperand& r) {
  if (r.kind == RegisterKind::general) return general_bit(r.number);
  return r.kind == RegisterKind::vector ? vector_bit(r.number) : 0;
}

/// Instructions whose first operand is written and not read.
bool only_writes_first(const Instruction& i) {
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_POP: return i.operands[0].reg.bits >= 32;
    default: break;
  }
  if (i.operands.empty() || i.operands[0].kind != Operand::Kind::reg) return false;
  if (i.operands[0].reg.kind == RegisterKind::general) {
    return i.encoding != Encoding::legacy || i.mnemonic == ZYDIS_MNEMONIC_MOVQ || i.mnemonic == ZYDIS_MNEMONIC_MOVD;
  }
  return i.encoding != Encoding::legacy && !i.mask && i.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGD &&
         i.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGQ && i.mnemonic != ZYDIS_MNEMONIC_VPTEST;
}

/// xor r, r and its like: the operand does not matter.
bool clears(const Instruction& i) {
  if (i.operands.size() < 2) return false;
  const bool kind =
      i.mnemonic == ZYDIS_MNEMONIC_XOR || i.mnemonic == ZYDIS_MNEMONIC_VPXOR || i.mnemonic == ZYDIS_MNEMONIC_PXOR;
  return kind &&
         std::all_of(i.operands.begin(), i.operands.end(),
                     [&](const Operand& o) {
                       return o.kind == Operand::Kind::reg &&
                              (o.reg.number == i.operands[0].reg.number || &o == &i.operands[0]);
                     }) &&
         i.operands[1].reg.number == i.operands.back().reg.number;
}

struct Effect {
  Registers read = 0, written = 0;
};
Effect effect_of(const Instruction& i) {
  Effect e;
  for (std::size_t n = 0; n < i.operands.size(); n++) {
    const Operand& o = i.operands[n];
    if (o.kind == Operand::Kind::memory) {
      if (o.memory.base) e.read |= general_bit(*o.memory.base);
      if (o.memory.index) e.read |= general_bit(*o.memory.index);
    } else if (o.kind == Operand::Kind::reg) {
      if (n == 0 && only_writes_first(i)) {
        e.written |= bit_of(o.reg);
      } else if (!clears(i)) {
        e.read |= bit_of(o.reg);
      }
    }
  }
  // A legacy instruction leaves the upper lanes of a vector.
  const bool whole =
      i.encoding != Encoding::legacy || i.operands.empty() || i.operands[0].reg.kind == RegisterKind::general;
  if (clears(i) && whole) e.written |= bit_of(i.operands[0].reg);
  if (condition_read(i)) e.read |= kFlagsBit;
  if (sets_flags(i) || i.mnemonic == ZYDIS_MNEMONIC_CALL) e.written |= kFlagsBit;
  if (i.mnemonic == ZYDIS_MNEMONIC_PUSH || i.mnemonic == ZYDIS_MNEMONIC_POP) e.read |= general_bit(4);
  return e;
}

using Live = std::map<std::uint64_t, Registers>;

Live analyse(const Image& image, const Function& f, Registers at_return, int depth);

/// What a routine reads of the registers that it is called with.
Registers read_by(const Image& image, std::uint64_t address, int depth) {
  const Symbol* callee = image.at(address);
  if (callee == nullptr || depth <= 0) return ~Registers{0};
  return analyse(image, decode(image, *callee), 0, depth - 1).at(callee->address);
}

Live analyse(const Image& image, const Function& f, Registers at_return, int depth) {
  Live live;
  std::map<std::uint64_t, Registers> called;
  for (const Instruction& i : f.instructions) {
    if (i.mnemonic != ZYDIS_MNEMONIC_CALL || i.operands.empty()) continue;
    called[i.address] = read_by(image, i.operands[0].immediate, depth);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto i = f.instructions.rbegin(); i != f.instructions.rend(); ++i) {
      Registers after = 0;
      const auto at = [&](std::uint64_t address) {
        const auto found = live.find(address);
        return found == live.end() ? Registers{0} : found->second;
      };
      if (i->mnemonic == ZYDIS_MNEMONIC_RET) {
        after = at_return;
      } else {
        if (is_jump(*i)) after |= at(i->operands[0].immediate);
        if (i->mnemonic != ZYDIS_MNEMONIC_JMP) after |= at(i->next());
      }
      const Effect e = effect_of(*i);
      Registers before = (after & ~e.written) | e.read;
      if (const auto c = called.find(i->address); c != called.end()) before |= c->second;
      if (before != at(i->address)) {
        live[i->address] = before;
        changed = true;
      }
    }
  }
  live.emplace(f.symbol.address, 0);
  return live;
}

}  // namespace

std::optional<ZydisMnemonic> condition_read(const Instruction& i) {
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SETB:
    case ZYDIS_MNEMONIC_CMOVB: return ZYDIS_MNEMONIC_JB;
    case ZYDIS_MNEMONIC_SETBE:
    case ZYDIS_MNEMONIC_CMOVBE: return ZYDIS_MNEMONIC_JBE;
    case ZYDIS_MNEMONIC_SETNB:
    case ZYDIS_MNEMONIC_CMOVNB: return ZYDIS_MNEMONIC_JNB;
    case ZYDIS_MNEMONIC_SETNBE:
    case ZYDIS_MNEMONIC_CMOVNBE: return ZYDIS_MNEMONIC_JNBE;
    case ZYDIS_MNEMONIC_SETZ:
    case ZYDIS_MNEMONIC_CMOVZ: return ZYDIS_MNEMONIC_JZ;
    case ZYDIS_MNEMONIC_SETNZ:
    case ZYDIS_MNEMONIC_CMOVNZ: return ZYDIS_MNEMONIC_JNZ;
    default: return is_conditional_jump(i) ? std::optional(i.mnemonic) : std::nullopt;
  }
}

bool sets_flags(const Instruction& i) {
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_PTEST:
    case ZYDIS_MNEMONIC_VPTEST: return true;
    default: return false;
  }
}

std::map<std::uint64_t, Registers> live_registers(const Image& image, const Function& function, Registers returned) {
  return analyse(image, function, returned, 3);
}

}  // namespace stitchgcm::verify
