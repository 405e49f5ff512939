// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include "verify/contract/gcm_parts.hpp"
#include "verify/contract/whole_blocks.hpp"

namespace stitchgcm::verify {

/// void seal(context, message) / int open(context, message): a whole message (SP 800-38D, algorithms 4 and 5).
std::unique_ptr<Contract> message_contract(const std::string& symbol, Direction direction);

}  // namespace stitchgcm::verify
