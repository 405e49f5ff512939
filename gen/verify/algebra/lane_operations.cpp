// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Names, leaves, and the operations of LanePool that are linear or work on counters.
#include <algorithm>

#include "verify/algebra/galois.hpp"
#include "verify/algebra/lane_state.hpp"

namespace stitchgcm::verify {
Lane LanePool::State::table(const std::array<Lane, kResidues>& values) {
  if (std::all_of(values.begin(), values.end(), [&](Lane l) { return l == values[0]; })) return values[0];
  return forms.intern_table(values);
}

Lane LanePool::State::of_atom(AtomId a, MatrixId m) {
  if (m == 0) return {};
  const Term term{a, m};
  return forms.intern(0, {&term, 1});
}

Lane LanePool::State::sum(Lane a, Lane b) {
  if (a == b) return {};
  if (a.id == 0) return b;
  if (b.id == 0) return a;
  if (b < a) std::swap(a, b);
  if (const auto known = memo.find(key(kXor, a.id), b.id)) return {*known};
  const Lane result = for_each_residue(a, b, [this](Lane l, Lane r) {
    if (l == r) return Lane{};
    const Form &x = form(l), &y = form(r);
    std::vector<Term> terms;
    terms.reserve(x.terms.size() + y.terms.size());
    auto i = x.terms.begin();
    auto j = y.terms.begin();
    while (i != x.terms.end() || j != y.terms.end()) {
      if (j == y.terms.end() || (i != x.terms.end() && i->key < j->key)) {
        terms.push_back(*i++);
      } else if (i == x.terms.end() || j->key < i->key) {
        terms.push_back(*j++);
      } else {
        const std::uint32_t c = is_pair(*i) ? linear.sum_bilinear(i->coefficient, j->coefficient)
                                            : linear.sum(i->coefficient, j->coefficient);
        if (c != 0) terms.push_back({i->key, c});
        ++i, ++j;
      }
    }
    return forms.intern(x.constant ^ y.constant, terms);
  });
  return {memo.put(key(kXor, a.id), b.id, result.id)};
}

Lane LanePool::State::apply(MatrixId m, Lane a) {
  if (m == 0 || a.id == 0) return {};
  if (m == 1) return a;
  if (const auto known = memo.find(key(kApply, m), a.id)) return {*known};
  const Lane result = for_each_residue(a, [this, m](Lane l) {
    const Form& x = form(l);
    std::vector<Term> terms;
    terms.reserve(x.terms.size());
    for (const Term& t : x.terms) {
      const std::uint32_t c = is_pair(t) ? linear.compose_bilinear(m, t.coefficient) : linear.compose(m, t.coefficient);
      if (c != 0) terms.push_back({t.key, c});
    }
    return forms.intern(linear.apply(m, x.constant), terms);
  });
  return {memo.put(key(kApply, m), a.id, result.id)};
}

Lane LanePool::State::counter(CounterName name, const Affine& offset) {
  const int low = counters[static_cast<std::size_t>(name)].known_low_bits;
  const std::int64_t granule = std::int64_t{1} << low;
  const std::int64_t rest = ((offset.constant() % granule) + granule) % granule;
  const Affine multiple = offset - rest;
  if (!multiple.divisible_by(granule)) {
    throw Refused("a counter at " + variables.describe(offset) + ", which is no known multiple");
  }
  // Modulo 2^32, so that a counter which has gone round is the same.
  const std::int64_t number = static_cast<std::int32_t>(multiple.constant());
  Atom a;
  a.kind = AtomKind::counter;
  a.name = static_cast<std::uint32_t>(name);
  a.index = affines.intern(multiple.symbolic_part() + number);
  const Bits128 kept = low_bits(32) & ~low_bits(low);
  return sum(constant(static_cast<Bits128>(rest)), of_atom(a, linear.diagonal(kept)));
}

Lane LanePool::State::add32(Lane a, Bits128 addend) {
  Lane result = a;
  for (int d = 0; d < 4; d++) {
    const auto add = static_cast<std::uint32_t>(addend >> (32 * d));
    if (add == 0) continue;
    const Bits128 dword = low_bits(32) << (32 * d);
    const Form& x = form(apply(linear.diagonal(dword), a));
    const auto known = static_cast<std::uint32_t>(x.constant >> (32 * d));
    Lane sum_of_dword;
    if (x.terms.empty()) {
      sum_of_dword = constant(static_cast<Bits128>(known + add) << (32 * d));
    } else {
      const bool one_atom = x.terms.size() == 1 && !is_pair(x.terms[0]);
      const Atom* c = one_atom ? &atoms[atom_of(x.terms[0])] : nullptr;
      const MatrixId up = to_dword[static_cast<std::size_t>(d)].id;
      const bool is_counter = c != nullptr && c->kind == AtomKind::counter;
      const int low = is_counter ? counters[c->name].known_low_bits : 0;
      const Bits128 kept = low_bits(32) & ~low_bits(low);
      if (!is_counter || x.terms[0].coefficient != linear.compose(up, linear.diagonal(kept)) || (known >> low) != 0) {
        throw Refused("an addition of 32-bit numbers to something that is neither known nor a counter: " +
                      describe(a, 1));
      }
      const Affine offset = affines[c->index] + static_cast<std::int64_t>(known) + static_cast<std::int64_t>(add);
      sum_of_dword = apply(up, counter(static_cast<CounterName>(c->name), offset));
    }
    result = sum(apply(linear.diagonal(~dword), result), sum_of_dword);
  }
  return result;
}

LanePool::LanePool() : state_(std::make_unique<State>()) {
  state_->constant(0);           // formula 0
  state_->affines.intern(0);     // expression 0, which atoms without one have
  state_->atoms.intern(Atom{});  // no atom is number 0
  BytePermutation reversed, columns;
  for (int i = 0; i < 16; i++) {
    reversed[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(15 - i);
    columns[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i % 4);
  }
  state_->reverse_bytes = permute_bytes(reversed);
  state_->map_names[state_->reverse_bytes.id] = "reversed";
  state_->broadcast_dword = permute_bytes(columns);
  state_->keep_dword = keep_bits(low_bits(32));
  state_->number_map = compose(state_->reverse_bytes, keep_bits(~low_bits(64)));
  for (int d = 0; d < 4; d++) {
    BytePermutation up;
    for (int i = 0; i < 16; i++) {
      up[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i >= 4 * d ? i - 4 * d : -1);
    }
    state_->to_dword[static_cast<std::size_t>(d)] = permute_bytes(up);
  }
  state_->mix_columns = linear("MixColumns", verify::mix_columns);
}
LanePool::~LanePool() = default;
LanePool::LanePool(LanePool&&) noexcept = default;
LanePool& LanePool::operator=(LanePool&&) noexcept = default;

Name LanePool::name(const std::string& text, Secrecy secrecy) {
  auto& names = state_->names;
  for (std::size_t i = 0; i < names.size(); i++) {
    if (names[i].text != text) continue;
    if (names[i].secrecy != secrecy) throw std::logic_error("two names, one secret and one public: " + text);
    return static_cast<Name>(i);
  }
  names.push_back({text, secrecy, 0});
  return static_cast<Name>(names.size() - 1);
}

CounterName LanePool::counter_name(const std::string& text, int known_low_bits) {
  auto& counters = state_->counters;
  for (std::size_t i = 0; i < counters.size(); i++) {
    if (counters[i].text != text) continue;
    if (counters[i].known_low_bits != known_low_bits) throw std::logic_error("two counters of one name: " + text);
    return static_cast<CounterName>(i);
  }
  counters.push_back({text, Secrecy::secret, known_low_bits});
  return static_cast<CounterName>(counters.size() - 1);
}

Variables& LanePool::variables() { return state_->variables; }
const Variables& LanePool::variables() const { return state_->variables; }

Lane LanePool::constant(Bits128 value) { return state_->constant(value); }

Lane LanePool::input(Name name, const Affine& index, const Affine& count, Lane start) {
  Atom a;
  a.kind = AtomKind::input;
  a.name = static_cast<std::uint32_t>(name);
  a.index = state_->affines.intern(index);
  a.count = state_->affines.intern(count);
  if (depends_on_residue(start)) throw Refused("an unknown that depends on a secret residue");
  a.lane = start;
  return state_->of_atom(a);
}

Lane LanePool::power(int exponent) {
  if (exponent < 1) throw std::logic_error("a power of H below 1");
  return state_->power(exponent);
}

Lane LanePool::counter(CounterName name, const Affine& offset) { return state_->counter(name, offset); }

Lane LanePool::integer(const Affine& value) {
  if (value.is_constant()) return constant(static_cast<std::uint64_t>(value.constant()));
  Atom a;
  a.kind = AtomKind::integer;
  a.index = state_->affines.intern(value);
  return state_->of_atom(a, state_->number_map.id);
}

Lane LanePool::by_residue(const std::array<Lane, kResidues>& values) {
  std::array<Lane, kResidues> plain;
  for (int r = 0; r < kResidues; r++)
    plain[static_cast<std::size_t>(r)] = with_residue(values[static_cast<std::size_t>(r)], r);
  return state_->table(plain);
}
bool LanePool::depends_on_residue(Lane a) const { return state_->form(a).is_table(); }
Lane LanePool::with_residue(Lane a, int r) const {
  const Form& f = state_->form(a);
  return f.is_table() ? f.by_residue[static_cast<std::size_t>(r)] : a;
}

Lane LanePool::exclusive_or(Lane a, Lane b) { return state_->sum(a, b); }
Lane LanePool::apply(LinearMap m, Lane a) { return state_->apply(m.id, a); }

Lane LanePool::bitwise_and(Lane a, Lane b) {
  if (a == b) return a;
  return state_->for_each_residue(a, b, [this](Lane x, Lane y) {
    if (x == y) return x;
    // Bit by bit: a known bit of one keeps or clears the other's. Where neither is known they must be the same.
    const Bits128 known_x = state_->form(x).constant, known_y = state_->form(y).constant;
    const Bits128 open_x = support(exclusive_or(x, constant(known_x))),
                  open_y = support(exclusive_or(y, constant(known_y)));
    const Bits128 both = open_x & open_y;
    if (mask(x, both) != mask(y, both)) {
      throw Refused("AND of two values that are not known: " + describe(x) + ", " + describe(y));
    }
    const Lane of_x = mask(x, (known_y & ~open_y) | both), of_y = mask(y, open_y & ~open_x & known_x);
    return exclusive_or(of_x, of_y);
  });
}

Lane LanePool::bitwise_or(Lane a, Lane b) {
  return state_->for_each_residue(a, b, [this](Lane x, Lane y) {
    if (is_constant(x) || is_constant(y)) {
      const Bits128 known = constant_value(is_constant(x) ? x : y);
      return exclusive_or(constant(known), mask(is_constant(x) ? y : x, ~known));
    }
    // Where only one can have a bit the sum is it; where both can they must be the same.
    const Bits128 both = support(x) & support(y);
    if (mask(x, both) != mask(y, both)) {
      throw Refused("OR of two values that are not known: " + describe(x) + ", " + describe(y));
    }
    return exclusive_or(x, mask(y, ~both));
  });
}

Lane LanePool::add32(Lane a, Lane b) {
  if (const auto known = state_->memo.find(State::key(State::kAdd32, a.id), b.id)) return {*known};
  const Lane result = state_->for_each_residue(a, b, [this](Lane x, Lane y) {
    if (is_constant(y)) return state_->add32(x, constant_value(y));
    if (is_constant(x)) return state_->add32(y, constant_value(x));
    throw Refused("an addition of two values that are not known: " + describe(x) + ", " + describe(y));
  });
  return {state_->memo.put(State::key(State::kAdd32, a.id), b.id, result.id)};
}

Lane LanePool::carryless_multiply(Lane a, Lane b, int halves) {
  const BilinearId map = state_->linear.carryless_map((halves & 0x01) != 0, (halves & 0x10) != 0);
  return state_->for_each_residue(lift(a), lift(b),
                                  [this, map](Lane x, Lane y) { return state_->bilinear(map, x, y); });
}

Lane LanePool::aes_round(Lane state, Lane round_key) {
  return exclusive_or(apply(state_->mix_columns, substitute_bytes(state)), round_key);
}
Lane LanePool::aes_last_round(Lane state, Lane round_key) { return exclusive_or(substitute_bytes(state), round_key); }
Lane LanePool::substitute_bytes(Lane a) { return state_->substitute_bytes(a); }

Lane LanePool::shuffle_bytes(Lane a, Lane control) {
  if (const auto known = state_->memo.find(State::key(State::kShuffle, a.id), control.id)) return {*known};
  const Lane result = state_->for_each_residue(a, control, [this](Lane x, Lane c) {
    if (!is_constant(c)) throw Refused("a byte shuffle by a control that is not known: " + describe(c));
    const auto bytes = bytes_of(constant_value(c));
    BytePermutation p;
    for (std::size_t i = 0; i < 16; i++) p[i] = static_cast<std::int8_t>((bytes[i] & 0x80) != 0 ? -1 : bytes[i] & 15);
    return apply(permute_bytes(p), x);
  });
  return {state_->memo.put(State::key(State::kShuffle, a.id), control.id, result.id)};
}

Lane LanePool::multiply_by_power(Lane a, int exponent) {
  if (exponent < 1) throw std::logic_error("a power of H below 1");
  return state_->multiply_by_power(a, exponent);
}
Lane LanePool::lift(Lane a) { return state_->lift(a); }

LinearMap LanePool::permute_bytes(const BytePermutation& p) {
  std::array<std::uint8_t, 16> bytes;
  for (std::size_t i = 0; i < 16; i++) bytes[i] = static_cast<std::uint8_t>(p[i]);
  const Bits128 packed = from_bytes(bytes);
  if (const auto known = state_->permutations.find(low_half(packed), high_half(packed))) return {*known};
  BitMatrix m;
  for (int i = 0; i < 16; i++) {
    const int from = p[static_cast<std::size_t>(i)];
    for (int b = 0; from >= 0 && b < 8; b++) m.row[static_cast<std::size_t>(8 * i + b)] = bit(8 * from + b);
  }
  return {state_->permutations.put(low_half(packed), high_half(packed), state_->linear.intern(m))};
}

LinearMap LanePool::keep_bits(Bits128 kept) { return {state_->linear.diagonal(kept)}; }
LinearMap LanePool::compose(LinearMap outer, LinearMap inner) { return {state_->linear.compose(outer.id, inner.id)}; }
LinearMap LanePool::sum(LinearMap a, LinearMap b) { return {state_->linear.sum(a.id, b.id)}; }
LinearMap LanePool::linear(const std::string& text, const std::function<Bits128(Bits128)>& f) {
  const auto known = state_->named_maps.find(text);
  if (known != state_->named_maps.end()) return known->second;
  const LinearMap m{state_->linear.of_function(f)};
  state_->map_names.emplace(m.id, text);
  return state_->named_maps[text] = m;
}
LinearMap LanePool::reverse_bytes() const { return state_->reverse_bytes; }
LinearMap LanePool::mix_columns() const { return state_->mix_columns; }

bool LanePool::is_constant(Lane a) const { return state_->is_constant(a); }
Bits128 LanePool::constant_value(Lane a) const {
  if (!is_constant(a)) throw std::logic_error("a lane that is not constant");
  return state_->form(a).constant;
}

std::optional<Affine> LanePool::as_integer(Lane a) const {
  const Form& f = state_->form(a);
  if (f.is_table() || f.constant != 0 || f.terms.size() != 1 || is_pair(f.terms[0])) return std::nullopt;
  const Atom& atom = state_->atoms[atom_of(f.terms[0])];
  // The low half, or the low dword, which is the number too while it is below 2^32: the caller looks at its value.
  const MatrixId m = f.terms[0].coefficient;
  if (atom.kind != AtomKind::integer) return std::nullopt;
  const MatrixId low_dword = state_->linear.compose(state_->keep_dword.id, state_->number_map.id);
  if (m != state_->number_map.id && m != low_dword) return std::nullopt;
  return state_->affines[atom.index];
}

LanePool::Size LanePool::size() const {
  return {state_->forms.size(), state_->linear.matrices(), state_->linear.bilinears(), state_->atoms.size()};
}

}  // namespace stitchgcm::verify
