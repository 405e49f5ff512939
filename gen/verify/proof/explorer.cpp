// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "verify/proof/induction.hpp"
#include "verify/proof/join.hpp"

namespace stitchgcm::verify {
namespace {

/// Paths of which each may be held against each other.
constexpr std::size_t kFewEnoughForPairs = 100;
/// At one instruction: halving a range of 2^64 takes 64.
constexpr int kMostQuestions = 100;

/// Where a limit is reached: that says nothing of the routine.
struct GaveUp : Refused {
  using Refused::Refused;
};

std::uint64_t target(const Instruction& i) {
  if (i.operands.size() != 1 || i.operands[0].kind != Operand::Kind::immediate) {
    throw Refused("a jump or call whose target is not written in the instruction");
  }
  return i.operands[0].immediate;
}

}  // namespace

Explorer::Explorer(const Setting& setting, const Function& function, const Contract& contract, Callees callees,
                   const Limits& limits)
    : setting_(setting),
      function_(&function),
      contract_(&contract),
      callees_(std::move(callees)),
      limits_(limits),
      machine_{setting.pool, setting.image,
               [setting, &contract](const State& s, Lane lane) {
                 return contract.may_reveal_whether_zero(setting, s, lane);
               }},
      live_(live_registers(setting.image, function)) {
  read_function();
}

void Explorer::read_function() {
  at_.clear(), joins_.clear(), heads_.clear(), blocks_.clear(), last_jump_.clear();
  for (const Instruction& i : function_->instructions) {
    at_[i.address] = &i;
    for (const Operand& o : i.operands) {
      const bool vector = o.kind == Operand::Kind::reg && o.reg.kind == RegisterKind::vector;
      if (vector) lanes_ = std::max(lanes_, o.reg.bits / 128);
    }
    if (!is_jump(i)) continue;
    const std::uint64_t to = i.operands[0].immediate;
    (to <= i.address ? heads_ : joins_).insert(to);
    if (to <= i.address) last_jump_[to] = i.address;
    blocks_.insert(to);
    blocks_.insert(i.next());
  }
}

Statistics& Statistics::operator+=(const Statistics& other) {
  instructions += other.instructions;
  paths += other.paths;
  forks += other.forks;
  joins += other.joins;
  hypotheses += other.hypotheses;
  most_paths = std::max(most_paths, other.most_paths);
  deepest_stack = std::max(deepest_stack, other.deepest_stack);
  return *this;
}

/// The states in which a path came to a loop that it has left need room, and serve no hypothesis any more.
void Explorer::forget_loops_behind(Path& path) const {
  std::erase_if(path.arrivals, [&](const auto& arrivals) { return path.state.ip > last_jump_.at(arrivals.first); });
}

Explorer Explorer::on(const Function& function) const {
  Explorer other = *this;
  other.function_ = &function;
  other.watch_ = {};
  other.disturbed_ = {};
  other.read_function();
  return other;
}

Explorer Explorer::on(const Function& function, std::mt19937_64& random) const {
  const std::vector<Path>& here = waiting_.begin()->second;
  Explorer other(setting_, function, *contract_, callees_, limits_);
  other.entry_ = entry_;
  other.unknowns_ = unknowns_;
  other.lanes_ = std::max(lanes_, other.lanes_);
  other.limit(limits_);
  other.wait(here[random() % here.size()]);
  return other;
}

void Explorer::keep_one(std::mt19937_64& random) {
  std::uint64_t which = random() % waiting_paths_;
  for (auto& [address, paths] : waiting_) {
    if (which >= paths.size()) {
      which -= paths.size();
      continue;
    }
    Path chosen = std::move(paths[which]);
    waiting_.clear();
    waiting_paths_ = 0;
    wait(std::move(chosen));
    return;
  }
}

void Explorer::walk(std::mt19937_64& random) {
  while (!done()) {
    keep_one(random);
    advance(false);
  }
}

Registers Explorer::live_at(std::uint64_t address) const {
  const auto found = live_.find(address);
  return found == live_.end() ? 0 : found->second;
}

void Explorer::fail(const Path& path, const std::string& reason, Because because) const {
  Failure f;
  f.reason = reason;
  f.gave_up = because == Because::gave_up;
  f.address = path.state.ip;
  f.facts = path.state.facts;
  f.variables = setting_.pool.variables();
  const auto i = at_.find(f.address);
  if (i != at_.end()) f.instruction = i->second->text;
  const Variables& names = setting_.pool.variables();
  for (const auto& [v, r] : path.state.facts.ranges()) {
    if (!f.path.empty()) f.path += ", ";
    f.path += r.single() ? fmt::format("{} = {}", names.name(v), static_cast<std::int64_t>(r.low))
                         : fmt::format("{} <= {} <= {}", static_cast<std::int64_t>(r.low), names.name(v),
                                       static_cast<std::int64_t>(r.high));
  }
  for (const Affine& a : path.state.facts.inequalities()) f.path += fmt::format(", {} >= 0", names.describe(a));
  throw f;
}

void Explorer::limit(const Limits& limits) {
  limits_ = limits;
  case_instructions_ = 0;
  case_formulas_ = setting_.pool.size().lanes;
}

void Explorer::begin(std::size_t which) {
  limit(limits_);
  waiting_.clear();
  waiting_paths_ = 0;
  entry_ = contract_->entry(setting_, which);
  Path first;
  first.state = entry_;
  first.state.ip = function_->symbol.address;
  wait(std::move(first));
}

void Explorer::wait(Path path) {
  if (waiting_paths_ >= limits_.paths) fail(path, "too many paths at the same time", Because::gave_up);
  forget_loops_behind(path);
  waiting_paths_++;
  statistics_.most_paths = std::max(statistics_.most_paths, waiting_paths_);
  std::vector<Path>& there = waiting_[path.state.ip];
  there.push_back(std::move(path));
}

void Explorer::advance(bool to_next_block) {
  to_next_block_ = to_next_block;
  std::vector<Path> here = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  waiting_paths_ -= here.size();
  std::vector<Path> arrived;
  for (Path& path : here) {
    if (!joins_.contains(path.state.ip) || path.met_at == path.state.ip) {
      follow(std::move(path));
    } else {
      arrived.push_back(std::move(path));
    }
  }
  if (!arrived.empty()) meet(std::move(arrived));
}

void Explorer::run(std::size_t which) {
  begin(which);
  while (!done()) advance(false);
}

void Explorer::fork(const Path& path, const Undecided& question) {
  statistics_.forks++;
  if (path.asked >= kMostQuestions) {
    fail(path,
         "questions of lengths that no answer settles, the last one: is " +
             setting_.pool.variables().describe(question.nonnegative) + " negative?",
         Because::gave_up);
  }
  for (const Affine& fact : {question.nonnegative, question.nonnegative * -1 - 1}) {
    Path p = path;
    p.asked++;
    if (p.state.facts.assume_nonnegative(fact)) wait(std::move(p));
  }
}

void Explorer::join_into(std::vector<Path>& joined, Path path) {
  const Registers live = live_at(path.state.ip);
  const bool met = std::any_of(joined.begin(), joined.end(), [&](Path& other) {
    return path.hypotheses == other.hypotheses && join(setting_, other.state, path.state, live, lanes_, unknowns_);
  });
  if (met) {
    statistics_.joins++;
  } else {
    joined.push_back(std::move(path));
  }
}

std::vector<std::uint64_t> Explorer::live_values(const State& s) const {
  const Registers live = live_at(s.ip);
  std::vector<std::uint64_t> values;
  for (std::size_t r = 0; r < kGeneralRegisters; r++) {
    if ((live & general_bit(static_cast<int>(r))) == 0) continue;
    const Scalar& g = s.general[r];
    values.push_back(static_cast<std::uint64_t>(g.kind));
    values.push_back(static_cast<std::uint64_t>(g.region));
    values.push_back(g.lane.id);
    values.push_back(static_cast<std::uint64_t>(g.value.constant()));
    for (const Affine::Term& t : g.value.terms()) {
      values.push_back(static_cast<std::uint64_t>(t.variable));
      values.push_back(static_cast<std::uint64_t>(t.coefficient));
    }
  }
  for (std::size_t r = 0; r < kVectorRegisters; r++) {
    if ((live & vector_bit(static_cast<int>(r))) != 0) values.push_back(s.vector[r][0].id);
  }
  return values;
}

void Explorer::meet(std::vector<Path> paths) {
  unknowns_.clear();
  std::vector<Path> rest;  // that have nothing to meet for
  std::map<std::string, std::vector<Path>> by_stage;
  for (Path& path : paths) {
    path.met_at = path.state.ip;
    try {
      const std::optional<std::string> stage = contract_->generalise(setting_, path.state);
      if (stage) {
        by_stage[*stage].push_back(std::move(path));
      } else {
        rest.push_back(std::move(path));
      }
    } catch (const Undecided& question) {
      path.met_at = 0;
      fork(path, question);
    } catch (const Refused& refused) {
      fail(path, refused.what());
    }
  }
  for (auto& [stage, same] : by_stage) {
    // First those whose live registers say the same, letter by letter; then each pair of what is left, if that is few.
    std::map<std::vector<std::uint64_t>, std::vector<Path>> alike;
    for (Path& path : same) join_into(alike[live_values(path.state)], std::move(path));
    std::vector<Path> joined;
    const bool few = alike.size() <= kFewEnoughForPairs;
    for (auto& [values, paths_alike] : alike) {
      for (Path& path : paths_alike) {
        if (few) {
          join_into(joined, std::move(path));
        } else {
          joined.push_back(std::move(path));
        }
      }
    }
    for (Path& path : joined) rest.push_back(std::move(path));
  }
  for (Path& path : rest) follow(std::move(path));
}

void Explorer::follow(Path path) {
  // A path that begins at a join or a loop head has been there already.
  bool first = true;
  try {
    while (true) {
      const std::uint64_t ip = path.state.ip;
      if (!first && (joins_.contains(ip) || (to_next_block_ && blocks_.contains(ip)))) {
        wait(std::move(path));
        return;
      }
      if (heads_.contains(ip) && !arrive(path)) return;
      first = false;
      if (!step(path)) return;
      path.asked = 0;
      path.met_at = 0;
    }
  } catch (const Undecided& question) {
    fork(path, question);
  } catch (const GaveUp& limit) {
    fail(path, limit.what(), Because::gave_up);
  } catch (const Refused& refused) {
    fail(path, refused.what());
  }
}

bool Explorer::arrive(Path& path) {
  State& s = path.state;
  const std::uint64_t head = s.ip;
  for (const Output& out : s.outputs) s.memory.gather_runs(setting_.pool, s.facts, out.region, out.content);
  for (const auto& h : path.hypotheses) {
    if (h->head == head && is_next(setting_, *contract_, *h, s)) {
      statistics_.paths++;
      return false;
    }
  }
  auto& before = path.arrivals[head];
  const bool assumed =
      std::any_of(path.hypotheses.begin(), path.hypotheses.end(), [head](const auto& h) { return h->head == head; });
  if (!assumed) {
    for (auto earlier = before.rbegin(); earlier != before.rend(); ++earlier) {
      const auto hypothesis = guess(setting_, *contract_, head, *earlier, s);
      if (!hypothesis) continue;
      statistics_.hypotheses++;
      invariants_.push_back(hypothesis->text);
      // What was followed since the earlier arrival is one way through the hypothesis; from here on it is all of them.
      Path any;
      any.state = state_of(setting_, *contract_, *hypothesis);
      any.state.ip = head;
      any.hypotheses = path.hypotheses;
      any.hypotheses.push_back(hypothesis);
      path = std::move(any);
      return true;
    }
  }
  if (before.size() >= limits_.turns) throw GaveUp("a loop takes too many turns, and no hypothesis fits it");
  before.push_back(std::make_shared<const State>(s));
  return true;
}

void Explorer::limit_stack(State& state, const Instruction& next) {
  // Nothing below rsp is anybody's; a push moves it first.
  const Scalar& top = state.general[rsp];
  if (!top.is_pointer() || top.region != state.stack || !top.value.is_constant()) {
    throw Refused("rsp does not point into the routine's stack");
  }
  const std::int64_t pushed = next.mnemonic == ZYDIS_MNEMONIC_PUSH ? 8 : 0;
  const Affine lowest = top.value.constant() - pushed;
  if (!(state.memory.region(state.stack).from == lowest)) state.memory.edit(state.stack).from = lowest;
  statistics_.deepest_stack = std::max(statistics_.deepest_stack, pushed - top.value.constant());
}

bool Explorer::step(Path& path) {
  State& s = path.state;
  const auto found = at_.find(s.ip);
  if (found == at_.end()) throw Refused("the path leaves the routine");
  const Instruction& i = *found->second;
  if (++case_instructions_ > limits_.instructions) throw GaveUp("too many instructions on all paths");
  if (setting_.pool.size().lanes > case_formulas_ + limits_.formulas) throw GaveUp("too many formulas");
  statistics_.instructions++;
  executed_.insert(i.address);
  limit_stack(s, i);
  if (watch_) watch_(s, i);
  if (i.mnemonic == ZYDIS_MNEMONIC_RET) return returns(path);
  if (i.mnemonic == ZYDIS_MNEMONIC_CALL) {
    call(path, target(i));
    return true;
  }
  if (i.mnemonic == ZYDIS_MNEMONIC_JMP) {
    s.ip = target(i);
    return true;
  }
  try {
    if (is_conditional_jump(i)) {
      s.ip = condition_holds(machine_, i.mnemonic, s) ? target(i) : i.next();
    } else {
      try {
        execute(machine_, i, s);
      } catch (const Refused&) {
        // Perhaps only because the state says more than the contract needs.
        if (!contract_->generalise(setting_, s)) throw;
        execute(machine_, i, s);
      }
      if (disturbed_.second && disturbed_.first == i.address) {
        std::vector<State> instead = disturbed_.second(s);
        for (std::size_t n = 1; n < instead.size(); n++) {
          Path p = path;
          p.state = std::move(instead[n]);
          wait(std::move(p));
        }
        s = std::move(instead.at(0));
      }
    }
  } catch (const Reveals&) {
    for (const bool verdict : {false, true}) {
      Path p = path;
      p.state.verdict = verdict;
      contract_->revealed(setting_, p.state);
      wait(std::move(p));
    }
    return false;
  }
  return true;
}

void Explorer::call(Path& path, std::uint64_t to) {
  const Contract* callee = callees_(to);
  if (callee == nullptr) throw Refused("a call of something that has no contract");
  const std::uint64_t next = at_.at(path.state.ip)->next();
  callee->call(setting_, path.state);
  path.state.ip = next;
}

bool Explorer::returns(Path& path) {
  State& s = path.state;
  const Scalar back = s.memory.load_scalar(setting_.pool, s.facts, s.stack, s.general[rsp].value, 8);
  const Scalar wanted = entry_.memory.region(entry_.stack).windows.begin()->second.slots.at(0);
  if (!(back == wanted)) throw Refused("the return goes somewhere else than to the caller");
  State after = s;
  after.general[rsp].value += 8;
  contract_->check_exit(setting_, entry_, std::move(after));
  statistics_.paths++;
  return false;
}

}  // namespace stitchgcm::verify
