// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Calls of C functions that take the path on which a proof failed.
#include "verify/contract/contract.hpp"
#include "verify/counterexample/lengths.hpp"

namespace stitchgcm::verify {

enum class Routine : std::uint8_t { init, seal, open, encrypt_blocks, decrypt_blocks, ctr32, ghash };

struct Call {
  std::string symbol;
  Routine routine{};
  int rounds = 10;
  bool in_place = false;
  // Of seal and open, in bytes:
  std::int64_t iv = 12, aad = 0, text = 0, tag = 16;
  // Of the others:
  std::int64_t blocks = 0;

  /// "seal, AES-128, IV of 12 bytes, AAD of 0 bytes, .."
  std::string text_of() const;
  /// Of all buffers.
  std::int64_t bytes() const;
};

/// The calls of the contract's routine at these lengths, in its case number `which`; of an internal routine, calls of
/// those that call it, at lengths at which they do so. `prefix` is that of all symbols. None if the routine is not
/// known.
std::vector<Call> calls_at(const Lengths& lengths, const Contract& contract, std::size_t which, const Image& image,
                           const std::string& prefix);

}  // namespace stitchgcm::verify
