// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tests {

using namespace stitchgcm::verify;

namespace {

constexpr std::int64_t kHot = 160;    // bytes on both sides of the middle that hold what is random, and are compared
constexpr std::size_t kMargin = 512;  // bytes of memory at both ends that no access reaches
constexpr int kMostQuestions = 300;
constexpr std::size_t kMostLanes = 400'000;

constexpr std::uint64_t kCarry = 1, kParity = 4, kAdjust = 0x10, kZero = 0x40, kSign = 0x80, kOverflow = 0x800;
constexpr std::uint64_t kArithmetic = kCarry | kParity | kAdjust | kZero | kSign | kOverflow;
constexpr std::uint64_t kFixedFlags = 0x202;

constexpr std::size_t at(int n) { return static_cast<std::size_t>(n); }
constexpr std::uint64_t ones(int bits) { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

/// The flags that an addition, a subtraction or a logical operation leaves.
std::uint64_t arithmetic_flags(Flags::Kind kind, std::uint64_t a, std::uint64_t b, int bits) {
  a &= ones(bits);
  b &= ones(bits);
  const bool subtracts = kind == Flags::Kind::difference, adds = kind == Flags::Kind::sum;
  const std::uint64_t r = (subtracts ? a - b : adds ? a + b : a) & ones(bits), top = std::uint64_t{1} << (bits - 1);
  std::uint64_t flags = 0;
  if (r == 0) flags |= kZero;
  if ((r & top) != 0) flags |= kSign;
  if (subtracts && a < b) flags |= kCarry;
  if (adds && r < a) flags |= kCarry;
  if (subtracts && ((a ^ b) & (a ^ r) & top) != 0) flags |= kOverflow;
  if (adds && (~(a ^ b) & (a ^ r) & top) != 0) flags |= kOverflow;
  return flags;
}

struct NamedCondition {
  ZydisMnemonic jump;
  const char* name;
  bool (*holds)(std::uint64_t flags);
};
constexpr bool has(std::uint64_t flags, std::uint64_t flag) { return (flags & flag) != 0; }
constexpr bool less(std::uint64_t f) { return has(f, kSign) != has(f, kOverflow); }
constexpr NamedCondition kConditions[] = {
    {ZYDIS_MNEMONIC_JZ, "jz", [](std::uint64_t f) { return has(f, kZero); }},
    {ZYDIS_MNEMONIC_JNZ, "jnz", [](std::uint64_t f) { return !has(f, kZero); }},
    {ZYDIS_MNEMONIC_JB, "jb", [](std::uint64_t f) { return has(f, kCarry); }},
    {ZYDIS_MNEMONIC_JNB, "jnb", [](std::uint64_t f) { return !has(f, kCarry); }},
    {ZYDIS_MNEMONIC_JBE, "jbe", [](std::uint64_t f) { return has(f, kCarry | kZero); }},
    {ZYDIS_MNEMONIC_JNBE, "jnbe", [](std::uint64_t f) { return !has(f, kCarry | kZero); }},
    {ZYDIS_MNEMONIC_JL, "jl", [](std::uint64_t f) { return less(f); }},
    {ZYDIS_MNEMONIC_JNL, "jnl", [](std::uint64_t f) { return !less(f); }},
    {ZYDIS_MNEMONIC_JLE, "jle", [](std::uint64_t f) { return less(f) || has(f, kZero); }},
    {ZYDIS_MNEMONIC_JNLE, "jnle", [](std::uint64_t f) { return !less(f) && !has(f, kZero); }},
    {ZYDIS_MNEMONIC_JS, "js", [](std::uint64_t f) { return has(f, kSign); }},
    {ZYDIS_MNEMONIC_JNS, "jns", [](std::uint64_t f) { return !has(f, kSign); }},
    {ZYDIS_MNEMONIC_JO, "jo", [](std::uint64_t f) { return has(f, kOverflow); }},
    {ZYDIS_MNEMONIC_JNO, "jno", [](std::uint64_t f) { return !has(f, kOverflow); }},
};

/// What memory holds where nothing else is said.
Bits128 background(std::int64_t block) {
  return from_bytes(Random(static_cast<std::uint64_t>(block) + 0xbac4).block());
}

void put(std::span<std::uint8_t> data, std::int64_t place, View bytes) {
  std::copy(bytes.begin(), bytes.end(), data.begin() + place);
}
Bytes eight_bytes(std::uint64_t v) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &v, 8);
  return bytes;
}

