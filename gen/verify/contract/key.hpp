// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include "verify/contract/gcm_parts.hpp"

namespace stitchgcm::verify {

/// void init(context, key): round keys (FIPS 197), H = AES(key, 0^128), rounds, powers of H.
std::unique_ptr<Contract> init_contract(const std::string& symbol, int rounds);

}  // namespace stitchgcm::verify
