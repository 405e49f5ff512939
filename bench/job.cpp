// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "job.hpp"

#include <algorithm>

namespace stitchgcm::bench {
namespace {

constexpr std::size_t page = 4096;

std::uint8_t pattern(std::size_t i) { return static_cast<std::uint8_t>((7 * i) ^ (i >> 8)); }

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// FNV-1a, 64 bits.
class Digest {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) value_ = (value_ ^ byte) * 0x100000001b3;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

Job::Job(std::size_t largest, std::size_t iv_bytes, std::size_t aad_bytes)
    : iv_(iv_bytes), aad_(aad_bytes), pristine_(largest), storage_(2 * round_up(largest, page) + 4 * page) {
  for (std::size_t i = 0; i < aad_.size(); ++i) aad_[i] = static_cast<std::uint8_t>(0x80 + i);
  for (std::size_t i = 0; i < iv_.size(); ++i) iv_[i] = static_cast<std::uint8_t>(0x40 + i);
  for (std::size_t i = 0; i < key_.size(); ++i) key_[i] = static_cast<std::uint8_t>(i);
  // Both start on a cache line, not on a page; and in different halves of a page, so that no store into one seems to
  // the core to be what a load from the other waits for (they compare the low 12 bits of addresses).
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.data());
  const std::size_t to_page = round_up(start, page) - start;
  first_buffer_ = storage_.data() + to_page + 192;
  second_buffer_ = first_buffer_ + round_up(largest, page) + page + page / 2;
}

void Job::prepare(const Cell& cell) {
  sizes_ = cell.sizes;
  tags_.assign(2 * sizes_.size(), Tag{});
  in_ = first_buffer_;
  out_ = cell.place == Place::in ? first_buffer_ : second_buffer_;
  const std::size_t bytes = *std::max_element(sizes_.begin(), sizes_.end());
  for (std::size_t i = 0; i < bytes; ++i) pristine_[i] = pattern(i);
  rewind();
}

void Job::rewind() {
  const std::size_t bytes = *std::max_element(sizes_.begin(), sizes_.end());
  std::copy_n(pristine_.begin(), bytes, first_buffer_);
  counter_ = 0;
  turn_ = 0;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    counter_block_[i] = static_cast<std::uint8_t>(0xc0 + i);
    accumulator_[i] = static_cast<std::uint8_t>(0xa0 + i);
  }
}

std::uint64_t Job::digest(Operation operation, std::size_t bytes) const {
  Digest digest;
  if (operation != Operation::ghash) digest.add(output(bytes));
  if (operation == Operation::seal) digest.add(tag_);
  if (is_routine(operation)) {
    digest.add(counter_block_);
    digest.add(accumulator_);
  }
  return digest.value();
}

}  // namespace stitchgcm::bench