const MemoryOperand* memory_of(const Instruction& i) {
  for (const Operand& o : i.operands) {
    if (o.kind == Operand::Kind::memory) return &o.memory;
  }
  return nullptr;
}

}  // namespace

TrialState::TrialState(LanePool& pool, std::span<std::uint8_t> data, std::uint64_t seed, Operands operands,
                       const std::vector<Instruction>& instructions)
    : pool_(pool),
      data_(data),
      random_(seed),
      lanes_(pool, seed),
      symbolic_(operands == Operands::symbolic),
      flavour_(static_cast<Flavour>(random_.below(3))),
      values_(random_values(seed)) {
  middle_ = kMargin + static_cast<std::int64_t>(random_.below(data_.size() - 2 * kMargin));
  for (const Instruction& i : instructions) {
    const MemoryOperand* m = memory_of(i);
    if (m == nullptr || !m->absolute) continue;
    rip_relative_ = true;
    middle_ = static_cast<std::int64_t>(*m->absolute - reinterpret_cast<std::uintptr_t>(data_.data()));
  }
  add_variables();
  add_memory();
  add_registers(instructions);
  for (const Instruction& i : instructions) aim(i);
  add_flags();
  state_.ip = instructions.at(0).address;
}

void TrialState::add_variables() {
  const auto add = [this](Variable v) {
    // Few values or many, and what is known of them more or less narrow.
    const std::uint64_t most = std::uint64_t{1} << (random_.below(2) == 0 ? 4 : 8 + random_.below(40));
    const std::uint64_t value = random_.word() % most;
    numbers_[v] = static_cast<std::int64_t>(value);
    const Wide low = random_.below(2) == 0 ? 0 : Wide{value / 2};
    state_.facts.declare(v, {low, random_.below(3) == 0 ? Wide{value} : Wide{most}});
  };
  for (const Variable v : {lanes_.n(), lanes_.i(), pool_.variables().add("length"), pool_.variables().add("count")}) {
    add(v);
  }
  values_.variable = [this](Variable v) { return numbers_.at(v); };
  if (random_.below(2) == 0) {
    const Affine difference = Affine(lanes_.n()) - lanes_.i();
    answer(state_, Undecided{difference});
  }
}

std::uint64_t TrialState::random_number() {
  const std::uint64_t word = random_.word();
  switch (random_.below(8)) {
    case 0: return random_.below(3);
    case 1: return random_.below(300);
    case 2: return std::uint64_t{0} - random_.below(300);
    case 3: return std::uint64_t{1} << random_.below(64);
    case 4: return (std::uint64_t{1} << random_.below(64)) - 1;
    case 5: return static_cast<std::uint32_t>(word);
    case 6: return 16 * (word >> 40);
    default: return word;
  }
}

Affine TrialState::random_affine() {
  static constexpr std::int64_t kCoefficients[] = {1, 1, 1, -1, 2, 3, 8, 16, 64, -16, std::int64_t{1} << 32};
  std::vector<Variable> variables;
  for (const auto& [v, number] : numbers_) variables.push_back(v);
  Affine a = random_.below(2) == 0 ? static_cast<std::int64_t>(random_.below(64)) : 0;
  for (std::size_t terms = 1 + random_.below(2); terms > 0; terms--) {
    a += Affine(variables[random_.below(variables.size())]) * kCoefficients[random_.below(std::size(kCoefficients))];
  }
  if (random_.below(8) == 0) a += static_cast<std::int64_t>(random_number());
  return a;
}

