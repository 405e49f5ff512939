// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/counterexample/lengths.hpp"

#include <algorithm>

namespace stitchgcm::verify {
namespace {

constexpr int kTriesPerVariable = 130;  // more than a turn of any loop moves
constexpr int kTries = 20'000;
constexpr int kNeighbours = 3;

class Search {
 public:
  Search(const Facts& facts, const Variables& names) : names_(names) {
    for (const auto& [v, range] : facts.ranges()) order_.push_back(v);
  }

  /// Depth first: what one value implies for the others, the facts draw by themselves.
  bool run(const Facts& facts, std::size_t n, Lengths& found) {
    if (n == order_.size()) return true;
    const Affine v = order_[n];
    const Range range = facts.range(v);
    for (Wide value = range.low; value <= std::min(range.high, range.low + kTriesPerVariable); value++) {
      if (tries_++ > kTries || value < INT64_MIN || value > INT64_MAX) return false;
      Facts narrower = facts;
      if (!narrower.assume_zero(v - static_cast<std::int64_t>(value))) continue;
      if (!run(narrower, n + 1, found)) continue;
      found[names_.name(order_[n])] = static_cast<std::int64_t>(value);
      return true;
    }
    return false;
  }

  const std::vector<Variable>& order() const { return order_; }

 private:
  const Variables& names_;
  std::vector<Variable> order_;
  int tries_ = 0;
};

}  // namespace

std::vector<Lengths> lengths_on_path(const Facts& facts, const Variables& variables, std::size_t most) {
  std::vector<Lengths> all;
  const auto add = [&](const Facts& narrower) {
    Lengths found;
    if (!Search(facts, variables).run(narrower, 0, found)) return;
    if (std::find(all.begin(), all.end(), found) == all.end()) all.push_back(std::move(found));
  };
  add(facts);
  if (all.empty()) return all;
  const Lengths smallest = all.front();
  for (int more = 1; more <= kNeighbours; more++) {
    for (const auto& [v, range] : facts.ranges()) {
      if (all.size() >= most) return all;
      Facts narrower = facts;
      if (narrower.assume_zero(Affine(v) - (smallest.at(variables.name(v)) + more))) add(narrower);
    }
  }
  return all;
}

}  // namespace stitchgcm::verify
