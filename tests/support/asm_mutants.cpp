// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm_mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tests {
namespace {

using namespace stitchgcm::assembly;

std::pair<std::string, int> strip_name(const Piece& p) { return {p.code.front().stage, p.code.front().turn}; }

/// Moves all pieces of one stage and turn by some places, as another start time does.
void shift_strip(std::vector<Piece>& pieces, Random& random) {
  const auto moved = strip_name(pieces[random.below(pieces.size())]);
  const int distance = static_cast<int>(1 + random.below(40));
  const int places = random.below(2) == 0 ? distance : -distance;
  std::vector<std::pair<int, const Piece*>> timeline;
  for (std::size_t n = 0; n < pieces.size(); n++) {
    timeline.push_back({static_cast<int>(n) + (strip_name(pieces[n]) == moved ? places : 0), &pieces[n]});
  }
  std::ranges::stable_sort(timeline, {}, &std::pair<int, const Piece*>::first);
  std::vector<Piece> sorted;
  for (const auto& [at, piece] : timeline) sorted.push_back(*piece);
  pieces = std::move(sorted);
}

void move_piece(std::vector<Piece>& pieces, Random& random, std::size_t distance) {
  const std::size_t from = random.below(pieces.size() - distance);
  const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(from);
  const auto last = first + static_cast<std::ptrdiff_t>(distance);
  if (random.below(2) == 0) {
    std::rotate(first, first + 1, last + 1);
  } else {
    std::rotate(first, last, last + 1);
  }
}

}  // namespace

Strip mutated(const Strip& order, Random& random) {
  Strip s = order;
  switch (random.below(4)) {
    case 0: shift_strip(s.pieces, random); break;
    case 1: move_piece(s.pieces, random, 1 + random.below(std::min<std::size_t>(30, s.pieces.size() - 1))); break;
    default: move_piece(s.pieces, random, 1); break;
  }
  return s;
}

MutantJudge::MutantJudge(std::string title, const Strip& in_order, const PointerCases& cases)
    : title_(std::move(title)) {
  Random random(0xca5e);
  for (const Regions& regions : cases) {
    Case c{std::make_unique<Machine>(regions), {}, {}};
    c.machine->load(in_order);
    for (std::size_t n = 0; n < states_if_refused; n++) {
      c.before.push_back(c.machine->random_state(random));
      c.want.push_back(c.machine->run(c.before.back()));
    }
    cases_.push_back(std::move(c));
  }
}

std::string MutantJudge::difference(const Strip& code, std::size_t states) {
  for (Case& c : cases_) {
    c.machine->load(code);
    for (std::size_t n = 0; n < states; n++) {
      const MachineState got = c.machine->run(c.before[n]);
      if (!(got == c.want[n])) return first_difference(got, c.want[n]);
    }
  }
  return {};
}

void MutantJudge::judge(const Strip& code, const std::string& refusal) {
  if (refusal.empty()) {
    const std::string d = difference(code, states_if_accepted);
    if (!d.empty()) wrong_.push_back(fmt::format("mutant {} of {}: another {}", mutants(), title_, d));
    accepted_++;
  } else {
    if (difference(code, states_if_refused).empty()) needless_.push_back(refusal);
    refused_++;
  }
}

std::string MutantJudge::report() const {
  return fmt::format(
      "{}: {} mutants: {} accepted, {} refused, {} accepted and wrong, {} refused and the same in all runs", title_,
      mutants(), accepted_, refused_, wrong_.size(), needless_.size());
}

}  // namespace tests