Scalar TrialState::random_scalar(bool symbolic) {
  if (random_.below(flavour_ == Flavour::mixed ? 6 : 30) == 0) {
    return Scalar::pointer(buffer_, middle_ + static_cast<std::int64_t>(random_.below(64)));
  }
  if (!symbolic || random_.below(3) == 0) return Scalar::number(static_cast<std::int64_t>(random_number()));
  if (flavour_ == Flavour::numbers || (flavour_ == Flavour::mixed && random_.below(2) == 0)) {
    return Scalar::number(random_affine());
  }
  const Lane lane = pool_.mask(lanes_.lane(1), low_bits(64));
  if (!pool_.is_constant(lane)) return Scalar::data(lane);
  return Scalar::number(static_cast<std::int64_t>(low_half(pool_.constant_value(lane))));
}

Lane TrialState::random_lane(bool symbolic) {
  const std::size_t kind = random_.below(12);
  if (kind == 0) return pool_.constant(0);
  if (symbolic && kind == 1) {
    std::array<Lane, LanePool::kResidues> values;
    for (Lane& lane : values) lane = pool_.constant(lanes_.bits());
    return pool_.by_residue(values);
  }
  if (symbolic && kind == 2) return pool_.counter(pool_.counter_name("counter", 3), Affine(lanes_.i()) * 8 + 5);
  if (symbolic && kind == 3) return pool_.integer(random_affine());
  if (symbolic && kind < 9) return lanes_.lane(1);
  return pool_.constant(lanes_.bits());
}

void TrialState::add_memory() {
  blocks_ = std::make_shared<std::map<std::int64_t, Lane>>();
  const bool formulas = symbolic_ && random_.below(3) != 0;
  for (std::int64_t block = (middle_ - kHot) / 16; block < (middle_ + kHot) / 16; block++) {
    (*blocks_)[block] = random_lane(formulas);
  }
  const auto block_of = [pool = &pool_, blocks = blocks_](std::int64_t block) {
    const auto found = blocks->find(block);
    return found != blocks->end() ? found->second : pool->constant(background(block));
  };
  const auto size = static_cast<std::int64_t>(data_.size());
  Region buffer;
  buffer.name = "the buffer";
  buffer.from = 0;
  buffer.to = size;
  buffer.writable = true;
  buffer.alignment = 64;
  buffer.initial = std::make_shared<Content>(
      Content{"buffer", [block_of](const Facts&, const Affine& block) { return block_of(block.constant()); }});
  buffer_ = state_.memory.add(buffer);
  state_.stack = buffer_;
  // The same bytes by their addresses.
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_.data()));
  Region constants = buffer;
  constants.name = "read-only data";
  constants.from = address;
  constants.to = address + size;
  constants.writable = false;
  constants.initial = std::make_shared<Content>(Content{"data", [block_of, address](const Facts&, const Affine& block) {
                                                          return block_of(block.constant() - address / 16);
                                                        }});
  state_.constants = state_.memory.add(constants);
  if (rip_relative_) return;
  for (std::int64_t place = (middle_ - kHot) / 8 * 8; place < middle_ + kHot; place += 8) {
    if (random_.below(flavour_ == Flavour::numbers ? 3 : 12) != 0) continue;
    const Scalar s = random_.below(8) == 0 ? Scalar::pointer(buffer_, middle_)
                     : symbolic_           ? Scalar::number(random_affine())
                                           : Scalar::number(static_cast<std::int64_t>(random_number()));
    state_.memory.store_scalar(state_.facts, buffer_, place, s);
  }
}

