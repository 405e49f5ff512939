// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/spec/aes.hpp"

namespace stitchgcm::verify::spec {
namespace {

// A word is a lane with its four bytes first and zeros after them.
Lane word_of(LanePool& pool, Lane block, int n) {
  BytePermutation p;
  p.fill(-1);
  for (int i = 0; i < 4; i++) p[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(4 * n + i);
  return pool.apply(pool.permute_bytes(p), block);
}

Lane place_word(LanePool& pool, Lane word, int n) {
  BytePermutation p;
  p.fill(-1);
  for (int i = 0; i < 4; i++) p[static_cast<std::size_t>(4 * n + i)] = static_cast<std::int8_t>(i);
  return pool.apply(pool.permute_bytes(p), word);
}

/// SUBWORD: the S-box on each byte. In a block of four equal columns ShiftRows moves nothing.
Lane sub_word(LanePool& pool, Lane word) {
  BytePermutation four_columns;
  for (int i = 0; i < 16; i++) four_columns[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i % 4);
  return word_of(pool, pool.substitute_bytes(pool.apply(pool.permute_bytes(four_columns), word)), 0);
}

/// ROTWORD: [a0 a1 a2 a3] -> [a1 a2 a3 a0].
Lane rot_word(LanePool& pool, Lane word) {
  BytePermutation p;
  p.fill(-1);
  for (int i = 0; i < 4; i++) p[static_cast<std::size_t>(i)] = static_cast<std::int8_t>((i + 1) % 4);
  return pool.apply(pool.permute_bytes(p), word);
}

}  // namespace

Lane aes_encrypt(LanePool& pool, const std::vector<Lane>& round_keys, Lane block) {
  Lane state = pool.exclusive_or(block, round_keys.front());
  for (std::size_t round = 1; round + 1 < round_keys.size(); round++) state = pool.aes_round(state, round_keys[round]);
  return pool.aes_last_round(state, round_keys.back());
}

std::vector<Lane> aes_key_expansion(LanePool& pool, Lane first_16_bytes, Lane other_bytes, int rounds) {
  const int key_words = rounds - 6;  // Nk
  std::vector<Lane> w;
  for (int i = 0; i < key_words; i++) w.push_back(word_of(pool, i < 4 ? first_16_bytes : other_bytes, i % 4));
  std::uint8_t round_constant = 1;
  for (int i = key_words; i < 4 * (rounds + 1); i++) {
    const auto at = [&w](int n) { return w[static_cast<std::size_t>(n)]; };
    Lane t = at(i - 1);
    if (i % key_words == 0) {
      t = pool.exclusive_or(sub_word(pool, rot_word(pool, t)), pool.constant(round_constant));
      round_constant = static_cast<std::uint8_t>((round_constant << 1) ^ ((round_constant & 0x80) != 0 ? 0x1b : 0));
    } else if (key_words > 6 && i % key_words == 4) {
      t = sub_word(pool, t);
    }
    w.push_back(pool.exclusive_or(at(i - key_words), t));
  }
  std::vector<Lane> round_keys;
  for (std::size_t i = 0; i < w.size(); i += 4) {
    Lane key = pool.constant(0);
    for (int n = 0; n < 4; n++) key = pool.exclusive_or(key, place_word(pool, w[i + static_cast<std::size_t>(n)], n));
    round_keys.push_back(key);
  }
  return round_keys;
}

}  // namespace stitchgcm::verify::spec
