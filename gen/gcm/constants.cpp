// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/constants.hpp"

namespace stitchgcm::gcm {
namespace {

void append_u32(std::vector<uint8_t>& v, uint32_t x) {
  for (int k = 0; k < 4; k++) v.push_back(static_cast<uint8_t>(x >> (8 * k)));
}

/// For n = 0..8: f(n) as the lowest 32 bits of 16 bytes.
template <class F>
std::vector<uint8_t> nine_counters(F f) {
  std::vector<uint8_t> v;
  for (int n = 0; n <= 8; n++) {
    append_u32(v, f(n));
    v.resize(v.size() + 12);
  }
  return v;
}

/// Byte k of every word comes from byte from[k] of the source.
std::vector<uint8_t> in_every_word(std::vector<uint8_t> from) {
  std::vector<uint8_t> v;
  for (int word = 0; word < 4; word++) v.insert(v.end(), from.begin(), from.end());
  return v;
}

}  // namespace

const Constant& byte_reverse() {
  static const Constant c{
      "byte_reverse", {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, "reverses the 16 bytes of a block"};
  return c;
}

const Constant& reduction() {
  static const Constant c{"reduction",
                          {0, 0, 0, 0, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0},
                          "x^63 + x^62 + x^57: GHASH's polynomial, bits reflected"};
  return c;
}

const Constant& counter_steps() {
  static const Constant c{"counter_steps", nine_counters([](int n) { return static_cast<uint32_t>(n); }),
                          "0..8, in the lowest 32 bits"};
  return c;
}

const Constant& counter_patterns_from_2() {
  static const Constant c = [] {
    std::vector<uint8_t> v;
    for (int j = 0; j < 8; j++) {
      const int n = 2 + j;
      v.resize(v.size() + 12);
      for (int k = 0; k < 3; k++) v.push_back(n >= 8 ? 0xff : 0);
      v.push_back(static_cast<uint8_t>(n >= 8 ? 0xf0 | n : n));
    }
    return Constant{"counter_patterns_from_2", v, "2 + j as a 4-bit number with sign, j = 0..7, big-endian"};
  }();
  return c;
}

const Constant& multiple_of_8() {
  static const Constant c = [] {
    std::vector<uint8_t> v(16, 0xff);
    v[0] = 0xf8;
    return Constant{"multiple_of_8", v, "clears the lowest three bits"};
  }();
  return c;
}

const Constant& below_8() {
  static const Constant c = [] {
    std::vector<uint8_t> v(16);
    v[15] = 7;
    return Constant{"below_8", v, "the lowest three bits of a counter block"};
  }();
  return c;
}

const Constant& counter_steps_back() {
  static const Constant c{"counter_steps_back", nine_counters([](int n) { return static_cast<uint32_t>(-n); }),
                          "0..-8, in the lowest 32 bits"};
  return c;
}

const Constant& keep_bytes() {
  static const Constant c = [] {
    std::vector<uint8_t> v(16, 0xff);
    v.resize(32, 0);
    return Constant{"keep_bytes", v, "from offset 16 - n: keeps the first n bytes of a block"};
  }();
  return c;
}

const Constant& times_x() {
  static const Constant c{
      "times_x", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2}, "x^128 mod P, bits reflected"};
  return c;
}

const Constant& rotate_word3() {
  static const Constant c{"rotate_word3", in_every_word({13, 14, 15, 12}), "RotWord of the last word, in every word"};
  return c;
}

const Constant& repeat_word3() {
  static const Constant c{"repeat_word3", in_every_word({12, 13, 14, 15}), "the last word, in every word"};
  return c;
}

const Constant& rotate_word1() {
  static const Constant c{"rotate_word1", in_every_word({5, 6, 7, 4}), "RotWord of word 1, in every word"};
  return c;
}

const Constant& round_constants() {
  static const Constant c = [] {
    std::vector<uint8_t> v;
    for (uint32_t x : {0x01u, 0x02u, 0x04u, 0x08u, 0x10u, 0x20u, 0x40u, 0x80u, 0x1bu, 0x36u}) {
      for (int word = 0; word < 4; word++) append_u32(v, x);
    }
    return Constant{"round_constants", v, "Rcon[1..10] of FIPS 197, in every word"};
  }();
  return c;
}

}  // namespace stitchgcm::gcm
