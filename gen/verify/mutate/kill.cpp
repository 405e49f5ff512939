// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/mutate/kill.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "verify/contract/system_v.hpp"
#include "verify/mutate/same_effect.hpp"
#include "verify/proof/ways.hpp"

namespace stitchgcm::verify {
namespace {

/// A mutant that loops or forks without end is refused, too: it may take so many times what the routine itself takes.
constexpr std::uint64_t kTimes = 2;
constexpr std::uint64_t kSomeInstructions = 20'000;
constexpr std::size_t kSomeFormulas = 1'000'000;
constexpr std::size_t kSomePaths = 100;
/// So many ways alone, before all paths together: most faults show there, and at once.
constexpr int kWays = 30;
/// Formulas that may pile up before a new pool is begun.
constexpr std::size_t kMostFormulas = 5'000'000;

class Killing {
 public:
  Killing(const Image& image, const Function& function, const Contract& contract, const ContractTable& callees,
          const std::vector<Mutant>& mutants, const std::function<void(std::size_t)>& progress)
      : image_(image),
        function_(function),
        contract_(contract),
        callees_(callees),
        progress_(progress),
        live_(live_registers(image, function)),
        live_if_all_is_read_at_return_(live_registers(image, function, kAllRegisters)) {
    for (const Mutant& m : mutants) results_.push_back({m, Fate::survived, ""});
    for (std::size_t i = 0; i < results_.size(); i++) {
      at_[function.instructions[results_[i].mutant.index].address].push_back(i);
    }
  }

  std::vector<Result> all() {
    find_same_instructions();
    const std::size_t cases = contract_.cases().size();
    std::vector<Limits> limits;
    for (std::size_t which = 0; which < cases; which++) limits.push_back(follow_routine(which));
    for (Result& r : results_) {
      if (open(r) && !differs_.contains(&r) && has_one_way_in(r.mutant)) settle(r, Fate::same_where_read, "");
    }
    for (std::size_t which = 0; which < cases; which++) {
      std::set<const Result*> tried;
      while (!try_some(which, limits[which], tried)) {
      }
    }
    for (Result& r : results_) {
      if (!open(r)) continue;
      const auto found = explained_.find(&r);
      settle(r, found == explained_.end() ? Fate::survived : found->second, "");
    }
    return std::move(results_);
  }

 private:
  bool open(const Result& r) const { return r.fate == Fate::survived && !settled_.contains(&r); }

  void settle(Result& r, Fate fate, const std::string& reason) {
    r.fate = fate;
    r.reason = reason;
    settled_.insert(&r);
    if (progress_) progress_(settled_.size());
  }

  Explorer make(const Setting& setting) const {
    return Explorer(setting, function_, contract_, [this](std::uint64_t a) { return callees_.at(a); });
  }

  std::vector<Instruction> own(const Mutant& m) const {
    const auto first = function_.instructions.begin() + static_cast<std::ptrdiff_t>(m.index);
    return {first, first + static_cast<std::ptrdiff_t>(m.instead.size())};
  }

  void find_same_instructions() {
    LanePool pool;
    const Setting setting{pool, image_};
    const Explorer explorer = make(setting);
    const State any = routine_entry(setting);
    for (Result& r : results_) {
      if (r.mutant.instead.size() != 1) continue;
      if (same_effect(explorer.machine(), any, own(r.mutant)[0], r.mutant.instead[0])) {
        settle(r, Fate::same_instruction, "");
      }
    }
  }

  /// Proves the routine itself, and at each instruction that is executed finds the mutants that would leave something
  /// else. Returns what a mutant may take.
  Limits follow_routine(std::size_t which) {
    LanePool pool;
    const Setting setting{pool, image_};
    Explorer explorer = make(setting);
    explorer.watch([this, &explorer](const State& s, const Instruction& i) {
      const auto here = at_.find(i.address);
      if (here == at_.end()) return;
      for (const std::size_t n : here->second) {
        const Result& r = results_[n];
        if (!open(r) || differs_.contains(&r)) continue;
        const Readers readers = readers_after(r.mutant, live_if_all_is_read_at_return_);
        if (!same_here(explorer.machine(), s, own(r.mutant), r.mutant.instead, readers)) differs_.insert(&r);
      }
    });
    explorer.run(which);
    Limits limits;
    limits.instructions = kTimes * explorer.statistics().instructions + kSomeInstructions;
    limits.formulas = kTimes * pool.size().lanes + kSomeFormulas;
    limits.paths = kTimes * explorer.statistics().most_paths + kSomePaths;
    return limits;
  }

