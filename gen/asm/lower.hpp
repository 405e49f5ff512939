// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// From structured programs to bytes: labels from the path in the tree, the shortest jumps, and where everything lies.
#include "asm/routine.hpp"

#include <variant>

namespace stitchgcm::assembly {

struct Label {
  std::string name;  // written L(name)
};
struct Jump {
  std::optional<Condition> condition;  // none: always
  std::string target;
};
struct Banner {
  std::string text;
};
struct Directive {
  std::string text;  // CFI
};
struct Padding {};  // no-ops up to the next multiple of 64
struct FunctionCall {
  std::string symbol;
};

/// One item of a lowered routine, its place in the file's code and its bytes (jumps and padding have theirs too).
struct Item {
  std::variant<Label, Jump, Banner, Directive, Padding, FunctionCall, Instruction> value;
  size_t offset = 0;
  std::vector<uint8_t> bytes;
  /// Of an instruction: 0 in straight code; in stitched code 1 for the first strip's, 2 for those of the others.
  int strip = 0;
};

struct LoweredRoutine {
  const Routine* routine;
  std::vector<Item> items;
  size_t offset = 0;  // of its first byte in the file's code; a multiple of 64
  size_t bytes = 0;
};

/// 4 bytes at `offset` of the code that the linker fills: address of the target + addend - address of those bytes.
struct Relocation {
  size_t offset;
  std::string constant;  // one of the two is empty
  std::string symbol;
  int64_t addend;
};

struct PlacedConstant {
  Constant constant;
  size_t offset;  // in the file's read-only data
};

/// A whole file: what an assembler must make of the emitted text.
struct LoweredFile {
  const SourceFile* source;
  std::vector<LoweredRoutine> routines;
  std::vector<uint8_t> code;  // 0xcc between routines, 0 where relocations go
  std::vector<Relocation> relocations;
  std::vector<PlacedConstant> constants;
  std::vector<uint8_t> data;
};

/// The alignment of routines and of aligned loops, and the filler between routines (int3).
inline constexpr size_t kCodeAlignment = 64;
inline constexpr size_t kConstantAlignment = 16;
inline constexpr uint8_t kFiller = 0xcc;

/// Throws std::logic_error if two constants share a name and not their bytes, or a label is there twice.
LoweredFile lower(const SourceFile& file);

}  // namespace stitchgcm::assembly
