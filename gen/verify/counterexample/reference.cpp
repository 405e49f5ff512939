// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/counterexample/reference.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace stitchgcm::verify::reference {
namespace {

constexpr std::size_t kBlock = 16;

Block exclusive_or(Block a, const Block& b) {
  for (std::size_t i = 0; i < kBlock; i++) a[i] = static_cast<std::uint8_t>(a[i] ^ b[i]);
  return a;
}

void put_big_endian(std::uint64_t value, std::uint8_t* to) {
  for (int i = 0; i < 8; i++) to[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
}

Block lengths(std::uint64_t a_bytes, std::uint64_t b_bytes) {
  Block block;
  put_big_endian(8 * a_bytes, block.data());
  put_big_endian(8 * b_bytes, block.data() + 8);
  return block;
}

/// A power as stitchgcm_layout.h says it is stored: bytes reversed, times x.
Block stored(const Block& power) {
  std::uint64_t low = 0, high = 0;
  for (std::size_t i = 0; i < 8; i++) {
    high = high << 8 | power[i];
    low = low << 8 | power[8 + i];
  }
  const bool carry = high >> 63 != 0;
  high = high << 1 | low >> 63;
  low <<= 1;
  if (carry) high ^= 0xc200000000000000, low ^= 1;  // x^128 = x^127 + x^126 + x^121 + 1
  Block p;
  std::memcpy(p.data(), &low, 8);
  std::memcpy(p.data() + 8, &high, 8);
  return p;
}

std::uint8_t doubled(std::uint8_t a) { return static_cast<std::uint8_t>(a << 1 ^ ((a & 0x80) != 0 ? 0x1b : 0)); }

/// SBOX (FIPS 197, 5.1.1): 3 generates the field's multiplicative group and 0xf6 is its inverse, so that one runs
/// through all elements while the other runs through their inverses.
std::array<std::uint8_t, 256> make_s_box() {
  std::array<std::uint8_t, 256> box{};
  std::uint8_t p = 1, inverse = 1;
  do {
    p = static_cast<std::uint8_t>(p ^ doubled(p));
    inverse = static_cast<std::uint8_t>(inverse ^ inverse << 1);
    inverse = static_cast<std::uint8_t>(inverse ^ inverse << 2);
    inverse = static_cast<std::uint8_t>(inverse ^ inverse << 4);
    if ((inverse & 0x80) != 0) inverse = static_cast<std::uint8_t>(inverse ^ 0x09);
    std::uint8_t sum = 0x63;
    for (int r = 0; r < 5; r++) sum = static_cast<std::uint8_t>(sum ^ std::rotl(inverse, r));
    box[p] = sum;
  } while (p != 1);
  box[0] = 0x63;
  return box;
}

/// KEYEXPANSION (FIPS 197, 5.2), byte by byte.
std::vector<Block> round_keys(const Bytes& key, int rounds) {
  static const std::array<std::uint8_t, 256> kSBox = make_s_box();
  Bytes w = key;
  const std::size_t bytes = kBlock * (static_cast<std::size_t>(rounds) + 1);
  for (std::uint8_t constant = 1; w.size() < bytes;) {
    std::array<std::uint8_t, 4> t;
    std::copy(w.end() - 4, w.end(), t.begin());
    if (w.size() % key.size() == 0) {
      std::rotate(t.begin(), t.begin() + 1, t.end());
      for (std::uint8_t& b : t) b = kSBox[b];
      t[0] = static_cast<std::uint8_t>(t[0] ^ constant);
      constant = doubled(constant);
    } else if (key.size() == 32 && w.size() % key.size() == 16) {
      for (std::uint8_t& b : t) b = kSBox[b];
    }
    for (const std::uint8_t b : t) w.push_back(static_cast<std::uint8_t>(b ^ w[w.size() - key.size()]));
  }
  std::vector<Block> keys(static_cast<std::size_t>(rounds) + 1);
  for (std::size_t i = 0; i < bytes; i++) keys[i / kBlock][i % kBlock] = w[i];
  return keys;
}

}  // namespace

Block multiply(const Block& x, const Block& y) {
  Block z{}, v = y;
  for (std::size_t i = 0; i < 8 * kBlock; i++) {
    if ((x[i / 8] >> (7 - i % 8) & 1) != 0) z = exclusive_or(z, v);
    const bool carry = (v[kBlock - 1] & 1) != 0;
    for (std::size_t n = kBlock - 1; n > 0; n--) v[n] = static_cast<std::uint8_t>(v[n] >> 1 | v[n - 1] << 7);
    v[0] = static_cast<std::uint8_t>(v[0] >> 1 ^ (carry ? 0xe1 : 0));
  }
  return z;
}

Block add_to_counter(Block counter, std::uint64_t n) {
  std::uint32_t low = 0;
  for (std::size_t i = 12; i < kBlock; i++) low = low << 8 | counter[i];
  low += static_cast<std::uint32_t>(n);
  for (std::size_t i = 0; i < 4; i++) counter[kBlock - 1 - i] = static_cast<std::uint8_t>(low >> (8 * i));
  return counter;
}

Key::Key(const Bytes& key) : key_(key), cipher_(EVP_CIPHER_CTX_new()) {
  const EVP_CIPHER* cipher = key.size() == 16   ? EVP_aes_128_ecb()
                             : key.size() == 24 ? EVP_aes_192_ecb()
                                                : EVP_aes_256_ecb();
  if (!cipher_ || EVP_EncryptInit_ex(cipher_.get(), cipher, nullptr, key.data(), nullptr) != 1) {
    throw std::runtime_error("AES is not to be had from libcrypto");
  }
  hash_key_ = encrypt({});
}

Block Key::encrypt(const Block& block) const {
  Block out;
  int bytes = 0;
  if (EVP_EncryptUpdate(cipher_.get(), out.data(), &bytes, block.data(), kBlock) != 1 || bytes != kBlock) {
    throw std::runtime_error("libcrypto does not encrypt");
  }
  return out;
}

Block Key::ghash(Block y, std::span<const std::uint8_t> data) const {
  for (; !data.empty(); data = data.subspan(std::min(kBlock, data.size()))) {
    for (std::size_t i = 0; i < std::min(kBlock, data.size()); i++) y[i] = static_cast<std::uint8_t>(y[i] ^ data[i]);
    y = multiply(y, hash_key_);
  }
  return y;
}

Bytes Key::counter_mode(Block counter, std::span<const std::uint8_t> text) const {
  Bytes out(text.begin(), text.end());
  Block pad{};
  for (std::size_t i = 0; i < out.size(); i++) {
    if (i % kBlock == 0) pad = encrypt(add_to_counter(counter, i / kBlock));
    out[i] = static_cast<std::uint8_t>(out[i] ^ pad[i % kBlock]);
  }
  return out;
}

Block Key::first_counter(std::span<const std::uint8_t> iv) const {
  constexpr std::size_t kUsualBytes = 12;
  if (iv.size() != kUsualBytes) return multiply(exclusive_or(ghash({}, iv), lengths(0, iv.size())), hash_key_);
  Block j0{};
  std::copy(iv.begin(), iv.end(), j0.begin());
  j0[kBlock - 1] = 1;
  return j0;
}

Block Key::tag(std::span<const std::uint8_t> iv, std::span<const std::uint8_t> aad,
               std::span<const std::uint8_t> ciphertext) const {
  const Block y = ghash(ghash({}, aad), ciphertext);
  const Block s = multiply(exclusive_or(y, lengths(aad.size(), ciphertext.size())), hash_key_);
  return exclusive_or(s, encrypt(first_counter(iv)));
}

void Key::write_into(stitchgcm_context& context) const {
  const std::vector<Block> keys = round_keys(key_, rounds());
  for (std::size_t i = 0; i < keys.size(); i++) std::copy(keys[i].begin(), keys[i].end(), context.round_key[i]);
  std::copy(hash_key_.begin(), hash_key_.end(), context.hash_key);
  context.rounds = static_cast<std::uint32_t>(rounds());
  Block power = hash_key_;
  for (std::size_t exponent = 1; exponent <= STITCHGCM_POWERS; exponent++) {
    const Block p = stored(power);
    std::copy(p.begin(), p.end(), context.power[STITCHGCM_POWERS - exponent]);
    std::uint8_t* const middle = context.middle[STITCHGCM_POWERS - exponent];
    for (std::size_t i = 0; i < kBlock; i++) middle[i] = static_cast<std::uint8_t>(p[i] ^ p[i ^ 8]);
    power = multiply(power, hash_key_);
  }
}

}  // namespace stitchgcm::verify::reference
