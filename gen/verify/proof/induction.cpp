// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/induction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "verify/contract/gcm_parts.hpp"
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

using Role = Hypothesis::Role;

constexpr std::int64_t kMostTurns = std::int64_t{1} << 57;
/// Blocks by which the hash may be behind or ahead of the position, in the search for it.
constexpr int kMostBlocksAhead = 64;
constexpr int kMostExponent = 64;

Substitution moved(const Hypothesis& h, const Affine& turns) {
  if (!h.arrival->position) return {};
  const Variable s = *h.arrival->position;
  return {{s, Affine(s) + turns * h.position_step}};
}

Lane moved(LanePool& pool, const Hypothesis& h, Lane lane, const Affine& turns) {
  return h.position_step == 0 ? lane : pool.substitute(lane, moved(h, turns));
}

Lane reversed(LanePool& pool, Lane a) { return pool.apply(pool.reverse_bytes(), a); }

Sums sums_at(const State& s, const std::array<int, 3>& r) {
  return {vector_lane(s, r[0]), vector_lane(s, r[1]), vector_lane(s, r[2])};
}

/// The step of a register, a run's end, ..: the difference if it is a number.
std::optional<std::int64_t> step(const Facts& facts, const Affine& before, const Affine& now) {
  const Affine difference = facts.resolve(now - before);
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant();
}

class Guess {
 public:
  Guess(const Setting& setting, const Contract& contract, const std::shared_ptr<const State>& before, const State& now)
      : pool_(setting.pool), contract_(contract), before_(*before), now_(now) {
    h_.arrival = before;
  }

  std::optional<Hypothesis> made() {
    if (!same_frame() || !general_registers() || !memory()) return std::nullopt;
    lanes();
    if (!hash()) return std::nullopt;
    if (!counts_down()) return std::nullopt;
    return std::move(h_);
  }

 private:
  /// What no loop changes.
  bool same_frame() const {
    return before_.ghosts == now_.ghosts && before_.ghost_numbers == now_.ghost_numbers &&
           before_.verdict == now_.verdict && before_.general[rsp] == now_.general[rsp];
  }

  bool general_registers() {
    for (std::size_t r = 0; r < kGeneralRegisters; r++) {
      const Scalar &a = before_.general[r], &b = now_.general[r];
      if (a.kind != b.kind) continue;
      if (a.is_number() || (a.is_pointer() && a.region == b.region)) {
        h_.general_step[r] = step(now_.facts, a.value, b.value);
        if (!may_move(a, h_.general_step[r])) return false;
        find_position(a.value, h_.general_step[r]);
      } else if (a == b) {
        h_.general_step[r] = 0;
      }
    }
    return true;
  }

  /// A small counter that runs, or a pointer that walks through a table, is back where it was after some turns more:
  /// these two arrivals are not a whole period apart.
  bool may_move(const Scalar& a, const std::optional<std::int64_t>& moves) const {
    if (!moves || *moves == 0) return true;
    if (a.is_number()) return !before_.facts.resolve(a.value).is_constant();
    return std::any_of(before_.outputs.begin(), before_.outputs.end(),
                       [&](const Output& out) { return out.region == a.region; }) ||
           (before_.position && std::any_of(a.value.terms().begin(), a.value.terms().end(),
                                            [&](const Affine::Term& t) { return t.variable == *before_.position; }));
  }

  /// Pointers into a text tell how far the position moves.
  void find_position(const Affine& place, const std::optional<std::int64_t>& moves) {
    if (!moves || *moves == 0 || !before_.position) return;
    for (const Affine::Term& t : place.terms()) {
      if (t.variable == *before_.position && *moves % t.coefficient == 0) h_.position_step = *moves / t.coefficient;
    }
  }

  Role lane_role(Lane a, Lane b) {
    const Lane wanted = resolve(pool_, now_.facts, moved(pool_, h_, a, 1));
    if (wanted != resolve(pool_, now_.facts, b)) return Role::anything;
    return h_.position_step != 0 && moved(pool_, h_, a, 1) != a ? Role::moves : Role::same;
  }

