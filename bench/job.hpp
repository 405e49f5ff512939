// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The buffers and the order of messages that every contender works through in the same way.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "cell.hpp"

namespace stitchgcm::bench {

constexpr std::size_t tag_bytes = 16;
constexpr std::size_t block_bytes = 16;
using Tag = std::array<std::uint8_t, tag_bytes>;

/// One message as a contender sees it. seal writes `tag`, open reads it.
struct Message {
  const std::uint8_t* iv;
  const std::uint8_t* in;
  std::uint8_t* out;
  std::size_t bytes;
  std::uint8_t* tag;
};

/// What one run of whole blocks works on, in the order of the arguments of the runtime's routine table.
struct Blocks {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::size_t blocks;
  std::uint8_t* counter;
  std::uint8_t* accumulator;
};

/// Holds the buffers for one cell after the other. Message number i of a cell has the size sizes[i mod sizes.size()].
///
/// To open in place again and again, the buffer must hold a text that the next tag fits. Any text does if its tag is
/// made for it, and xor with the same keystream twice gives the first text back: so the messages to open run through
/// the sizes and IVs twice, and `tags` holds one tag for each of these 2 * sizes.size() turns, after which the buffer
/// holds what it held at first.
class Job {
 public:
  /// `largest` is the longest text in bytes of any cell to come.
  Job(std::size_t largest, std::size_t iv_bytes, std::size_t aad_bytes);

  /// Takes over the cell's sizes and places, and rewinds. Tags for open are filled in by the harness.
  void prepare(const Cell& cell);
  /// Back to the first message, with the input as it was at first.
  void rewind();

  /// Calls one(message) `count` times, each with a fresh IV, and returns how often it returned false.
  template <class One>
  std::size_t each_message(Operation operation, std::size_t count, One&& one) {
    // What the loop itself needs is in locals: members would be loaded anew for every message, see barrier().
    const bool opening = operation == Operation::open;
    const bool short_iv = iv_.size() == salt_bytes + sizeof counter_;
    const std::span<const std::uint32_t> sizes = sizes_;
    Message message{iv_.data(), in_, out_, 0, tag_.data()};
    std::size_t turn = turn_;
    std::uint64_t counter = counter_;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = turn < sizes.size() ? turn : turn - sizes.size();
      if (short_iv) {
        write_short_iv(opening ? at : counter);
      } else {
        write_iv(opening ? at : counter);
      }
      if (opening) message.tag = tags_[turn].data();
      message.bytes = sizes[at];
      refused += one(message) ? 0U : 1U;
      ++counter;
      turn = turn + 1 == 2 * sizes.size() ? 0 : turn + 1;
      barrier();
    }
    turn_ = turn;
    counter_ = counter;
    return refused;
  }

  /// Calls one(blocks) `count` times with the first size; the counter block and the accumulator carry on from one call
  /// to the next.
  template <class One>
  void each_blocks(std::size_t count, One&& one) {
    const Blocks blocks{in_, out_, sizes_.front() / block_bytes, counter_block_.data(), accumulator_.data()};
    for (std::size_t i = 0; i < count; ++i) {
      one(blocks);
      barrier();
    }
  }

  /// Calls one(key) `count` times, each with another key of this many bytes, and returns how often it returned false.
  template <class One>
  std::size_t each_key(std::size_t key_bytes, std::size_t count, One&& one) {
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ++counter_;
      std::memcpy(key_.data(), &counter_, sizeof counter_);
      barrier();
      refused += one(std::span<const std::uint8_t>(key_).first(key_bytes)) ? 0U : 1U;
    }
    return refused;
  }

  std::size_t iv_bytes() const { return iv_.size(); }
  std::span<const std::uint8_t> aad() const { return aad_; }
  std::vector<Tag>& tags() { return tags_; }
  std::size_t turns() const { return tags_.size(); }
  std::uint32_t size_at(std::size_t turn) const { return sizes_[turn % sizes_.size()]; }

  /// The next message gets the IV that is made from this number.
  void set_counter(std::uint64_t counter) { counter_ = counter; }
  std::span<std::uint8_t> first_input() { return pristine_; }
  std::span<const std::uint8_t> output(std::size_t bytes) const { return {out_, bytes}; }
  const Tag& tag() const { return tag_; }
  /// A digest of what the last call left behind: `bytes` of output, and the tag or the counter block and accumulator.
  std::uint64_t digest(Operation operation, std::size_t bytes) const;

 private:
  static constexpr std::size_t salt_bytes = 4;

  // What was stored before is in memory, and what is read after comes from there: as for a caller far away.
  static void barrier() { asm volatile("" : : : "memory"); }

  // A protocol writes a salt that stays and a counter that moves: 4 + 8 bytes. It does so right before the call, so a
  // routine that reads the IV with one load of 12 or 16 bytes has to wait for these stores; that is part of its cost.
  void write_short_iv(std::uint64_t counter) {
    constexpr std::uint32_t salt = 0x5a17c0de;
    if constexpr (std::endian::native == std::endian::little) counter = __builtin_bswap64(counter);
    std::memcpy(iv_.data(), &salt, salt_bytes);
    std::memcpy(iv_.data() + salt_bytes, &counter, sizeof counter);
    barrier();
  }

  void write_iv(std::uint64_t counter) {
    for (std::size_t i = 0; i < iv_.size() && i < sizeof counter; ++i) {
      iv_[iv_.size() - 1 - i] = static_cast<std::uint8_t>(counter >> (8 * i));
    }
    barrier();
  }

  std::vector<std::uint8_t> iv_;
  std::vector<std::uint8_t> aad_;
  std::vector<std::uint8_t> pristine_;  // the input of the first message
  std::vector<std::uint8_t> storage_;
  std::vector<std::uint32_t> sizes_;
  std::vector<Tag> tags_;
  std::array<std::uint8_t, 32> key_{};
  alignas(16) std::array<std::uint8_t, block_bytes> counter_block_{};
  alignas(16) std::array<std::uint8_t, block_bytes> accumulator_{};
  alignas(16) Tag tag_{};
  std::uint8_t* first_buffer_ = nullptr;   // into storage_
  std::uint8_t* second_buffer_ = nullptr;  // into storage_
  const std::uint8_t* in_ = nullptr;
  std::uint8_t* out_ = nullptr;
  std::uint64_t counter_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace stitchgcm::bench
