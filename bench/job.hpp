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
    const bool opening = operation == Operation::open;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = index();
      write_iv(opening ? at : counter_++);
      std::uint8_t* const tag = opening ? tags_[turn_].data() : tag_.data();
      refused += one(Message{iv_.data(), in_, out_, sizes_[at], tag}) ? 0U : 1U;
      advance();
    }
    return refused;
  }

  /// Calls one(blocks) `count` times; the counter block and the accumulator carry on from one call to the next.
  template <class One>
  void each_blocks(std::size_t count, One&& one) {
    for (std::size_t i = 0; i < count; ++i) {
      one(Blocks{in_, out_, sizes_[index()] / block_bytes, counter_block_.data(), accumulator_.data()});
      advance();
    }
  }

  /// Calls one(key) `count` times, each with another key of this many bytes, and returns how often it returned false.
  template <class One>
  std::size_t each_key(std::size_t key_bytes, std::size_t count, One&& one) {
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ++counter_;
      std::memcpy(key_.data(), &counter_, sizeof counter_);
      asm volatile("" : : : "memory");
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
  // No division: it would cost as much as a short message's whole hash.
  std::size_t index() const { return turn_ < sizes_.size() ? turn_ : turn_ - sizes_.size(); }

  void advance() {
    // The IV and all else that the next message reads must be stored anew, as it would be by a caller far away.
    asm volatile("" : : : "memory");
    if (++turn_ == tags_.size()) turn_ = 0;
  }

  // A protocol writes a salt that stays and a counter that moves: 4 + 8 bytes. It does so right before the call, so a
  // routine that reads the IV with one load of 12 or 16 bytes has to wait for these stores; that is part of its cost.
  void write_iv(std::uint64_t counter) {
    std::uint64_t big_endian = counter;
    if constexpr (std::endian::native == std::endian::little) big_endian = __builtin_bswap64(counter);
    if (iv_.size() >= sizeof salt_ + sizeof big_endian) {
      std::memcpy(iv_.data(), &salt_, sizeof salt_);
      std::memcpy(iv_.data() + sizeof salt_, &big_endian, sizeof big_endian);
    } else {
      for (std::size_t i = 0; i < iv_.size(); ++i) iv_[i] = static_cast<std::uint8_t>(counter >> (8 * (i % 8)));
    }
    asm volatile("" : : : "memory");
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
  std::uint32_t salt_ = 0x5a17c0de;
};

}  // namespace stitchgcm::bench