  void lanes() {
    for (std::size_t r = 0; r < kVectorRegisters; r++) {
      for (std::size_t l = 0; l < kVectorLanes; l++) {
        h_.vector_role[r][l] = lane_role(before_.vector[r][l], now_.vector[r][l]);
      }
    }
  }

  bool memory() {
    for (std::size_t i = 0; i < before_.memory.size(); i++) {
      const RegionId id = static_cast<RegionId>(i);
      const Region &a = before_.memory.region(id), &b = now_.memory.region(id);
      if (a.forgotten != b.forgotten || a.runs.size() != b.runs.size()) return false;
      for (std::size_t r = 0; r < a.runs.size(); r++) {
        if (!(*a.runs[r].content == *b.runs[r].content) || !now_.facts.equal(a.runs[r].from, b.runs[r].from))
          return false;
        const auto moves = step(now_.facts, a.runs[r].to, b.runs[r].to);
        if (!moves) return false;
        h_.run_step[{id, r}] = *moves;
      }
      if (id == before_.stack ? !stack(a, b) : a.windows != b.windows) return false;
    }
    return true;
  }

  bool stack(const Region& a, const Region& b) {
    if (!(a.from == b.from) || a.windows.size() != b.windows.size() || a.windows.size() > 1) return false;
    const Window &left = a.windows.begin()->second, &right = b.windows.begin()->second;
    if (left.slots != right.slots || left.pieces.size() != right.pieces.size()) return false;
    for (const auto& [place, piece] : left.pieces) {
      const auto other = right.pieces.find(place);
      if (other == right.pieces.end() || other->second.bytes != piece.bytes) return false;
      const bool same_bytes = other->second.first_byte == piece.first_byte;
      h_.stack_role[place] = same_bytes ? lane_role(piece.lane, other->second.lane) : Role::anything;
    }
    return true;
  }

  /// Where Y is: reversed in a register, or in the sums.
  bool hash() {
    if (!before_.hash) return true;
    const std::int64_t blocks = 8 * h_.position_step;
    HashProgress a = *before_.hash, b = *before_.hash;
    try {
      advance_hash(pool_, now_.facts, b, b.at + blocks);
    } catch (const Undecided&) {
      return false;
    }
    for (int ahead = 0; ahead <= kMostBlocksAhead; ahead += 8) {
      if (hash_is_here(a.y, b.y)) {
        h_.hashed = a.at;
        return true;
      }
      advance_hash(pool_, now_.facts, a, a.at + 8);
      advance_hash(pool_, now_.facts, b, b.at + 8);
    }
    return false;
  }

  bool hash_is_here(Lane y_before, Lane y_now) {
    bool found = false;
    const Lane wanted = reversed(pool_, y_before), wanted_now = reversed(pool_, y_now);
    for (int r = 0; r < kVectorRegisters; r++) {
      if (pool_.equal(vector_lane(before_, r), wanted) &&
          resolve(pool_, now_.facts, vector_lane(now_, r)) == resolve(pool_, now_.facts, wanted_now)) {
        h_.vector_role[static_cast<std::size_t>(r)][0] = Role::reversed_hash;
        found = true;
      }
    }
    const auto registers = contract_.sums_registers();
    if (!registers) return found;
    const Lane sums = value_of_sums(pool_, sums_at(before_, *registers));
    const Lane sums_now = resolve(pool_, now_.facts, value_of_sums(pool_, sums_at(now_, *registers)));
    for (int k = 1; k <= kMostExponent; k++) {
      if (pool_.multiply_by_power(y_before, k) != sums) continue;
      if (resolve(pool_, now_.facts, pool_.multiply_by_power(y_now, k)) != sums_now) continue;
      h_.sums_exponent = k;
      for (int r : *registers) h_.vector_role[static_cast<std::size_t>(r)][0] = Role::sums;
      return true;
    }
    return found;
  }

