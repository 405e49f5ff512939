// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/pipeline.hpp"

#include <algorithm>
#include <stdexcept>

namespace stitchgcm::assembly {
namespace {

void mark_turn(std::vector<Timed>& strips, int turn) {
  for (Timed& s : strips) {
    for (Piece& p : s.strip.pieces) {
      for (Instruction& i : p.code) i.turn = turn;
    }
  }
}

/// How many turns must have begun before the first can end.
int lead_of(const Pipeline& p, const std::vector<Timed>& turn) {
  Tick first = 0;
  for (const Timed& s : turn) {
    if (s.at.empty()) continue;
    first = std::min(first, s.at.front());
    if (s.at.back() >= p.period) throw std::logic_error(p.name + ": a turn may start early but not end late");
  }
  return (-first + p.period - 1) / p.period;
}

}  // namespace

PipelinedLoop pipeline(const Pipeline& p, const PointerCases& cases) {
  std::vector<std::vector<Timed>> turns{p.turn(0)};
  PipelinedLoop loop{lead_of(p, turns[0]), {}, {}, {}, {}};
  for (int k = 1; k <= loop.lead; k++) {
    turns.push_back(p.turn(k));
    mark_turn(turns.back(), k);
  }

  const Strip advance = p.advance();
  for (const Timed& s : turns[0]) loop.sequential += s.strip;
  loop.sequential += advance;

  detail::Timeline before, body, after;
  for (int k = 0; k <= loop.lead; k++) {
    const auto& turn = turns[static_cast<size_t>(k)];
    const Tick shift = k * p.period;
    if (k < loop.lead) {
      detail::append(before, turn, shift, -detail::kNever, 0);
      detail::append(after, turn, shift, 0, detail::kNever);
    }
    detail::append(body, turn, shift, 0, p.period);
  }
  loop.prologue = detail::sorted(std::move(before));
  loop.body = detail::sorted(std::move(body)) + advance;
  loop.epilogue = detail::sorted(std::move(after));
  for (int k = 0; k < loop.lead; k++) loop.epilogue += advance;

  require_same_dataflow({{&loop.sequential}, {&loop.prologue, 1}}, {{&loop.prologue}, {&loop.body}}, cases,
                        p.name + ": one turn of the loop");
  std::vector<Run> in_order;
  for (int k = 0; k < loop.lead; k++) in_order.push_back({&loop.sequential, k});
  require_same_dataflow(in_order, {{&loop.prologue}, {&loop.epilogue}}, cases, p.name + ": the last turns");
  for (const Strip& s : p.between) {
    require_same_dataflow({{&s}, {&loop.prologue}}, {{&loop.prologue}, {&s}}, cases,
                          p.name + ": what runs between two turns");
  }
  return loop;
}

}  // namespace stitchgcm::assembly
