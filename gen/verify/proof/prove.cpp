// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "verify/proof/ways.hpp"

namespace stitchgcm::verify {

ContractTable::ContractTable(const Image& image, const std::vector<std::unique_ptr<Contract>>& contracts) {
  for (const auto& c : contracts) {
    const Symbol* symbol = image.find(c->symbol());
    if (symbol != nullptr) by_address_[symbol->address] = c.get();
  }
}

const Contract* ContractTable::at(std::uint64_t address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

namespace {

/// A way of its own through the routine that fails says more than one that was joined from many: its lengths are its
/// own. Nothing if none of some, taken at random, fails.
std::optional<Failure> simpler_failure(const Setting& setting, const Function& function, const Contract& contract,
                                       const ContractTable& callees, std::size_t which) {
  constexpr int kWays = 400;
  return failure_alone(kWays, [&](std::mt19937_64&) {
    Explorer way(
        setting, function, contract, [&](std::uint64_t a) { return callees.at(a); }, kOneWay);
    way.begin(which);
    return way;
  });
}

}  // namespace

Verdict prove(const Image& image, const Function& function, const Contract& contract, const ContractTable& callees,
              const Limits& limits, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Verdict v;
  v.symbol = contract.symbol();
  v.statement = contract.statement();
  v.lengths = contract.lengths();
  v.cases = contract.cases();
  v.instructions = function.instructions.size();
  v.code_bytes = function.symbol.size;
  std::set<std::uint64_t> executed;
  try {
    for (std::size_t i = 0; i < v.cases.size(); i++) {
      if (progress) progress(fmt::format("{} ({} of {})", v.cases[i], i + 1, v.cases.size()));
      v.failed_case = v.cases[i];
      // Each case has formulas of its own: together they would need their sum of memory.
      LanePool pool;
      const Setting setting{pool, image};
      Explorer explorer(
          setting, function, contract, [&](std::uint64_t a) { return callees.at(a); }, limits);
      const auto count = [&] {
        v.statistics += explorer.statistics();
        v.formulas = std::max(v.formulas, pool.size(), [](auto& x, auto& y) { return x.lanes < y.lanes; });
        v.invariants.insert(v.invariants.end(), explorer.invariants().begin(), explorer.invariants().end());
        executed.insert(explorer.executed().begin(), explorer.executed().end());
      };
      try {
        explorer.run(i);
        count();
      } catch (const Failure& f) {
        count();
        throw simpler_failure(setting, function, contract, callees, i).value_or(f);
      }
    }
    v.failed_case.clear();
    if (function.instructions.empty() || function.instructions[0].mnemonic != ZYDIS_MNEMONIC_ENDBR64) {
      Failure f;
      f.reason = "the routine does not begin with endbr64, where a call by pointer lands";
      f.address = function.symbol.address;
      throw f;
    }
    // What no proof has executed, no proof speaks of.
    for (const Instruction& i : function.instructions) {
      if (executed.contains(i.address)) continue;
      Failure f;
      f.reason = "the instruction is never executed, for no length: nothing is known of it";
      f.address = i.address;
      f.instruction = i.text;
      throw f;
    }
    v.proved = true;
  } catch (const Failure& f) {
    v.failure = f;
  }
  std::sort(v.invariants.begin(), v.invariants.end());
  v.invariants.erase(std::unique(v.invariants.begin(), v.invariants.end()), v.invariants.end());
  v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return v;
}

}  // namespace stitchgcm::verify
