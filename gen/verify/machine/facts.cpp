// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/machine/facts.hpp"

#include <algorithm>
#include <numeric>

#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify {
namespace {

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
Wide ceiling_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

/// over / under with under > 0, so that the terms of a are over / under times those of b; nothing if there is none.
struct Ratio {
  Wide over, under;
};
std::optional<Ratio> ratio(const Affine& a, const Affine& b) {
  if (a.terms().size() != b.terms().size() || a.terms().empty()) return std::nullopt;
  Wide over = a.terms()[0].coefficient, under = b.terms()[0].coefficient;
  for (std::size_t i = 0; i < a.terms().size(); i++) {
    if (a.terms()[i].variable != b.terms()[i].variable) return std::nullopt;
    if (Wide{a.terms()[i].coefficient} * under != Wide{b.terms()[i].coefficient} * over) return std::nullopt;
  }
  if (under < 0) over = -over, under = -under;
  return Ratio{over, under};
}

/// The terms divided by what divides all of their coefficients.
Affine primitive(const Affine& a) {
  std::int64_t divisor = 0;
  for (const Affine::Term& t : a.terms()) divisor = std::gcd(divisor, t.coefficient);
  return divisor == 0 ? Affine(0) : a.symbolic_part().divided_by(divisor);
}

/// The range, if it is of one value or of many. Throws Undecided if it is of few, halved by what the facts do not
/// decide; or if nothing has these facts, which both answers say.
Range settled_range(const Facts& facts, const Affine& e) {
  Range r = facts.range(e);
  if (r.low > r.high) throw Undecided{e - static_cast<std::int64_t>(r.low)};
  while (!r.single() && r.count() <= Facts::kFew) {
    const Wide middle = floor_divide(r.low + r.high + 1, 2);
    if (facts.nonnegative(e - static_cast<std::int64_t>(middle))) {
      r.low = middle;
    } else {
      r.high = middle - 1;
    }
  }
  return r;
}

}  // namespace

Range Facts::range(Variable v) const {
  const auto found = ranges_.find(v);
  if (found == ranges_.end()) throw std::logic_error("a variable was never declared on this path");
  return found->second;
}

Range Facts::box(const Affine& a) const {
  Range sum{a.constant(), a.constant()};
  for (const Affine::Term& t : a.terms()) {
    const Range r = range(t.variable);
    const Wide c = t.coefficient;
    sum.low += c * (c > 0 ? r.low : r.high);
    sum.high += c * (c > 0 ? r.high : r.low);
  }
  return sum;
}

Range Facts::range(const Affine& expression) const {
  const Affine a = resolve(expression);
  Range r = box(a);
  if (a.terms().size() < 2) return r;
  for (const Affine& f : nonnegative_) {
    const std::optional<Ratio> k = ratio(a, f);
    if (!k) continue;
    // a = (k.over f + rest) / k.under with rest = k.under a - k.over f, a number; f >= 0.
    const Wide rest = Wide{a.constant()} * k->under - Wide{f.constant()} * k->over;
    if (k->over > 0) {
      r.low = std::max(r.low, ceiling_divide(rest, k->under));
    } else {
      r.high = std::min(r.high, floor_divide(rest, k->under));
    }
  }
  return r;
}

bool Facts::implies_nonnegative(const Affine& expression) const {
  const Affine a = resolve(expression);
  if (range(a).low >= 0) return true;
  // a - k f >= 0 and f >= 0 give a >= 0 for k > 0; k is chosen so that a variable of a vanishes.
  for (const Affine& f : nonnegative_) {
    for (const Affine::Term& t : f.terms()) {
      for (const Affine::Term& u : a.terms()) {
        if (u.variable != t.variable || u.coefficient % t.coefficient != 0) continue;
        const std::int64_t k = u.coefficient / t.coefficient;
        if (k > 0 && range(a - f * k).low >= 0) return true;
      }
    }
  }
  return false;
}

