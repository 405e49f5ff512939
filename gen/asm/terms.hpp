// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Uninterpreted terms: what an instruction computes, as its name applied to what it reads. Equal terms are one node, so
// that two computations are the same exactly when their node numbers are.
#include "asm/instruction.hpp"

#include <compare>
#include <map>

namespace stitchgcm::assembly {

/// A term plus a constant. The constant is what pointers are made of: base + displacement.
struct TermRef {
  int node = 0;
  int64_t plus = 0;
  auto operator<=>(const TermRef&) const = default;
};

struct Term {
  std::string operation;
  std::vector<TermRef> inputs;
  const Instruction* by = nullptr;  // the first instruction that made it; null for what was there at the start
  int turn = 0;                     // of a loop, in which `by` stood
};

class Terms {
 public:
  TermRef make(const std::string& operation, std::vector<TermRef> inputs, const Instruction* by, int turn = 0);
  const Term& at(int node) const { return nodes_[static_cast<size_t>(node)]; }

 private:
  std::vector<Term> nodes_;
  std::map<std::pair<std::string, std::vector<TermRef>>, int> index_;
};

}  // namespace stitchgcm::assembly
