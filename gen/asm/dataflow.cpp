// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/dataflow.hpp"

#include <stdexcept>

namespace stitchgcm::assembly {

void require_same_dataflow(const std::vector<Run>& in_order, const std::vector<Run>& reordered,
                           const PointerCases& cases, const std::string& what) {
  if (cases.empty()) throw std::logic_error(what + ": no pointer case to check");
  for (const Regions& regions : cases) {
    Terms terms;
    SymbolicState a(terms, regions), b(terms, regions);
    for (const Run& r : in_order) a.run(*r.strip, r.turn);
    for (const Run& r : reordered) b.run(*r.strip, r.turn);
    const std::string difference = SymbolicState::difference(a, b);
    if (!difference.empty()) throw std::runtime_error(what + ": " + difference);
  }
}

}  // namespace stitchgcm::assembly
