// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// FIPS 197, the Advanced Encryption Standard: encryption of a block, and the key schedule.
#include <vector>

#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify::spec {

/// CIPHER (FIPS 197, 5.1) with round_keys.size() - 1 rounds.
Lane aes_encrypt(LanePool& pool, const std::vector<Lane>& round_keys, Lane block);

/// KEYEXPANSION (FIPS 197, 5.2): round keys 0..rounds from the key's first 16 bytes and its other 0, 8 or 16 bytes;
/// rounds 10, 12 or 14.
std::vector<Lane> aes_key_expansion(LanePool& pool, Lane first_16_bytes, Lane other_bytes, int rounds);

}  // namespace stitchgcm::verify::spec
