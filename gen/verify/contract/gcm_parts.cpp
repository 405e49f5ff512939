// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/gcm_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gcm/layout.hpp"
#include "verify/spec/aes.hpp"
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

Lane round_key(LanePool& pool, std::int64_t i) { return pool.input(pool.name("round key", Secrecy::secret), i); }

}  // namespace

Affine add_length(Setting setting, State& state, const std::string& name, Wide low, Wide high) {
  const Variable v = setting.pool.variables().add(name);
  state.facts.declare(v, {low, high});
  return v;
}

Affine add_position(Setting setting, State& state) {
  const Variable v = setting.pool.variables().add("s");
  // Far enough from the ends of 64-bit numbers that no offset of a text wraps around.
  state.facts.declare(v, {0, Wide{1} << 50});
  state.position = v;
  return v;
}

Affine any_rounds(Setting setting, State& state) { return add_length(setting, state, "key", 0, 2) * 2 + 10; }

std::vector<Lane> round_keys(LanePool& pool, const Facts& facts, const Affine& rounds) {
  std::vector<Lane> keys;
  for (std::int64_t i = 0; i <= facts.constant(rounds, "the number of rounds"); i++) keys.push_back(round_key(pool, i));
  return keys;
}

std::shared_ptr<const Content> powers_content(LanePool& pool) {
  return std::make_shared<Content>(Content{
      "powers of H", [&pool](const Facts&, const Affine& block) {
        const std::int64_t place = 16 * block.constant();
        const bool middle = place >= layout::kMiddles;
        const std::int64_t index = (place - (middle ? layout::kMiddles : layout::kPowers)) / layout::kPowerBytes;
        const StoredPower power = stored_power(pool, static_cast<int>(layout::kPowerCount - index));
        return middle ? power.middle : power.value;
      }});
}

RegionId add_context(Setting setting, State& state, const Affine& rounds) {
  LanePool& pool = setting.pool;
  const auto powers = powers_content(pool);
  const auto block = [&pool, rounds, powers](const Facts& facts, const Affine& index) {
    if (!index.is_constant()) throw Refused("a read of the context at a place that is not known");
    const std::int64_t place = 16 * index.constant();
    if (place >= layout::kPowers) return powers->block(facts, index);
    if (place == layout::kHashKey) return pool.power(1);
    if (place < layout::kHashKey) return round_key(pool, index.constant());
    return pool.input(pool.name("reserved bytes of the context", Secrecy::is_public), index);
  };
  Region r;
  r.name = "the context";
  r.from = 0;
  r.to = layout::kContextBytes;
  r.initial = std::make_shared<Content>(Content{"the context", block});
  // Beside the rounds there may be anything.
  const Affine backend = add_length(setting, state, "context.backend", 0, (Wide{1} << 32) - 1);
  r.windows[Affine(0)].slots[layout::kRounds] = Scalar::number(rounds + backend * (std::int64_t{1} << 32));
  return state.memory.add(std::move(r));
}

Lane CounterBlocks::number(LanePool& pool, const Affine& block) const {
  const CounterName counter = pool.counter_name(name, known_low_bits);
  if (known_low_bits == 0) return pool.counter(counter, block);
  if (residue) return pool.counter(counter, block + *residue);
  std::array<Lane, LanePool::kResidues> values;
  for (int r = 0; r < LanePool::kResidues; r++) values[static_cast<std::size_t>(r)] = pool.counter(counter, block + r);
  return pool.by_residue(values);
}

Lane CounterBlocks::block(LanePool& pool, const Affine& i) const {
  return spec::counter_block(pool, first_96_bits, number(pool, i));
}

Lane CounterBlocks::reversed(LanePool& pool, const Affine& i) const {
  return pool.apply(pool.reverse_bytes(), block(pool, i));
}

CounterBlocks any_counter(LanePool& pool, const std::string& name, std::optional<int> residue) {
  return {pool.input(pool.name(name, Secrecy::secret)), name, residue};
}

Lane keystream(LanePool& pool, const Facts& facts, const Affine& rounds, const CounterBlocks& counter,
               const Affine& block) {
  return spec::aes_encrypt(pool, round_keys(pool, facts, rounds), counter.block(pool, block));
}

std::shared_ptr<const Content> unknown_text(LanePool& pool, const std::string& name, Secrecy secrecy) {
  const Name n = pool.name(name, secrecy);
  return std::make_shared<Content>(
      Content{name, [&pool, n](const Facts&, const Affine& block) { return pool.input(n, block); }});
}

std::shared_ptr<const Content> xor_keystream(LanePool& pool, const std::string& name,
                                             std::shared_ptr<const Content> text, const Affine& rounds,
                                             const CounterBlocks& counter) {
  return std::make_shared<Content>(
      Content{name, [&pool, text = std::move(text), rounds, counter](const Facts& facts, const Affine& block) {
                return pool.exclusive_or(text->block(facts, block), keystream(pool, facts, rounds, counter, block));
              }});
}

RegionId add_buffer(State& state, const std::string& name, const Affine& from, const Affine& to, bool writable,
                    std::shared_ptr<const Content> initial) {
  Region r;
  r.name = name;
  r.from = from;
  r.to = to;
  r.writable = writable;
  r.initial = std::move(initial);
  return state.memory.add(std::move(r));
}

