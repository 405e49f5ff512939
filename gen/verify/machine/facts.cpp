// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/machine/facts.hpp"

#include <algorithm>

#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify {
namespace {

Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
Wide ceiling_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

}  // namespace

Range Facts::range(Variable v) const {
  const auto found = ranges_.find(v);
  if (found == ranges_.end()) throw std::logic_error("a variable was never declared on this path");
  return found->second;
}

Range Facts::range(const Affine& a) const {
  Range sum{a.constant(), a.constant()};
  for (const Affine::Term& t : a.terms()) {
    const Range r = range(t.variable);
    const Wide c = t.coefficient;
    sum.low += c * (c > 0 ? r.low : r.high);
    sum.high += c * (c > 0 ? r.high : r.low);
  }
  return sum;
}

bool Facts::implies_nonnegative(const Affine& a) const {
  if (range(a).low >= 0) return true;
  // a - k f >= 0 and f >= 0 give a >= 0 for k > 0; k is chosen so that a variable of a vanishes.
  for (const Affine& f : nonnegative_) {
    for (const Affine::Term& t : f.terms()) {
      for (const Affine::Term& u : a.terms()) {
        if (u.variable != t.variable || u.coefficient % t.coefficient != 0) continue;
        const std::int64_t k = u.coefficient / t.coefficient;
        if (k <= 0) continue;
        const Affine rest = a - f * k;
        if (range(rest).low >= 0) return true;
        for (const Affine& g : nonnegative_) {
          for (const Affine::Term& v : g.terms()) {
            for (const Affine::Term& w : rest.terms()) {
              if (v.variable != w.variable || w.coefficient % v.coefficient != 0) continue;
              const std::int64_t m = w.coefficient / v.coefficient;
              if (m > 0 && range(rest - g * m).low >= 0) return true;
            }
          }
        }
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

std::int64_t Facts::constant(const Affine& a, const char* what) const {
  const Affine resolved = resolve(a);
  if (resolved.is_constant()) return resolved.constant();
  for (const Affine::Term& t : resolved.terms()) {
    const Range r = range(t.variable);
    if (r.count() <= kFew) throw Undecided{Affine(t.variable) - static_cast<std::int64_t>((r.low + r.high + 1) / 2)};
  }
  throw Refused(std::string(what) + " depends on a length that may have many values");
}

bool Facts::tighten() {
  for (int turn = 0; turn < 8; turn++) {
    bool changed = false;
    for (const Affine& f : nonnegative_) {
      const Range whole = range(f);
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
  std::erase_if(nonnegative_, [this](const Affine& f) { return range(f).low >= 0; });
  return true;
}

bool Facts::assume_nonnegative(const Affine& a) {
  if (range(a).high < 0) return false;
  if (implies_nonnegative(a * -1 - 1)) return false;
  if (range(a).low >= 0) return true;
  nonnegative_.push_back(a);
  return tighten();
}

Substitution Facts::singles() const {
  Substitution s;
  for (const auto& [v, r] : ranges_) {
    if (r.single()) s.emplace(v, static_cast<std::int64_t>(r.low));
  }
  return s;
}

Affine Facts::resolve(const Affine& a) const {
  Affine result = a.constant();
  for (const Affine::Term& t : a.terms()) {
    const Range r = range(t.variable);
    result += (r.single() ? Affine(static_cast<std::int64_t>(r.low)) : Affine(t.variable)) * t.coefficient;
  }
  return result;
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
    add(Affine(v) - static_cast<std::int64_t>(r.low));
    if (r.high <= INT64_MAX) add(Affine(static_cast<std::int64_t>(r.high)) - Affine(v));
  }
  for (const Affine& f : nonnegative_) add(f);
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
  return result;
}

bool Facts::implies(const Facts& other) const {
  for (const auto& [v, r] : other.ranges_) {
    if (r.low > INT64_MIN && !implies_nonnegative(Affine(v) - static_cast<std::int64_t>(r.low))) return false;
    if (r.high < INT64_MAX && !implies_nonnegative(Affine(static_cast<std::int64_t>(r.high)) - Affine(v))) return false;
  }
  return std::all_of(other.nonnegative_.begin(), other.nonnegative_.end(),
                     [this](const Affine& f) { return implies_nonnegative(f); });
}

}  // namespace stitchgcm::verify
