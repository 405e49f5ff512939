// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Zydis behind a list of what is allowed: an instruction whose bytes hold more than its meaning here is refused, so
// that nothing rests on how Zydis, or one CPU and not another, takes rare encodings. Prefixes and the fixed bits of
// EVEX are therefore looked at in the bytes themselves. Source of all encodings: Intel SDM, volume 2, chapter 2.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {
namespace {

constexpr std::uint8_t kOperandSize = 0x66, kCodeSegment = 0x2e, kRepeatNotEqual = 0xf2, kRepeat = 0xf3;
constexpr std::uint8_t kVex2 = 0xc5, kVex3 = 0xc4, kEvex = 0x62;

bool is_rex(std::uint8_t byte) { return (byte & 0xf0) == 0x40; }

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

/// One instruction as Zydis has it, and its bytes.
class Decoding {
 public:
  Decoding(std::span<const std::uint8_t> bytes, std::uint64_t address) : bytes_(bytes), address_(address) {
    const ZyanStatus status = ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &zydis_, operands_);
    if (status == ZYDIS_STATUS_NO_MORE_DATA) fail("an instruction that goes past the end");
    if (!ZYAN_SUCCESS(status)) fail("no instruction");
    bytes_ = bytes.first(zydis_.length);
  }

  Instruction instruction() const {
    Instruction i;
    i.mnemonic = zydis_.mnemonic;
    i.address = address_;
    i.length = zydis_.length;
    i.encoding = encoding();
    check_meaning();
    switch (i.encoding) {
      case Encoding::legacy: check_prefixes(); break;
      case Encoding::vex: check_begin({kVex2, kVex3}); break;
      case Encoding::evex: check_evex(i); break;
    }
    if (i.encoding != Encoding::legacy) i.vector_bits = zydis_.avx.vector_length;
    i.distance = distance();
    i.text = text();
    // What a no-operation names as its operand it does not touch.
    const std::size_t operands = is_no_operation() ? 0 : zydis_.operand_count_visible;
    for (std::size_t n = 0; n < operands; n++) {
      // The mask is an operand by itself for Zydis.
      if (operands_[n].encoding != ZYDIS_OPERAND_ENCODING_MASK) i.operands.push_back(operand(operands_[n], i.next()));
    }
    i.form = form(i);
    return i;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes_.size(), ZYDIS_MAX_INSTRUCTION_LENGTH); i++) {
      text += fmt::format(" {:02x}", bytes_[i]);
    }
    throw std::runtime_error(fmt::format("{:#x}:{}: {}", address_, text, what));
  }

  bool is_no_operation() const { return zydis_.mnemonic == ZYDIS_MNEMONIC_NOP; }

  Encoding encoding() const {
    switch (zydis_.encoding) {
      case ZYDIS_INSTRUCTION_ENCODING_LEGACY: return Encoding::legacy;
      case ZYDIS_INSTRUCTION_ENCODING_VEX: return Encoding::vex;
      case ZYDIS_INSTRUCTION_ENCODING_EVEX: return Encoding::evex;
      default: fail("an encoding that is not allowed (3DNow, XOP or MVEX)");
    }
  }

  /// Refuses what shares its mnemonic, and so its semantics here, with something else.
  void check_meaning() const {
    if (zydis_.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) fail("a far branch");
    if (zydis_.mnemonic == ZYDIS_MNEMONIC_RET && zydis_.operand_count_visible != 0) {
      fail("a return that takes arguments off the stack");
    }
    // Zydis decodes some of it even with its mode for Knights Corner off.
    switch (zydis_.meta.isa_ext) {
      case ZYDIS_ISA_EXT_KNC:
      case ZYDIS_ISA_EXT_KNCE:
      case ZYDIS_ISA_EXT_KNCV: fail("an instruction of Knights Corner");
      default: break;
    }
  }

  /// One prefix that selects the instruction or the operand's size, then one REX: each may be absent. Before a
  /// no-operation, what assemblers pad with.
  void check_prefixes() const {
    bool selected = false, wide = false, narrow = false;
    for (std::size_t n = 0; n < zydis_.raw.prefix_count; n++) {
      const std::uint8_t prefix = bytes_[n];
      const ZydisPrefixType type = zydis_.raw.prefixes[n].type;
      const bool mandatory = type == ZYDIS_PREFIX_TYPE_MANDATORY;
      bool allowed = false;
      if (is_no_operation()) {
        allowed = prefix == kOperandSize || prefix == kCodeSegment;
      } else if (is_rex(prefix)) {
        allowed = n + 1 == zydis_.raw.prefix_count;
        wide = (prefix & 8) != 0;
      } else if (!selected && (prefix == kRepeat || prefix == kRepeatNotEqual || prefix == kOperandSize)) {
        narrow = prefix == kOperandSize && !mandatory;
        allowed = mandatory || (narrow && type == ZYDIS_PREFIX_TYPE_EFFECTIVE);
        selected = true;
      }
      if (!allowed) fail(fmt::format("prefix {:#04x}", prefix));
    }
    if (narrow && !wide && !has_16_bit_operand()) fail("an operand-size prefix without an operand of 16 bits");
    if (narrow && wide) fail("two sizes of operands");
    if ((zydis_.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0) {
      fail("a repeated instruction");
    }
    const bool short_nop = zydis_.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zydis_.opcode == 0x90;
    const bool long_nop =
        zydis_.opcode_map == ZYDIS_OPCODE_MAP_0F && zydis_.opcode == 0x1f && zydis_.raw.modrm.reg == 0;
    if (is_no_operation() && !short_nop && !long_nop) fail("a no-operation that is reserved for other uses");
  }

  /// Without one the prefix does nothing on one CPU and cuts the target of a branch to 16 bits on another.
  bool has_16_bit_operand() const {
    return std::any_of(operands_, operands_ + zydis_.operand_count_visible,
                       [](const auto& o) { return o.type != ZYDIS_OPERAND_TYPE_IMMEDIATE && o.size == 16; });
  }

  void check_begin(std::initializer_list<std::uint8_t> allowed) const {
    if (std::find(allowed.begin(), allowed.end(), bytes_[0]) == allowed.end()) {
      fail(fmt::format("prefix {:#04x}", bytes_[0]));
    }
  }

  void check_evex(Instruction& i) const {
    check_begin({kEvex});
    if ((bytes_[1] & 0x08) != 0 || (bytes_[2] & 0x04) == 0) fail("a fixed bit of EVEX has the other value");
    if ((bytes_[3] & 0x10) != 0) {
      fail(zydis_.raw.modrm.mod == 3 ? "embedded rounding" : "an embedded broadcast");
    }
    const int mask = bytes_[3] & 0x07;
    i.zeroing = (bytes_[3] & 0x80) != 0;
    if (mask != 0) i.mask = mask;  // 0: all elements, whatever k0 holds
    if (i.zeroing && !i.mask) fail("zeroing without a mask");
  }

  /// The field that Zydis's operands with an address were made of.
  std::optional<DistanceField> distance() const {
    for (const auto& imm : zydis_.raw.imm) {
      if (imm.size != 0 && imm.is_relative) return DistanceField{imm.offset, imm.size / 8};
    }
    const bool relative = std::any_of(operands_, operands_ + zydis_.operand_count_visible, [](const auto& o) {
      return o.type == ZYDIS_OPERAND_TYPE_MEMORY && o.mem.base == ZYDIS_REGISTER_RIP;
    });
    if (!relative || is_no_operation()) return std::nullopt;
    return DistanceField{zydis_.raw.disp.offset, zydis_.raw.disp.size / 8};
  }

  std::string text() const {
    char text[256];
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter(), &zydis_, operands_, zydis_.operand_count_visible,
                                                      text, sizeof text, address_, nullptr))) {
      fail("Zydis has no text for it");
    }
    return text;
  }

  Operand operand(const ZydisDecodedOperand& from, std::uint64_t next) const {
    Operand o{};
    switch (from.type) {
      case ZYDIS_OPERAND_TYPE_REGISTER:
        o.kind = Operand::Kind::reg;
        o.reg = reg(from.reg.value);
        return o;
      case ZYDIS_OPERAND_TYPE_MEMORY:
        o.kind = Operand::Kind::memory;
        o.memory = memory(from, next);
        return o;
      case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        o.kind = Operand::Kind::immediate;
        o.immediate = from.imm.is_relative ? next + static_cast<std::uint64_t>(from.imm.value.s) : from.imm.value.u;
        return o;
      default: fail("an operand of a kind that is not allowed");
    }
  }

  RegisterOperand reg(ZydisRegister r) const {
    const int number = ZydisRegisterGetId(r);
    switch (ZydisRegisterGetClass(r)) {
      case ZYDIS_REGCLASS_GPR64: return {RegisterKind::general, number, 64};
      case ZYDIS_REGCLASS_GPR32: return {RegisterKind::general, number, 32};
      case ZYDIS_REGCLASS_GPR16: return {RegisterKind::general, number, 16};
      case ZYDIS_REGCLASS_GPR8: {
        if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH) {
          return {RegisterKind::general, r - ZYDIS_REGISTER_AH, 8, true};
        }
        const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
        return {RegisterKind::general, ZydisRegisterGetId(whole), 8};
      }
      case ZYDIS_REGCLASS_XMM: return {RegisterKind::vector, number, 128};
      case ZYDIS_REGCLASS_YMM: return {RegisterKind::vector, number, 256};
      case ZYDIS_REGCLASS_ZMM: return {RegisterKind::vector, number, 512};
      case ZYDIS_REGCLASS_MASK: return {RegisterKind::mask, number, 64};
      default: fail("a register of a kind that is not allowed");
    }
  }

  int address_register(ZydisRegister r) const {
    if (ZydisRegisterGetClass(r) != ZYDIS_REGCLASS_GPR64) fail("an address of other than 64-bit registers");
    return ZydisRegisterGetId(r);
  }

  MemoryOperand memory(const ZydisDecodedOperand& from, std::uint64_t next) const {
    MemoryOperand m;
    if (from.mem.type != ZYDIS_MEMOP_TYPE_MEM && from.mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
      fail("an address of a kind that is not allowed");
    }
    m.bits = from.mem.type == ZYDIS_MEMOP_TYPE_AGEN ? 0 : from.size;
    if (from.mem.base == ZYDIS_REGISTER_RIP) {
      m.absolute = next + static_cast<std::uint64_t>(from.mem.disp.value);
      return m;
    }
    if (from.mem.base == ZYDIS_REGISTER_NONE && from.mem.index == ZYDIS_REGISTER_NONE) fail("an absolute address");
    if (from.mem.base != ZYDIS_REGISTER_NONE) m.base = address_register(from.mem.base);
    if (from.mem.index != ZYDIS_REGISTER_NONE) {
      m.index = address_register(from.mem.index);
      m.scale = from.mem.scale;
    }
    m.displacement = from.mem.disp.has_displacement ? from.mem.disp.value : 0;
    return m;
  }

  std::string form(const Instruction& i) const {
    std::string form = ZydisMnemonicGetString(zydis_.mnemonic);
    for (const Operand& o : i.operands) {
      switch (o.kind) {
        case Operand::Kind::reg: form += form_of(o.reg); break;
        case Operand::Kind::memory: form += fmt::format(" m{}", o.memory.bits); break;
        case Operand::Kind::immediate: form += " i"; break;
      }
    }
    if (i.encoding == Encoding::evex) form += " evex";
    if (i.mask) form += i.zeroing ? " {z}" : " {k}";
    return form;
  }

  static std::string form_of(const RegisterOperand& r) {
    switch (r.kind) {
      case RegisterKind::mask: return " k";
      case RegisterKind::vector: return r.bits == 128 ? " x" : r.bits == 256 ? " y" : " z";
      case RegisterKind::general: return fmt::format(" r{}{}", r.bits, r.high_byte ? "h" : "");
    }
    return {};
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t address_;
  ZydisDecodedInstruction zydis_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT]{};
};