void TrialState::add_registers(const std::vector<Instruction>& instructions) {
  std::uint32_t general = 0, vector = 0;
  for (const Instruction& i : instructions) {
    for (const Operand& o : i.operands) {
      if (o.kind != Operand::Kind::reg) continue;
      (o.reg.kind == RegisterKind::general ? general : vector) |= 1u << o.reg.number;
    }
  }
  for (int r = 0; r < kGeneralRegisters; r++) {
    state_.general[at(r)] = random_scalar(symbolic_ && (general >> r & 1) != 0);
  }
  state_.general[rsp] = Scalar::pointer(buffer_, (middle_ + static_cast<std::int64_t>(random_.below(32))) / 8 * 8);
  for (int r = 0; r < kVectorRegisters; r++) {
    // Many operations are followed only if one operand is known.
    const bool formulas = symbolic_ && random_.below(3) != 0;
    for (int l = 0; l < kVectorLanes; l++) {
      // Those that nobody reads need no more than to be told apart.
      state_.vector[at(r)][at(l)] =
          (vector >> r & 1) != 0 ? random_lane(formulas) : pool_.constant(background(1000 + 4 * r + l));
    }
  }
  for (auto& mask : state_.mask) mask = random_.word();
}

void TrialState::aim(const Instruction& i) {
  auto& general = state_.general;
  if (i.mnemonic == ZYDIS_MNEMONIC_LEAVE) general[rbp] = general[rsp];
  const MemoryOperand* m = memory_of(i);
  if (m == nullptr || m->absolute) return;
  // Of numbers, not an address.
  if (m->bits == 0 && random_.below(2) == 0) return;
  // Half of them aligned.
  std::int64_t target = middle_ + static_cast<std::int64_t>(random_.below(32));
  if (random_.below(2) == 0) target = target / 64 * 64;
  std::int64_t rest = target - m->displacement;
  if (m->index) {
    Scalar index =
        Scalar::number(static_cast<std::int64_t>(random_.below(2) == 0 ? random_.below(64) : random_number()));
    if (symbolic_ && random_.below(3) == 0) index = Scalar::number(random_affine());
    if (!m->base) index = Scalar::pointer(buffer_, rest);
    general[at(*m->index)] = index;
    if (!m->base) return;
    const Affine place = Affine(rest) - index.value * m->scale;
    // Where a length stands in the index, the base takes it back, or its value.
    general[at(*m->base)] =
        Scalar::pointer(buffer_, random_.below(2) == 0 ? place : Affine(static_cast<std::int64_t>(value_of(place))));
    return;
  }
  if (m->base) general[at(*m->base)] = Scalar::pointer(buffer_, rest);
}

void TrialState::add_flags() {
  static constexpr Flags::Kind kKinds[] = {Flags::Kind::undefined, Flags::Kind::difference, Flags::Kind::difference,
                                           Flags::Kind::sum,       Flags::Kind::result,     Flags::Kind::zero};
  static constexpr int kBits[] = {8, 32, 64, 64};
  Flags& f = state_.flags;
  f.kind = kKinds[random_.below(std::size(kKinds))];
  f.bits = kBits[random_.below(std::size(kBits))];
  const auto operand = [this] {
    return symbolic_ && random_.below(2) == 0 ? Scalar::number(random_affine())
                                              : Scalar::number(static_cast<std::int64_t>(random_number()));
  };
  flags_ = kFixedFlags | (random_.word() & kArithmetic);
  if (f.kind == Flags::Kind::undefined) return;
  f.a = operand();
  f.b = f.kind == Flags::Kind::result || f.kind == Flags::Kind::zero ? Scalar{} : operand();
  if (random_.below(4) == 0 && f.b.is_number()) f.b = f.a;
  const std::uint64_t b = f.b.is_number() ? value_of(f.b) : 0;
  const std::uint64_t defined = f.kind == Flags::Kind::zero ? kZero : kCarry | kZero | kSign | kOverflow;
  flags_ = (flags_ & ~defined) | (arithmetic_flags(f.kind, value_of(f.a), b, f.bits) & defined);
}

