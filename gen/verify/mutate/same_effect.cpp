// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/mutate/same_effect.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "verify/contract/system_v.hpp"

namespace stitchgcm::verify {
namespace {

bool equal(const Machine& m, const Facts& facts, const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  if (a.kind != b.kind) return false;
  if (a.is_number()) return facts.equal(a.value, b.value);
  if (a.is_pointer()) return a.region == b.region && facts.equal(a.value, b.value);
  return a.is_data() && resolve(m.pool, facts, a.lane) == resolve(m.pool, facts, b.lane);
}

bool equal(const Machine& m, const Facts& facts, const Window& a, const Window& b) {
  if (a.slots != b.slots || a.pieces.size() != b.pieces.size()) return false;
  return std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), [&](const auto& x, const auto& y) {
    return x.first == y.first && x.second.bytes == y.second.bytes && x.second.first_byte == y.second.first_byte &&
           resolve(m.pool, facts, x.second.lane) == resolve(m.pool, facts, y.second.lane);
  });
}

bool memory_equal(const Machine& m, const State& a, const State& b, std::optional<RegionId> but = std::nullopt) {
  for (std::size_t i = 0; i < a.memory.size(); i++) {
    const auto id = static_cast<RegionId>(i);
    if (id == but || a.memory.shares_region(b.memory, id)) continue;
    const Region &x = a.memory.region(id), &y = b.memory.region(id);
    if (x.forgotten != y.forgotten || x.runs != y.runs || x.windows.size() != y.windows.size()) return false;
    for (const auto& [place, window] : x.windows) {
      const auto other = y.windows.find(place);
      if (other == y.windows.end() || !equal(m, a.facts, window, other->second)) return false;
    }
  }
  return true;
}

/// One instruction, a jump included.
void advance(const Machine& machine, const Instruction& i, State& s) {
  if (i.mnemonic == ZYDIS_MNEMONIC_CALL || i.mnemonic == ZYDIS_MNEMONIC_RET) throw Refused("a call or return");
  if (i.mnemonic == ZYDIS_MNEMONIC_JMP) {
    s.ip = i.operands[0].immediate;
  } else if (is_jump(i)) {
    s.ip = condition_holds(machine, i.mnemonic, s) ? i.operands[0].immediate : i.next();
  } else {
    execute(machine, i, s);
  }
}

Scalar any_number(LanePool& pool, Facts& facts, Range range) {
  const Variable v = pool.variables().add("any number");
  facts.declare(v, range);
  return Scalar::number(v);
}

/// All that a register or flag may be, with numbers or data in the general registers that are no base of an address.
State start(const Machine& machine, State s, const Instruction& i, bool numbers) {
  LanePool& pool = machine.pool;
  for (int r = 0; r < kGeneralRegisters; r++) {
    if (r == rsp) continue;
    Scalar& g = s.general[static_cast<std::size_t>(r)];
    g = numbers ? any_number(pool, s.facts, {0, INT64_MAX})
                : Scalar::data(pool.mask(anything(pool, Secrecy::secret), low_bits(64)));
  }
  for (const Operand& o : i.operands) {
    if (o.kind != Operand::Kind::memory || !o.memory.base || *o.memory.base == rsp) continue;
    Region buffer;
    buffer.name = "a buffer";
    buffer.from = -(std::int64_t{1} << 20);
    buffer.to = std::int64_t{1} << 20;
    buffer.writable = true;
    const Name name = pool.name("a buffer", Secrecy::secret);
    buffer.initial = std::make_shared<Content>(
        Content{"a buffer", [&pool, name](const Facts&, const Affine& block) { return pool.input(name, block); }});
    s.general[static_cast<std::size_t>(*o.memory.base)] = Scalar::pointer(s.memory.add(std::move(buffer)));
  }
  return s;
}

/// False if the machine refuses the instruction, or asks for what the state does not decide.
bool is_followed(const Machine& machine, const Instruction& i, State& s) {
  try {
    advance(machine, i, s);
    return true;
  } catch (const Refused&) {
  } catch (const Undecided&) {
  } catch (const Reveals&) {
  }
  return false;
}

}  // namespace