/// Throws if the instruction goes, or refers, to what is not to be relied on.
void check_target(const Image& image, const Function& f, const Instruction& i) {
  const auto fail = [&](const char* what) {
    throw std::runtime_error(fmt::format("{}: {} at {:#x} {}", f.symbol.name, i.text, i.address, what));
  };
  std::uint64_t target = 0;
  bool jumps = true;
  for (const Operand& o : i.operands) {
    if (o.memory.absolute) {
      target = *o.memory.absolute;
      jumps = false;
    }
  }
  if (jumps) {
    target = i.operands.at(0).immediate;
    if (i.mnemonic == ZYDIS_MNEMONIC_CALL) {
      if (image.at(target) == nullptr) fail("goes to no function");
    } else if (f.at(target) == nullptr) {
      fail("goes to no instruction of the routine");
    }
  }
  if (!image.holds_in_any_layout(i.address + static_cast<std::uint64_t>(i.distance->offset), target)) {
    fail("refers to what the linker may put elsewhere");
  }
}

}  // namespace

Instruction decode_one(std::span<const std::uint8_t> bytes, std::uint64_t address) {
  return Decoding(bytes, address).instruction();
}

Function decode(const Image& image, const Symbol& symbol) {
  Function f;
  f.symbol = symbol;
  const auto code = image.code(symbol);
  try {
    for (std::size_t offset = 0; offset < code.size();) {
      f.instructions.push_back(decode_one(code.subspan(offset), symbol.address + offset));
      offset += static_cast<std::size_t>(f.instructions.back().length);
    }
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: {}", symbol.name, e.what()));
  }
  std::vector<std::uint64_t> relocated = image.relocated(symbol);
  for (const Instruction& i : f.instructions) {
    if (!i.distance) continue;
    check_target(image, f, i);
    if (i.distance->bytes == 4) std::erase(relocated, i.address + static_cast<std::uint64_t>(i.distance->offset));
  }
  // A field that the linker fills in elsewhere makes an instruction that is another in each program.
  if (!relocated.empty()) {
    throw std::runtime_error(
        fmt::format("{}: the relocation at {:#x} is of no distance in an instruction", symbol.name, relocated[0]));
  }
  const auto last = std::find_if(f.instructions.rbegin(), f.instructions.rend(),
                                 [](const Instruction& i) { return i.mnemonic != ZYDIS_MNEMONIC_NOP; });
  if (last == f.instructions.rend() || (last->mnemonic != ZYDIS_MNEMONIC_RET && last->mnemonic != ZYDIS_MNEMONIC_JMP)) {
    throw std::runtime_error(fmt::format("{}: the code goes on past its end", symbol.name));
  }
  return f;
}

}  // namespace stitchgcm::verify
