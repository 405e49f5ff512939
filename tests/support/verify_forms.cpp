// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_forms.hpp"

#include <bit>

namespace tests {

using namespace stitchgcm::verify;

namespace {

constexpr int kAttempts = 40;

/// Bits of an operand of that kind.
int bits_of_kind(Kinds k, int width, int length) {
  switch (k) {
    case kind::r:
    case kind::m: return width;
    case kind::v:
    case kind::mv: return length;
    case kind::r8:
    case kind::m8: return 8;
    case kind::r16:
    case kind::m16: return 16;
    case kind::r32:
    case kind::m32: return 32;
    case kind::r64:
    case kind::m64: return 64;
    case kind::x:
    case kind::m128: return 128;
    case kind::y:
    case kind::m256: return 256;
    case kind::z: return 512;
    default: return 0;
  }
}

bool is_one_of(Kinds k, Kinds set) { return (k & set) != 0; }
constexpr Kinds kMemory = kind::m | kind::m8 | kind::m16 | kind::m32 | kind::m64 | kind::m128 | kind::m256 | kind::mv;
constexpr Kinds kGeneral = kind::r | kind::r8 | kind::r16 | kind::r32 | kind::r64;
constexpr Kinds kVector = kind::v | kind::x | kind::y | kind::z;

ZydisRegister numbered(ZydisRegister first, std::size_t n) {
  return static_cast<ZydisRegister>(static_cast<std::size_t>(first) + n);
}

ZydisRegister general_register(int bits, std::size_t n) {
  switch (bits) {
    case 64: return numbered(ZYDIS_REGISTER_RAX, n);
    case 32: return numbered(ZYDIS_REGISTER_EAX, n);
    case 16: return numbered(ZYDIS_REGISTER_AX, n);
    // Zydis has ah..bh between bl and spl.
    default: return n < 4 ? numbered(ZYDIS_REGISTER_AL, n) : numbered(ZYDIS_REGISTER_SPL, n - 4);
  }
}

ZydisRegister vector_register(int bits, std::size_t n) {
  return numbered(bits == 128 ? ZYDIS_REGISTER_XMM0 : bits == 256 ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_ZMM0, n);
}

/// base + index * scale + displacement, or rip-relative (the displacement is then anything) where that may be.
void random_address(Random& random, ZydisEncoderOperand& o, int bits, bool written) {
  o.type = ZYDIS_OPERAND_TYPE_MEMORY;
  o.mem.size = static_cast<ZyanU16>(bits / 8);
  const auto displacement = [&random] { return static_cast<ZyanI64>(random.below(256)) - 128; };
  if (!written && random.below(6) == 0) {
    o.mem.base = ZYDIS_REGISTER_RIP;
    o.mem.displacement = 0x1000;
    return;
  }
  const std::size_t base = random.below(16);
  o.mem.base = general_register(64, base);
  if (random.below(2) == 0) {
    const std::size_t index = random.below(16);
    if (index != rsp && index != base) {
      o.mem.index = general_register(64, index);
      o.mem.scale = static_cast<ZyanU8>(1u << random.below(4));
    }
  }
  if (random.below(4) != 0) o.mem.displacement = displacement() * (random.below(2) == 0 ? 1 : 16);
}

std::uint64_t random_immediate(Random& random) {
  switch (random.below(5)) {
    case 0: return random.below(256);
    case 1: return static_cast<std::uint64_t>(static_cast<std::int8_t>(random.below(256)));
    case 2: return static_cast<std::uint64_t>(static_cast<std::int32_t>(random.word()));
    case 3: return (std::uint64_t{1} << random.below(31)) - 1;
    default: return random.below(32);
  }
}

}  // namespace

std::optional<Bytes> RowForm::encode(Random& random) const {
  // Operations are often of a register with itself, and some are followed only then.
  const std::size_t registers = encoding == Encoding::evex ? 32 : 16;
  const std::size_t often = random.below(registers), often_general = random.below(16);
  const bool repeats = random.below(3) == 0;
  ZydisEncoderRequest request{};
  request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
  request.mnemonic = row->mnemonic;
  request.allowed_encodings = encoding == Encoding::legacy ? ZYDIS_ENCODABLE_ENCODING_LEGACY
                              : encoding == Encoding::vex  ? ZYDIS_ENCODABLE_ENCODING_VEX
                                                           : ZYDIS_ENCODABLE_ENCODING_EVEX;
  bool by_cl = false;
  const auto add = [&]() -> ZydisEncoderOperand& { return request.operands[request.operand_count++]; };
  const auto add_mask = [&](std::size_t number) {
    ZydisEncoderOperand& o = add();
    o.type = ZYDIS_OPERAND_TYPE_REGISTER;
    o.reg.value = numbered(ZYDIS_REGISTER_K0, number);
  };
  // Zydis wants k0 where there is no mask, but only if there could be one.
  const bool names_mask = encoding == Encoding::evex && (masking != Masking::none || random.below(2) == 0);
  for (std::size_t n = 0; n < kinds.size(); n++) {
    const Kinds k = kinds[n];
    const int bits = bits_of_kind(k, width, length);
    ZydisEncoderOperand& o = add();
    if (is_one_of(k, kGeneral)) {
      o.type = ZYDIS_OPERAND_TYPE_REGISTER;
      const std::size_t number = repeats ? often_general : random.below(16);
      o.reg.value = general_register(bits, number);
      // The only byte register that counts is cl.
      by_cl = n > 0 && k == kind::r8;
      if (by_cl && random.below(2) == 0) o.reg.value = ZYDIS_REGISTER_CL;
    } else if (is_one_of(k, kVector)) {
      o.type = ZYDIS_OPERAND_TYPE_REGISTER;
      o.reg.value = vector_register(bits, repeats ? often : random.below(registers));
    } else if (k == kind::k) {
      o.type = ZYDIS_OPERAND_TYPE_REGISTER;
      o.reg.value = numbered(ZYDIS_REGISTER_K0, random.below(repeats ? 2 : 8));
    } else if (is_one_of(k, kMemory)) {
      random_address(random, o, bits, n == 0);
    } else if (k == kind::address) {
      random_address(random, o, 64, false);
    } else {
      o.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
      o.imm.u = random_immediate(random);
      // Of most the number is a byte.
      if (random.below(2) == 0) o.imm.u &= 0x7f;
    }
    if (n == 0 && names_mask) add_mask(masking == Masking::none ? 0 : 1 + random.below(7));
  }
  request.evex.zeroing_mask = masking == Masking::zeroing ? ZYAN_TRUE : ZYAN_FALSE;
  Bytes bytes(ZYDIS_MAX_INSTRUCTION_LENGTH);
  ZyanUSize size = bytes.size();
  if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes.data(), &size))) return std::nullopt;
  bytes.resize(size);
  try {
    const Instruction i = decode_one(bytes, 0);
    const bool masked = masking != Masking::none;
    if (i.encoding != encoding || i.mask.has_value() != masked || row_of(i) != row) return std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::string> RowForm::name() const {
  Random random(1);
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    if (const auto bytes = encode(random)) return decode_one(*bytes, 0).form;
  }
  return std::nullopt;
}

