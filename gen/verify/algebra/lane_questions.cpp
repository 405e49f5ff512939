// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What a formula mentions, what it becomes when variables are replaced, and its value.
#include <algorithm>

#include "verify/algebra/galois.hpp"
#include "verify/algebra/lane_state.hpp"

namespace stitchgcm::verify {

Bits128 LanePool::State::atom_support(AtomId id) const {
  const Atom& a = atoms[id];
  if (a.kind == AtomKind::integer) return ~low_bits(64);
  if (a.kind == AtomKind::counter) return low_bits(32) & ~low_bits(counters[a.name].known_low_bits);
  return ~Bits128{0};
}

Bits128 LanePool::State::support(Lane a) const {
  const Form& f = form(a);
  Bits128 bits = f.constant;
  for (Lane l : f.by_residue) bits |= support(l);
  for (const Term& t : f.terms) {
    if (is_pair(t)) {
      const BilinearMap& m = linear.bilinear(t.coefficient);
      for (int o = 0; o < 128; o++) {
        const auto& row = m.term[static_cast<std::size_t>(o)];
        if (std::any_of(row.begin(), row.end(), [](Bits128 v) { return v != 0; })) bits |= bit(o);
      }
    } else {
      const BitMatrix& m = linear.matrix(t.coefficient);
      const Bits128 possible = atom_support(atom_of(t));
      for (int o = 0; o < 128; o++) {
        if ((m.row[static_cast<std::size_t>(o)] & possible) != 0) bits |= bit(o);
      }
    }
  }
  return bits;
}

bool LanePool::State::secret_atom(AtomId id) {
  const Atom& a = atoms[id];
  switch (a.kind) {
    case AtomKind::input: return names[a.name].secrecy == Secrecy::secret;
    case AtomKind::integer: return false;
    case AtomKind::power:
    case AtomKind::product:
    case AtomKind::counter: return true;
    case AtomKind::sbox: return secret(a.lane);
  }
  return true;
}

bool LanePool::State::secret(Lane a) {
  if (const auto known = memo.find(key(kSecret, a.id), 0)) return *known != 0;
  const Form& f = form(a);
  bool found = f.is_table();
  for (const Term& t : f.terms) {
    found = found || (is_pair(t) ? secret_atom(first_of(t)) || secret_atom(second_of(t)) : secret_atom(atom_of(t)));
  }
  memo.put(key(kSecret, a.id), 0, found ? 1 : 0);
  return found;
}

void LanePool::State::collect_variables(Lane lane, std::vector<Variable>& found) {
  if (const auto known = variables_of.find(lane.id); known != variables_of.end()) {
    found.insert(found.end(), known->second.begin(), known->second.end());
    return;
  }
  std::vector<Variable> own;
  const auto of_affine = [&](AffineId id) {
    for (const Affine::Term& t : affines[id].terms()) own.push_back(t.variable);
  };
  const std::function<void(AtomId)> of_one = [&](AtomId id) {
    const Atom& a = atoms[id];
    of_affine(a.index);
    of_affine(a.count);
    if (a.lane.id != 0) collect_variables(a.lane, own);
    if (a.kind == AtomKind::product) of_one(a.base);
  };
  const Form& f = form(lane);
  for (Lane l : f.by_residue) collect_variables(l, own);
  for (const Term& t : f.terms) {
    if (is_pair(t)) {
      of_one(first_of(t)), of_one(second_of(t));
    } else {
      of_one(atom_of(t));
    }
  }
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  found.insert(found.end(), own.begin(), own.end());
  variables_of.emplace(lane.id, std::move(own));
}

Lane LanePool::State::substituted_atom(AtomId id, const Substitution& s, std::uint32_t number) {
  if (const auto known = memo.find(key(kSubstituteAtom, id), number)) return {*known};
  return {memo.put(key(kSubstituteAtom, id), number, substituted_anew(id, s, number).id)};
}

Lane LanePool::State::substituted_anew(AtomId id, const Substitution& s, std::uint32_t number) {
  Atom a = atoms[id];
  const auto replaced = [&](AffineId i) { return affines.intern(verify::substitute(affines[i], s)); };
  switch (a.kind) {
    case AtomKind::power: return of_atom(id);
    case AtomKind::input:
      a.index = replaced(a.index);
      a.count = replaced(a.count);
      a.lane = substitute(a.lane, s, number);
      return of_atom(a);
    case AtomKind::counter: return counter(static_cast<CounterName>(a.name), verify::substitute(affines[a.index], s));
    case AtomKind::integer: {
      const Affine value = verify::substitute(affines[a.index], s);
      if (value.is_constant()) {
        return constant(linear.apply(reverse_bytes.id, static_cast<std::uint64_t>(value.constant())));
      }
      a.index = affines.intern(value);
      return of_atom(a);
    }
    case AtomKind::sbox: return substitute_bytes(substitute(a.lane, s, number));
    case AtomKind::product: {
      const Lane base = apply(linear.diagonal(a.kept), substituted_atom(a.base, s, number));
      return multiply_by_power(base, a.exponent);
    }
  }
  return {};
}

Lane LanePool::State::substitute(Lane lane, const Substitution& s, std::uint32_t number) {
  if (const auto known = memo.find(key(kSubstitute, lane.id), number)) return {*known};
  std::vector<Variable> mentioned;
  collect_variables(lane, mentioned);
  if (std::none_of(mentioned.begin(), mentioned.end(), [&](Variable v) { return s.contains(v); })) return lane;
  const Lane result = for_each_residue(lane, [&](Lane l) {
    const Form& f = form(lift(l));
    Lane sum_of_terms = constant(f.constant);
    for (const Term& t : f.terms) {
      const Lane replaced = is_pair(t) ? bilinear(t.coefficient, substituted_atom(first_of(t), s, number),
                                                  substituted_atom(second_of(t), s, number))
                                       : apply(t.coefficient, substituted_atom(atom_of(t), s, number));
      sum_of_terms = sum(sum_of_terms, replaced);
    }
    return sum_of_terms;
  });
  return {memo.put(key(kSubstitute, lane.id), number, result.id)};
}

Bits128 LanePool::support(Lane a) const { return state_->support(a); }
bool LanePool::mentions_secret(Lane a) const { return state_->secret(a); }

std::vector<Variable> LanePool::variables_of(Lane a) const {
  std::vector<Variable> found;
  state_->collect_variables(a, found);
  return found;
}

Lane LanePool::substitute(Lane a, const Substitution& s) {
  if (s.empty()) return a;
  const auto number =
      state_->substitutions.emplace(s, static_cast<std::uint32_t>(state_->substitutions.size())).first->second;
  return state_->substitute(a, s, number);
}

Bits128 LanePool::evaluate(Lane lane, const Assignment& values) const {
  std::unordered_map<std::uint32_t, Bits128> lanes, atoms;
  const State& p = *state_;
  const auto number = [&](AffineId id) {
    std::int64_t sum = p.affines[id].constant();
    for (const Affine::Term& t : p.affines[id].terms()) {
      sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                      static_cast<std::uint64_t>(t.coefficient) *
                                          static_cast<std::uint64_t>(values.variable(t.variable)));
    }
    return sum;
  };
  const auto power_of = [&](int exponent) {
    Bits128 power = values.hash_key;
    for (int i = 1; i < exponent; i++) power = field_product(power, values.hash_key);
    return power;
  };
  std::function<Bits128(Lane)> of_lane;
  const std::function<Bits128(AtomId)> of_atom = [&](AtomId id) -> Bits128 {
    if (const auto known = atoms.find(id); known != atoms.end()) return known->second;
    const Atom& a = p.atoms[id];
    Bits128 v = 0;
    switch (a.kind) {
      case AtomKind::input:
        v = values.input(static_cast<Name>(a.name), number(a.index), number(a.count), of_lane(a.lane));
        break;
      case AtomKind::power: v = power_of(a.exponent); break;
      case AtomKind::product: v = field_product(of_atom(a.base) & a.kept, power_of(a.exponent)); break;
      case AtomKind::sbox: v = shift_rows(sub_bytes(of_lane(a.lane))); break;
      case AtomKind::counter:
        v = static_cast<std::uint32_t>(values.counter(static_cast<CounterName>(a.name)) +
                                       static_cast<std::uint32_t>(number(a.index)));
        break;
      case AtomKind::integer:
        v = p.linear.apply(p.reverse_bytes.id, static_cast<std::uint64_t>(number(a.index)));
        break;
    }
    return atoms[id] = v;
  };
  of_lane = [&](Lane l) -> Bits128 {
    if (const auto known = lanes.find(l.id); known != lanes.end()) return known->second;
    const Form& f = p.form(l);
    if (f.is_table()) return lanes[l.id] = of_lane(f.by_residue[static_cast<std::size_t>(values.residue)]);
    Bits128 sum = f.constant;
    for (const Term& t : f.terms) {
      sum ^= is_pair(t) ? p.linear.value(t.coefficient, of_atom(first_of(t)), of_atom(second_of(t)))
                        : p.linear.apply(t.coefficient, of_atom(atom_of(t)));
    }
    return lanes[l.id] = sum;
  };
  return of_lane(lane);
}

}  // namespace stitchgcm::verify
