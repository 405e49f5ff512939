// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// AES-GCM on bytes, to run the code against: AES is OpenSSL's, the rest is SP 800-38D and FIPS 197 written down
// plainly. It shares nothing with the specification that proofs use, so that a mistake there shows as a proof that
// fails while the code does nothing wrong.
#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gcm/layout.hpp"

namespace stitchgcm::verify::reference {

using Block = std::array<std::uint8_t, 16>;
using Bytes = std::vector<std::uint8_t>;

/// The product in GF(2^128) (6.3, algorithm 1).
Block multiply(const Block& x, const Block& y);

/// The 32 bits at the end of a counter block, plus n modulo 2^32 (6.2).
Block add_to_counter(Block counter, std::uint64_t n);

class Key {
 public:
  /// 16, 24 or 32 bytes. Throws std::runtime_error if libcrypto has no AES.
  explicit Key(const Bytes& key);

  const Bytes& bytes() const { return key_; }
  int rounds() const { return static_cast<int>(key_.size()) / 4 + 6; }
  Block encrypt(const Block& block) const;
  const Block& hash_key() const { return hash_key_; }

  /// Y after the blocks of data (6.4), the last one filled up with zeros.
  Block ghash(Block y, std::span<const std::uint8_t> data) const;
  /// The text XOR the keystream that begins with this counter block (6.5).
  Bytes counter_mode(Block counter, std::span<const std::uint8_t> text) const;

  /// J0 (7.1, steps 2 and 3 of algorithm 4).
  Block first_counter(std::span<const std::uint8_t> iv) const;
  /// T, before it is cut to the tag's length (7.1).
  Block tag(std::span<const std::uint8_t> iv, std::span<const std::uint8_t> aad,
            std::span<const std::uint8_t> ciphertext) const;

  /// What init writes into a context, which may hold anything before.
  void write_into(stitchgcm_context& context) const;

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* c) const { EVP_CIPHER_CTX_free(c); }
  };
  Bytes key_;
  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
  Block hash_key_{};
};

}  // namespace stitchgcm::verify::reference
