// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Finds the row for an instruction.
#include <unordered_map>
#include <vector>

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

/// All kinds that the operand is of. `width` is that of general registers and memory, `length` that of vectors.
Kinds kinds_of(const Operand& o, int width, int length) {
  switch (o.kind) {
    case Operand::Kind::immediate: return kind::i;
    case Operand::Kind::reg:
      switch (o.reg.kind) {
        case RegisterKind::mask: return kind::k;
        case RegisterKind::general:
          if (o.reg.high_byte) return 0;
          return (o.reg.bits == width ? kind::r : 0) | (o.reg.bits == 8    ? kind::r8
                                                        : o.reg.bits == 16 ? kind::r16
                                                        : o.reg.bits == 32 ? kind::r32
                                                                           : kind::r64);
        case RegisterKind::vector:
          return (o.reg.bits == length ? kind::v : 0) | (o.reg.bits == 128   ? kind::x
                                                         : o.reg.bits == 256 ? kind::y
                                                                             : kind::z);
      }
      break;
    case Operand::Kind::memory: {
      Kinds all = (o.memory.bits == width ? kind::m : 0) | (o.memory.bits == length ? kind::mv : 0);
      switch (o.memory.bits) {
        case 0: return kind::address;
        case 8: return all | kind::m8;
        case 16: return all | kind::m16;
        case 32: return all | kind::m32;
        case 64: return all | kind::m64;
        case 128: return all | kind::m128;
        case 256: return all | kind::m256;
        default: return all;
      }
    }
  }
  return 0;
}

/// 32 or 64: the width of the first operand that has one of them.
int width_of(const Instruction& i) {
  for (const Operand& o : i.operands) {
    const int bits = o.kind == Operand::Kind::memory                                       ? o.memory.bits
                     : o.kind == Operand::Kind::reg && o.reg.kind == RegisterKind::general ? o.reg.bits
                                                                                           : 0;
    if (bits == 32 || bits == 64) return bits;
  }
  return -1;
}

bool takes(const Row& row, const Instruction& i) {
  const Encodings encoding = i.encoding == Encoding::legacy ? kLegacy : i.encoding == Encoding::vex ? kVex : kEvex;
  if ((row.encodings & encoding) == 0 || (i.mask && row.element == 0)) return false;
  const int length = i.encoding == Encoding::legacy ? 128 : i.vector_bits;
  if (length != 0 && (row.lengths & (length / 128)) == 0) return false;
  if (i.operands.size() > row.operands.size()) return false;
  const int width = width_of(i);
  for (std::size_t n = 0; n < row.operands.size(); n++) {
    const Kinds wanted = row.operands[n];
    if (n >= i.operands.size()) return wanted == 0;
    if ((kinds_of(i.operands[n], width, length) & wanted) == 0) return false;
  }
  return true;
}

const std::unordered_map<int, std::vector<const Row*>>& rows_by_mnemonic() {
  static const auto kRows = [] {
    std::unordered_map<int, std::vector<const Row*>> rows;
    for (const std::span<const Row> part : table()) {
      for (const Row& row : part) rows[row.mnemonic].push_back(&row);
    }
    return rows;
  }();
  return kRows;
}

}  // namespace

std::span<const std::span<const Row>> table() {
  static const std::array kTable = {general_rows(),     shift_rows(),     vector_rows(),
                                    vector_move_rows(), byte_move_rows(), mask_rows()};
  return kTable;
}

const Row* row_of(const Instruction& i) {
  const auto found = rows_by_mnemonic().find(i.mnemonic);
  if (found == rows_by_mnemonic().end()) return nullptr;
  for (const Row* row : found->second) {
    if (takes(*row, i)) return row;
  }
  return nullptr;
}

}  // namespace stitchgcm::verify
