// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/mutation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stitchgcm::verify {
namespace {

std::vector<std::string> counts_text(const std::map<Fate, std::size_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [fate, count] : counts) parts.push_back(fmt::format("{} {}", count, name_of(fate)));
  return parts;
}

std::string survivor_text(const Survivor& s) {
  std::string text = fmt::format("    SURVIVED, +{:#x}, {}: {}\n", s.offset, name_of(s.damage), s.text);
  if (s.place) {
    text += fmt::format("      {}:{}{}\n", s.place->file, s.place->line,
                        s.place->stage.empty() ? "" : ", stage: " + s.place->stage);
  }
  return text;
}

}  // namespace

std::size_t Mutation::tried() const {
  std::size_t sum = 0;
  for (const auto& [fate, count] : counts) sum += count;
  return sum;
}

void add_results(Mutation& mutation, const std::vector<Result>& results, const Function& function,
                 const std::vector<std::filesystem::path>& sources) {
  for (const Result& r : results) {
    mutation.counts[r.fate]++;
    if (r.fate != Fate::survived) continue;
    const std::uint64_t address = function.instructions[r.mutant.index].address;
    mutation.survivors.push_back({address - function.symbol.address, r.mutant.damage, r.mutant.text,
                                  place_in_sources(function, address, sources)});
  }
}

std::string mutation_text(const Mutation& m) {
  if (!m.fault.empty()) return fmt::format("{}: {}\n", m.symbol, m.fault);
  std::string text = fmt::format("{}: {} of {} mutants, {:.1f} s: {}\n", m.symbol, m.tried(), m.existing, m.seconds,
                                 fmt::join(counts_text(m.counts), ", "));
  for (const Survivor& s : m.survivors) text += survivor_text(s);
  return text;
}

std::string mutation_summary(const std::vector<Mutation>& all) {
  std::map<Fate, std::size_t> counts;
  std::size_t tried = 0, faults = 0;
  for (const Mutation& m : all) {
    for (const auto& [fate, count] : m.counts) counts[fate] += count;
    tried += m.tried();
    faults += m.fault.empty() ? 0 : 1;
  }
  std::string text =
      fmt::format("{} mutants of {} symbols: {}\n", tried, all.size(), fmt::join(counts_text(counts), ", "));
  if (faults != 0) text += fmt::format("{} symbols without an answer\n", faults);
  return text;
}

nlohmann::ordered_json mutation_json(const std::vector<Mutation>& all) {
  nlohmann::ordered_json symbols = nlohmann::ordered_json::array();
  std::size_t survived = 0;
  for (const Mutation& m : all) {
    nlohmann::ordered_json fates = nlohmann::ordered_json::object(), survivors = nlohmann::ordered_json::array();
    for (const auto& [fate, count] : m.counts) fates[name_of(fate)] = count;
    for (const Survivor& s : m.survivors) {
      survivors.push_back({{"offset", s.offset},
                           {"damage", name_of(s.damage)},
                           {"text", s.text},
                           {"stage", s.place ? s.place->stage : ""}});
    }
    survived += m.survivors.size();
    symbols.push_back({{"symbol", m.symbol},
                       {"mutants", m.existing},
                       {"tried", m.tried()},
                       {"seconds", m.seconds},
                       {"fault", m.fault},
                       {"fates", fates},
                       {"survivors", survivors}});
  }
  return {{"survived", survived}, {"symbols", symbols}};
}

bool all_explained(const std::vector<Mutation>& all) {
  return std::all_of(all.begin(), all.end(), [](const Mutation& m) { return m.fault.empty() && m.survivors.empty(); });
}

}  // namespace stitchgcm::verify