std::vector<RowForm> forms_of(const Row& row) {
  std::vector<RowForm> forms;
  std::vector<std::vector<Kinds>> choices = {{}};
  bool has_width = false, has_length = false;
  for (const Kinds set : row.operands) {
    if (set == 0) break;
    has_width = has_width || is_one_of(set, kind::r | kind::m);
    has_length = has_length || is_one_of(set, kind::v | kind::mv);
    std::vector<std::vector<Kinds>> longer;
    for (const auto& chosen : choices) {
      for (Kinds rest = set; rest != 0; rest &= rest - 1) {
        longer.push_back(chosen);
        longer.back().push_back(rest & -rest);
      }
    }
    choices = std::move(longer);
  }
  const std::vector<int> widths = has_width ? std::vector<int>{32, 64} : std::vector<int>{64};
  const std::vector<int> lengths = has_length ? std::vector<int>{128, 256, 512} : std::vector<int>{128};
  const std::vector<Masking> maskings = row.element != 0
                                            ? std::vector<Masking>{Masking::none, Masking::merging, Masking::zeroing}
                                            : std::vector<Masking>{Masking::none};
  for (const Encoding encoding : {Encoding::legacy, Encoding::vex, Encoding::evex}) {
    const Encodings bit = encoding == Encoding::legacy ? kLegacy : encoding == Encoding::vex ? kVex : kEvex;
    if ((row.encodings & bit) == 0) continue;
    for (const int length : lengths) {
      for (const int width : widths) {
        for (const auto& kinds : choices) {
          for (const Masking masking : maskings) {
            const RowForm form{&row, encoding, length, width, kinds, masking};
            if (form.name()) forms.push_back(form);
          }
        }
      }
    }
  }
  return forms;
}

}  // namespace tests
