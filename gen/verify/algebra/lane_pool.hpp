// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a 128-bit lane of a register or of memory holds, exactly, as a formula over what is unknown.
//
//   lane = constant + sum of M(atom) + sum of T(atom, atom)        over GF(2)
//
// M is a 128 x 128 bit matrix, T a bilinear map, an atom one of the unknowns below. Equal formulas are one number, so
// that equality costs nothing. Nothing is sampled, and AES's S-box is the only function that is not interpreted.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "verify/algebra/affine.hpp"
#include "verify/algebra/bits128.hpp"

namespace stitchgcm::verify {

/// A formula that the algebra cannot follow: the proof fails.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A formula, by its number in a LanePool. 0 is the constant 0.
struct Lane {
  std::uint32_t id = 0;
  friend auto operator<=>(Lane, Lane) = default;
};

/// A linear map of lanes, by its number in a LanePool. 0 maps all to 0, 1 is the identity.
struct LinearMap {
  std::uint32_t id = 0;
  friend auto operator<=>(LinearMap, LinearMap) = default;
};

/// What is unknown of one kind: "the ciphertext", "garbage of the caller". Blocks of it are told apart by index.
enum class Name : std::uint32_t {};
enum class Secrecy : std::uint8_t { is_public, secret };

/// The counters of one message: the unknown start is a multiple of 2^known_low_bits (its low bits stand in the formula
/// as a constant, which no addition within them carries out of).
enum class CounterName : std::uint32_t {};

/// Byte i of the result is byte from[i] of the operand, or 0 where from[i] < 0.
using BytePermutation = std::array<std::int8_t, 16>;

/// Values for all unknowns.
struct Assignment {
  std::function<Bits128(Name, std::int64_t index, std::int64_t count, Bits128 start)> input;
  std::function<std::uint32_t(CounterName)> counter;  // start; its known low bits are 0
  std::function<std::int64_t(Variable)> variable;
  Bits128 hash_key = 0;  // H, in SP 800-38D's byte order
  int residue = 0;       // which of the values of a Lane from by_residue()
};

class LanePool {
 public:
  LanePool();
  ~LanePool();
  LanePool(LanePool&&) noexcept;
  LanePool& operator=(LanePool&&) noexcept;

  // Names
  /// The same text is the same name. Throws std::logic_error if it was secret before and is public now, or the reverse.
  Name name(const std::string& text, Secrecy secrecy);
  /// The same text is the same counter; throws std::logic_error if it had other known low bits.
  CounterName counter_name(const std::string& text, int known_low_bits);
  Variables& variables();
  const Variables& variables() const;

  // Leaves
  Lane constant(Bits128 value);
  /// The unknown block number `index` of `name`. `count` and `start` are further keys for unknowns that need them: two
  /// inputs are the same unknown if all four are equal.
  Lane input(Name name, const Affine& index = 0, const Affine& count = 0, Lane start = {});
  /// H^exponent as a block in SP 800-38D's byte order; exponent >= 1.
  Lane power(int exponent);
  /// A counter in bits 0..31, little-endian: start + offset modulo 2^32. In `offset` every coefficient must be a
  /// multiple of 2^known_low_bits; the constant need not be.
  Lane counter(CounterName name, const Affine& offset);
  /// A public number modulo 2^64 in bits 0..63.
  Lane integer(const Affine& value);
  /// A lane that depends on a secret residue r = 0..7: value[r]. If all are equal it is that lane. All operations work
  /// on each of the eight.
  static constexpr int kResidues = 8;
  Lane by_residue(const std::array<Lane, kResidues>& values);
  bool depends_on_residue(Lane a) const;
  Lane with_residue(Lane a, int r) const;

  // Operations. All throw Refused where the result has no formula.
  Lane exclusive_or(Lane a, Lane b);
  Lane apply(LinearMap m, Lane a);
  Lane mask(Lane a, Bits128 kept) { return apply(keep_bits(kept), a); }
  Lane bitwise_and(Lane a, Lane b);  // one of them constant (for each residue), or both equal
  Lane bitwise_or(Lane a, Lane b);   // where both may have a bit set, the bits must be the same formula
  /// Four sums modulo 2^32. One operand is constant (for each residue). Where its dword is not 0, that of the other is
  /// known, or a counter's number and nothing else.
  Lane add32(Lane a, Lane b);
  /// PCLMULQDQ: bit 0 of `halves` chooses the high half of a, bit 4 that of b.
  Lane carryless_multiply(Lane a, Lane b, int halves);
  Lane aes_round(Lane state, Lane round_key);       // AESENC
  Lane aes_last_round(Lane state, Lane round_key);  // AESENCLAST
  /// ShiftRows(SubBytes(a)).
  Lane substitute_bytes(Lane a);
  /// PSHUFB with a constant control (for each residue).
  Lane shuffle_bytes(Lane a, Lane control);

  /// a * H^exponent in GF(2^128), both as blocks in SP 800-38D's byte order. For specifications.
  Lane multiply_by_power(Lane a, int exponent);
  /// The normal form: recognises finished field products and writes them as monomials. Lanes are compared after it.
  Lane lift(Lane a);
  bool equal(Lane a, Lane b) { return lift(a) == lift(b); }

  // Maps
  LinearMap identity() const { return {1}; }
  LinearMap permute_bytes(const BytePermutation& p);
  LinearMap keep_bits(Bits128 kept);
  LinearMap compose(LinearMap outer, LinearMap inner);
  LinearMap sum(LinearMap a, LinearMap b);
  /// The linear map f, by its values on single bits; `text` names it for the cache and in descriptions. Throws
  /// std::logic_error if f(0) != 0.
  LinearMap linear(const std::string& text, const std::function<Bits128(Bits128)>& f);
  LinearMap reverse_bytes() const;
  LinearMap mix_columns() const;

  // Questions
  bool is_constant(Lane a) const;
  Bits128 constant_value(Lane a) const;  // throws std::logic_error if it is none
  /// If the lane is integer(e), or the low 32 bits of it: e, which the lane is if it is known to be below 2^32. Else
  /// nothing.
  std::optional<Affine> as_integer(Lane a) const;
  /// Bits that are not known to be 0.
  Bits128 support(Lane a) const;
  bool mentions_secret(Lane a) const;
  /// All variables that the formula mentions, also inside S-boxes.
  std::vector<Variable> variables_of(Lane a) const;
  /// Variables replaced, in indices, counts, counters and integers, also inside S-boxes and products.
  Lane substitute(Lane a, const Substitution& s);
  Bits128 evaluate(Lane a, const Assignment& values) const;
  std::string describe(Lane a) const;
  /// How many formulas, maps and tensors there are; for reports.
  struct Size {
    std::size_t lanes, maps, tensors, atoms;
  };
  Size size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stitchgcm::verify