  /// False if a jump leads between two instructions that change places.
  bool has_one_way_in(const Mutant& m) const {
    if (m.instead.size() == 1) return true;
    const std::uint64_t between = m.instead[1].address;
    return std::none_of(function_.instructions.begin(), function_.instructions.end(),
                        [between](const Instruction& i) { return is_jump(i) && i.operands[0].immediate == between; });
  }

  Readers readers_after(const Mutant& m, const std::map<std::uint64_t, Registers>& live) const {
    const auto live_at = [&live](std::uint64_t address) {
      const auto found = live.find(address);
      return found == live.end() ? kAllRegisters | kFlagsBit : found->second;
    };
    const std::size_t last = m.index + m.instead.size() - 1;
    const Instruction& end = function_.instructions[last];
    Readers readers;
    readers.live = live_at(end.next());
    // A jump of the mutant or of the routine may lead elsewhere.
    for (const std::vector<Instruction>& side : {own(m), m.instead}) {
      for (const Instruction& i : side) {
        if (ends_block(i) || i.mnemonic == ZYDIS_MNEMONIC_CALL) {
          readers.live = kAllRegisters | kFlagsBit;
        }
      }
    }
    for (std::size_t n = last + 1; n < function_.instructions.size(); n++) {
      const Instruction& i = function_.instructions[n];
      if (condition_read(i)) {
        const bool once = (live_at(i.next()) & kFlagsBit) == 0 &&
                          (!is_jump(i) || (live_at(i.operands[0].immediate) & kFlagsBit) == 0);
        if (once) readers.of_flags = i;
        break;
      }
      if (sets_flags(i) || ends_block(i) || i.mnemonic == ZYDIS_MNEMONIC_CALL) break;
    }
    return readers;
  }

  /// Follows the routine itself, and each time that it comes to an instruction for the first time lets its mutants go
  /// on from a little before. False if it stopped before all were tried, for want of room.
  bool try_some(std::size_t which, const Limits& limits, std::set<const Result*>& tried) {
    LanePool pool;
    const Setting setting{pool, image_};
    Explorer explorer = make(setting);
    explorer.begin(which);
    std::set<std::uint64_t> known;
    while (!explorer.done()) {
      const std::optional<Explorer> before =
          is_news(explorer.next_address(), known) ? std::optional(explorer) : std::nullopt;
      explorer.advance(true);
      for (const std::uint64_t address : explorer.executed()) {
        if (!known.insert(address).second) continue;
        for (const std::size_t i : at_[address]) {
          Result& r = results_[i];
          if (!open(r) || !tried.insert(&r).second) continue;
          if (pool.size().lanes > kMostFormulas) {
            tried.erase(&r);
            return false;
          }
          try_one(before.value(), r, limits);
        }
      }
    }
    return true;
  }

  /// Whether some instruction from this address on to the end of its basic block, or a little further, is not known.
  bool is_news(std::uint64_t address, const std::set<std::uint64_t>& known) const {
    for (const Instruction& i : function_.instructions) {
      if (i.address < address) continue;
      if (!known.contains(i.address)) return true;
      if (ends_block(i)) break;
    }
    return false;
  }

