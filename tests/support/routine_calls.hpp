// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every routine of a backend's table as a call that the trampoline can make: its arguments, what makes the result
// wrong, and what it handled that must not be left behind.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends.hpp"
#include "trampoline.hpp"

namespace tests {

struct RoutineCall {
  std::string name;  // "aesni_avx aes128 seal: text 300, aad 20, iv 12"
  AnyFunction function;
  std::array<std::uint64_t, 6> arguments{};

  /// Puts the buffers back as they were before the call.
  std::function<void()> reset;

  /// "" when the buffers and rax are as they must be after the call, else what is not.
  std::function<std::string(std::uint64_t result)> wrong;

  /// Blocks of 16 bytes (the last of a text may be shorter): round keys, H and its powers, E(J0), the hash before it is
  /// masked, keystream and plaintext.
  std::vector<Bytes> secrets;
};

struct MessageShape {
  std::size_t text;
  std::size_t aad;
  std::size_t iv;
};

/// init; seal, open and open of a forgery for each shape; ctr32, encrypt_blocks, decrypt_blocks and ghash for each
/// number of blocks.
std::vector<RoutineCall> routine_calls(const Backend& backend, std::size_t key_bytes,
                                       const std::vector<MessageShape>& shapes,
                                       const std::vector<std::size_t>& block_counts);

}  // namespace tests
