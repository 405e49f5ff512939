// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Routines with one instruction damaged, as machine code: what a proof is worth is how many of them it refuses.
#include <string>
#include <vector>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

enum class Damage : std::uint8_t {
  dropped,       // the instruction is not there
  exchanged,     // two operands change places
  reg,           // another register
  displacement,  // another place in memory, by 1, 8, 16, 32 or 128 bytes
  base,          // another base register
  immediate,     // another bit
  sibling,       // another operation on the same operands
  target,        // a jump goes one instruction too far, or falls through
  swapped        // with the next instruction
};
const char* name_of(Damage d);

struct Mutant {
  std::size_t index = 0;  // of the instruction in Function::instructions
  Damage damage{};
  std::vector<Instruction> instead;  // of as many instructions, from that one on; one or two
  std::string text;                  // "vpxor xmm1, xmm2, xmm3 -> vpand xmm1, xmm2, xmm3"

  Function applied_to(Function f) const;
};

/// All of them, in the order of the code. Each is encoded again by Zydis, and decoded, so each is an instruction that
/// exists. A mutant keeps its address and the address of the next instruction.
std::vector<Mutant> mutants(const Image& image, const Function& function);

}  // namespace stitchgcm::verify
