// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/machine/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stitchgcm::verify {
namespace {

/// Bytes [first, first + bytes) of the lane at bytes [to, to + bytes), all else 0.
Lane move_bytes(LanePool& pool, Lane lane, int first, int bytes, int to) {
  if (first == 0 && to == 0 && bytes == 16) return lane;
  BytePermutation p;
  p.fill(-1);
  for (int i = 0; i < bytes; i++) p[static_cast<std::size_t>(to + i)] = static_cast<std::int8_t>(first + i);
  return pool.apply(pool.permute_bytes(p), lane);
}

bool overlap(std::int64_t a, int a_bytes, std::int64_t b, int b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

/// The bytes of a window that hold something, [low, high); low > high if none does.
struct Extent {
  std::int64_t low = INT64_MAX, high = INT64_MIN;
};
Extent extent(const Window& w) {
  Extent e;
  for (const auto& [place, piece] : w.pieces) e = {std::min(e.low, place), std::max(e.high, place + piece.bytes)};
  for (const auto& [place, slot] : w.slots) e = {std::min(e.low, place), std::max(e.high, place + 8)};
  return e;
}

void forget_all(Region& r) {
  r.windows.clear();
  r.runs.clear();
  r.forgotten = true;
}

}  // namespace

Lane resolve(LanePool& pool, const Facts& facts, Lane lane) {
  const std::vector<Variable> variables = pool.variables_of(lane);
  if (variables.empty()) return pool.lift(lane);
  Substitution s;
  for (const Variable v : variables) {
    const Affine a = facts.resolve(v);
    if (!(a == Affine(v))) s.emplace(v, a);
  }
  return pool.lift(s.empty() ? lane : pool.substitute(lane, s));
}

RegionId Memory::add(Region region) {
  regions_.push_back(std::move(region));
  return static_cast<RegionId>(regions_.size() - 1);
}

Memory::Place Memory::locate(const Facts& facts, const Affine& place) const {
  const Affine a = facts.resolve(place);
  facts.settle_few(a);
  return {a.symbolic_part(), a.constant()};
}

void Memory::check_access(const Facts& facts, RegionId id, const Affine& place, const Affine& bytes, bool write) const {
  const Region& r = region(id);
  if (write ? !r.writable : !r.readable) {
    throw Refused(fmt::format("{} must not be {}", r.name, write ? "written" : "read"));
  }
  if (r.exists) {
    const Affine at = facts.resolve(place), size = facts.resolve(bytes);
    if (!at.is_constant() || !size.is_constant() || !r.exists(at.constant(), size.constant())) {
      throw Refused(fmt::format("a read of {} where there is none", r.name));
    }
    return;
  }
  struct Bound {
    Affine room;  // >= 0
    const char* where;
  };
  for (const Bound& bound : {Bound{r.to - place - bytes, "past the end"}, Bound{place - r.from, "before the start"}}) {
    if (facts.implies_nonnegative(bound.room)) continue;
    // A length with few values may stand in the way: then each is looked at by itself.
    if (!facts.implies_nonnegative(bound.room * -1 - 1)) facts.settle_few(bound.room);
    throw Refused(fmt::format("{} of {} out of its bounds: {}", write ? "a write" : "a read", r.name, bound.where));
  }
}

std::optional<Lane> Memory::load_byte(LanePool& pool, const Facts& facts, const Region& r, const Place& at) const {
  for (const auto& [symbolic, window] : r.windows) {
    const Affine distance = at.window - facts.resolve(symbolic);
    if (!distance.is_constant()) {
      // Another window: it must be told apart from this byte, or hold nothing.
      if (window.pieces.empty() && window.slots.empty()) continue;
      const auto [low, high] = extent(window);
      const Affine byte = at.window + at.offset;
      if (!facts.implies_nonnegative(symbolic + low - byte - 1) && !facts.implies_nonnegative(byte - symbolic - high)) {
        throw Refused("a read of " + r.name + " at a place that may have been written at another");
      }
      continue;
    }
    const std::int64_t offset = at.offset + distance.constant();
    auto slot = window.slots.upper_bound(offset);
    if (slot != window.slots.begin() && (--slot)->first + 8 > offset) {
      if (!slot->second.is_number()) throw Refused("part of a pointer is read from " + r.name);
      return move_bytes(pool, pool.integer(slot->second.value), static_cast<int>(offset - slot->first), 1, 0);
    }
    auto piece = window.pieces.upper_bound(offset);
    if (piece != window.pieces.begin() && (--piece)->first + piece->second.bytes > offset) {
      return move_bytes(pool, piece->second.lane, piece->second.first_byte + static_cast<int>(offset - piece->first), 1,
                        0);
    }
  }
  const Affine byte = at.window + at.offset;
  for (const Run& run : r.runs) {
    const bool inside = facts.implies_nonnegative(byte - run.from) && facts.implies_nonnegative(run.to - byte - 1);
    if (inside) {
      const std::int64_t in_block = ((at.offset % 16) + 16) % 16;
      if (!at.window.divisible_by(16)) throw Refused("a read of " + r.name + " that does not keep to blocks");
      return move_bytes(pool, run.content->block(facts, (byte - in_block).divided_by(16)), static_cast<int>(in_block),
                        1, 0);
    }
    if (!facts.implies_nonnegative(byte - run.to) && !facts.implies_nonnegative(run.from - byte - 1)) {
      throw Refused("a read of " + r.name + " at the edge of what was written");
    }
  }
  if (!r.initial || r.forgotten) return std::nullopt;
  const std::int64_t in_block = ((at.offset % 16) + 16) % 16;
  if (!at.window.divisible_by(16)) throw Refused("a read of " + r.name + " that does not keep to blocks");
  return move_bytes(pool, r.initial->block(facts, (byte - in_block).divided_by(16)), static_cast<int>(in_block), 1, 0);
}

Lane Memory::load(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes) const {
  check_access(facts, id, place, bytes, false);
  const Region& r = region(id);
  const Place at = locate(facts, place);
  // Most loads read back one store, or one block of what was there.
  if (r.windows.size() <= 1) {
    const auto window = r.windows.find(at.window);
    if (window != r.windows.end() && window->second.slots.empty()) {
      const auto piece = window->second.pieces.find(at.offset);
      if (piece != window->second.pieces.end() && piece->second.bytes == bytes && piece->second.first_byte == 0) {
        return bytes == 16 ? piece->second.lane : move_bytes(pool, piece->second.lane, 0, bytes, 0);
      }
    }
    if (r.windows.empty() && r.runs.empty() && r.initial && !r.forgotten && at.window.divisible_by(16) &&
        at.offset % 16 == 0) {
      return move_bytes(pool, r.initial->block(facts, (at.window + at.offset).divided_by(16)), 0, bytes, 0);
    }
  }
  Lane sum = pool.constant(0);
  for (int i = 0; i < bytes; i++) {
    const std::optional<Lane> byte = load_byte(pool, facts, r, {at.window, at.offset + i});
    if (!byte) throw Refused("a read of " + r.name + " that was never written");
    sum = pool.exclusive_or(sum, move_bytes(pool, *byte, 0, 1, i));
  }
  return sum;
}

void Memory::clear(const Facts& facts, Region& r, const Place& at, int bytes) {
  const Affine begin = at.window + at.offset;
  for (auto i = r.windows.begin(); i != r.windows.end();) {
    Window& w = i->second;
    const Affine distance = at.window - facts.resolve(i->first);
    if (!distance.is_constant()) {
      const auto [low, high] = extent(w);
      const bool apart = low > high || facts.implies_nonnegative(i->first + low - begin - bytes) ||
                         facts.implies_nonnegative(begin - i->first - high);
      if (!apart) {
        forget_all(r);
        return;
      }
    } else {
      const std::int64_t offset = at.offset + distance.constant();
      for (auto s = w.slots.lower_bound(offset - 7); s != w.slots.end() && s->first < offset + bytes;) {
        if (!(s->first >= offset && s->first + 8 <= offset + bytes)) {
          throw Refused("a write over part of a public number or a pointer in " + r.name);
        }
        s = w.slots.erase(s);
      }
      for (auto p = w.pieces.lower_bound(offset - 15); p != w.pieces.end() && p->first < offset + bytes;) {
        const auto [place, piece] = *p;
        if (!overlap(place, piece.bytes, offset, bytes)) {
          ++p;
          continue;
        }
        p = w.pieces.erase(p);
        if (place < offset) w.pieces[place] = {piece.lane, piece.first_byte, static_cast<int>(offset - place)};
        const std::int64_t end = place + piece.bytes;
        if (end > offset + bytes) {
          const int cut = static_cast<int>(offset + bytes - place);
          p = w.pieces.insert_or_assign(offset + bytes, Piece{piece.lane, piece.first_byte + cut, piece.bytes - cut})
                  .first;
          ++p;
        }
      }
    }
    ++i;
  }
  for (auto run = r.runs.begin(); run != r.runs.end();) {
    if (facts.implies_nonnegative(run->from - begin - bytes) || facts.implies_nonnegative(begin - run->to)) {
      ++run;
      continue;
    }
    // Pieces lie over runs, so a store inside of one is fine; at its edge it is not known which blocks it hits.
    const bool inside =
        facts.implies_nonnegative(begin - run->from) && facts.implies_nonnegative(run->to - begin - bytes);
    if (inside) {
      ++run;
      continue;
    }
    forget_all(r);
    return;
  }
}

void Memory::store(const Facts& facts, RegionId id, const Affine& place, Lane lane, int first_byte, int bytes) {
  check_access(facts, id, place, bytes, true);
  Region& r = edit(id);
  const Place at = locate(facts, place);
  clear(facts, r, at, bytes);
  for (auto& [symbolic, window] : r.windows) {
    const Affine distance = at.window - facts.resolve(symbolic);
    if (!distance.is_constant()) continue;
    window.pieces[at.offset + distance.constant()] = {lane, first_byte, bytes};
    return;
  }
  r.windows[at.window].pieces[at.offset] = {lane, first_byte, bytes};
}

Scalar Memory::load_scalar(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes) const {
  const Region& r = region(id);
  const Place at = locate(facts, place);
  for (const auto& [symbolic, window] : r.windows) {
    const Affine distance = at.window - facts.resolve(symbolic);
    if (!distance.is_constant()) continue;
    const auto slot = window.slots.find(at.offset + distance.constant());
    if (slot == window.slots.end()) continue;
    check_access(facts, id, place, bytes, false);
    if (bytes == 8) return slot->second;
    if (!slot->second.is_number()) throw Refused("part of a pointer is read from " + r.name);
    if (bytes == 4) return slot->second;  // the reader takes the low 32 bits
  }
  const Lane lane = load(pool, facts, id, place, bytes);
  if (pool.is_constant(lane)) return Scalar::number(static_cast<std::int64_t>(low_half(pool.constant_value(lane))));
  return Scalar::data(lane);
}

void Memory::split_numbers(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes) {
  struct Number {
    Affine window;
    std::int64_t offset;
    Affine value;
  };
  std::vector<Number> numbers;
  const Place at = locate(facts, place);
  for (const auto& [symbolic, window] : region(id).windows) {
    const Affine distance = at.window - facts.resolve(symbolic);
    if (window.slots.empty() || !distance.is_constant()) continue;
    const std::int64_t offset = at.offset + distance.constant();
    for (auto s = window.slots.lower_bound(offset - 7); s != window.slots.end() && s->first < offset + bytes; ++s) {
      const bool whole = s->first >= offset && s->first + 8 <= offset + bytes;
      if (!whole && s->second.is_number()) numbers.push_back({symbolic, s->first, s->second.value});
    }
  }
  for (const Number& n : numbers) {
    Window& window = edit(id).windows.at(n.window);
    window.slots.erase(n.offset);
    window.pieces[n.offset] = {pool.integer(facts.resolve(n.value)), 0, 8};
  }
}

void Memory::store_scalar(const Facts& facts, RegionId id, const Affine& place, const Scalar& value) {
  if (value.kind == Scalar::Kind::lane) {
    store(facts, id, place, value.lane, 0, 8);
    return;
  }
  check_access(facts, id, place, 8, true);
  Region& r = edit(id);
  const Place at = locate(facts, place);
  clear(facts, r, at, 8);
  for (auto& [symbolic, window] : r.windows) {
    const Affine distance = at.window - facts.resolve(symbolic);
    if (!distance.is_constant()) continue;
    window.slots[at.offset + distance.constant()] = value;
    return;
  }
  r.windows[at.window].slots[at.offset] = value;
}

void Memory::set_run(const Facts& facts, RegionId id, const Run& run) {
  Region& r = edit(id);
  if (facts.equal(run.from, run.to)) return;
  for (auto i = r.windows.begin(); i != r.windows.end();) {
    const auto [low, high] = extent(i->second);
    const bool inside =
        facts.implies_nonnegative(i->first + low - run.from) && facts.implies_nonnegative(run.to - i->first - high);
    const bool apart =
        facts.implies_nonnegative(i->first + low - run.to) || facts.implies_nonnegative(run.from - i->first - high);
    if (low > high || inside) {
      i = r.windows.erase(i);
    } else if (apart) {
      ++i;
    } else {
      forget_all(r);
      break;
    }
  }
  const bool apart = std::all_of(r.runs.begin(), r.runs.end(), [&](const Run& other) {
    return facts.implies_nonnegative(other.from - run.to) || facts.implies_nonnegative(run.from - other.to);
  });
  if (!apart) forget_all(r);
  r.runs.push_back(run);
}

void Memory::forget(RegionId id) { forget_all(edit(id)); }

void Memory::gather_runs(LanePool& pool, const Facts& facts, RegionId id,
                         const std::shared_ptr<const Content>& content) {
  Region& r = edit(id);
  for (auto w = r.windows.begin(); w != r.windows.end();) {
    std::map<std::int64_t, Piece>& pieces = w->second.pieces;
    if (w->first.divisible_by(16)) {
      for (auto p = pieces.begin(); p != pieces.end();) {
        const auto [place, piece] = *p;
        const Affine from = w->first + place;
        const bool block = piece.bytes == 16 && piece.first_byte == 0 && from.divisible_by(16) &&
                           (piece.lane == content->block(facts, from.divided_by(16)) ||
                            verify::resolve(pool, facts, piece.lane) ==
                                verify::resolve(pool, facts, content->block(facts, from.divided_by(16))));
        if (!block) {
          ++p;
          continue;
        }
        const Affine to = from + 16;
        Run* before = nullptr;
        for (Run& run : r.runs) {
          if (*run.content == *content && facts.equal(run.to, from)) before = &run;
        }
        // Inside of a run of the same content it says nothing new.
        const bool known = std::any_of(r.runs.begin(), r.runs.end(), [&](const Run& run) {
          return *run.content == *content && facts.implies_nonnegative(from - run.from) &&
                 facts.implies_nonnegative(run.to - to);
        });
        if (before != nullptr) {
          before->to = to;
        } else if (!known) {
          r.runs.push_back({from, to, content});
        }
        p = pieces.erase(p);
      }
    }
    w = pieces.empty() && w->second.slots.empty() ? r.windows.erase(w) : std::next(w);
  }
}

}  // namespace stitchgcm::verify
