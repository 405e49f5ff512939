// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/join.hpp"

#include <algorithm>

#include "verify/contract/gcm_parts.hpp"

namespace stitchgcm::verify {
namespace {

/// Registers that say where things are all through a routine: states that differ in them go on by themselves.
constexpr int kLasting[] = {rbx, rsp, rbp, r12, r13, r14, r15};

/// Thrown where two states cannot be one.
struct Apart {};

class Joining {
 public:
  Joining(const Setting& setting, const State& a, const State& b, Registers live, int lanes,
          std::unordered_set<std::uint32_t>& unknowns)
      : setting_(setting),
        a_(a),
        b_(b),
        live_(live),
        lanes_(static_cast<std::size_t>(lanes)),
        unknowns_(unknowns),
        joined_(a) {}

  State joined() {
    if (a_.ghosts != b_.ghosts || a_.verdict != b_.verdict || a_.position != b_.position) throw Apart{};
    joined_.facts = Facts::either(a_.facts, b_.facts);
    for (int i = 0; i < kGeneralRegisters; i++) {
      const std::size_t r = static_cast<std::size_t>(i);
      const bool lasting = std::find(std::begin(kLasting), std::end(kLasting), i) != std::end(kLasting);
      joined_.general[r] = scalar(a_.general[r], b_.general[r], lasting || (live_ & general_bit(i)) != 0);
    }
    // First whatever may keep the two apart: most that meet are not one.
    for (std::size_t r = 0; r < a_.vector.size(); r++) {
      if ((live_ & vector_bit(static_cast<int>(r))) == 0) continue;
      for (std::size_t l = 0; l < lanes_; l++) {
        if (!same_lane(a_.vector[r][l], b_.vector[r][l])) throw Apart{};
      }
    }
    for (std::size_t m = 0; m < a_.mask.size(); m++) {
      if (a_.mask[m] != b_.mask[m]) joined_.mask[m].reset();
    }
    if (!(a_.flags == b_.flags)) joined_.flags = {};
    ghost_numbers();
    hash();
    for (std::size_t i = 0; i < a_.memory.size(); i++) {
      if (static_cast<RegionId>(i) != a_.stack) region(static_cast<RegionId>(i));
    }
    region(a_.stack);
    for (std::size_t r = 0; r < a_.vector.size(); r++) {
      for (std::size_t l = 0; l < a_.vector[r].size(); l++) {
        joined_.vector[r][l] = lane(a_.vector[r][l], b_.vector[r][l]);
      }
    }
    return std::move(joined_);
  }

 private:
  LanePool& pool() const { return setting_.pool; }

  Affine expression(const Affine& a, const Affine& b) const {
    const std::optional<Affine> common = common_expression(a_.facts, a, b_.facts, b);
    if (!common) throw Apart{};
    return *common;
  }

  std::optional<Lane> same_lane(Lane a, Lane b) const {
    if (a == b) return a;
    if (resolve(pool(), a_.facts, a) == resolve(pool(), a_.facts, b)) return b;
    if (resolve(pool(), b_.facts, a) == resolve(pool(), b_.facts, b)) return a;
    return std::nullopt;
  }

  Lane unknown_like(Lane a, Lane b) const {
    if (unknowns_.contains(a.id) && (tells(a) || !tells(b))) return a;
    const Lane made = anything(pool(), tells(a) || tells(b) ? Secrecy::secret : Secrecy::is_public);
    unknowns_.insert(made.id);
    return made;
  }
  bool tells(Lane a) const { return pool().mentions_secret(a) || pool().depends_on_residue(a); }

  Lane lane(Lane a, Lane b) const {
    const std::optional<Lane> same = same_lane(a, b);
    return same ? *same : unknown_like(a, b);
  }

  Scalar scalar(const Scalar& a, const Scalar& b, bool lasting) const {
    if (a == b) return a;
    if (a.kind == b.kind && (a.is_number() || (a.is_pointer() && a.region == b.region))) {
      if (const auto common = common_expression(a_.facts, a.value, b_.facts, b.value)) {
        Scalar result = a;
        result.value = *common;
        return result;
      }
    }
    if (lasting) throw Apart{};
    if (a.is_data() && b.is_data()) {
      const std::optional<Lane> same = same_lane(a.lane, b.lane);
      if (same) return Scalar::data(*same);
    }
    if (!a.is_data() && !b.is_data()) return Scalar::unknown();
    const Lane left = a.is_data() ? a.lane : pool().constant(0), right = b.is_data() ? b.lane : pool().constant(0);
    return Scalar::data(pool().mask(unknown_like(left, right), low_bits(64)));
  }

  void ghost_numbers() {
    if (a_.ghost_numbers->size() != b_.ghost_numbers->size()) throw Apart{};
    for (const auto& [name, a] : *a_.ghost_numbers) {
      const auto b = b_.ghost_numbers->find(name);
      if (b == b_.ghost_numbers->end()) throw Apart{};
      joined_.ghost_numbers.own()[name] = expression(a, b->second);
    }
  }

