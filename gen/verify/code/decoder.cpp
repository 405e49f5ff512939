// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Zydis behind a list of what is allowed: an instruction whose bytes hold more than its meaning here is refused, so that
// nothing rests on how Zydis takes rare encodings.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {
namespace {

[[noreturn]] void fail(std::uint64_t address, std::span<const std::uint8_t> bytes, const std::string& what) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 15); i++) text += fmt::format(" {:02x}", bytes[i]);
  throw std::runtime_error(fmt::format("{:#x}:{}: {}", address, text, what));
}

const ZydisDecoder& decoder() {
  static const ZydisDecoder kDecoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    // Extensions that reuse encodings.
    ZydisDecoderEnableMode(&d, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
    ZydisDecoderEnableMode(&d, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
    return d;
  }();
  return kDecoder;
}

const ZydisFormatter& formatter() {
  static const ZydisFormatter kFormatter = [] {
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    return f;
  }();
  return kFormatter;
}

std::optional<RegisterOperand> register_operand(ZydisRegister r) {
  const ZydisRegisterClass c = ZydisRegisterGetClass(r);
  const int number = ZydisRegisterGetId(r);
  switch (c) {
    case ZYDIS_REGCLASS_GPR64: return RegisterOperand{RegisterKind::general, number, 64};
    case ZYDIS_REGCLASS_GPR32: return RegisterOperand{RegisterKind::general, number, 32};
    case ZYDIS_REGCLASS_GPR16: return RegisterOperand{RegisterKind::general, number, 16};
    case ZYDIS_REGCLASS_GPR8: {
      if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH) {
        return RegisterOperand{RegisterKind::general, r - ZYDIS_REGISTER_AH, 8, true};
      }
      const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
      return RegisterOperand{RegisterKind::general, ZydisRegisterGetId(whole), 8};
    }
    case ZYDIS_REGCLASS_XMM: return RegisterOperand{RegisterKind::vector, number, 128};
    case ZYDIS_REGCLASS_YMM: return RegisterOperand{RegisterKind::vector, number, 256};
    case ZYDIS_REGCLASS_ZMM: return RegisterOperand{RegisterKind::vector, number, 512};
    case ZYDIS_REGCLASS_MASK: return RegisterOperand{RegisterKind::mask, number, 64};
    default: return std::nullopt;
  }
}

std::string form_of(const Instruction& i, ZydisMnemonic mnemonic) {
  std::string form = ZydisMnemonicGetString(mnemonic);
  for (const Operand& o : i.operands) {
    switch (o.kind) {
      case Operand::Kind::reg:
        form += o.reg.kind == RegisterKind::mask     ? std::string(" k")
                : o.reg.kind == RegisterKind::vector ? (o.reg.bits == 128   ? " x"
                                                        : o.reg.bits == 256 ? " y"
                                                                            : " z")
                                                     : fmt::format(" r{}{}", o.reg.bits, o.reg.high_byte ? "h" : "");
        break;
      case Operand::Kind::memory: form += fmt::format(" m{}", o.memory.bits); break;
      case Operand::Kind::immediate: form += " i"; break;
    }
  }
  if (i.encoding == Encoding::evex) form += " evex";
  if (i.mask) form += i.zeroing ? " {z}" : " {k}";
  return form;
}

}  // namespace

