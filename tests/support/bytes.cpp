// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tests {

std::string hex(View bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

Bytes unhex(std::string_view digits) {
  const auto value = [&](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    throw std::invalid_argument(fmt::format("not hex: \"{}\"", digits));
  };
  if (digits.size() % 2 != 0) throw std::invalid_argument(fmt::format("half a byte of hex: \"{}\"", digits));
  Bytes bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(value(digits[i]) << 4 | value(digits[i + 1])));
  }
  return bytes;
}

Bytes counting_bytes(std::size_t count, std::uint8_t first) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
  return bytes;
}

Bytes pattern(std::size_t count, unsigned offset) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>((7 * i + offset) ^ (i >> 8));
  return bytes;
}

Bytes iv12() { return unhex("cafebabefacedbaddecaf888"); }

Bytes aad20() { return counting_bytes(20, 0x80); }

std::optional<std::size_t> first_difference(View got, View want) {
  const auto [g, w] = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (g == got.end() && w == want.end()) return std::nullopt;
  return static_cast<std::size_t>(g - got.begin());
}

std::string difference_text(View got, View want) {
  const auto at = first_difference(got, want);
  if (!at) return "not at all";
  if (*at >= got.size() || *at >= want.size()) {
    return fmt::format("in length (got {} bytes, want {})", got.size(), want.size());
  }
  return fmt::format("at byte {} (got {:02x}, want {:02x})", *at, got[*at], want[*at]);
}

std::uint64_t Random::word() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

Bytes Random::bytes(std::size_t count) {
  Bytes bytes(count);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 8 == 0) bits = word();
    bytes[i] = static_cast<std::uint8_t>(bits >> (8 * (i % 8)));
  }
  return bytes;
}

}  // namespace tests
