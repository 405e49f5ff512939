// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What OpenSSL computes: the independent answer that the tests compare with.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "bytes.hpp"

namespace tests {

struct CipherContextFree {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CipherContextFree>;

struct DigestContextFree {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, DigestContextFree>;

/// AES of whole blocks, each by itself (ECB), with a key of 16, 24 or 32 bytes.
class AesEcb {
 public:
  explicit AesEcb(View key);
  Bytes encrypt(View blocks) const;
  Block encrypt_block(const Block& block) const { return block_of(encrypt(block)); }
  /// H = AES(key, 0^128).
  Block hash_key() const { return encrypt_block(Block{}); }

 private:
  CipherContext context_;
};

/// Ciphertext and the whole tag.
struct Sealed {
  Bytes text;
  Block tag{};
};

/// AES-GCM with one key. IVs of any length: OpenSSL refuses more than 128 bytes, so a longer one is replaced by the
/// 16-byte IV with the same J0, by the model in gf128.hpp.
class OpenSslGcm {
 public:
  explicit OpenSslGcm(View key);
  Sealed seal(View iv, View aad, View text) const;
  const Block& hash_key() const { return hash_key_; }

 private:
  CipherContext context_;
  Block hash_key_{};
};

/// SHA-256 of everything added so far, which can be asked for on the way.
class Sha256 {
 public:
  Sha256();
  void add(View bytes);
  std::string hex() const;

 private:
  DigestContext context_;
};

std::string sha256_hex(View bytes);

}  // namespace tests
