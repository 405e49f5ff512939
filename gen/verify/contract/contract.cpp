// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/contract.hpp"

namespace stitchgcm::verify {

void Contract::call(const Setting&, State&) const { throw Refused("a call of " + symbol_ + ", which nothing calls"); }

std::optional<std::string> Contract::generalise(const Setting&, State&) const { return std::nullopt; }

bool Contract::may_reveal_whether_zero(const Setting&, const State&, Lane) const { return false; }

void Contract::revealed(const Setting&, State&) const {}

}  // namespace stitchgcm::verify
