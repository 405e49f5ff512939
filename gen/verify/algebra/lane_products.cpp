// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Carry-less products, AES's S-box, and the normal form of field products.
//
// A carry-less product of two lanes is a sum of bilinear maps of pairs of atoms, and stays one through sums, Karatsuba's
// middle and both folds of a reduction: those are linear. Where a multiplication by a power of H is finished, its bilinear
// map is outer((a & kept) h) for a linear map `outer`: LinearPool reads it off and checks it bit by bit. Then the term
// becomes outer(product), with one atom for (a & kept) * H^k. What machine code computed in parts and what the
// specification says come to the same formula this way, and nothing needs a hint.
#include <algorithm>

#include "verify/algebra/galois.hpp"
#include "verify/algebra/lane_state.hpp"

namespace stitchgcm::verify {

/// (base & kept) * H^exponent.
Lane LanePool::State::product(AtomId base, Bits128 kept, int exponent) {
  const Atom b = atoms[base];
  // What the base cannot have anyway makes no difference.
  const bool all = (atom_support(base) & ~kept) == 0;
  if (all && b.kind == AtomKind::power) {
    Atom a;
    a.kind = AtomKind::power;
    a.exponent = b.exponent + exponent;
    return of_atom(atom(a));
  }
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
  return of_atom(atom(a));
}

Lane LanePool::State::lift(Lane lane) {
  if (std::none_of(form(lane).terms.begin(), form(lane).terms.end(), is_pair)) return lane;
  if (const auto known = memo.find(key(kLift, lane.id), 0)) return {*known};
  const Form f = form(lane);
  Form kept{f.constant, {}, {}};
  std::vector<Lane> lifted;
  for (const Term& t : f.terms) {
    if (!is_pair(t)) {
      kept.terms.push_back(t);
      continue;
    }
    const AtomId a = first_of(t), b = second_of(t);
    const bool power_a = atoms[a].kind == AtomKind::power, power_b = atoms[b].kind == AtomKind::power;
    if (a == b && power_a) {
      if (const auto m = linear.as_map_of_square(t.coefficient)) {
        Atom square;
        square.kind = AtomKind::power;
        square.exponent = 2 * atoms[a].exponent;
        lifted.push_back(of_atom(atom(square), *m));
        continue;
      }
    } else if (power_a || power_b) {
      const bool h_first = !power_b;
      if (const auto& p = linear.as_product(t.coefficient, h_first)) {
        const LinearPool::Product found = *p;
        lifted.push_back(apply(found.outer, product(h_first ? b : a, found.kept, atoms[h_first ? a : b].exponent)));
        continue;
      }
    }
    kept.terms.push_back(t);
  }
  Lane result = intern(std::move(kept));
  for (Lane l : lifted) result = sum(result, l);
  return {memo.put(key(kLift, lane.id), 0, result.id)};
}

Lane LanePool::State::carryless(Lane a, Lane b, int halves) {
  a = lift(a);
  b = lift(b);
  if (a.id == 0 || b.id == 0) return {};
  const bool high_a = (halves & 1) != 0, high_b = (halves & 16) != 0;
  const std::uint64_t operands = static_cast<std::uint64_t>(b.id) << 2 | (high_a ? 1 : 0) | (high_b ? 2 : 0);
  if (const auto known = memo.find(key(kCarryless, a.id), operands)) return {*known};
  const Form x = form(a), y = form(b);
  for (const Form* f : {&x, &y}) {
    if (std::any_of(f->terms.begin(), f->terms.end(), is_pair)) {
      throw Refused("a product of a product that is not reduced");
    }
  }
  const auto half = [](Bits128 v, bool high) { return high ? high_half(v) : low_half(v); };
  const std::uint64_t constant_a = half(x.constant, high_a), constant_b = half(y.constant, high_b);
  Lane result = intern({carryless_product(constant_a, constant_b), {}, {}});
  const auto times_constant = [this, half](const Form& f, bool high, std::uint64_t c) {
    if (c == 0 || f.terms.empty()) return Lane{};
    const std::uint64_t halved = static_cast<std::uint64_t>(high ? 1 : 0);
    MatrixId m;
    if (const auto known = memo.find(key(kTimes, halved), c)) {
      m = *known;
    } else {
      m = memo.put(key(kTimes, halved), c,
                   linear.of_function([=](Bits128 v) { return carryless_product(half(v, high), c); }));
    }
    return apply(m, intern({0, f.terms, {}}));
  };
  result = sum(result, times_constant(y, high_b, constant_a));
  result = sum(result, times_constant(x, high_a, constant_b));
  Form pairs;
  for (const Term& s : x.terms) {
    for (const Term& t : y.terms) {
      const AtomId p = atom_of(s), q = atom_of(t);
      const BilinearId c = p <= q ? linear.carryless(s.coefficient, t.coefficient, high_a, high_b, p == q)
                                  : linear.carryless(t.coefficient, s.coefficient, high_b, high_a, false);
      if (c != 0) pairs.terms.push_back({pair_key(std::min(p, q), std::max(p, q)), c});
    }
  }
  std::sort(pairs.terms.begin(), pairs.terms.end(), [](const Term& l, const Term& r) { return l.key < r.key; });
  Form merged;
  for (const Term& t : pairs.terms) {
    if (merged.terms.empty() || merged.terms.back().key != t.key) {
      merged.terms.push_back(t);
      continue;
    }
    std::uint32_t& c = merged.terms.back().coefficient;
    c = linear.sum_bilinear(c, t.coefficient);
    if (c == 0) merged.terms.pop_back();
  }
  result = sum(result, intern(std::move(merged)));
  return {memo.put(key(kCarryless, a.id), operands, result.id)};
}

Lane LanePool::State::multiply_by_power(Lane lane, int exponent) {
  const Form f = form(lift(lane));
  Atom power;
  power.kind = AtomKind::power;
  power.exponent = exponent;
  const AtomId h = atom(power);
  Lane result = f.constant == 0 ? Lane{} : of_atom(h, linear.times(f.constant));
  for (const Term& t : f.terms) {
    if (is_pair(t)) throw Refused("a product that is not reduced, times a power of H");
    const AtomId a = atom_of(t);
    if (a == h) {
      if (t.coefficient != 1) throw Refused("a linear map of a power of H, times the same power");
      power.exponent = 2 * exponent;
      result = sum(result, of_atom(atom(power)));
      continue;
    }
    if (t.coefficient == 1) {
      result = sum(result, product(a, ~Bits128{0}, exponent));
      continue;
    }
    // The pair's order is that of the numbers; the product is symmetric, but M belongs to `a`.
    const auto& p = linear.as_product(linear.field_product_of(t.coefficient), false);
    if (!p) throw Refused("a linear map of an unknown, times a power of H, that is no multiple of the unknown");
    const LinearPool::Product found = *p;
    result = sum(result, apply(found.outer, product(a, found.kept, exponent)));
  }
  return result;
}

Lane LanePool::State::substitute_bytes(Lane lane) {
  const Lane a = lift(lane);
  const Form f = form(a);
  if (f.terms.empty()) return intern({shift_rows(sub_bytes(f.constant)), {}, {}});
  if (std::any_of(f.terms.begin(), f.terms.end(), is_pair)) throw Refused("the S-box of a product that is not reduced");
  Atom s;
  s.kind = AtomKind::sbox;
  s.lane = a;
  const Lane result = of_atom(atom(s));
  // Of four equal columns ShiftRows leaves each as it is, and so all columns of the result are the first: that is what
  // key schedules by AESENCLAST rest on.
  if (apply(broadcast_dword.id, apply(keep_dword.id, a)) != a) return result;
  return apply(broadcast_dword.id, apply(keep_dword.id, result));
}

}  // namespace stitchgcm::verify
