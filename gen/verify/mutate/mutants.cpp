// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/mutate/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace stitchgcm::verify {
namespace {

/// Operations that take the same operands.
const std::vector<std::vector<ZydisMnemonic>>& families() {
  static const std::vector<std::vector<ZydisMnemonic>> kFamilies = {
      {ZYDIS_MNEMONIC_VAESENC, ZYDIS_MNEMONIC_VAESENCLAST, ZYDIS_MNEMONIC_VAESDEC},
      {ZYDIS_MNEMONIC_AESENC, ZYDIS_MNEMONIC_AESENCLAST, ZYDIS_MNEMONIC_AESDEC},
      {ZYDIS_MNEMONIC_VPXOR, ZYDIS_MNEMONIC_VPAND, ZYDIS_MNEMONIC_VPOR, ZYDIS_MNEMONIC_VPADDD},
      {ZYDIS_MNEMONIC_PXOR, ZYDIS_MNEMONIC_PAND, ZYDIS_MNEMONIC_POR, ZYDIS_MNEMONIC_PADDD},
      {ZYDIS_MNEMONIC_VPXORD, ZYDIS_MNEMONIC_VPANDD, ZYDIS_MNEMONIC_VPORD, ZYDIS_MNEMONIC_VPADDD},
      {ZYDIS_MNEMONIC_VPADDD, ZYDIS_MNEMONIC_VPADDQ, ZYDIS_MNEMONIC_VPSUBD, ZYDIS_MNEMONIC_VPXOR},
      {ZYDIS_MNEMONIC_VPTERNLOGD, ZYDIS_MNEMONIC_VPTERNLOGQ},
      {ZYDIS_MNEMONIC_VPUNPCKLQDQ, ZYDIS_MNEMONIC_VPUNPCKHQDQ},
      {ZYDIS_MNEMONIC_VPSLLD, ZYDIS_MNEMONIC_VPSRLD, ZYDIS_MNEMONIC_VPSRAD, ZYDIS_MNEMONIC_VPSLLQ},
      {ZYDIS_MNEMONIC_VPSLLQ, ZYDIS_MNEMONIC_VPSRLQ, ZYDIS_MNEMONIC_VPSLLD},
      {ZYDIS_MNEMONIC_VPSLLDQ, ZYDIS_MNEMONIC_VPSRLDQ},
      {ZYDIS_MNEMONIC_VMOVDQU, ZYDIS_MNEMONIC_VMOVDQA},
      {ZYDIS_MNEMONIC_VMOVQ, ZYDIS_MNEMONIC_VMOVD},
      {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_OR, ZYDIS_MNEMONIC_AND,
       ZYDIS_MNEMONIC_CMP},
      {ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_SUB},
      {ZYDIS_MNEMONIC_SBB, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_ADC},
      {ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR, ZYDIS_MNEMONIC_ROL},
      {ZYDIS_MNEMONIC_SHLD, ZYDIS_MNEMONIC_SHRD},
      {ZYDIS_MNEMONIC_NEG, ZYDIS_MNEMONIC_NOT},
      {ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC},
      {ZYDIS_MNEMONIC_LEA, ZYDIS_MNEMONIC_MOV},
      {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_ADD},
      {ZYDIS_MNEMONIC_PUSH, ZYDIS_MNEMONIC_POP},
      {ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_CMOVBE, ZYDIS_MNEMONIC_CMOVB,
       ZYDIS_MNEMONIC_CMOVZ},
      {ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JNB, ZYDIS_MNEMONIC_JNBE, ZYDIS_MNEMONIC_JZ,
       ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_JLE},
  };
  return kFamilies;
}

bool is_no_operation(const Instruction& i) {
  return i.mnemonic == ZYDIS_MNEMONIC_NOP || i.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
}

Instruction no_operation(const Instruction& like) {
  static constexpr std::uint8_t kNop[] = {0x90};
  Instruction i = decode_one(kNop, like.address);
  i.length = like.length;
  return i;
}

class Maker {
 public:
  Maker(const Image& image, const Function& function) : function_(function), code_(image.code(function.symbol)) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  std::vector<Mutant> all() {
    for (index_ = 0; index_ < function_.instructions.size(); index_++) of_instruction();
    return std::move(made_);
  }

 private:
  using Change = std::function<bool(ZydisEncoderRequest&)>;

  const Instruction& original() const { return function_.instructions[index_]; }

