// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// 128-bit vectors over GF(2): bit i of byte j is bit 8 j + i, as in memory and in an xmm register.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace stitchgcm::verify {

__extension__ using Bits128 = unsigned __int128;

constexpr Bits128 bit(int i) { return Bits128{1} << i; }
constexpr std::uint64_t low_half(Bits128 v) { return static_cast<std::uint64_t>(v); }
constexpr std::uint64_t high_half(Bits128 v) { return static_cast<std::uint64_t>(v >> 64); }
constexpr Bits128 bits128(std::uint64_t low, std::uint64_t high) { return (Bits128{high} << 64) | low; }
constexpr bool parity(Bits128 v) { return ((std::popcount(low_half(v)) + std::popcount(high_half(v))) & 1) != 0; }

/// The low n bits, 0 <= n <= 128.
constexpr Bits128 low_bits(int n) { return n >= 128 ? ~Bits128{0} : bit(n) - 1; }

/// Calls f(i) for each bit i that is set, in ascending order.
template <class F>
constexpr void for_each_bit(Bits128 v, F f) {
  for (std::uint64_t low = low_half(v); low != 0; low &= low - 1) f(std::countr_zero(low));
  for (std::uint64_t high = high_half(v); high != 0; high &= high - 1) f(64 + std::countr_zero(high));
}

inline std::array<std::uint8_t, 16> bytes_of(Bits128 v) {
  std::array<std::uint8_t, 16> bytes;
  std::memcpy(bytes.data(), &v, 16);
  return bytes;
}
inline Bits128 from_bytes(const std::array<std::uint8_t, 16>& bytes) {
  Bits128 v;
  std::memcpy(&v, bytes.data(), 16);
  return v;
}

}  // namespace stitchgcm::verify
