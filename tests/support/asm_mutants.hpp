// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Orders of instructions, changed at random, and what becomes of them: whether the order check refuses them, and
// whether this CPU computes something else with them.
#pragma once

#include <string>
#include <vector>

#include "asm_machine.hpp"

namespace tests {

/// A strip's pieces with one change: two neighbours exchanged, a piece moved, or all pieces of one stage and turn
/// moved by the same number of places.
stitchgcm::assembly::Strip mutated(const stitchgcm::assembly::Strip& order, Random& random);

class MutantJudge {
 public:
  /// `in_order` is what every order should compute.
  MutantJudge(std::string title, const stitchgcm::assembly::Strip& in_order,
              const stitchgcm::assembly::PointerCases& cases);

  /// Counts a mutant whose code is `code`; `refusal` is what the check says, "" if it accepts it.
  void judge(const stitchgcm::assembly::Strip& code, const std::string& refusal);

  std::size_t mutants() const { return accepted_ + refused_; }
  std::size_t accepted() const { return accepted_; }
  std::size_t refused() const { return refused_; }
  /// Mutants that were accepted although the CPU computes something else, in words.
  const std::vector<std::string>& wrong() const { return wrong_; }
  /// What the check said of mutants that compute the same in all runs.
  const std::vector<std::string>& needless() const { return needless_; }

  /// "TITLE: N mutants: A accepted, R refused, W accepted and wrong, S refused and the same in all runs"
  std::string report() const;

 private:
  /// The first difference in up to `states` runs for each way in which the pointers may stand.
  std::string difference(const stitchgcm::assembly::Strip& code, std::size_t states);

  static constexpr std::size_t states_if_accepted = 3, states_if_refused = 100;
  struct Case {
    std::unique_ptr<Machine> machine;
    std::vector<MachineState> before, want;
  };
  std::string title_;
  std::vector<Case> cases_;
  std::size_t accepted_ = 0, refused_ = 0;
  std::vector<std::string> wrong_, needless_;
};

}  // namespace tests
