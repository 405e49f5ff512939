// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/terms.hpp"

namespace stitchgcm::assembly {

TermRef Terms::make(const std::string& operation, std::vector<TermRef> inputs, const Instruction* by, int turn) {
  auto [it, fresh] = index_.try_emplace({operation, inputs}, static_cast<int>(nodes_.size()));
  if (fresh) nodes_.push_back({operation, std::move(inputs), by, turn + (by ? by->turn : 0)});
  return {it->second, 0};
}

}  // namespace stitchgcm::assembly
