// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "model.hpp"

#include <algorithm>
#include <cstring>

#include "gf128.hpp"

namespace tests {
namespace {

std::uint8_t aes_field_double(unsigned a) { return static_cast<std::uint8_t>((a << 1) ^ ((a >> 7 & 1) * 0x11b)); }

std::uint8_t aes_field_multiply(std::uint8_t a, std::uint8_t b) {
  std::uint8_t product = 0;
  for (; b != 0; b = static_cast<std::uint8_t>(b >> 1), a = aes_field_double(a)) {
    if ((b & 1) != 0) product ^= a;
  }
  return product;
}

// FIPS 197, 5.1.1: the inverse in GF(2^8), then the affine map.
std::uint8_t substitute(std::uint8_t byte) {
  std::uint8_t inverse = 0;
  for (unsigned candidate = 1; candidate < 256; ++candidate) {
    if (aes_field_multiply(byte, static_cast<std::uint8_t>(candidate)) == 1) {
      inverse = static_cast<std::uint8_t>(candidate);
    }
  }
  unsigned result = 0x63;
  for (unsigned turn = 0; turn < 5; ++turn) result ^= (inverse << turn | inverse >> (8 - turn)) & 0xff;
  return static_cast<std::uint8_t>(result);
}

using Word = std::array<std::uint8_t, 4>;

// FIPS 197, 5.2, in bytes.
std::vector<Word> expand(View key) {
  const std::size_t key_words = key.size() / 4;
  const std::size_t words = 4 * (key_words + 7);
  std::vector<Word> schedule;
  std::uint8_t round_constant = 1;
  for (std::size_t i = 0; i < words; ++i) {
    if (i < key_words) {
      schedule.push_back({key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]});
      continue;
    }
    Word word = schedule.back();
    if (i % key_words == 0) std::rotate(word.begin(), word.begin() + 1, word.end());
    if (i % key_words == 0 || (key_words == 8 && i % key_words == 4)) {
      std::transform(word.begin(), word.end(), word.begin(), substitute);
    }
    if (i % key_words == 0) {
      word[0] ^= round_constant;
      round_constant = aes_field_double(round_constant);
    }
    for (std::size_t b = 0; b < 4; ++b) word[b] ^= schedule[i - key_words][b];
    schedule.push_back(word);
  }
  return schedule;
}

}  // namespace

Model::Model(View key) : key_(key.begin(), key.end()), aes_(key), hash_key_(aes_.hash_key()) {}

Block counter_after(Block counter, std::size_t blocks) {
  std::uint32_t low = 0;
  for (std::size_t i = 12; i < 16; ++i) low = low << 8 | counter[i];
  low += static_cast<std::uint32_t>(blocks);
  for (std::size_t i = 0; i < 4; ++i) counter[15 - i] = static_cast<std::uint8_t>(low >> (8 * i));
  return counter;
}

Bytes Model::keystream(const Block& counter, std::size_t blocks) const {
  Bytes counters;
  for (std::size_t i = 0; i < blocks; ++i) {
    const Block block = counter_after(counter, i);
    counters.insert(counters.end(), block.begin(), block.end());
  }
  return aes_.encrypt(counters);
}

Bytes Model::ctr32(const Block& counter, View in) const {
  Bytes out = keystream(counter, in.size() / 16);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] ^= in[i];
  return out;
}

Block Model::ghash(const Block& accumulator, View data) const { return gf128::ghash(hash_key_, accumulator, data); }

Block Model::tag_mask(View iv) const { return aes_.encrypt_block(gf128::j0(hash_key_, iv)); }

stitchgcm_context Model::context() const {
  stitchgcm_context context = blank_context(key_.size(), 0);
  const std::vector<Word> schedule = expand(key_);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    std::copy(schedule[i].begin(), schedule[i].end(), context.round_key[i / 4] + 4 * (i % 4));
  }
  std::copy(hash_key_.begin(), hash_key_.end(), context.hash_key);
  // Times x where bytes are reversed and bit i counts x^i is division by x where SP 800-38D counts from the other end.
  Block power = gf128::multiply(hash_key_, gf128::inverse(gf128::x()));
  for (std::size_t k = 1; k <= STITCHGCM_POWERS; ++k) {
    auto& stored = context.power[STITCHGCM_POWERS - k];
    std::reverse_copy(power.begin(), power.end(), stored);
    for (std::size_t i = 0; i < 16; ++i) {
      context.middle[STITCHGCM_POWERS - k][i] = static_cast<std::uint8_t>(stored[i % 8] ^ stored[8 + i % 8]);
    }
    power = gf128::multiply(power, hash_key_);
  }
  return context;
}

stitchgcm_context blank_context(std::size_t key_bytes, std::size_t backend) {
  stitchgcm_context context;
  std::memset(&context, 0, sizeof context);
  context.rounds = static_cast<std::uint32_t>(key_bytes / 4 + 6);
  context.backend = static_cast<std::uint32_t>(backend);
  context.form = 1;
  return context;
}

View bytes_of(const stitchgcm_context& context) {
  return {reinterpret_cast<const std::uint8_t*>(&context), sizeof context};
}

}  // namespace tests