std::optional<bool> Facts::decide_nonnegative(const Affine& a) const {
  if (implies_nonnegative(a)) return true;
  if (implies_nonnegative(a * -1 - 1)) return false;
  return std::nullopt;
}

bool Facts::nonnegative(const Affine& a) const {
  if (const std::optional<bool> known = decide_nonnegative(a)) return *known;
  throw Undecided{a};
}

bool Facts::zero(const Affine& a) const { return nonnegative(a) && nonnegative(a * -1); }

void Facts::settle_few(const Affine& a) const {
  const Affine unknown = primitive(resolve(a));
  if (unknown.is_constant()) return;
  settled_range(*this, unknown);
  for (const Affine::Term& t : unknown.terms()) settled_range(*this, t.variable);
}

std::int64_t Facts::constant(const Affine& a, const char* what) const {
  const Affine resolved = resolve(a);
  if (resolved.is_constant()) return resolved.constant();
  const Affine unknown = primitive(resolved);
  if (const Range r = settled_range(*this, unknown); r.single()) {
    const std::int64_t times = resolved.terms()[0].coefficient / unknown.terms()[0].coefficient;
    return resolved.constant() + times * static_cast<std::int64_t>(r.low);
  }
  settle_few(resolved);
  throw Refused(std::string(what) + " depends on a length that may have many values");
}

bool Facts::tighten() {
  for (int turn = 0; turn < 8; turn++) {
    bool changed = false;
    for (const Affine& f : nonnegative_) {
      const Range whole = box(f);
      if (whole.high < 0) return false;
      for (const Affine::Term& t : f.terms()) {
        Range& r = ranges_.at(t.variable);
        const Wide c = t.coefficient;
        // What the others can add at most: c v >= -others.
        const Wide others = whole.high - c * (c > 0 ? r.high : r.low);
        if (c > 0) {
          const Wide low = ceiling_divide(-others, c);
          if (low > r.low) r.low = low, changed = true;
        } else {
          const Wide high = floor_divide(others, -c);
          if (high < r.high) r.high = high, changed = true;
        }
        if (r.low > r.high) return false;
      }
    }
    if (!changed) break;
  }
  for (Affine& f : nonnegative_) f = resolve(f);
  std::erase_if(nonnegative_, [this](const Affine& f) { return box(f).low >= 0; });
  return std::all_of(nonnegative_.begin(), nonnegative_.end(), [this](const Affine& f) { return box(f).high >= 0; });
}

void Facts::solve_equalities() {
  for (std::size_t i = 0; i < nonnegative_.size(); i++) {
    const Affine a = nonnegative_[i];
    if (std::find(nonnegative_.begin(), nonnegative_.end(), a * -1) == nonnegative_.end()) continue;
    // a = 0: the newest variable whose coefficient is 1 or -1 follows from the others.
    for (auto t = a.terms().rbegin(); t != a.terms().rend(); ++t) {
      if (t->coefficient != 1 && t->coefficient != -1) continue;
      const Variable v = t->variable;
      const Affine value = (a - Affine(v) * t->coefficient) * -t->coefficient;
      const Range r = ranges_.at(v);
      for (auto& [other, expression] : solved_) expression = substitute(expression, {{v, value}});
      solved_.emplace(v, value);
      for (Affine& f : nonnegative_) f = resolve(f);
      // What was known of its range is now known of the expression.
      nonnegative_.push_back(value - static_cast<std::int64_t>(r.low));
      if (r.high <= INT64_MAX) nonnegative_.push_back(Affine(static_cast<std::int64_t>(r.high)) - value);
      std::erase_if(nonnegative_, [this](const Affine& f) { return box(f).low >= 0; });
      solve_equalities();
      return;
    }
  }
}