Instruction decode_one(std::span<const std::uint8_t> bytes, std::uint64_t address) {
  ZydisDecodedInstruction d;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &d, operands))) {
    fail(address, bytes, "no instruction");
  }
  bytes = bytes.first(d.length);
  Instruction i;
  i.mnemonic = d.mnemonic;
  i.address = address;
  i.length = d.length;
  switch (d.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY: i.encoding = Encoding::legacy; break;
    case ZYDIS_INSTRUCTION_ENCODING_VEX: i.encoding = Encoding::vex; break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX: i.encoding = Encoding::evex; break;
    default: fail(address, bytes, "an encoding that is not allowed (3DNow, XOP or MVEX)");
  }
  const bool no_operation = d.mnemonic == ZYDIS_MNEMONIC_NOP;
  for (std::size_t n = 0; n < d.raw.prefix_count; n++) {
    const auto& prefix = d.raw.prefixes[n];
    const bool rex = prefix.value >= 0x40 && prefix.value <= 0x4f;
    const bool needed = prefix.type == ZYDIS_PREFIX_TYPE_MANDATORY ||
                        (prefix.type == ZYDIS_PREFIX_TYPE_EFFECTIVE && (rex || prefix.value == 0x66));
    if (!needed && !rex && !no_operation) fail(address, bytes, fmt::format("prefix {:#04x}", prefix.value));
  }
  constexpr ZydisInstructionAttributes kRefused =
      ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE |
      ZYDIS_ATTRIB_HAS_BND | ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE | ZYDIS_ATTRIB_HAS_SEGMENT |
      ZYDIS_ATTRIB_HAS_ADDRESSSIZE | ZYDIS_ATTRIB_HAS_NOTRACK;
  if ((d.attributes & kRefused) != 0 && !no_operation) fail(address, bytes, "a prefix that is not allowed");
  if (d.address_width != 64) fail(address, bytes, "32-bit addresses");
  if (i.encoding == Encoding::evex) {
    if (d.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !d.avx.broadcast.is_static) {
      fail(address, bytes, "an embedded broadcast");
    }
    if (d.avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID || d.avx.has_sae) fail(address, bytes, "embedded rounding");
    if (d.avx.mask.reg > ZYDIS_REGISTER_K0 && d.avx.mask.reg <= ZYDIS_REGISTER_K7) {
      i.mask = d.avx.mask.reg - ZYDIS_REGISTER_K0;
      i.zeroing = d.avx.mask.mode == ZYDIS_MASK_MODE_ZEROING;
    }
  }
  i.vector_bits = i.encoding == Encoding::legacy ? 0 : static_cast<int>(d.avx.vector_length);

  char text[256];
  if (ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter(), &d, operands, d.operand_count_visible, text,
                                                   sizeof text, address, nullptr))) {
    i.text = text;
  }
  for (std::size_t n = 0; n < d.operand_count_visible && !no_operation; n++) {
    const ZydisDecodedOperand& from = operands[n];
    // The mask is an operand by itself for Zydis.
    if (from.encoding == ZYDIS_OPERAND_ENCODING_MASK) continue;
    Operand o{};
    switch (from.type) {
      case ZYDIS_OPERAND_TYPE_REGISTER: {
        const auto r = register_operand(from.reg.value);
        if (!r) fail(address, bytes, "a register of a kind that is not allowed");
        o.kind = Operand::Kind::reg;
        o.reg = *r;
        break;
      }
      case ZYDIS_OPERAND_TYPE_MEMORY: {
        o.kind = Operand::Kind::memory;
        MemoryOperand& m = o.memory;
        m.bits = from.mem.type == ZYDIS_MEMOP_TYPE_AGEN ? 0 : from.size;
        if (from.mem.segment != ZYDIS_REGISTER_DS && from.mem.segment != ZYDIS_REGISTER_SS) {
          fail(address, bytes, "a segment");
        }
        if (from.mem.base == ZYDIS_REGISTER_RIP) {
          m.absolute = i.next() + static_cast<std::uint64_t>(from.mem.disp.value);
          break;
        }
        for (const auto& [reg, to] : {std::pair{from.mem.base, &m.base}, {from.mem.index, &m.index}}) {
          if (reg == ZYDIS_REGISTER_NONE) continue;
          const auto r = register_operand(reg);
          if (!r || r->kind != RegisterKind::general || r->bits != 64)
            fail(address, bytes, "an address of another kind");
          *to = r->number;
        }
        m.scale = m.index ? from.mem.scale : 1;
        m.displacement = from.mem.disp.has_displacement ? from.mem.disp.value : 0;
        break;
      }
      case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        o.kind = Operand::Kind::immediate;
        o.immediate = from.imm.is_relative ? i.next() + static_cast<std::uint64_t>(from.imm.value.s) : from.imm.value.u;
        break;
      default: fail(address, bytes, "an operand of a kind that is not allowed");
    }
    i.operands.push_back(o);
  }
  i.form = form_of(i, d.mnemonic);
  return i;
}

Function decode(const Image& image, const Symbol& symbol) {
  Function f;
  f.symbol = symbol;
  const auto code = image.code(symbol);
  for (std::size_t offset = 0; offset < code.size();) {
    f.instructions.push_back(decode_one(code.subspan(offset), symbol.address + offset));
    offset += static_cast<std::size_t>(f.instructions.back().length);
  }
  // Every jump lands on one of these instructions: no byte is part of two.
  std::set<std::uint64_t> starts;
  for (const Instruction& i : f.instructions) starts.insert(i.address);
  for (const Instruction& i : f.instructions) {
    const bool jumps = i.operands.size() == 1 && i.operands[0].kind == Operand::Kind::immediate &&
                       i.mnemonic != ZYDIS_MNEMONIC_PUSH && i.mnemonic != ZYDIS_MNEMONIC_CALL;
    if (jumps && !starts.contains(i.operands[0].immediate)) {
      throw std::runtime_error(
          fmt::format("{}: {} at {:#x} goes to no instruction of the routine", symbol.name, i.text, i.address));
    }
    if (i.mnemonic == ZYDIS_MNEMONIC_CALL && i.operands.size() == 1 && i.operands[0].kind == Operand::Kind::immediate &&
        image.at(i.operands[0].immediate) == nullptr) {
      throw std::runtime_error(fmt::format("{}: {} at {:#x} goes to no symbol", symbol.name, i.text, i.address));
    }
  }
  return f;
}

}  // namespace stitchgcm::verify
