// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Straight-line code as a value, cut into the pieces between which another strip may enter.
#include "asm/instruction.hpp"

namespace stitchgcm::assembly {

/// A run of instructions that is never split.
struct Piece {
  std::string note;
  std::vector<Instruction> code;
};

/// Straight-line code in program order.
struct Strip {
  std::vector<Piece> pieces;

  Strip& operator+=(const Strip& other) {
    pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
    return *this;
  }
  friend Strip operator+(Strip a, const Strip& b) { return a += b; }

  size_t instructions() const {
    size_t n = 0;
    for (const Piece& p : pieces) n += p.code.size();
    return n;
  }
};

}  // namespace stitchgcm::assembly
