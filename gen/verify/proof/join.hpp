// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <unordered_set>

#include "verify/contract/contract.hpp"
#include "verify/proof/liveness.hpp"
#include "verify/proof/path.hpp"

namespace stitchgcm::verify {

/// A state that covers both: equal parts stay, others become unknown, lengths may be those of either. False, and `a` as
/// it was, if the two differ in what must not be forgotten (memory other than the stack, registers that calls preserve,
/// what the specification has got to), or in a register that is live.
/// Of vectors, the first `lanes` lanes count as read. `unknowns`: the lanes that joins into `a` have made so far, each
/// for one place of it; they need not be made again.
bool join(const Setting& setting, State& a, const State& b, Registers live, int lanes,
          std::unordered_set<std::uint32_t>& unknowns);

/// An expression that is a's under a's facts and b's under b's; nothing if neither of the two is.
std::optional<Affine> common_expression(const Facts& a_facts, const Affine& a, const Facts& b_facts, const Affine& b);

}  // namespace stitchgcm::verify