bool same_effect(const Machine& machine, const State& any, const Instruction& a, const Instruction& b) {
  bool followed = false;
  for (const bool numbers : {false, true}) {
    const State before = start(machine, any, a, numbers);
    State x = before, y = before;
    const bool done_x = is_followed(machine, a, x), done_y = is_followed(machine, b, y);
    if (!done_x && !done_y) continue;
    if (!done_x || !done_y || x.ip != y.ip || !(x.flags == y.flags) || x.mask != y.mask) return false;
    for (std::size_t r = 0; r < kGeneralRegisters; r++) {
      if (!equal(machine, x.facts, x.general[r], y.general[r])) return false;
    }
    for (std::size_t r = 0; r < kVectorRegisters; r++) {
      for (std::size_t l = 0; l < kVectorLanes; l++) {
        if (machine.pool.lift(x.vector[r][l]) != machine.pool.lift(y.vector[r][l])) return false;
      }
    }
    if (!memory_equal(machine, x, y)) return false;
    followed = true;
  }
  return followed;
}

namespace {

/// As secret as the two that it stands for.
Lane anything_like(LanePool& pool, Lane a, Lane b) {
  const bool tells = pool.mentions_secret(a) || pool.mentions_secret(b);
  return anything(pool, tells ? Secrecy::secret : Secrecy::is_public);
}

std::optional<Lane> byte_of_stack(const Machine& machine, const State& s, std::int64_t place) {
  try {
    return resolve(machine.pool, s.facts, s.memory.load(machine.pool, s.facts, s.stack, place, 1));
  } catch (const Refused&) {
    return std::nullopt;  // never written
  }
}

/// Between two known numbers, so many are tried.
constexpr std::int64_t kNumbers = 16;

void forget_difference_in_stack(const Machine& machine, const State& x, const State& y, State& after) {
  std::set<std::int64_t> places;
  for (const State* s : {&x, &y}) {
    for (const auto& [window, content] : s->memory.region(s->stack).windows) {
      for (const auto& [place, piece] : content.pieces) {
        for (int i = 0; i < piece.bytes; i++) places.insert(place + i);
      }
    }
  }
  const auto slots = [](const State& s) {
    std::map<std::int64_t, Scalar> all;
    for (const auto& [window, content] : s.memory.region(s.stack).windows)
      all.insert(content.slots.begin(), content.slots.end());
    return all;
  };
  if (slots(x) != slots(y)) throw Refused("they differ in numbers or pointers in the stack");
  const Lane nothing = machine.pool.constant(0);
  for (const std::int64_t place : places) {
    const std::optional<Lane> a = byte_of_stack(machine, x, place), b = byte_of_stack(machine, y, place);
    if (a == b) continue;
    after.memory.store(after.facts, after.stack, place,
                       anything_like(machine.pool, a.value_or(nothing), b.value_or(nothing)), 0, 1);
  }
}

}  // namespace