RegionId add_block(LanePool& pool, State& state, const std::string& name, Lane block, bool writable) {
  static_cast<void>(pool);
  return add_buffer(state, name, 0, 16, writable,
                    std::make_shared<Content>(Content{name, [block](const Facts&, const Affine&) { return block; }}));
}

void require_content(Setting setting, State& state, RegionId id, const Affine& from, const Affine& to,
                     const std::shared_ptr<const Content>& content, const std::string& what) {
  const Facts& facts = state.facts;
  state.memory.gather_runs(setting.pool, facts, id, content);
  const Region& r = state.memory.region(id);
  // Runs of the content, one after the other, as far as they reach; what is not written is as it was at entry.
  Affine at = from;
  for (bool more = true; more && !facts.equal(at, to);) {
    more = false;
    for (const Run& run : r.runs) {
      if (!(*run.content == *content) || facts.equal(run.to, at)) continue;
      if (facts.implies_nonnegative(at - run.from) && facts.implies_nonnegative(run.to - at)) {
        at = run.to;
        more = true;
        if (facts.implies_nonnegative(at - to)) at = to;
        break;
      }
    }
  }
  if (facts.equal(at, to)) return;
  const bool untouched =
      facts.equal(at, from) && r.initial && *r.initial == *content && !r.forgotten &&
      std::all_of(r.runs.begin(), r.runs.end(),
                  [&](const Run& run) {
                    return facts.implies_nonnegative(run.from - to) || facts.implies_nonnegative(from - run.to);
                  }) &&
      std::all_of(r.windows.begin(), r.windows.end(), [&](const auto& w) {
        return std::all_of(w.second.pieces.begin(), w.second.pieces.end(), [&, symbolic = w.first](const auto& p) {
          return facts.implies_nonnegative(symbolic + p.first - to) ||
                 facts.implies_nonnegative(from - symbolic - p.first - p.second.bytes);
        });
      });
  if (!untouched) {
    const Variables& names = setting.pool.variables();
    throw Refused(fmt::format("{}: {} does not hold {} from byte {} on", what, r.name, content->text,
                              names.describe(facts.resolve(at))));
  }
}

void advance_hash(LanePool& pool, const Facts& facts, HashProgress& hash, const Affine& to) {
  const std::int64_t blocks = facts.constant(to - hash.at, "the number of blocks to hash");
  if (blocks < 0) throw Refused("blocks are hashed that the specification has passed");
  for (std::int64_t i = 0; i < blocks; i++) {
    hash.y = spec::ghash_step(pool, hash.y, hash.data->block(facts, hash.at));
    hash.at += 1;
  }
}

Sums sums_in(const State& state, const SumsRegisters& r) {
  return {vector_lane(state, r.low), vector_lane(state, r.high), vector_lane(state, r.middle)};
}

void set_sums(State& state, const SumsRegisters& r, const Sums& sums) {
  vector_lane(state, r.low) = sums.low;
  vector_lane(state, r.high) = sums.high;
  vector_lane(state, r.middle) = sums.middle;
}

void set_any_sums(LanePool& pool, State& state, const SumsRegisters& registers, Lane y, std::int64_t exponent,
                  const std::string& when) {
  const Lane value = exponent == 0 ? y : pool.multiply_by_power(y, static_cast<int>(exponent));
  const auto part = [&](const char* name) {
    return when.empty() ? anything(pool, Secrecy::secret) : pool.input(pool.name(name + when, Secrecy::secret));
  };
  const Lane low = part("low sums "), high = part("high sums ");
  set_sums(state, registers, any_sums_of(pool, value, low, high));
}

bool sums_stand_for(LanePool& pool, const State& state, const SumsRegisters& registers, Lane y, std::int64_t exponent) {
  const Lane value = exponent == 0 ? y : pool.multiply_by_power(y, static_cast<int>(exponent));
  return resolve(pool, state.facts, value_of_sums(pool, sums_in(state, registers))) ==
         resolve(pool, state.facts, value);
}

Affine require_pointer(const State& state, int reg, RegionId region, const std::string& what) {
  const Scalar& s = general(state, reg);
  if (!s.is_pointer() || s.region != region) throw Refused(what + " is not where the routine expects it");
  return s.value;
}

const Scalar& require_any_pointer(const State& state, int reg, const std::string& what) {
  const Scalar& s = general(state, reg);
  if (!s.is_pointer()) throw Refused(what + " is no pointer");
  return s;
}

Affine require_number(const State& state, int reg, const std::string& what) {
  const Scalar& s = general(state, reg);
  if (!s.is_number()) throw Refused(what + " is no public number");
  return s.value;
}

void require_equal(LanePool& pool, const Facts& facts, Lane got, Lane wanted, const std::string& what) {
  if (got == wanted) return;
  const Lane a = resolve(pool, facts, got), b = resolve(pool, facts, wanted);
  if (a == b) return;
  throw Refused(
      fmt::format("{} is not what it must be\n  is      {}\n  must be {}", what, pool.describe(a), pool.describe(b)));
}

}  // namespace stitchgcm::verify
