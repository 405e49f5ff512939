// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Follows every path of a routine from the entry that its contract describes to each return.
//
// A path forks where a public condition is not decided by what is known of the lengths; both ways are followed, each
// with a fact more. Paths are followed lowest address first, so that those which come to the same place meet there:
// if the contract can say their states with less, they go on as one. Loops with few turns are followed turn by turn,
// others by induction. A call is its callee's contract.
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "verify/contract/contract.hpp"
#include "verify/machine/machine.hpp"
#include "verify/proof/liveness.hpp"
#include "verify/proof/path.hpp"

namespace stitchgcm::verify {

struct Limits {
  std::uint64_t instructions = 400'000'000;  // followed in one case
  std::size_t formulas = 100'000'000;        // made in one case
  std::size_t paths = 40'000;                // that stand somewhere at the same time
  std::size_t turns = 24;                    // of a loop that no hypothesis fits
};

/// A proof that failed: where, on which path, why.
struct Failure {
  std::string reason;
  std::uint64_t address = 0;
  std::string instruction;
  std::string path;  // what is known of the lengths there
  Facts facts;
  Variables variables;   // the names of those in the facts
  bool gave_up = false;  // for want of turns, paths, .., and not for something that it met
};

struct Statistics {
  std::uint64_t instructions = 0;  // followed, over all paths
  std::uint64_t paths = 0;         // that came to a return, or to a hypothesis
  std::uint64_t forks = 0, joins = 0, hypotheses = 0;
  std::size_t most_paths = 0;      // that stood somewhere at the same time
  std::int64_t deepest_stack = 0;  // bytes below the return address

  /// Of several cases: sums, and what was most.
  Statistics& operator+=(const Statistics& other);
};

class Explorer {
 public:
  /// Finds a callee's contract by its address; nothing if there is none.
  using Callees = std::function<const Contract*(std::uint64_t address)>;

  Explorer(const Setting& setting, const Function& function, const Contract& contract, Callees callees,
           const Limits& limits = {});

  /// Follows one case of the contract. Throws Failure.
  void run(std::size_t which);

  // The same step by step, for proofs of many routines that are almost the same.

  void begin(std::size_t which);
  bool done() const { return waiting_.empty(); }
  /// Follows the paths that stand at the lowest address, to where each forks, joins or ends; with `to_next_block` no
  /// farther than to the next jump or its target.
  void advance(bool to_next_block);
  /// Where the next step begins; not to be asked when done.
  std::uint64_t next_address() const { return waiting_.begin()->first; }
  /// As far as this one, from here on with other instructions at the same addresses. `function` must outlive it.
  Explorer on(const Function& function) const;
  /// The same with one of the paths that stand at the lowest address, which `random` chooses.
  Explorer on(const Function& function, std::mt19937_64& random) const;
  /// Follows one way to its end: where there are many, `random` chooses. Throws Failure. What it refuses, `advance`
  /// refuses too, later; but it may give up on loops whose end shows only where many ways meet.
  void walk(std::mt19937_64& random);
  /// Called with each state, before an instruction is executed in it.
  using Watch = std::function<void(const State& state, const Instruction& instruction)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  /// Called after the instruction at an address was executed: the states that it returns, one or more, take the place
  /// of what the instruction left.
  using Disturbance = std::function<std::vector<State>(const State& after)>;
  void disturb(std::uint64_t address, Disturbance d) { disturbed_ = {address, std::move(d)}; }
  /// From here on, with limits of its own.
  void limit(const Limits& limits);
  const Machine& machine() const { return machine_; }
  Registers live_at(std::uint64_t address) const;

  const Statistics& statistics() const { return statistics_; }
  /// Addresses of the instructions that were executed in some case so far.
  const std::set<std::uint64_t>& executed() const { return executed_; }
  const std::vector<std::string>& invariants() const { return invariants_; }

 private:
  void follow(Path path);
  bool step(Path& path);  // false: the path has ended
  bool arrive(Path& path);
  bool returns(Path& path);
  void call(Path& path, std::uint64_t target);
  void limit_stack(State& state, const Instruction& next);
  void fork(const Path& path, const Undecided& question);
  void meet(std::vector<Path> paths);
  void join_into(std::vector<Path>& joined, Path path);
  std::vector<std::uint64_t> live_values(const State& state) const;
  void wait(Path path);
  void forget_loops_behind(Path& path) const;
  void keep_one(std::mt19937_64& random);
  void read_function();
  enum class Because : std::uint8_t { refused, gave_up };
  [[noreturn]] void fail(const Path& path, const std::string& reason, Because because = Because::refused) const;

  Setting setting_;
  const Function* function_;
  const Contract* contract_;
  Callees callees_;
  Limits limits_;
  Machine machine_;
  std::map<std::uint64_t, Registers> live_;
  std::unordered_set<std::uint32_t> unknowns_;  // that joins made in this meeting, see join.hpp
  int lanes_ = 1;                               // of the widest vectors in use
  State entry_;
  std::map<std::uint64_t, std::vector<Path>> waiting_;  // by address
  std::set<std::uint64_t> joins_, heads_;               // targets of forward and of backward jumps
  std::map<std::uint64_t, std::uint64_t> last_jump_;    // back to each head
  std::map<std::uint64_t, const Instruction*> at_;
  std::set<std::uint64_t> executed_;
  std::vector<std::string> invariants_;
  Statistics statistics_;
  std::uint64_t case_instructions_ = 0;
  std::size_t case_formulas_ = 0;  // that there were before
  std::size_t waiting_paths_ = 0;
  bool to_next_block_ = false;
  std::set<std::uint64_t> blocks_;  // where basic blocks begin
  Watch watch_;
  std::pair<std::uint64_t, Disturbance> disturbed_;
};

}  // namespace stitchgcm::verify
