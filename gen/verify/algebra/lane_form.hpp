// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What LanePool keeps: atoms, and formulas as sorted sums of maps of them.
#include <deque>
#include <span>

#include "verify/algebra/affine.hpp"
#include "verify/algebra/lane_pool.hpp"
#include "verify/algebra/linear_pool.hpp"
#include "verify/algebra/memo.hpp"

namespace stitchgcm::verify {

using AtomId = std::uint32_t;
using AffineId = std::uint32_t;

enum class AtomKind : std::uint8_t {
  input,    // an unknown block
  power,    // H^exponent
  product,  // (base & kept) * H^exponent in GHASH's field
  sbox,     // ShiftRows(SubBytes(lane))
  counter,  // start + index mod 2^32 in bits 0..31; the known low bits are 0
  integer   // index mod 2^64, big-endian in bytes 8..15: as it is hashed, so that its products are seen to be products
};

struct Atom {
  AtomKind kind{};
  std::uint32_t name = 0;  // Name or CounterName
  AffineId index = 0, count = 0;
  Lane lane;  // input: start; sbox: argument
  int exponent = 0;
  AtomId base = 0;
  Bits128 kept = 0;
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// M(atom) or T(atom, atom). The key of an atom is its number; that of a pair has bit 63, and the atoms in the order of
/// LanePool::State::in_order().
struct Term {
  std::uint64_t key;
  std::uint32_t coefficient;  // MatrixId or BilinearId
  friend bool operator==(const Term&, const Term&) = default;
};
constexpr std::uint64_t kPair = std::uint64_t{1} << 63;
constexpr std::uint64_t pair_key(AtomId a, AtomId b) { return kPair | static_cast<std::uint64_t>(a) << 31 | b; }
constexpr bool is_pair(const Term& t) { return (t.key & kPair) != 0; }
constexpr AtomId first_of(const Term& t) { return static_cast<AtomId>(t.key >> 31 & 0x7fffffff); }
constexpr AtomId second_of(const Term& t) { return static_cast<AtomId>(t.key & 0x7fffffff); }
constexpr AtomId atom_of(const Term& t) { return static_cast<AtomId>(t.key); }

/// constant + sum of the terms; or, for a lane that depends on the residue, eight lanes of which none does.
struct Form {
  Bits128 constant = 0;
  std::span<const Term> terms;  // sorted by key
  std::span<const Lane> by_residue;
  bool is_table() const { return !by_residue.empty(); }
};

/// One of each formula. What is interned stays where it is.
class FormPool {
 public:
  Lane intern(Bits128 constant, std::span<const Term> terms);
  /// Not all eight are equal.
  Lane intern_table(std::span<const Lane> values);
  const Form& operator[](Lane a) const { return forms_[a.id]; }
  std::size_t size() const { return forms_.size(); }

 private:
  template <class IsIt>
  Lane intern(std::uint64_t hash, const Form& form, IsIt is_it);

  std::deque<Form> forms_;
  InternIndex index_;
  Arena<Term> terms_;
  Arena<Lane> tables_;
};

/// One of each atom.
class AtomPool {
 public:
  AtomId intern(const Atom& a);
  const Atom& operator[](AtomId id) const { return atoms_[id]; }
  std::size_t size() const { return atoms_.size(); }

 private:
  std::deque<Atom> atoms_;
  InternIndex index_;
};

/// One of each expression.
class AffinePool {
 public:
  AffineId intern(const Affine& a);
  const Affine& operator[](AffineId id) const { return affines_[id]; }

 private:
  std::deque<Affine> affines_;
  InternIndex index_;
};

}  // namespace stitchgcm::verify
