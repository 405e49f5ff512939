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

const ZydisFormatter& formatter(Syntax syntax) {
  static const auto make = [](ZydisFormatterStyle style) {
    ZydisFormatter f;
    ZydisFormatterInit(&f, style);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    return f;
  };
  static const ZydisFormatter intel = make(ZYDIS_FORMATTER_STYLE_INTEL), att = make(ZYDIS_FORMATTER_STYLE_ATT);
  return syntax == Syntax::intel ? intel : att;
}

/// Assemblers take no operand-size suffix on AT&T vector instructions, which Zydis appends all the same.
std::string without_vector_suffix(std::string text, ZydisMnemonic mnemonic) {
  const std::string name = ZydisMnemonicGetString(mnemonic);
  const size_t end = text.find(' ');
  if (name.front() == 'v' && text.compare(0, name.size(), name) == 0 && end == name.size() + 1) text.erase(end - 1, 1);
  return text;
}

}  // namespace

Instruction decode(std::span<const uint8_t> bytes) {
  Instruction i;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &i.decoded, operands.data()))) {
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
          &formatter(syntax), &decoded, operands.empty() ? &none : operands.data(), decoded.operand_count_visible,
          buffer.data(), buffer.size(), ZYDIS_RUNTIME_ADDRESS_NONE, nullptr))) {
    throw std::runtime_error("an instruction that Zydis cannot print");
  }
  std::string out = buffer.data();
  if (syntax == Syntax::att) out = without_vector_suffix(out, decoded.mnemonic);
  if (reference) {
    const std::string name =
        fmt::format("L(constant_{}){}", reference->constant->name,
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
