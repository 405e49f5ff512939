// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Loops, for any number of turns.
//
// A path comes to the head of a loop again and again. From two of its arrivals a hypothesis is guessed: what the state
// is at arrival i, for any i >= 0, as an expression in i. Pointers and counts move by what they moved by between the
// two;
// blocks of the text and counters move along with the position in the text; sums and Y stand for the specification's
// hash at that place; what follows none of this may be anything. The guess is not trusted. It is proved:
//   - the first of the two arrivals is the hypothesis at i = 0 (it was made from it);
//
//   - from the hypothesis at any i, every path comes either to the end of the routine, where the contract is checked,
//   or back to the head in the state of the hypothesis at i + 1.
// A count that goes down with i and stays above a bound shows that this comes to an end.
#include <optional>

#include "verify/contract/contract.hpp"
#include "verify/proof/path.hpp"

namespace stitchgcm::verify {

struct Hypothesis {
  enum class Role : std::uint8_t { same, moves, anything, reversed_hash, sums };

  std::uint64_t head = 0;
  Variable turn{};                       // i
  std::shared_ptr<const State> arrival;  // i = 0
  Facts facts;                           // of any i
  /// Numbers and pointers: what they change by a turn. Nothing: anything.
  std::array<std::optional<std::int64_t>, kGeneralRegisters> general_step;
  std::int64_t position_step = 0;
  std::array<std::array<Role, kVectorLanes>, kVectorRegisters> vector_role{};
  std::map<std::int64_t, Role> stack_role;                            // by place; the others stay
  std::map<std::pair<RegionId, std::size_t>, std::int64_t> run_step;  // how far the end of a run moves
  std::int64_t sums_exponent = 0;                                     // the sums stand for Y H^this
  Affine hashed;                                                      // where Y stands at i = 0
  std::string text;                                                   // for the report
};

/// A hypothesis that fits both arrivals, nothing if there is none. `now` came later, by the same path.
std::shared_ptr<const Hypothesis> guess(const Setting& setting, const Contract& contract, std::uint64_t head,
                                        const std::shared_ptr<const State>& before, const State& now);

/// The state at arrival i, with what may be anything unknown.
State state_of(const Setting& setting, const Contract& contract, const Hypothesis& hypothesis);

/// Whether the state is that of arrival i + 1. Throws Undecided as the machine does.
bool is_next(const Setting& setting, const Contract& contract, const Hypothesis& hypothesis, const State& state);

}  // namespace stitchgcm::verify
