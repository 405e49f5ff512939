// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/instruction.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace stitchgcm::assembly {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder instance = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return instance;
}

const ZydisFormatter& formatter(Syntax syntax, bool with_size) {
  static const auto make = [](ZydisFormatterStyle style, bool size) {
    ZydisFormatter f;
    ZydisFormatterInit(&f, style);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_FORCE_SIZE, size ? ZYAN_TRUE : ZYAN_FALSE);
    return f;
  };
  static const ZydisFormatter intel = make(ZYDIS_FORMATTER_STYLE_INTEL, false),
                              att = make(ZYDIS_FORMATTER_STYLE_ATT, false),
                              intel_size = make(ZYDIS_FORMATTER_STYLE_INTEL, true),
                              att_size = make(ZYDIS_FORMATTER_STYLE_ATT, true);
  if (syntax == Syntax::intel) return with_size ? intel_size : intel;
  return with_size ? att_size : att;
}

/// neg, mul and the like with an operand in memory: Zydis leaves out the size, for it takes what is hidden for known.
bool needs_size(const Instruction& i) {
  return (i.decoded.meta.category == ZYDIS_CATEGORY_BINARY || i.decoded.meta.category == ZYDIS_CATEGORY_LOGICAL) &&
         i.decoded.operand_count_visible == 1 && i.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/// Assemblers take no operand-size suffix on AT&T vector instructions, which Zydis appends all the same.
std::string without_vector_suffix(std::string text, ZydisMnemonic mnemonic) {
  const std::string name = ZydisMnemonicGetString(mnemonic);
  const size_t end = text.find(' ');
  if (name.front() == 'v' && text.compare(0, name.size(), name) == 0 && end == name.size() + 1) text.erase(end - 1, 1);
  return text;
}

/// AT&T names for moves with extension, by the widths of both operands: movzbl, movswq, movslq. Zydis knows Intel's
/// only.
std::string with_att_extension(const std::string& text, const Instruction& i) {
  const auto suffix = [&](size_t operand) {
    switch (i.operands[operand].size) {
      case 8: return "b";
      case 16: return "w";
      case 32: return "l";
      default: return "q";
    }
  };
  const std::string name = i.decoded.mnemonic == ZYDIS_MNEMONIC_MOVZX ? "movz" : "movs";
  return name + suffix(1) + suffix(0) + text.substr(text.find(' '));
}

bool is_extending_move(ZydisMnemonic m) {
  return m == ZYDIS_MNEMONIC_MOVZX || m == ZYDIS_MNEMONIC_MOVSX || m == ZYDIS_MNEMONIC_MOVSXD;
}

}  // namespace

Instruction decode(std::span<const uint8_t> bytes) {
  Instruction i;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &i.decoded, operands.data()))) {
    throw std::runtime_error("bytes that are no instruction");
  }
  i.operands.assign(operands.begin(), operands.begin() + i.decoded.operand_count);
  i.bytes.assign(bytes.begin(), bytes.begin() + i.decoded.length);
  return i;
}

std::string Instruction::text(Syntax syntax) const {
  static const ZydisDecodedOperand none{};  // Zydis wants an array even for an instruction without operands
  std::array<char, 256> buffer;
  if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
          &formatter(syntax, needs_size(*this)), &decoded, operands.empty() ? &none : operands.data(),
          decoded.operand_count_visible, buffer.data(), buffer.size(), ZYDIS_RUNTIME_ADDRESS_NONE, nullptr))) {
    throw std::runtime_error("an instruction that Zydis cannot print");
  }
  std::string out = buffer.data();
  if (syntax == Syntax::att) out = without_vector_suffix(out, decoded.mnemonic);
  if (syntax == Syntax::att && is_extending_move(decoded.mnemonic)) out = with_att_extension(out, *this);
  if (reference) {
    const std::string name = fmt::format("L(constant_{}){}", reference->constant->name,
                                         reference->offset == 0 ? "" : fmt::format(" + {}", reference->offset));
    // The displacement of a reference is 0 in the bytes, so Zydis prints the base register alone (Intel) or 0x0 (AT&T).
    const auto replace = [&](std::string_view from, const std::string& to) {
      const size_t at = out.find(from);
      if (at == std::string::npos) return false;
      out.replace(at, from.size(), to);
      return true;
    };
    const bool done = syntax == Syntax::intel
                          ? replace("[rip+0x0]", "[rip + " + name + "]") || replace("[rip]", "[rip + " + name + "]")
                          : replace("0x0(%rip)", name + "(%rip)") || replace("(%rip)", name + "(%rip)");
    if (!done) throw std::logic_error("no rip-relative operand in: " + out);
  }
  return out;
}

}  // namespace stitchgcm::assembly
