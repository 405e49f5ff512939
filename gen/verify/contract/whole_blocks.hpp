// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Contracts of the C functions that work on whole blocks: ctr32, ghash, encrypt_blocks, decrypt_blocks.
#include "verify/contract/gcm_parts.hpp"

namespace stitchgcm::verify {

enum class Direction : std::uint8_t { encrypt, decrypt };

/// void (context, in, out, blocks, counter): out = in ^ keystream; counter moves on.
std::unique_ptr<Contract> ctr32_contract(const std::string& symbol);
/// void (context, accumulator, data, blocks): accumulator = GHASH of data, continued.
std::unique_ptr<Contract> ghash_contract(const std::string& symbol);
/// void (context, in, out, blocks, counter, accumulator): ctr32, and ghash of the ciphertext.
std::unique_ptr<Contract> blocks_contract(const std::string& symbol, Direction direction);

}  // namespace stitchgcm::verify