  /// The instruction changed and encoded; nothing if there is no such instruction, or it is what it was.
  std::optional<Instruction> changed(const Change& change) const {
    const Instruction& o = original();
    const std::size_t offset = static_cast<std::size_t>(o.address - function_.symbol.address);
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + offset, static_cast<std::size_t>(o.length),
                                             &decoded, operands))) {
      return std::nullopt;
    }
    ZydisEncoderRequest request;
    if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(&decoded, operands, decoded.operand_count_visible,
                                                                     &request)) ||
        !change(request)) {
      return std::nullopt;
    }
    std::uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize size = sizeof bytes;
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &size))) return std::nullopt;
    try {
      Instruction i = decode_one({bytes, size}, o.address);
      // It stands where the old one stood: what is relative to the next instruction stays so.
      for (Operand& operand : i.operands) {
        if (operand.kind == Operand::Kind::memory && operand.memory.absolute) {
          *operand.memory.absolute += static_cast<std::uint64_t>(o.length) - size;
        }
        if (operand.kind == Operand::Kind::immediate && is_jump(i)) operand.immediate = o.operands[0].immediate;
      }
      i.length = o.length;
      if (i.text == o.text) return std::nullopt;
      return i;
    } catch (const std::runtime_error&) {
      return std::nullopt;  // an encoding that the decoder does not take
    }
  }

  void add(Damage damage, const Instruction& instead) {
    made_.push_back({index_, damage, {instead}, fmt::format("{} -> {}", original().text, instead.text)});
  }
  void add(Damage damage, const Change& change) {
    if (const std::optional<Instruction> i = changed(change)) add(damage, *i);
  }

  void of_instruction() {
    const Instruction& o = original();
    if (is_no_operation(o)) {
      if (o.mnemonic == ZYDIS_MNEMONIC_ENDBR64) add(Damage::dropped, no_operation(o));
      return;
    }
    add(Damage::dropped, no_operation(o));
    if (is_jump(o)) {
      targets();
    } else {
      exchanges();
      for (std::uint8_t n = 0; n < 4; n++) of_operand(n);
    }
    siblings();
    swap_with_next();
  }

  void exchanges() {
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}, {2, 3}}) {
      add(Damage::exchanged, [a = a, b = b](ZydisEncoderRequest& r) {
        if (std::max(a, b) >= r.operand_count || r.operands[a].type != r.operands[b].type) return false;
        std::swap(r.operands[a], r.operands[b]);
        return true;
      });
    }
  }

  void of_operand(std::uint8_t n) {
    const auto has = [n](const ZydisEncoderRequest& r, ZydisOperandType type) {
      return n < r.operand_count && r.operands[n].type == type;
    };
    for (const int step : {1, -1, 4}) {
      add(Damage::reg, [=](ZydisEncoderRequest& r) {
        if (!has(r, ZYDIS_OPERAND_TYPE_REGISTER)) return false;
        ZydisRegister& reg = r.operands[n].reg.value;
        const ZydisRegisterClass before = ZydisRegisterGetClass(reg);
        reg = static_cast<ZydisRegister>(static_cast<int>(reg) + step);
        return ZydisRegisterGetClass(reg) == before;
      });
    }
    for (const int bytes : {1, -1, 8, 16, -16, 32, 128}) {
      add(Damage::displacement, [=](ZydisEncoderRequest& r) {
        if (!has(r, ZYDIS_OPERAND_TYPE_MEMORY)) return false;
        r.operands[n].mem.displacement += bytes;
        return true;
      });
    }
    for (const int step : {1, -1}) {
      add(Damage::base, [=](ZydisEncoderRequest& r) {
        if (!has(r, ZYDIS_OPERAND_TYPE_MEMORY) || r.operands[n].mem.base == ZYDIS_REGISTER_RIP) return false;
        ZydisRegister& reg = r.operands[n].mem.base;
        reg = static_cast<ZydisRegister>(static_cast<int>(reg) + step);
        return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64;
      });
    }
    for (const std::uint64_t bit : {0x01, 0x02, 0x04, 0x10, 0x80}) {
      add(Damage::immediate, [=](ZydisEncoderRequest& r) {
        if (!has(r, ZYDIS_OPERAND_TYPE_IMMEDIATE)) return false;
        r.operands[n].imm.u ^= bit;
        return true;
      });
    }
  }

  void siblings() {
    for (const std::vector<ZydisMnemonic>& family : families()) {
      if (std::find(family.begin(), family.end(), original().mnemonic) == family.end()) continue;
      for (const ZydisMnemonic other : family) {
        if (other == original().mnemonic) continue;
        add(Damage::sibling, [other](ZydisEncoderRequest& r) {
          r.mnemonic = other;
          return true;
        });
      }
    }
  }

  void targets() {
    const std::vector<Instruction>& all = function_.instructions;
    const auto at = std::find_if(
        all.begin(), all.end(), [this](const Instruction& i) { return i.address == original().operands[0].immediate; });
    if (at == all.end() || at + 1 == all.end()) return;
    Instruction i = original();
    i.operands[0].immediate = (at + 1)->address;
    i.text += ", one instruction too far";
    add(Damage::target, i);
  }

  void swap_with_next() {
    if (index_ + 1 >= function_.instructions.size()) return;
    const Instruction &o = original(), &next = function_.instructions[index_ + 1];
    const auto goes_on = [](const Instruction& i) {
      return !is_no_operation(i) && !ends_block(i) && i.mnemonic != ZYDIS_MNEMONIC_CALL;
    };
    if (!goes_on(o) || !goes_on(next)) return;
    // Two instructions of one length or not, they fill the same bytes; only where the second begins may differ.
    Instruction first = next, second = o;
    first.address = o.address;
    first.length = o.length;
    second.address = next.address;
    second.length = next.length;
    made_.push_back({index_, Damage::swapped, {first, second}, fmt::format("{} <-> {}", o.text, next.text)});
  }

  const Function& function_;
  std::span<const std::uint8_t> code_;
  ZydisDecoder decoder_{};
  std::size_t index_ = 0;
  std::vector<Mutant> made_;
};

}  // namespace

const char* name_of(Damage d) {
  switch (d) {
    case Damage::dropped: return "dropped";
    case Damage::exchanged: return "operands exchanged";
    case Damage::reg: return "another register";
    case Damage::displacement: return "another displacement";
    case Damage::base: return "another base";
    case Damage::immediate: return "another immediate";
    case Damage::sibling: return "another operation";
    case Damage::target: return "another target";
    case Damage::swapped: return "swapped with the next";
  }
  return "";
}

Function Mutant::applied_to(Function f) const {
  for (std::size_t i = 0; i < instead.size(); i++) f.instructions[index + i] = instead[i];
  return f;
}

std::vector<Mutant> mutants(const Image& image, const Function& function) { return Maker(image, function).all(); }

}  // namespace stitchgcm::verify
