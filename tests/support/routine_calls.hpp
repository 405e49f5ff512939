// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every routine of a backend's table as a call that the trampoline can make: its arguments and buffers, what they must
// hold afterwards, and what the call handled that must not be left behind.
#pragma once

#include <optional>
#include <string>

#include "backends.hpp"
#include "trampoline.hpp"

namespace tests {

/// The buffers of one call after the other, at the same addresses for the same lengths.
class CallMemory {
 public:
  CallMemory() : buffer_("the buffers of the call", std::size_t{32} << 10) {}
  void start_over() { used_ = 0; }
  std::span<std::uint8_t> take(std::size_t bytes);

 private:
  GuardedBuffer buffer_;
  std::size_t used_ = 0;
};

struct RoutineCall {
  std::string name;  // "aesni_avx aes128 seal: text 300, aad 20, iv 12"
  AnyFunction function = nullptr;
  std::array<std::uint64_t, 6> arguments{};

  struct Part {
    const char* name;
    std::span<std::uint8_t> memory;
    Bytes before;
    Bytes after;
  };
  std::vector<Part> parts;
  std::optional<std::uint32_t> verdict;  // of open: the value that it must return

  /// Blocks of 16 bytes (the last of a text may be shorter): round keys, H and its powers, E(J0), the hash before it is
  /// masked, keystream and plaintext.
  std::vector<Bytes> secrets;

  /// What the call may leave behind though it depends on the key: ciphertext and tag.
  std::vector<Bytes> published;

  /// Fills the buffers. The calls of one list share them, so it comes before each call.
  void set_up() const;

  /// "" when buffers and result are as they must be after the call, else what is not.
  std::string wrong(std::uint64_t result) const;
};

struct MessageShape {
  std::size_t text;
  std::size_t aad;
  std::size_t iv;
};

/// Which routines, of which backend, with which lengths.
struct CallPlan {
  Backend backend;
  std::size_t key_bytes;
  std::vector<MessageShape> shapes;
  std::vector<std::size_t> block_counts;
};

/// init; seal, open and open of a forgery for each shape; ctr32, encrypt_blocks, decrypt_blocks and ghash for each
/// number of blocks. Keys and plaintexts depend on `secret_seed`; addresses, lengths, IVs, AAD, counters and what
/// decrypt_blocks and ghash read do not.
std::vector<RoutineCall> routine_calls(CallMemory& memory, const CallPlan& plan, std::uint64_t secret_seed = 1);

}  // namespace tests