  /// A count that falls, and what it was at least: the loop ends, and that bound is part of the hypothesis.
  bool counts_down() {
    const Variable i = pool_.variables().add(fmt::format("i{}", before_.facts.ranges().size()));
    h_.turn = i;
    h_.facts = before_.facts;
    h_.facts.declare(i, {0, kMostTurns});
    bool any = false;
    for (std::size_t r = 0; r < kGeneralRegisters; r++) {
      const auto& moves = h_.general_step[r];
      if (!before_.general[r].is_number() || !moves || *moves >= 0) continue;
      const Range known = before_.facts.range(before_.general[r].value);
      // A path that has come to know how many turns are left goes them one by one.
      if (now_.facts.range(now_.general[r].value).count() <= Facts::kFew) continue;
      if (known.count() <= Facts::kFew || known.low < 0) continue;
      const Affine count = before_.general[r].value + Affine(i) * *moves;
      if (!h_.facts.assume_nonnegative(count - static_cast<std::int64_t>(known.low))) return false;
      any = true;
    }
    return any;
  }

  LanePool& pool_;
  const Contract& contract_;
  const State &before_, &now_;
  Hypothesis h_;
};

HashProgress hash_of(LanePool& pool, const Hypothesis& h, const Affine& turns) {
  HashProgress hash = *h.arrival->hash;
  hash.at = h.hashed + turns * (8 * h.position_step);
  hash.y = spec::ghash_of_many(pool, hash.data->text, hash.start, hash.from, hash.at - hash.from);
  return hash;
}

std::string describe(const Setting& setting, const Hypothesis& h) {
  int count[5] = {};
  for (const auto& lanes : h.vector_role) count[static_cast<int>(lanes[0])]++;
  for (const auto& [place, role] : h.stack_role) count[static_cast<int>(role)]++;
  std::string text = fmt::format("each turn {} blocks; ", 8 * h.position_step);
  if (h.arrival->hash) {
    text += h.sums_exponent != 0 ? fmt::format("sums = Y H^{}; ", h.sums_exponent) : std::string("Y in a register; ");
  }
  static_cast<void>(setting);
  return text + fmt::format("registers and frame: {} stay, {} move with the text, {} are not relied on", count[0],
                            count[1], count[2]);
}

}  // namespace

std::shared_ptr<const Hypothesis> guess(const Setting& setting, const Contract& contract, std::uint64_t head,
                                        const std::shared_ptr<const State>& before, const State& now) {
  std::optional<Hypothesis> h = Guess(setting, contract, before, now).made();
  if (!h) return nullptr;
  h->head = head;
  h->text = describe(setting, *h);
  return std::make_shared<const Hypothesis>(std::move(*h));
}

State state_of(const Setting& setting, const Contract& contract, const Hypothesis& h) {
  LanePool& pool = setting.pool;
  const Affine i = h.turn;
  State s = *h.arrival;
  s.facts = h.facts;
  s.flags = {};
  s.mask = {};
  for (std::size_t r = 0; r < kGeneralRegisters; r++) {
    Scalar& g = s.general[r];
    if (!h.general_step[r]) {
      const bool public_one = !g.is_data();
      g = public_one ? Scalar::unknown() : Scalar::data(pool.mask(anything(pool, Secrecy::secret), low_bits(64)));
    } else if (g.is_number() || g.is_pointer()) {
      g.value += i * *h.general_step[r];
    }
  }
  if (s.hash) s.hash = hash_of(pool, h, i);
  for (std::size_t r = 0; r < kVectorRegisters; r++) {
    for (std::size_t l = 0; l < kVectorLanes; l++) {
      Lane& lane = s.vector[r][l];
      switch (h.vector_role[r][l]) {
        case Role::same: break;
        case Role::moves: lane = moved(pool, h, lane, i); break;
        case Role::reversed_hash: lane = reversed(pool, s.hash->y); break;
        case Role::sums: break;  // below
        case Role::anything: lane = anything(pool, Secrecy::secret); break;
      }
    }
  }
  if (h.sums_exponent != 0) {
    const std::array<int, 3> r = *contract.sums_registers();
    set_any_sums(pool, s, {r[0], r[1], r[2]}, s.hash->y, h.sums_exponent);
  }
  if (!s.memory.region(s.stack).windows.empty()) {
    for (auto& [place, piece] : s.memory.edit(s.stack).windows.begin()->second.pieces) {
      const Role role = h.stack_role.at(place);
      if (role == Role::moves) piece.lane = moved(pool, h, piece.lane, i);
      if (role == Role::anything) piece.lane = anything(pool, Secrecy::secret);
    }
  }
  for (const auto& [run, moves] : h.run_step) s.memory.edit(run.first).runs[run.second].to += i * moves;
  return s;
}

