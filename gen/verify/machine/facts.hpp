// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What is known of the public variables on one path: a range for each, and inequalities between them.
#include <map>
#include <optional>
#include <vector>

#include "verify/algebra/affine.hpp"

namespace stitchgcm::verify {

__extension__ using Wide = __int128;

struct Range {
  Wide low, high;  // inclusive
  bool single() const { return low == high; }
  Wide count() const { return high - low + 1; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// A public condition that the facts do not decide. The path is taken twice: with `nonnegative` >= 0, and with < 0.
struct Undecided {
  Affine nonnegative;
};

class Facts {
 public:
  void declare(Variable v, Range r) { ranges_[v] = r; }
  const std::map<Variable, Range>& ranges() const { return ranges_; }
  const std::vector<Affine>& inequalities() const { return nonnegative_; }
  Range range(Variable v) const;

  /// Bounds of the expression as an integer (no wrap-around): by the ranges, and by each inequality that speaks of the
  /// same sum of variables.
  Range range(const Affine& a) const;
  /// True only if a >= 0 follows.
  bool implies_nonnegative(const Affine& a) const;
  /// Whether a >= 0, if either follows.
  std::optional<bool> decide_nonnegative(const Affine& a) const;
  /// Whether a >= 0. Throws Undecided.
  bool nonnegative(const Affine& a) const;
  /// Whether a == 0. Throws Undecided.
  bool zero(const Affine& a) const;
  /// The value. Throws Undecided if it can have few (at most kFew) values, Refused with `what` if many.
  std::int64_t constant(const Affine& a, const char* what) const;
  static constexpr int kFew = 64;
  /// Throws Undecided where the expression, or one of its variables, has few values but more than one.
  void settle_few(const Affine& a) const;

  /// Adds a >= 0 and draws what follows for single variables. False if that leaves no value: the path cannot be taken.
  bool assume_nonnegative(const Affine& a);
  bool assume_zero(const Affine& a) { return assume_nonnegative(a) && assume_nonnegative(a * -1); }

  /// Variables whose value follows from the others', or is the only one left.
  Substitution solved() const;
  Affine resolve(const Affine& a) const;
  bool equal(const Affine& a, const Affine& b) const;

  /// The facts under a substitution of some variables by expressions over variables that are declared in `target`.
  /// Appends to target what holds of them.
  void substituted(const Substitution& s, Facts& target) const;
  /// The least ranges that hold wherever either holds; inequalities are kept if both imply them.
  static Facts either(const Facts& a, const Facts& b);
  /// True if every fact of `other` follows from these.
  bool implies(const Facts& other) const;

 private:
  bool tighten();
  Range box(const Affine& a) const;
  void solve_equalities();

  std::map<Variable, Range> ranges_;
  std::vector<Affine> nonnegative_;  // each >= 0, resolved
  Substitution solved_;              // from pairs a >= 0, -a >= 0; the right sides mention no solved variable
};

}  // namespace stitchgcm::verify
