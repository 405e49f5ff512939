// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The insides of LanePool.
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/algebra/lane_pool.hpp"
#include "verify/algebra/linear_pool.hpp"

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
  friend auto operator<=>(const Atom&, const Atom&) = default;
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

struct Form {
  Bits128 constant = 0;
  std::vector<Term> terms;       // sorted by key
  std::vector<Lane> by_residue;  // eight, none of which depends on the residue; then the rest is empty
  bool is_table() const { return !by_residue.empty(); }
  friend bool operator==(const Form&, const Form&) = default;
};

struct NameInfo {
  std::string text;
  Secrecy secrecy = Secrecy::secret;
  int known_low_bits = 0;
};

struct LanePool::State {
  LinearPool linear;
  Variables variables;
  std::vector<NameInfo> names, counters;
  std::vector<Affine> affines;
  std::map<Affine, AffineId> affine_index;
  std::vector<Atom> atoms;
  std::map<Atom, AtomId> atom_index;
  std::vector<Form> lanes;
  std::unordered_multimap<std::uint64_t, std::uint32_t> lane_index;
  Memo memo;
  std::map<std::string, LinearMap> named_maps;
  std::unordered_map<std::uint32_t, std::string> map_names;
  std::map<Substitution, std::uint32_t> substitutions;
  std::unordered_map<std::uint32_t, std::vector<Variable>> variables_of;
  LinearMap reverse_bytes, mix_columns, broadcast_dword, keep_dword;  // dword 0 into all four; dword 0 alone
  LinearMap number_map;  // of an integer's atom: to bits 0..63, little-endian

  enum Operation : std::uint64_t {
    kXor,
    kApply,
    kBilinear,
    kSbox,
    kLift,
    kMultiply,
    kAdd32,
    kShuffle,
    kSecret,
    kSubstitute,
    kSubstituteAtom
  };
  static constexpr std::uint64_t key(Operation o, std::uint64_t a) { return static_cast<std::uint64_t>(o) << 56 | a; }

  AffineId affine(const Affine& a);
  AtomId atom(const Atom& a);
  Lane intern(Form&& form);
  const Form& form(Lane a) const { return lanes[a.id]; }
  Lane of_atom(AtomId a, MatrixId m = 1);
  Lane sum(Lane a, Lane b);
  Lane apply(MatrixId m, Lane a);
  /// T(a, b), exactly; neither may depend on the residue. In normal form only after lift().
  Lane bilinear(BilinearId map, Lane a, Lane b);
  bool in_order(AtomId a, AtomId b) const;
  std::optional<Lane> lifted(const Term& t);
  Lane lift(Lane a);
  Lane substitute_bytes(Lane a);
  Lane multiply_by_power(Lane a, int exponent);
  Lane add32(Lane a, Bits128 addend);
  Lane counter(CounterName name, const Affine& offset);
  Lane power(int exponent);
  Lane product(AtomId base, Bits128 kept, int exponent);
  Lane substitute(Lane a, const Substitution& s, std::uint32_t number);
  Lane substituted_atom(AtomId a, const Substitution& s, std::uint32_t number);
  Bits128 support(Lane a) const;
  Bits128 atom_support(AtomId a) const;
  bool secret(Lane a);
  bool secret_atom(AtomId a);
  void collect_variables(Lane a, std::vector<Variable>& found);
  /// M(operand); `support`: the bits that the operand can have.
  std::string describe_map(MatrixId m, Bits128 support, const std::string& operand) const;
  /// S-boxes within S-boxes are written out `depth` deep.
  std::string describe_atom(AtomId a, int depth) const;
  std::string describe(Lane a, int depth) const;
  bool is_constant(Lane a) const { return !form(a).is_table() && form(a).terms.empty(); }

  /// Applies f to the lane, or to each of the eight of a table.
  template <class F>
  Lane for_each_residue(Lane a, F f) {
    if (!form(a).is_table()) return f(a);
    return for_each_residue(a, Lane{}, [&](Lane x, Lane) { return f(x); });
  }
  template <class F>
  Lane for_each_residue(Lane a, Lane b, F f) {
    if (!form(a).is_table() && !form(b).is_table()) return f(a, b);
    std::array<Lane, kResidues> values;
    for (std::size_t r = 0; r < values.size(); r++) {
      // The forms may move while f works.
      const Lane x = form(a).is_table() ? form(a).by_residue[r] : a, y = form(b).is_table() ? form(b).by_residue[r] : b;
      values[r] = f(x, y);
    }
    return table(values);
  }
  Lane table(const std::array<Lane, kResidues>& values);
};

}  // namespace stitchgcm::verify
