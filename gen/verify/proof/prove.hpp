// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The proof of one symbol: all cases of its contract, and that every instruction had its part in one of them.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/proof/explorer.hpp"

namespace stitchgcm::verify {

struct Verdict {
  std::string symbol;
  bool proved = false;
  std::vector<std::string> statement;  // what is proved
  std::string lengths;                 // for which lengths
  std::vector<std::string> cases;
  std::vector<std::string> invariants;  // of loops, each once
  std::size_t instructions = 0;         // of the routine
  std::uint64_t code_bytes = 0;
  Statistics statistics;
  LanePool::Size formulas{};
  double seconds = 0;
  /// Where it failed: in which case, and how.
  std::optional<Failure> failure;
  std::string failed_case;
};

/// Called now and then with what is being done: "in place, case 2 of 4".
using Progress = std::function<void(const std::string&)>;

/// The contract whose symbol stands at an address of the image; nothing if none does.
class ContractTable {
 public:
  ContractTable(const Image& image, const std::vector<std::unique_ptr<Contract>>& contracts);
  const Contract* at(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, const Contract*> by_address_;
};

Verdict prove(const Image& image, const Function& function, const Contract& contract, const ContractTable& callees,
              const Limits& limits = {}, const Progress& progress = {});

}  // namespace stitchgcm::verify
