// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What each instruction does: one table, a row a mnemonic and the operands that it takes. What stands in no row is
// refused. Source of all rows: Intel SDM, volume 2.
#include <array>
#include <span>
#include <string>

#include "verify/machine/machine.hpp"

namespace stitchgcm::verify {

/// Kinds of operands, as a set: a row says for each of its operands which kinds it may be of.
using Kinds = std::uint32_t;
namespace kind {
inline constexpr Kinds
    /// A general register or memory of 32 or 64 bits, the same for all such operands of an instruction.
    r = 1 << 0,
    m = 1 << 1,
    /// Of exactly so many bits. r8 is a low byte (al .. r15b).
    r8 = 1 << 2, r16 = 1 << 3, r32 = 1 << 4, r64 = 1 << 5, m8 = 1 << 6, m16 = 1 << 7, m32 = 1 << 8, m64 = 1 << 9,
    m128 = 1 << 10, m256 = 1 << 11,
    /// A vector register or memory of the instruction's vector length.
    v = 1 << 12, mv = 1 << 13,
    /// A vector register of exactly 128, 256 or 512 bits.
    x = 1 << 14, y = 1 << 15, z = 1 << 16,
    /// A mask register; a number in the instruction; lea's and prefetch's address, which is not accessed.
    k = 1 << 17, i = 1 << 18, address = 1 << 19;
}  // namespace kind

/// Sets of encodings.
using Encodings = std::uint8_t;
inline constexpr Encodings kLegacy = 1, kVex = 2, kEvex = 4, kVexOrEvex = kVex | kEvex;

/// Sets of vector lengths.
using Lengths = std::uint8_t;
inline constexpr Lengths k128 = 1, k256 = 2, k512 = 4, kAnyLength = k128 | k256 | k512;

struct Execution;
using Semantics = void (*)(const Execution&);

struct Row {
  ZydisMnemonic mnemonic;
  Encodings encodings;
  std::array<Kinds, 5> operands;  // 0: none
  Semantics semantics;
  int element = 0;  // bytes that a bit of the mask stands for; 0: a mask is not followed
  Lengths lengths = kAnyLength;
};

std::span<const Row> general_rows();
std::span<const Row> shift_rows();
std::span<const Row> vector_rows();
std::span<const Row> vector_move_rows();
std::span<const Row> byte_move_rows();
std::span<const Row> mask_rows();
/// All rows.
std::span<const std::span<const Row>> table();
/// Nothing if no row takes the instruction.
const Row* row_of(const Instruction& i);

/// An instruction at work. Everything is read and decided before anything is written, so that one which throws has left
/// the state as it was.
struct Execution {
  const Machine& machine;
  const Instruction& instruction;
  const Row& row;
  State& state;

  LanePool& pool() const { return machine.pool; }
  const Facts& facts() const { return state.facts; }
  const Operand& operand(std::size_t n) const { return instruction.operands.at(n); }
  std::size_t operands() const { return instruction.operands.size(); }
};

// Operands (operands.cpp)

struct Address {
  RegionId region{};
  Affine place;
};
/// A secret in an address is refused.
Address address_of(const Execution& e, const MemoryOperand& m);
Lane load_lane(const Execution& e, const Address& a, int bytes);
/// Bytes [first, first + bytes) of the lane.
void store_lane(const Execution& e, const Address& a, Lane lane, int first, int bytes);
void store_scalar(const Execution& e, const Address& a, const Scalar& value);  // 8 bytes
/// Refused unless the address is known to be a multiple of `bytes`.
void require_aligned(const Execution& e, const Address& a, int bytes);
/// A general register's or memory's value, of the operand's width and zero-extended; an immediate. What is not known is
/// refused, and so is part of a pointer.
Scalar read_scalar(const Execution& e, const Operand& o);
/// Writing 32 bits of a register clears the upper half, writing 8 bits leaves the others.
void write_scalar(const Execution& e, const Operand& o, const Scalar& value);
int bits_of(const Operand& o);
const char* name_of_general(int number);

// Public numbers (numbers.cpp). All throw Undecided where a length must be split, Refused where a result has no
// expression.

/// value mod 2^bits as an integer in [0, 2^bits), bits < 64; of 64 bits, the expression as it is.
Affine truncated(const Facts& facts, const Affine& value, int bits);
/// floor(value / 2^n) of an integer in [0, 2^64).
Affine shifted_right(const Facts& facts, const Affine& value, int n);
/// The value if it is the only one that the facts leave.
std::optional<std::int64_t> known_constant(const Facts& facts, const Scalar& s);

// Data (numbers.cpp)

/// A scalar as data: numbers become constants or integers, of 64 bits.
Lane as_lane(LanePool& pool, const Facts& facts, const Scalar& s);
/// Data that is a constant becomes a number.
Scalar normal(LanePool& pool, Lane lane);
/// A linear map of the low 64 bits, by name.
Lane map64(LanePool& pool, const std::string& name, Lane a, const std::function<std::uint64_t(std::uint64_t)>& f);

// Vectors (vectors.cpp)

using Lanes = std::array<Lane, kVectorLanes>;
bool is_vector(const Operand& o);
const Lanes& vector_of(const Execution& e, const Operand& o);
/// How many lanes the instruction works on: 1, 2 or 4.
int lanes_of(const Instruction& i);
int immediate(const Execution& e);  // the last operand, 8 bits
/// Lane l of a vector register, or of memory from byte 16 l on; what is narrower than 16 bytes is zero-extended.
Lane lane_of(const Execution& e, const Operand& o, int l);
/// The first of the sources: VEX and EVEX name the result apart, legacy instructions write over the first.
std::size_t first_source(const Execution& e);
/// The value of a mask register; Refused if it is not known.
std::uint64_t mask_value(const Execution& e, int number);
/// The bits of lane l whose element's bit in the mask is set.
Bits128 selected_bits(std::uint64_t mask, int l, int element);
/// The result's first `count` lanes. Elements that the mask leaves out stay, or become 0. VEX and EVEX instructions
/// write zeros above, legacy ones leave what was there. To memory all lanes are written, or none.
void write_lanes(const Execution& e, const Operand& to, Lanes values, int count);

// Conditions (conditions.cpp)

/// The condition of setcc and cmovcc as that of the jump; nothing for other instructions.
std::optional<ZydisMnemonic> condition_of_other(ZydisMnemonic m);

}  // namespace stitchgcm::verify