std::vector<State> without_difference(const Machine& machine, const State& before, const std::vector<Instruction>& a,
                                      const std::vector<Instruction>& b, State after) {
  LanePool& pool = machine.pool;
  State x = before, y = before;
  for (const Instruction& i : a) advance(machine, i, x);
  for (const Instruction& i : b) advance(machine, i, y);
  if (x.ip != y.ip || !memory_equal(machine, x, y, x.stack) || x.mask != y.mask) {
    throw Refused("they differ in memory or in the way on");
  }
  forget_difference_in_stack(machine, x, y, after);
  if (!(x.flags == y.flags)) after.flags = {};
  std::optional<std::pair<std::size_t, Range>> number;
  for (std::size_t r = 0; r < kGeneralRegisters; r++) {
    const Scalar &left = x.general[r], &right = y.general[r];
    if (equal(machine, x.facts, left, right)) continue;
    if (left.is_data() && right.is_data()) {
      after.general[r] = Scalar::data(pool.mask(anything_like(pool, left.lane, right.lane), low_bits(64)));
    } else if (left.is_data() || right.is_data()) {
      throw Refused("they differ in data and no data in a general register");
    } else if (left.is_number() && right.is_number() && left.value.is_constant() && right.value.is_constant()) {
      const auto [least, most] = std::minmax({left.value.constant(), right.value.constant()});
      if (number || most - least > kNumbers) throw Refused("they differ in many numbers");
      number = {r, {least, most}};
    } else {
      after.general[r] = Scalar::unknown();
    }
  }
  for (std::size_t r = 0; r < kVectorRegisters; r++) {
    for (std::size_t l = 0; l < kVectorLanes; l++) {
      const Lane left = x.vector[r][l], right = y.vector[r][l];
      if (left == right) continue;
      const Bits128 differ = pool.support(pool.exclusive_or(left, right));
      if (differ == 0) continue;
      Lane& lane = after.vector[r][l];
      lane = pool.exclusive_or(pool.mask(lane, ~differ), pool.mask(anything_like(pool, left, right), differ));
    }
  }
  if (!number) return {after};
  std::vector<State> all;
  for (Wide n = number->second.low; n <= number->second.high; n++) {
    all.push_back(after);
    all.back().general[number->first] = Scalar::number(static_cast<std::int64_t>(n));
  }
  return all;
}

namespace {

bool same_if_decided(const Machine& machine, const State& state, const std::vector<Instruction>& a,
                     const std::vector<Instruction>& b, const Readers& readers) {
  State x = state, y = state;
  for (const Instruction& i : a) advance(machine, i, x);
  for (const Instruction& i : b) advance(machine, i, y);
  if (x.ip != y.ip || x.mask != y.mask || !(x.general[rsp] == y.general[rsp])) return false;
  for (int r = 0; r < kGeneralRegisters; r++) {
    const Scalar &left = x.general[static_cast<std::size_t>(r)], &right = y.general[static_cast<std::size_t>(r)];
    if ((readers.live & general_bit(r)) == 0 || equal(machine, x.facts, left, right)) continue;
    if (readers.numbers_too || !left.is_number() || !right.is_number()) return false;
  }
  for (int r = 0; r < kVectorRegisters; r++) {
    if ((readers.live & vector_bit(r)) == 0) continue;
    const auto n = static_cast<std::size_t>(r);
    for (std::size_t l = 0; l < kVectorLanes; l++) {
      if (x.vector[n][l] == y.vector[n][l]) continue;
      if (resolve(machine.pool, x.facts, x.vector[n][l]) != resolve(machine.pool, y.facts, y.vector[n][l]))
        return false;
    }
  }
  if (!memory_equal(machine, x, y)) return false;
  if ((readers.live & kFlagsBit) == 0 || x.flags == y.flags) return true;
  if (!readers.of_flags) return false;
  const ZydisMnemonic condition = *condition_read(*readers.of_flags);
  return condition_holds(machine, condition, x) == condition_holds(machine, condition, y);
}

/// Questions that the state does not decide are answered both ways, so many of them one after the other.
constexpr int kQuestions = 6;

bool same_either_way(const Machine& machine, const State& state, const std::vector<Instruction>& a,
                     const std::vector<Instruction>& b, const Readers& readers, int questions) {
  try {
    return same_if_decided(machine, state, a, b, readers);
  } catch (const Undecided& question) {
    if (questions == 0) return false;
    for (const Affine& fact : {question.nonnegative, question.nonnegative * -1 - 1}) {
      State s = state;
      if (s.facts.assume_nonnegative(fact) && !same_either_way(machine, s, a, b, readers, questions - 1)) return false;
    }
    return true;
  } catch (const Reveals&) {
    return false;
  } catch (const Refused&) {
    return false;
  }
}

}  // namespace

bool same_here(const Machine& machine, const State& state, const std::vector<Instruction>& a,
               const std::vector<Instruction>& b, const Readers& readers) {
  return same_either_way(machine, state, a, b, readers, kQuestions);
}

}  // namespace stitchgcm::verify