std::uint64_t TrialState::value_of(const Affine& a) const {
  auto sum = static_cast<std::uint64_t>(a.constant());
  for (const Affine::Term& t : a.terms()) {
    sum += static_cast<std::uint64_t>(t.coefficient) * static_cast<std::uint64_t>(numbers_.at(t.variable));
  }
  return sum;
}

std::uint64_t TrialState::value_of(const Scalar& s) const {
  switch (s.kind) {
    case Scalar::Kind::number: return value_of(s.value);
    case Scalar::Kind::pointer: {
      const std::uint64_t base = s.region == buffer_ ? reinterpret_cast<std::uint64_t>(data_.data()) : 0;
      return base + value_of(s.value);
    }
    case Scalar::Kind::lane: return low_half(value_of(s.lane));
    case Scalar::Kind::unknown: break;
  }
  throw std::logic_error("what is not known has no value");
}

State TrialState::model_of_values() const {
  State s = state_;
  const auto known = [this](const Scalar& x) {
    if (x.is_pointer()) return Scalar::pointer(x.region, static_cast<std::int64_t>(value_of(x.value)));
    return Scalar::number(static_cast<std::int64_t>(value_of(x)));
  };
  for (Scalar& x : s.general) x = known(x);
  for (auto& lanes : s.vector) {
    for (Lane& lane : lanes) lane = pool_.constant(value_of(lane));
  }
  if (s.flags.a.is_number()) s.flags.a = known(s.flags.a);
  if (s.flags.b.is_number()) s.flags.b = known(s.flags.b);
  auto values = std::make_shared<std::map<std::int64_t, Lane>>();
  for (const auto& [block, lane] : *blocks_) (*values)[block] = pool_.constant(value_of(lane));
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_.data()));
  for (const RegionId id : {buffer_, s.constants}) {
    const std::int64_t first = id == buffer_ ? 0 : address / 16;
    Region& region = s.memory.edit(id);
    region.initial = std::make_shared<Content>(
        Content{"values", [values, first, pool = &pool_](const Facts&, const Affine& block) {
                  const auto found = values->find(block.constant() - first);
                  return found != values->end() ? found->second : pool->constant(background(block.constant() - first));
                }});
    for (auto& [place, window] : region.windows) {
      for (auto& [offset, slot] : window.slots) slot = known(slot);
    }
  }
  return s;
}

CpuState TrialState::cpu() const { return cpu_of(state_); }

CpuState TrialState::cpu_of(const State& end) const {
  CpuState cpu{};
  for (std::size_t r = 0; r < cpu.general.size(); r++) {
    cpu.general[r] = end.general[r].kind == Scalar::Kind::unknown ? 0 : value_of(end.general[r]);
  }
  for (std::size_t r = 0; r < cpu.vector.size(); r++) {
    for (std::size_t l = 0; l < kVectorLanes; l++) {
      const auto bytes = bytes_of(value_of(end.vector[r][l]));
      std::copy(bytes.begin(), bytes.end(), cpu.vector[r].begin() + static_cast<std::ptrdiff_t>(16 * l));
    }
  }
  for (std::size_t k = 0; k < cpu.mask.size(); k++) cpu.mask[k] = end.mask[k].value_or(0);
  cpu.flags = flags_;
  return cpu;
}

void TrialState::fill_memory() const { fill_memory_from(state_); }

void TrialState::answer(State& state, const Undecided& question) const {
  // As an integer: what the facts speak of does not wrap around.
  Wide value = question.nonnegative.constant();
  for (const Affine::Term& t : question.nonnegative.terms()) value += Wide{t.coefficient} * numbers_.at(t.variable);
  const Affine fact = value >= 0 ? question.nonnegative : question.nonnegative * -1 - 1;
  if (!state.facts.assume_nonnegative(fact)) {
    throw std::logic_error("what is true contradicts the facts: " + pool_.variables().describe(fact) + " >= 0");
  }
}

