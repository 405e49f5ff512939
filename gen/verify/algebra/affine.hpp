// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Public integers: lengths, counts and places, as sums of variables with integer coefficients.
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stitchgcm::verify {

/// A public variable: an unknown length or count. What is known of its range is kept elsewhere, see machine/facts.hpp.
enum class Variable : std::uint32_t {};

/// constant + sum of coefficient * variable, modulo 2^64. Values are canonical: terms sorted by variable, no
/// coefficient 0, so that == is equality of expressions.
class Affine {
 public:
  struct Term {
    Variable variable;
    std::int64_t coefficient;
    friend auto operator<=>(const Term&, const Term&) = default;
  };

  Affine() = default;
  Affine(std::int64_t value) : constant_(value) {}  // NOLINT: a number is an expression
  Affine(Variable v) : terms_{{v, 1}} {}            // NOLINT

  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  /// Without the constant.
  Affine symbolic_part() const;

  Affine& operator+=(const Affine& other);
  Affine& operator-=(const Affine& other) { return *this += other * -1; }
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator-(Affine a, const Affine& b) { return a -= b; }
  friend Affine operator*(const Affine& a, std::int64_t factor);
  friend bool operator==(const Affine&, const Affine&) = default;
  friend auto operator<=>(const Affine&, const Affine&) = default;

  /// True if every coefficient and the constant are multiples of n.
  bool divisible_by(std::int64_t n) const;
  /// Exact; throws std::logic_error where it is not divisible.
  Affine divided_by(std::int64_t n) const;

 private:
  std::vector<Term> terms_;
  std::int64_t constant_ = 0;
};

/// What some variables stand for. Applied all at once: the expressions are not substituted again.
using Substitution = std::map<Variable, Affine>;
Affine substitute(const Affine& a, const Substitution& s);

/// The names of variables, for messages and reports.
class Variables {
 public:
  /// The variable of that name; there is one of each name.
  Variable add(const std::string& name);
  const std::string& name(Variable v) const { return names_.at(static_cast<std::size_t>(v)); }
  std::string describe(const Affine& a) const;
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

}  // namespace stitchgcm::verify
