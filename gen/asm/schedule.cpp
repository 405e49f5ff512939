// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace stitchgcm::assembly {

Timed at_steps(Strip s, Tick start, Tick length, StepGaps gaps) {
  std::vector<int> sizes;  // of the steps, in pieces
  for (size_t i = 0; i < s.pieces.size(); i++) {
    if (i > 0 && s.pieces[i].note == s.pieces[i - 1].note) {
      sizes.back()++;
    } else {
      sizes.push_back(1);
    }
  }
  if (sizes.size() < 4) throw std::logic_error("at_steps wants a chain of four steps or more");
  std::vector<double> gap(sizes.size(), 1.0);
  gap.front() = gaps.first;
  gap[gap.size() - 2] = gap[gap.size() - 3] = gaps.last;

  const bool single = sizes.back() == 1;  // then the chain's time ends when its last piece is issued
  const double total = std::accumulate(gap.begin(), gap.end() - (single ? 1 : 0), 0.0);
  Timed r{std::move(s), {}};
  double t = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    for (int j = 0; j < sizes[i]; j++) {
      r.at.push_back(start + static_cast<Tick>(std::lround((t + gap[i] * j / sizes[i]) / total * length)));
    }
    t += gap[i];
  }
  return r;
}

Timed spread(Strip s, Tick start, Tick length) {
  const double n = static_cast<double>(s.instructions());
  double done = 0;
  Timed r{std::move(s), {}};
  for (const Piece& p : r.strip.pieces) {
    const double size = static_cast<double>(p.code.size());
    r.at.push_back(start + static_cast<Tick>(std::lround((done + size / 2) / n * length)));
    done += size;
  }
  return r;
}

Timed at(Strip s, Tick when) {
  std::vector<Tick> times(s.pieces.size(), when);
  return {std::move(s), std::move(times)};
}

namespace detail {

void append(Timeline& t, const std::vector<Timed>& strips, Tick shift, Tick from, Tick to) {
  for (const Timed& s : strips) {
    if (s.at.size() != s.strip.pieces.size() || !std::is_sorted(s.at.begin(), s.at.end())) {
      throw std::logic_error("the times of a strip must be one a piece and never decrease");
    }
    for (size_t i = 0; i < s.at.size(); i++) {
      const Tick when = s.at[i] + shift;
      if (when >= from && when < to) t.push_back({when, &s.strip.pieces[i]});
    }
  }
}

Strip sorted(Timeline t) {
  std::stable_sort(t.begin(), t.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  Strip s;
  for (const Event& e : t) s.pieces.push_back(*e.piece);
  return s;
}

}  // namespace detail

Strip stitch(const std::vector<Timed>& strips, const PointerCases& cases, const std::string& name) {
  detail::Timeline t;
  detail::append(t, strips, 0, -detail::kNever, detail::kNever);
  Strip merged = detail::sorted(std::move(t));
  Strip in_order;
  for (const Timed& s : strips) in_order += s.strip;
  require_same_dataflow({{&in_order}}, {{&merged}}, cases, name);
  return merged;
}

}  // namespace stitchgcm::assembly