  /// In this case: refused; or proved, and why; or proved and not explained.
  void try_one(const Explorer& before, Result& r, const Limits& limits) {
    const Function changed = r.mutant.applied_to(function_);
    if (const std::optional<std::string> reason = refused_alone(before, changed)) {
      settle(r, Fate::refused, *reason);
      return;
    }
    Explorer mutant = before.on(changed);
    mutant.limit(limits);
    bool same = true, same_but_for_numbers = true;
    const Readers all = readers_after(r.mutant, live_);
    Readers but_numbers = all;
    but_numbers.numbers_too = false;
    mutant.watch([&](const State& s, const Instruction& i) {
      if (!same_but_for_numbers || i.address != r.mutant.instead[0].address) return;
      same = same && same_here(mutant.machine(), s, own(r.mutant), r.mutant.instead, all);
      same_but_for_numbers = same || same_here(mutant.machine(), s, own(r.mutant), r.mutant.instead, but_numbers);
    });
    try {
      while (!mutant.done()) mutant.advance(false);
    } catch (const Failure& f) {
      settle(r, Fate::refused, f.reason);
      return;
    } catch (const std::logic_error& e) {
      settle(r, Fate::refused, e.what());
      return;
    }
    Fate& fate = explained_[&r];
    if (same) {
      fate = std::max(fate, Fate::same_where_read);
    } else if (holds_with_anything(before, r.mutant, limits)) {
      fate = std::max(fate, Fate::never_relied_on);
    } else if (same_but_for_numbers) {
      fate = std::max(fate, Fate::other_number);
    } else {
      fate = Fate::survived;
    }
  }

  /// Why one of some ways alone, from here on, is refused; nothing if none is.
  static std::optional<std::string> refused_alone(const Explorer& before, const Function& changed) {
    try {
      const std::optional<Failure> f = failure_alone(kWays, [&](std::mt19937_64& random) {
        Explorer way = before.on(changed, random);
        way.limit(kOneWay);
        return way;
      });
      return f ? std::optional(f->reason) : std::nullopt;
    } catch (const std::logic_error& e) {
      return e.what();  // what the verifier has no formula for, it does not prove
    }
  }

  /// Whether the routine itself is proved if, after its own instruction, each bit that the other one would leave
  /// otherwise is anything.
  bool holds_with_anything(const Explorer& before, const Mutant& m, const Limits& limits) const {
    const std::uint64_t first = m.instead.front().address, last = m.instead.back().address;
    Explorer routine = before.on(function_);
    routine.limit(limits);
    std::optional<State> begun;  // as it was before the first of two instructions
    routine.watch([&](const State& s, const Instruction& i) {
      if (i.address == first) begun = s;
    });
    routine.disturb(last, [&](const State& after) {
      if (!begun) throw Refused("a path that begins between two instructions");
      std::vector<State> any = without_difference(routine.machine(), *begun, own(m), m.instead, after);
      begun.reset();
      return any;
    });
    try {
      while (!routine.done()) routine.advance(false);
    } catch (const Failure&) {
      return false;
    } catch (const std::logic_error&) {
      return false;
    }
    return true;
  }

  const Image& image_;
  const Function& function_;
  const Contract& contract_;
  const ContractTable& callees_;
  const std::function<void(std::size_t)>& progress_;
  const std::map<std::uint64_t, Registers> live_, live_if_all_is_read_at_return_;
  std::vector<Result> results_;
  std::map<std::uint64_t, std::vector<std::size_t>> at_;  // results by the address of the first instruction changed
  std::set<const Result*> settled_;
  std::set<const Result*> differs_;          // somewhere in the proof of the routine itself
  std::map<const Result*, Fate> explained_;  // of those that are proved so far: the weakest reason
};

}  // namespace

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::refused: return "refused";
    case Fate::same_instruction: return "the same instruction";
    case Fate::same_where_read: return "the same wherever it is read";
    case Fate::never_relied_on: return "never relied on";
    case Fate::other_number: return "as right with another number";
    case Fate::survived: return "SURVIVED";
  }
  return "";
}

std::vector<Result> kill(const Image& image, const Function& function, const Contract& contract,
                         const ContractTable& callees, const std::vector<Mutant>& mutants,
                         const std::function<void(std::size_t)>& progress) {
  return Killing(image, function, contract, callees, mutants, progress).all();
}

}  // namespace stitchgcm::verify
