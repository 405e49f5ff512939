// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Byte strings of the tests: hex, the vector files' fixed inputs, and random bytes that are the same in every run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;
using Block = std::array<std::uint8_t, 16>;

/// Lower-case hex, two digits a byte.
std::string hex(View bytes);

/// The inverse of hex(), in either case. Throws std::invalid_argument when `digits` is not hex.
Bytes unhex(std::string_view digits);

/// first, first + 1, ... modulo 256: the keys of the sweeps start at 0x00, their 20 bytes of AAD at 0x80.
Bytes counting_bytes(std::size_t count, std::uint8_t first = 0);

/// byte[i] = ((7 * i + offset) ^ (i >> 8)) mod 256: texts and AAD of the sweeps with offset 0, their IVs with offset 3.
Bytes pattern(std::size_t count, unsigned offset = 0);

/// cafebabefacedbaddecaf888
Bytes iv12();

/// The 20 bytes 80..93.
Bytes aad20();

/// The first index at which the two differ, or the shorter length when one is a prefix of the other.
std::optional<std::size_t> first_difference(View got, View want);

/// "at byte 17 (got 3a, want 3b)", "got 12 bytes, want 16", or "not at all".
std::string difference_text(View got, View want);

inline Block block_of(View bytes) {
  Block block{};
  for (std::size_t i = 0; i < block.size() && i < bytes.size(); ++i) block[i] = bytes[i];
  return block;
}

inline bool equal(View a, View b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// A small generator (SplitMix64) with a seed of its own for each test, so that no test depends on another's draws.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word();
  /// 0 <= result < limit; limit > 0.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(word() % limit); }
  Bytes bytes(std::size_t count);
  Block block() { return block_of(bytes(16)); }

 private:
  std::uint64_t state_;
};

}  // namespace tests
