// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What each instruction does: one table, a row a mnemonic.
#include <string>

#include "verify/machine/machine.hpp"

namespace stitchgcm::verify {

/// An instruction at work. Everything is read and decided before anything is written, so that one which throws has left
/// the state as it was.
struct Execution {
  const Machine& machine;
  const Instruction& instruction;
  State& state;

  LanePool& pool() const { return machine.pool; }
  const Facts& facts() const { return state.facts; }
  const Operand& operand(std::size_t n) const;  // Refused if there is none
  std::size_t operands() const { return instruction.operands.size(); }
};

/// Effective addresses (address.cpp). A secret in one is refused.
struct Address {
  RegionId region{};
  Affine place;
};
Address address_of(const Execution& e, const MemoryOperand& m);
Lane load_lane(const Execution& e, const Address& a, int bytes);

/// General registers and memory as scalars of the operand's width (general_operands.cpp); of 64 bits, or zero-extended.
Scalar read_scalar(const Execution& e, const Operand& o);
void write_scalar(const Execution& e, const Operand& o, const Scalar& value);
int bits_of(const Operand& o);

using Semantics = void (*)(const Execution&);
/// Nothing if there is none for the mnemonic.
Semantics general_semantics(ZydisMnemonic m);
Semantics vector_semantics(ZydisMnemonic m);

// Public numbers (numbers.cpp). All throw Undecided where a length must be split, Refused where a result has no expression.

/// value mod 2^bits as an integer in [0, 2^bits).
Affine truncated(const Facts& facts, const Affine& value, int bits);
/// floor(value / 2^n) of an integer in [0, 2^64).
Affine shifted_right(const Facts& facts, const Affine& value, int n);
/// A scalar as data: numbers become constants or integers, of 64 bits.
Lane as_lane(LanePool& pool, const Facts& facts, const Scalar& s);
/// Data that is a constant becomes a number.
Scalar normal(LanePool& pool, Lane lane);
/// A linear map of the low 64 bits, by name.
Lane map64(LanePool& pool, const std::string& name, Lane a, const std::function<std::uint64_t(std::uint64_t)>& f);

}  // namespace stitchgcm::verify
