// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What became of damaged routines, as text and as JSON.
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verify/mutate/kill.hpp"
#include "verify/report/source_place.hpp"

namespace stitchgcm::verify {

struct Survivor {
  std::uint64_t offset = 0;  // of the instruction, in the function
  Damage damage{};
  std::string text;
  std::optional<SourcePlace> place;
};

/// Of one symbol.
struct Mutation {
  std::string symbol;
  std::size_t existing = 0;  // mutants that there are
  std::map<Fate, std::size_t> counts;
  std::vector<Survivor> survivors;
  double seconds = 0;
  std::string fault;  // why there is no answer: the routine itself is not proved, ..
  std::size_t tried() const;
};

/// Adds what became of some of the symbol's mutants.
void add_results(Mutation& mutation, const std::vector<Result>& results, const Function& function,
                 const std::vector<std::filesystem::path>& sources);

/// One line; one more for each survivor.
std::string mutation_text(const Mutation& mutation);
/// The sum over all symbols, one line.
std::string mutation_summary(const std::vector<Mutation>& all);
/// {"survived": number, "symbols": [{"symbol", "mutants", "tried", "fates": {name: number}, "survivors": [..]}]}
nlohmann::ordered_json mutation_json(const std::vector<Mutation>& all);
/// Every mutant that was tried was refused or explained.
bool all_explained(const std::vector<Mutation>& all);

}  // namespace stitchgcm::verify
