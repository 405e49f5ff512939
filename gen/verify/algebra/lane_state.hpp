// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The insides of LanePool.
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/algebra/lane_form.hpp"

namespace stitchgcm::verify {

struct NameInfo {
  std::string text;
  Secrecy secrecy = Secrecy::secret;
  int known_low_bits = 0;
};

struct LanePool::State {
  LinearPool linear;
  Variables variables;
  std::vector<NameInfo> names, counters;
  AffinePool affines;
  AtomPool atoms;
  FormPool forms;
  Memo memo, permutations;
  std::map<std::string, LinearMap> named_maps;
  std::unordered_map<std::uint32_t, std::string> map_names;
  std::map<Substitution, std::uint32_t> substitutions;
  std::unordered_map<std::uint32_t, std::vector<Variable>> variables_of;
  LinearMap reverse_bytes, mix_columns, broadcast_dword, keep_dword;  // dword 0 into all four; dword 0 alone
  std::array<LinearMap, 4> to_dword;
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

  const Form& form(Lane a) const { return forms[a]; }
  Lane constant(Bits128 value) { return forms.intern(value, {}); }
  Lane of_atom(AtomId a, MatrixId m = 1);
  Lane of_atom(const Atom& a, MatrixId m = 1) { return of_atom(atoms.intern(a), m); }
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
  /// `number`: that of `s` in `substitutions`, by which results are known again.
  Lane substitute(Lane a, const Substitution& s, std::uint32_t number);
  Lane substituted_atom(AtomId a, const Substitution& s, std::uint32_t number);
  Lane substituted_anew(AtomId a, const Substitution& s, std::uint32_t number);
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
      values[r] = f(form(a).is_table() ? form(a).by_residue[r] : a, form(b).is_table() ? form(b).by_residue[r] : b);
    }
    return table(values);
  }
  Lane table(const std::array<Lane, kResidues>& values);
};

}  // namespace stitchgcm::verify