bool is_next(const Setting& setting, const Contract& contract, const Hypothesis& h, const State& s) {
  LanePool& pool = setting.pool;
  const Affine next = Affine(h.turn) + 1;
  const State& a = *h.arrival;
  if (s.ghosts != a.ghosts || s.ghost_numbers != a.ghost_numbers || s.verdict != a.verdict) return false;
  if (!(s.general[rsp] == a.general[rsp])) return false;
  for (std::size_t r = 0; r < kGeneralRegisters; r++) {
    if (!h.general_step[r]) {
      if (!a.general[r].is_data() && s.general[r].is_data()) return false;
      continue;
    }
    const Scalar &was = a.general[r], &is = s.general[r];
    if (was.kind != is.kind || (was.is_pointer() && was.region != is.region)) return false;
    if (was.is_data() ? !(was == is) : !s.facts.equal(is.value, was.value + next * *h.general_step[r])) return false;
  }
  const auto lane_is = [&](Role role, Lane was, Lane is) {
    if (role == Role::same) return resolve(pool, s.facts, is) == resolve(pool, s.facts, was);
    if (role == Role::moves) return resolve(pool, s.facts, is) == resolve(pool, s.facts, moved(pool, h, was, next));
    return true;
  };
  HashProgress hash;
  if (a.hash) {
    hash = *s.hash;
    advance_hash(pool, s.facts, hash, h.hashed + next * (8 * h.position_step));
  }
  for (std::size_t r = 0; r < kVectorRegisters; r++) {
    for (std::size_t l = 0; l < kVectorLanes; l++) {
      const Role role = h.vector_role[r][l];
      if (!lane_is(role, a.vector[r][l], s.vector[r][l])) return false;
      if (role == Role::reversed_hash &&
          resolve(pool, s.facts, s.vector[r][l]) != resolve(pool, s.facts, reversed(pool, hash.y))) {
        return false;
      }
    }
  }
  if (h.sums_exponent != 0) {
    const std::array<int, 3> r = *contract.sums_registers();
    if (!sums_stand_for(pool, s, {r[0], r[1], r[2]}, hash.y, h.sums_exponent)) return false;
  }
  for (std::size_t i = 0; i < a.memory.size(); i++) {
    const RegionId id = static_cast<RegionId>(i);
    const Region &was = a.memory.region(id), &is = s.memory.region(id);
    if (was.forgotten != is.forgotten || was.runs.size() != is.runs.size()) return false;
    for (std::size_t r = 0; r < was.runs.size(); r++) {
      if (!(*was.runs[r].content == *is.runs[r].content) || !s.facts.equal(was.runs[r].from, is.runs[r].from) ||
          !s.facts.equal(is.runs[r].to, was.runs[r].to + next * h.run_step.at({id, r}))) {
        return false;
      }
    }
    if (id != a.stack) {
      if (was.windows != is.windows) return false;
      continue;
    }
    if (!(was.from == is.from) || was.windows.size() != is.windows.size()) return false;
    if (was.windows.empty()) continue;
    const Window &left = was.windows.begin()->second, &right = is.windows.begin()->second;
    if (left.slots != right.slots || left.pieces.size() != right.pieces.size()) return false;
    for (const auto& [place, piece] : left.pieces) {
      const auto other = right.pieces.find(place);
      if (other == right.pieces.end() || other->second.bytes != piece.bytes) return false;
      const Role role = h.stack_role.at(place);
      if (role == Role::anything) continue;
      if (other->second.first_byte != piece.first_byte || !lane_is(role, piece.lane, other->second.lane)) return false;
    }
  }
  Facts wanted;
  wanted.declare(h.turn, h.facts.range(h.turn));
  h.facts.substituted({{h.turn, next}}, wanted);
  return s.facts.implies(wanted);
}

}  // namespace stitchgcm::verify
