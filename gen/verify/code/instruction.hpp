// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// One decoded instruction, in the few terms that the machine needs.
#include <Zydis/Zydis.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stitchgcm::verify {

enum class RegisterKind : std::uint8_t { general, vector, mask };

struct RegisterOperand {
  RegisterKind kind;
  int number;              // 0..15 (rax rcx rdx rbx rsp rbp rsi rdi r8..r15), 0..31, 0..7
  int bits;                // 8, 16, 32, 64; 128, 256, 512
  bool high_byte = false;  // ah ch dh bh
};

struct MemoryOperand {
  std::optional<int> base, index;  // general registers
  int scale = 1;
  std::int64_t displacement = 0;          // from the base; 0 if rip-relative
  std::optional<std::uint64_t> absolute;  // the address, if rip-relative
  int bits = 0;                           // of the access; 0 for lea
};

struct Operand {
  enum class Kind : std::uint8_t { reg, memory, immediate } kind;
  RegisterOperand reg{};
  MemoryOperand memory{};
  std::uint64_t immediate = 0;  // as many bits as the operation is wide count; the target of a branch or call
};

enum class Encoding : std::uint8_t { legacy, vex, evex };

/// Where an instruction's bytes hold the distance from its end to what it refers to.
struct DistanceField {
  int offset = 0;  // from the instruction's begin
  int bytes = 4;
};

struct Instruction {
  ZydisMnemonic mnemonic = ZYDIS_MNEMONIC_INVALID;
  Encoding encoding = Encoding::legacy;
  std::vector<Operand> operands;  // the visible ones, Intel order
  std::optional<int> mask;        // EVEX: k1..k7
  bool zeroing = false;           // EVEX: masked-out elements become 0
  int vector_bits = 0;            // VEX, EVEX: vector length
  std::uint64_t address = 0;
  int length = 0;
  std::optional<DistanceField> distance;  // of a branch, a call or a rip-relative operand
  std::uint64_t next() const { return address + static_cast<std::uint64_t>(length); }
  std::string text;  // Intel syntax
  /// What its semantics depends on but not which registers, addresses and numbers: "vpxor x x m128", "shl r64 i"
  /// (by a number) and "shl r64 r8" (by cl).
  std::string form;
};

/// jcc, to an address that is written in the instruction. No jrcxz or loop: they do not ask flags.
bool is_conditional_jump(const Instruction& instruction);
/// The same, or jmp.
bool is_jump(const Instruction& instruction);
/// Whether the next instruction in memory is not the next one executed, or not always: a jump or return.
bool ends_block(const Instruction& instruction);

}  // namespace stitchgcm::verify