std::string TrialState::wrong_conditions(const Machine& machine, const State& end, std::uint64_t flags) const {
  for (const NamedCondition& c : kConditions) {
    State s = end;
    for (int question = 0; question < kMostQuestions; question++) {
      try {
        const bool holds = condition_holds(machine, c.jump, s);
        if (holds != c.holds(flags)) {
          return fmt::format("{} {} in the model, and not on the CPU", c.name, holds ? "jumps" : "does not jump");
        }
        break;
      } catch (const Undecided& q) {
        answer(s, q);
      } catch (const Refused&) {
        break;  // nothing is claimed
      }
    }
  }
  return "";
}

Bytes TrialState::memory_of_model(const State& end) const {
  const Region& r = end.memory.region(buffer_);
  Bytes bytes(data_.begin(), data_.end());
  if (!r.forgotten) {
    for (std::int64_t block = 0; block < static_cast<std::int64_t>(data_.size()) / 16; block++) {
      // What no instruction can reach is not worth asking for.
      const bool near = blocks_->contains(block);
      put(bytes, 16 * block, bytes_of(near ? value_of(r.initial->block(end.facts, block)) : background(block)));
    }
  }
  for (const auto& [symbolic, window] : r.windows) {
    const auto begin = static_cast<std::int64_t>(value_of(symbolic));
    for (const auto& [offset, piece] : window.pieces) {
      const auto block = bytes_of(value_of(piece.lane));
      put(bytes, begin + offset, View(block).subspan(at(piece.first_byte), at(piece.bytes)));
    }
    for (const auto& [offset, slot] : window.slots) {
      const View now = View(data_).subspan(static_cast<std::size_t>(begin + offset), 8);
      put(bytes, begin + offset, slot.kind == Scalar::Kind::unknown ? now : View(eight_bytes(value_of(slot))));
    }
  }
  return bytes;
}

void TrialState::fill_memory_from(const State& end) const { put(data_, 0, memory_of_model(end)); }

std::string TrialState::wrong_memory(const State& end) const {
  const Bytes want = memory_of_model(end);
  if (equal(data_, want)) return "";
  return "memory, of the CPU and in the model, differs " + difference_text(data_, want);
}

std::string TrialState::differences(const State& end, const CpuState& cpu, VectorLevel level) const {
  for (std::size_t r = 0; r < cpu.general.size(); r++) {
    const Scalar& s = end.general[r];
    if (s.kind == Scalar::Kind::unknown) continue;
    if (s.is_data() && (pool_.support(s.lane) & ~low_bits(64)) != 0) return "a register with more than 64 bits";
    if (value_of(s) != cpu.general[r]) {
      return fmt::format("general register {}: the model has {:#x}, the CPU {:#x}", r, value_of(s), cpu.general[r]);
    }
  }
  const std::size_t registers = level == VectorLevel::zmm ? 32 : 16;
  const std::size_t lanes = level == VectorLevel::zmm ? 4 : level == VectorLevel::ymm ? 2 : 1;
  for (std::size_t r = 0; r < registers; r++) {
    for (std::size_t l = 0; l < lanes; l++) {
      const View got = View(cpu.vector[r]).subspan(16 * l, 16);
      const auto want = bytes_of(value_of(end.vector[r][l]));
      if (!equal(got, want)) {
        return fmt::format("vector register {}, lane {}: the model has {}, the CPU {}", r, l, hex(View(want)),
                           hex(got));
      }
    }
  }
  for (std::size_t k = 0; level == VectorLevel::zmm && k < cpu.mask.size(); k++) {
    if (end.mask[k] && *end.mask[k] != cpu.mask[k]) {
      return fmt::format("k{}: the model has {:#x}, the CPU {:#x}", k, *end.mask[k], cpu.mask[k]);
    }
  }
  return wrong_memory(end);
}

