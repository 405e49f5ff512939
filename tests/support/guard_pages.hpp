// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Buffers with an inaccessible page right before and right after them, and calls that survive touching one.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bytes.hpp"

namespace tests {

enum class Flush { before_the_end, after_the_start };
inline constexpr std::array<Flush, 2> flushes{Flush::before_the_end, Flush::after_the_start};

/// Whole pages of memory between two inaccessible ones.
class GuardedBuffer {
 public:
  /// Room for `capacity` bytes; `name` is what a failure message calls it.
  GuardedBuffer(std::string name, std::size_t capacity);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// `bytes` bytes whose last one is right before the page after (or whose first one is right after the page before),
  /// less `offset` bytes of distance.
  std::span<std::uint8_t> place(Flush flush, std::size_t bytes, std::size_t offset = 0) const;

  /// All accessible bytes.
  std::span<std::uint8_t> all() const { return all_; }

  void fill(std::uint8_t byte) const;

  /// From now on a write faults too.
  void make_read_only() const;

  /// "byte 3 past the end of aad" for an address in or near this buffer.
  std::optional<std::string> describe(std::uintptr_t address) const;

 private:
  std::string name_;
  std::span<std::uint8_t> mapping_;
  std::span<std::uint8_t> all_;
};

/// Address space that is reserved and cannot be touched, for lengths that no test can afford to fill.
class ReservedSpace {
 public:
  /// Empty when the system does not give that much.
  explicit ReservedSpace(std::uint64_t bytes);
  ~ReservedSpace();
  ReservedSpace(const ReservedSpace&) = delete;
  ReservedSpace& operator=(const ReservedSpace&) = delete;

  bool empty() const { return bytes_ == 0; }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(memory_); }
  bool contains(std::uintptr_t address) const;

 private:
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// Calls `body`; the address that it could not touch, if there was one. `body` is then left in the middle: it must own
/// nothing. One thread at a time.
std::optional<std::uintptr_t> faulting_address(const std::function<void()>& body);

/// The same in words, by way of the living GuardedBuffers; "" when nothing happened.
std::string fault_of(const std::function<void()>& body);

}  // namespace tests
