// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// One machine instruction as a value: the bytes that Xbyak wrote, and what Zydis reads back from them.
#include <Zydis/Zydis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stitchgcm::assembly {

/// Bytes in read-only data, found by name. Two constants of one name in one file must have equal bytes.
struct Constant {
  std::string name;
  std::vector<uint8_t> bytes;
  std::string meaning;  // one line for the emitted file
};

/// A rip-relative operand: `constant` + `offset`.
struct ConstantReference {
  std::shared_ptr<const Constant> constant;
  int64_t offset = 0;
};

enum class Syntax { intel, att };

struct Instruction {
  std::vector<uint8_t> bytes;  // a ConstantReference's displacement is 0 in them
  ZydisDecodedInstruction decoded{};
  std::vector<ZydisDecodedOperand> operands;
  std::optional<ConstantReference> reference;
  std::string note;   // of its piece: "AES round 3"
  std::string stage;  // of its strip: "block 5"
  int turn = 0;       // of a pipelined loop, counted from the turn at which the pointers stand

  /// Assembler text that gives back `bytes` through GNU as and through clang. A constant is written L(constant_NAME).
  std::string text(Syntax syntax = Syntax::intel) const;
  /// Where in `bytes` the displacement of `reference` stands.
  size_t reference_position() const { return decoded.raw.disp.offset; }
};

/// Decodes one instruction at the start of `bytes`. Throws std::runtime_error if there is none.
Instruction decode(std::span<const uint8_t> bytes);

}  // namespace stitchgcm::assembly
