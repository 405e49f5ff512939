// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/algebra/galois.hpp"

namespace stitchgcm::verify {
namespace {

// Bit t of the standard's bit string, which counts from the highest bit of the first byte.
constexpr int place(int t) { return 8 * (t / 8) + 7 - t % 8; }

/// The block times the standard's x: every bit one place to the right in the string, and R where the last falls out.
Bits128 right_shift(Bits128 v) {
  // Within bytes to the right, the lowest bit of each into the highest of the next.
  constexpr Bits128 low7 = ~Bits128{0} / 255 * 0x7f, high1 = ~Bits128{0} / 255 * 0x80;
  const bool out = (v >> place(127) & 1) != 0;
  Bits128 shifted = ((v >> 1) & low7) | ((v << 15) & high1);
  if (out) shifted ^= 0xe1;
  return shifted;
}

/// The product in AES's field, modulo x^8 + x^4 + x^3 + x + 1.
constexpr std::uint8_t aes_product(std::uint8_t a, std::uint8_t b) {
  std::uint8_t sum = 0;
  for (; b != 0; b = static_cast<std::uint8_t>(b >> 1)) {
    if ((b & 1) != 0) sum = static_cast<std::uint8_t>(sum ^ a);
    a = static_cast<std::uint8_t>((a << 1) ^ ((a & 0x80) != 0 ? 0x1b : 0));
  }
  return sum;
}

/// FIPS 197, 5.1.1: the inverse (a^254), then the affine map.
constexpr std::array<std::uint8_t, 256> make_sbox() {
  std::array<std::uint8_t, 256> sbox{};
  for (int i = 0; i < 256; i++) {
    const auto a = static_cast<std::uint8_t>(i);
    std::uint8_t inverse = a;
    for (int n = 0; n < 6; n++) inverse = aes_product(aes_product(inverse, inverse), a);  // a^127
    inverse = aes_product(inverse, inverse);
    std::uint8_t b = 0x63;
    for (int n = 0; n < 5; n++) b = static_cast<std::uint8_t>(b ^ ((inverse << n) | (inverse >> (8 - n))));
    sbox[static_cast<std::size_t>(i)] = b;
  }
  return sbox;
}
constexpr std::array<std::uint8_t, 256> kSbox = make_sbox();
static_assert(kSbox[0] == 0x63 && kSbox[0x53] == 0xed);

}  // namespace

Bits128 field_product(Bits128 a, Bits128 b) {
  Bits128 sum = 0;
  for (int t = 0; t < 128; t++) {
    if ((a >> place(t) & 1) != 0) sum ^= b;
    b = right_shift(b);
  }
  return sum;
}

Bits128 field_inverse(Bits128 a) {
  // a^(2^128 - 2).
  Bits128 power = a;
  for (int i = 0; i < 126; i++) power = field_product(field_product(power, power), a);
  return field_product(power, power);
}

Bits128 carryless_product(std::uint64_t a, std::uint64_t b) {
  Bits128 sum = 0;
  for (int i = 0; i < 64; i++) {
    if ((b >> i & 1) != 0) sum ^= Bits128{a} << i;
  }
  return sum;
}

Bits128 sub_bytes(Bits128 state) {
  auto bytes = bytes_of(state);
  for (std::uint8_t& b : bytes) b = kSbox[b];
  return from_bytes(bytes);
}

Bits128 shift_rows(Bits128 state) {
  const auto in = bytes_of(state);
  std::array<std::uint8_t, 16> out{};
  for (std::size_t column = 0; column < 4; column++) {
    for (std::size_t row = 0; row < 4; row++) out[4 * column + row] = in[4 * ((column + row) % 4) + row];
  }
  return from_bytes(out);
}

Bits128 mix_columns(Bits128 state) {
  const auto in = bytes_of(state);
  std::array<std::uint8_t, 16> out{};
  for (std::size_t column = 0; column < 4; column++) {
    for (std::size_t row = 0; row < 4; row++) {
      const auto at = [&](std::size_t n) { return in[4 * column + (row + n) % 4]; };
      out[4 * column + row] = static_cast<std::uint8_t>(aes_product(at(0), 2) ^ aes_product(at(1), 3) ^ at(2) ^ at(3));
    }
  }
  return from_bytes(out);
}

}  // namespace stitchgcm::verify
