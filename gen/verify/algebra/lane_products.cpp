// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Carry-less products, AES's S-box, and the normal form of field products.
//
// A carry-less product of two lanes is a sum of bilinear maps of pairs of atoms, and stays one through sums,
// Karatsuba's middle and both folds of a reduction: those are linear. Where a multiplication by a power of H is
// finished, its bilinear map is outer((a & kept) h) for a linear map `outer`: LinearPool reads it off and checks it bit
// by bit. Then the term becomes outer(product), with one atom for (a & kept) * H^k. What machine code computed in parts
// and what the specification says come to the same formula this way, and nothing needs a hint.
//
// Squares: (M H^k)(M' H^k) is a quadratic form of H^k. If it has no mixed terms it is linear in H^k, since a bit is its
// own square; squaring is linear in a field of characteristic 2, so that it is a linear map of H^2k, too.
#include <algorithm>

#include "verify/algebra/galois.hpp"
#include "verify/algebra/lane_state.hpp"

namespace stitchgcm::verify {
namespace {

bool has_pairs(const Form& f) { return std::any_of(f.terms.begin(), f.terms.end(), is_pair); }

}  // namespace

Lane LanePool::State::power(int exponent) {
  Atom a;
  a.kind = AtomKind::power;
  a.exponent = exponent;
  return of_atom(a);
}

/// (base & kept) * H^exponent.
Lane LanePool::State::product(AtomId base, Bits128 kept, int exponent) {
  const Atom& b = atoms[base];
  // What the base cannot have anyway makes no difference.
  const bool all = (atom_support(base) & ~kept) == 0;
  if (all && b.kind == AtomKind::power) return power(b.exponent + exponent);
  Atom a;
  a.kind = AtomKind::product;
  a.base = base;
  a.kept = all ? ~Bits128{0} : kept;
  a.exponent = exponent;
  if (all && b.kind == AtomKind::product) {
    a.base = b.base;
    a.kept = b.kept;
    a.exponent = b.exponent + exponent;
  }
  return of_atom(a);
}

/// Which atom of a pair comes first. Powers of H come second, so that a finished product by one is seen in one way.
bool LanePool::State::in_order(AtomId a, AtomId b) const {
  const bool power_a = atoms[a].kind == AtomKind::power, power_b = atoms[b].kind == AtomKind::power;
  return power_a == power_b ? a <= b : power_b;
}

Lane LanePool::State::bilinear(BilinearId map, Lane a, Lane b) {
  if (map == 0 || a.id == 0 || b.id == 0) return {};
  const std::uint64_t operands = static_cast<std::uint64_t>(map) << 32 | b.id;
  if (const auto known = memo.find(key(kBilinear, a.id), operands)) return {*known};
  const Form &x = form(a), &y = form(b);
  // Where one operand is known the map is linear in the other, and then that may be anything: as in a reduction.
  if ((has_pairs(x) && !y.terms.empty()) || (has_pairs(y) && !x.terms.empty())) {
    throw Refused("a product of a product that is not reduced: " + describe(has_pairs(x) ? a : b, 1));
  }
  Lane result = constant(linear.value(map, x.constant, y.constant));
  if (x.constant != 0) {
    result = sum(result, apply(linear.with_first(map, x.constant), forms.intern(0, y.terms)));
  }
  if (y.constant != 0) {
    result = sum(result, apply(linear.with_first(linear.exchanged(map), y.constant), forms.intern(0, x.terms)));
  }
  if (x.terms.empty() || y.terms.empty()) return {memo.put(key(kBilinear, a.id), operands, result.id)};

  std::vector<Term> pairs;
  for (const Term& s : x.terms) {
    for (const Term& t : y.terms) {
      const AtomId p = atom_of(s), q = atom_of(t);
      Term pair{};
      if (in_order(p, q)) {
        pair = {pair_key(p, q), linear.of_operands(map, s.coefficient, t.coefficient)};
        if (p == q) pair.coefficient = linear.of_equal_operands(pair.coefficient);
      } else {
        pair = {pair_key(q, p), linear.of_operands(linear.exchanged(map), t.coefficient, s.coefficient)};
      }
      if (pair.coefficient != 0) pairs.push_back(pair);
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Term& l, const Term& r) { return l.key < r.key; });
  std::vector<Term> merged;
  for (const Term& t : pairs) {
    if (merged.empty() || merged.back().key != t.key) {
      merged.push_back(t);
      continue;
    }
    std::uint32_t& c = merged.back().coefficient;
    c = linear.sum_bilinear(c, t.coefficient);
    if (c == 0) merged.pop_back();
  }
  result = sum(result, forms.intern(0, merged));
  return {memo.put(key(kBilinear, a.id), operands, result.id)};
}

/// The lane of a term T(a, b) whose map is that of a finished product. Nothing if it is none.
std::optional<Lane> LanePool::State::lifted(const Term& t) {
  const AtomId a = first_of(t), b = second_of(t);
  if (atoms[b].kind != AtomKind::power) return std::nullopt;
  if (a == b) {
    const auto of_square = linear.as_map_of_square(t.coefficient);
    if (!of_square) return std::nullopt;
    return apply(*of_square, power(2 * atoms[b].exponent));
  }
  if (const auto& p = linear.as_product(t.coefficient)) {
    const LinearPool::Product found = *p;
    return apply(found.outer, product(a, found.kept, atoms[b].exponent));
  }
  // Of two powers it may be the second of which only a part is taken.
  if (atoms[a].kind != AtomKind::power) return std::nullopt;
  if (const auto& p = linear.as_product(linear.exchanged(t.coefficient))) {
    const LinearPool::Product found = *p;
    return apply(found.outer, product(b, found.kept, atoms[a].exponent));
  }
  return std::nullopt;
}

Lane LanePool::State::lift(Lane lane) {
  if (!form(lane).is_table() && !has_pairs(form(lane))) return lane;
  if (const auto known = memo.find(key(kLift, lane.id), 0)) return {*known};
  const Lane result = for_each_residue(lane, [this](Lane a) {
    const Form& f = form(a);
    if (!has_pairs(f)) return a;
    std::vector<Term> rest;
    Lane products;
    for (const Term& t : f.terms) {
      const std::optional<Lane> product = is_pair(t) ? lifted(t) : std::nullopt;
      if (product) {
        products = sum(products, *product);
      } else {
        rest.push_back(t);
      }
    }
    return sum(forms.intern(f.constant, rest), products);
  });
  return {memo.put(key(kLift, lane.id), 0, result.id)};
}

Lane LanePool::State::multiply_by_power(Lane lane, int exponent) {
  const auto k = static_cast<std::uint64_t>(exponent);
  if (const auto known = memo.find(key(kMultiply, lane.id), k)) return {*known};
  const Lane result = for_each_residue(lane, [this, exponent](Lane a) {
    const Lane product = lift(bilinear(linear.field_product_map(), lift(a), power(exponent)));
    if (has_pairs(form(product))) {
      throw Refused("a linear map, but no multiple, of an unknown, times a power of H: " + describe(a, 1));
    }
    return product;
  });
  return {memo.put(key(kMultiply, lane.id), k, result.id)};
}

Lane LanePool::State::substitute_bytes(Lane lane) {
  if (const auto known = memo.find(key(kSbox, lane.id), 0)) return {*known};
  const Lane result = for_each_residue(lane, [this](Lane x) {
    const Lane a = lift(x);
    if (is_constant(a)) return constant(shift_rows(sub_bytes(form(a).constant)));
    if (has_pairs(form(a))) throw Refused("the S-box of a product that is not reduced: " + describe(a, 1));
    Atom s;
    s.kind = AtomKind::sbox;
    s.lane = a;
    const Lane substituted = of_atom(s);
    // Of four equal columns ShiftRows leaves each as it is, and so all columns of the result are the first: that is
    // what key schedules by AESENCLAST rest on.
    const auto four_columns = [this](Lane l) { return apply(broadcast_dword.id, l); };
    return four_columns(a) == a ? four_columns(substituted) : substituted;
  });
  return {memo.put(key(kSbox, lane.id), 0, result.id)};
}

}  // namespace stitchgcm::verify
