// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/algebra/affine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace stitchgcm::verify {
namespace {

// Machine numbers wrap at 2^64, and so do the coefficients of their formulas; ranges are judged in 128 bits, by Facts.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace

Affine Affine::symbolic_part() const {
  Affine a = *this;
  a.constant_ = 0;
  return a;
}

Affine& Affine::operator+=(const Affine& other) {
  constant_ = wrapping_sum(constant_, other.constant_);
  if (other.terms_.empty()) return *this;
  std::vector<Term> sum;
  sum.reserve(terms_.size() + other.terms_.size());
  auto a = terms_.begin();
  auto b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    if (b == other.terms_.end() || (a != terms_.end() && a->variable < b->variable)) {
      sum.push_back(*a++);
    } else if (a == terms_.end() || b->variable < a->variable) {
      sum.push_back(*b++);
    } else {
      const std::int64_t c = wrapping_sum(a->coefficient, b->coefficient);
      if (c != 0) sum.push_back({a->variable, c});
      ++a, ++b;
    }
  }
  terms_ = std::move(sum);
  return *this;
}

Affine operator*(const Affine& a, std::int64_t factor) {
  if (factor == 0) return {};
  Affine product;
  product.constant_ = wrapping_product(a.constant_, factor);
  for (const Affine::Term& t : a.terms_) {
    const std::int64_t c = wrapping_product(t.coefficient, factor);
    if (c != 0) product.terms_.push_back({t.variable, c});
  }
  return product;
}

bool Affine::divisible_by(std::int64_t n) const {
  for (const Term& t : terms_) {
    if (t.coefficient % n != 0) return false;
  }
  return constant_ % n == 0;
}

Affine Affine::divided_by(std::int64_t n) const {
  if (!divisible_by(n)) throw std::logic_error("an expression is divided by a number that does not divide it");
  Affine quotient = *this;
  quotient.constant_ /= n;
  for (Term& t : quotient.terms_) t.coefficient /= n;
  return quotient;
}

Affine substitute(const Affine& a, const Substitution& s) {
  bool any = false;
  for (const Affine::Term& t : a.terms()) any = any || s.contains(t.variable);
  if (!any) return a;
  Affine result = a.constant();
  for (const Affine::Term& t : a.terms()) {
    const auto found = s.find(t.variable);
    result += (found == s.end() ? Affine(t.variable) : found->second) * t.coefficient;
  }
  return result;
}

Variable Variables::add(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<Variable>(found - names_.begin());
  names_.push_back(name);
  return static_cast<Variable>(names_.size() - 1);
}

std::string Variables::describe(const Affine& a) const {
  std::string text;
  for (const Affine::Term& t : a.terms()) {
    const std::int64_t c = t.coefficient;
    if (text.empty()) {
      text += c < 0 ? "-" : "";
    } else {
      text += c < 0 ? " - " : " + ";
    }
    if (c != 1 && c != -1) text += fmt::format("{} ", c < 0 ? -c : c);
    text += name(t.variable);
  }
  if (text.empty()) return fmt::format("{}", a.constant());
  if (a.constant() != 0) text += fmt::format(" {} {}", a.constant() < 0 ? '-' : '+', std::abs(a.constant()));
  return text;
}

}  // namespace stitchgcm::verify