  void hash() {
    if (a_.hash.has_value() != b_.hash.has_value()) throw Apart{};
    if (!a_.hash) return;
    const HashProgress &a = *a_.hash, &b = *b_.hash;
    const std::optional<Lane> y = same_lane(a.y, b.y), start = same_lane(a.start, b.start);
    if (!y || !start || !(*a.data == *b.data)) throw Apart{};
    joined_.hash = HashProgress{a.data, *start, expression(a.from, b.from), *y, expression(a.at, b.at)};
  }

  void region(RegionId id) {
    if (a_.memory.shares_region(b_.memory, id)) return;
    const Region &a = a_.memory.region(id), &b = b_.memory.region(id);
    Region& r = joined_.memory.edit(id);
    const bool same_initial = a.initial == b.initial || (a.initial && b.initial && *a.initial == *b.initial);
    if (!same_initial || a.forgotten != b.forgotten || a.runs.size() != b.runs.size()) throw Apart{};
    if (id == a_.stack) {
      if (!(a.from == b.from)) throw Apart{};
      stack(a, b, r);
      return;
    }
    for (std::size_t i = 0; i < a.runs.size(); i++) {
      if (!(*a.runs[i].content == *b.runs[i].content)) throw Apart{};
      r.runs[i].from = expression(a.runs[i].from, b.runs[i].from);
      r.runs[i].to = expression(a.runs[i].to, b.runs[i].to);
    }
    if (a.windows != b.windows) throw Apart{};
  }

  /// Bytes of the stack that only one of the states has written may be anything afterwards.
  void stack(const Region& a, const Region& b, Region& r) const {
    for (const auto& [place, window] : b.windows) r.windows[place];
    for (auto& [place, window] : r.windows) {
      const auto wa = a.windows.find(place), wb = b.windows.find(place);
      static const Window kNone;
      const Window &left = wa == a.windows.end() ? kNone : wa->second,
                   &right = wb == b.windows.end() ? kNone : wb->second;
      window = {};
      for (const auto& [offset, slot] : left.slots) {
        const auto other = right.slots.find(offset);
        if (other != right.slots.end()) window.slots[offset] = scalar(slot, other->second, true);
      }
      for (const auto& [offset, piece] : left.pieces) {
        const auto other = right.pieces.find(offset);
        if (other == right.pieces.end()) {
          const Lane whole = piece.first_byte == 0 ? piece.lane : Lane{};
          window.pieces[offset] = {unknown_like(whole, piece.lane), 0, piece.bytes};
          continue;
        }
        const Piece& p = other->second;
        if (p.bytes != piece.bytes || p.first_byte != piece.first_byte) throw Apart{};
        window.pieces[offset] = {lane(piece.lane, p.lane), piece.first_byte, piece.bytes};
      }
      for (const auto& [offset, piece] : right.pieces) {
        if (!left.pieces.contains(offset)) {
          window.pieces[offset] = {unknown_like(piece.lane, pool().constant(0)), 0, piece.bytes};
        }
      }
      std::int64_t end = INT64_MIN;
      for (const auto& [offset, piece] : window.pieces) {
        if (offset < end) throw Apart{};
        end = offset + piece.bytes;
      }
    }
  }

  const Setting& setting_;
  const State &a_, &b_;
  Registers live_;
  std::size_t lanes_;
  std::unordered_set<std::uint32_t>& unknowns_;
  State joined_;
};

/// What most often keeps two apart, without the cost of a joined state.
bool live_numbers_agree(const State& a, const State& b, Registers live) {
  for (int i = 0; i < kGeneralRegisters; i++) {
    if ((live & general_bit(i)) == 0) continue;
    const Scalar &x = general(a, i), &y = general(b, i);
    if (x.kind != y.kind || x.region != y.region) return false;
    if ((x.is_number() || x.is_pointer()) && !common_expression(a.facts, x.value, b.facts, y.value)) return false;
  }
  return a.hash.has_value() == b.hash.has_value() && (!a.hash || a.hash->y == b.hash->y);
}

}  // namespace

std::optional<Affine> common_expression(const Facts& a_facts, const Affine& a, const Facts& b_facts, const Affine& b) {
  if (a == b || b_facts.equal(a, b)) return a;
  if (a_facts.equal(a, b)) return b;
  return std::nullopt;
}

bool join(const Setting& setting, State& a, const State& b, Registers live, int lanes,
          std::unordered_set<std::uint32_t>& unknowns) {
  try {
    if (!live_numbers_agree(a, b, live)) return false;
    a = Joining(setting, a, b, live, lanes, unknowns).joined();
    return true;
  } catch (const Apart&) {
    return false;
  }
}

}  // namespace stitchgcm::verify
