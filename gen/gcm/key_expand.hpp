// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// FIPS 197's key schedule, and H.
#include "asm/program.hpp"
#include "gcm/choices.hpp"
#include "gcm/code.hpp"

namespace stitchgcm::gcm {

/// round_key[0..rounds] := KeyExpansion(the key at `key`), FIPS 197, 5.2; hash_key := H = AES(key, 0^128), and H in
/// block 0 with SP 800-38D's byte order. Roles: context. Clobbers the vectors.
assembly::Strip key_expand(KeyLength k, const Xbyak::Reg64& key);

}  // namespace stitchgcm::gcm