bool Facts::assume_nonnegative(const Affine& expression) {
  const Affine a = resolve(expression);
  if (range(a).high < 0 || implies_nonnegative(a * -1 - 1)) return false;
  if (implies_nonnegative(a)) return true;
  nonnegative_.push_back(a);
  if (!tighten()) return false;
  solve_equalities();
  return tighten();
}

Substitution Facts::solved() const {
  Substitution s;
  for (const auto& [v, r] : ranges_) {
    if (r.single()) s.emplace(v, static_cast<std::int64_t>(r.low));
  }
  for (const auto& [v, e] : solved_) s.insert_or_assign(v, resolve(e));
  return s;
}

Affine Facts::resolve(const Affine& a) const {
  if (a.is_constant()) return a;
  Affine result = a.constant();
  for (const Affine::Term& t : a.terms()) {
    if (const auto found = solved_.find(t.variable); found != solved_.end()) {
      result += resolve(found->second) * t.coefficient;
      continue;
    }
    const Range r = range(t.variable);
    result += (r.single() ? Affine(static_cast<std::int64_t>(r.low)) : Affine(t.variable)) * t.coefficient;
  }
  return result;
}

bool Facts::equal(const Affine& a, const Affine& b) const {
  const Affine difference = resolve(a - b);
  if (difference.is_constant()) return difference.constant() == 0;
  return implies_nonnegative(difference) && implies_nonnegative(difference * -1);
}

void Facts::substituted(const Substitution& s, Facts& target) const {
  const auto add = [&](const Affine& a) {
    if (!target.assume_nonnegative(substitute(a, s))) throw std::logic_error("facts that contradict each other");
  };
  for (const auto& [v, r] : ranges_) {
    if (!s.contains(v) && !target.ranges_.contains(v)) target.declare(v, r);
  }
  for (const auto& [v, r] : ranges_) {
    if (!s.contains(v)) continue;
    if (r.low >= INT64_MIN) add(Affine(v) - static_cast<std::int64_t>(r.low));
    if (r.high <= INT64_MAX) add(Affine(static_cast<std::int64_t>(r.high)) - Affine(v));
  }
  for (const Affine& f : nonnegative_) add(f);
  for (const auto& [v, e] : solved_) add(Affine(v) - e), add(e - Affine(v));
}

Facts Facts::either(const Facts& a, const Facts& b) {
  Facts result;
  for (const auto& [v, r] : a.ranges_) {
    const auto other = b.ranges_.find(v);
    if (other == b.ranges_.end()) continue;
    result.declare(v, {std::min(r.low, other->second.low), std::max(r.high, other->second.high)});
  }
  const auto known = [&](const Affine& f) {
    return std::all_of(f.terms().begin(), f.terms().end(),
                       [&](const Affine::Term& t) { return result.ranges_.contains(t.variable); });
  };
  const auto add = [&](const Affine& f) {
    if (known(f) && a.implies_nonnegative(f) && b.implies_nonnegative(f)) result.assume_nonnegative(f);
  };
  for (const Affine& f : a.nonnegative_) add(f);
  for (const Affine& f : b.nonnegative_) add(f);
  for (const auto* solved : {&a.solved_, &b.solved_}) {
    for (const auto& [v, e] : *solved) add(Affine(v) - e), add(e - Affine(v));
  }
  return result;
}

bool Facts::implies(const Facts& other) const {
  for (const auto& [v, r] : other.ranges_) {
    if (r.low > INT64_MIN && !implies_nonnegative(Affine(v) - static_cast<std::int64_t>(r.low))) return false;
    if (r.high < INT64_MAX && !implies_nonnegative(Affine(static_cast<std::int64_t>(r.high)) - Affine(v))) return false;
  }
  for (const auto& [v, e] : other.solved_) {
    if (!equal(v, e)) return false;
  }
  return std::all_of(other.nonnegative_.begin(), other.nonnegative_.end(),
                     [this](const Affine& f) { return implies_nonnegative(f); });
}

}  // namespace stitchgcm::verify