namespace {

bool same(const State& a, const State& b) {
  for (std::size_t r = 0; r < a.memory.size(); r++) {
    const Region &x = a.memory.region(static_cast<RegionId>(r)), &y = b.memory.region(static_cast<RegionId>(r));
    if (x.windows != y.windows || x.runs != y.runs || x.forgotten != y.forgotten) return false;
  }
  return a.general == b.general && a.vector == b.vector && a.mask == b.mask && a.flags == b.flags && a.ip == b.ip;
}

/// Executes the instructions, with the truth for an answer to each question.
void follow(const Machine& machine, const TrialState& trial, const std::vector<Instruction>& instructions, State& state,
            TrialResult& result) {
  for (const Instruction& i : instructions) {
    for (int question = 0;; question++) {
      if (question == kMostQuestions) {
        result.difference = "the model asks and asks";
        return;
      }
      const State before = state;
      try {
        execute(machine, i, state);
        break;
      } catch (const Undecided& q) {
        if (!same(before, state)) {
          result.difference = "the model asks, and has already changed the state";
          return;
        }
        trial.answer(state, q);
      } catch (const Refused& refused) {
        result.refusal = refused.what();
        return;
      }
    }
  }
}

}  // namespace

Trials::Trials() : pool_(std::make_unique<LanePool>()) {}

std::vector<Instruction> Trials::decode(Bytes& code, Random& random) const {
  std::vector<Instruction> instructions;
  for (std::size_t offset = 0; offset < code.size(); offset += static_cast<std::size_t>(instructions.back().length)) {
    const std::uint64_t address = native_.address() + offset;
    Instruction i = decode_one(View(code).subspan(offset), address);
    if (i.distance && memory_of(i) != nullptr) {
      std::uint64_t place = kMargin + random.below(NativeCode::kDataBytes - 2 * kMargin);
      if (random.below(2) == 0) place = place / 64 * 64;
      const std::uint64_t target = reinterpret_cast<std::uint64_t>(native_.data().data()) + place;
      const auto distance = static_cast<std::int32_t>(target - i.next());
      std::memcpy(code.data() + offset + static_cast<std::size_t>(i.distance->offset), &distance, sizeof distance);
      i = decode_one(View(code).subspan(offset), address);
    }
    instructions.push_back(i);
  }
  return instructions;
}

TrialResult Trials::run(View code, View cpu_code, std::uint64_t seed, Operands operands) {
  if (pool_->size().lanes > kMostLanes) pool_ = std::make_unique<LanePool>();
  Bytes bytes(code.begin(), code.end());
  Random random(seed);
  const std::vector<Instruction> instructions = decode(bytes, random);
  bool native = true;
  for (const Instruction& i : instructions) {
    const auto offset = static_cast<std::size_t>(i.address - native_.address());
    native = native && !missing_feature(View(bytes).subspan(offset, static_cast<std::size_t>(i.length)));
  }

  static const Image kNoImage({}, {});
  const Machine machine{*pool_, kNoImage, nullptr};
  TrialState trial(*pool_, native_.data(), seed, operands, instructions);
  TrialResult result;
  State end = trial.model();
  follow(machine, trial, instructions, end, result);
  if (!result.refusal.empty() || !result.difference.empty()) return result;
  if (end.ip != instructions.back().next()) {
    result.difference = "the next instruction is another";
    return result;
  }
  if (native) {
    trial.fill_memory();
    const CpuState after = native_.run(cpu_code.data() == code.data() ? View(bytes) : cpu_code, trial.cpu());
    result.difference = trial.differences(end, after, vector_level());
    if (result.difference.empty()) result.difference = trial.wrong_conditions(machine, end, after.flags);
  } else {
    State of_values = trial.model_of_values();
    TrialResult known;
    follow(machine, trial, instructions, of_values, known);
    if (!known.refusal.empty() || !known.difference.empty()) {
      result.difference = "with the values of its operands the instruction is refused: " + known.refusal;
      return result;
    }
    trial.fill_memory_from(of_values);
    result.difference = trial.differences(end, trial.cpu_of(of_values), VectorLevel::zmm);
  }
  return result;
}

}  // namespace tests
