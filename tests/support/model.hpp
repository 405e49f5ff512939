// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What the routines of a backend's table must compute, from OpenSSL's AES of single blocks and the slow field.
#pragma once

#include "bytes.hpp"
#include "openssl.hpp"
#include "stitchgcm_layout.h"

namespace tests {

class Model {
 public:
  explicit Model(View key);

  const Block& hash_key() const { return hash_key_; }

  /// counter, counter + 1, ... (32 bits, big-endian, modulo 2^32), each through AES.
  Bytes keystream(const Block& counter, std::size_t blocks) const;

  /// in ^ keystream, whole blocks.
  Bytes ctr32(const Block& counter, View in) const;

  Block ghash(const Block& accumulator, View data) const;

  /// E(J0), which masks the tag.
  Block tag_mask(View iv) const;

  /// The context as init leaves it: all fields but those that the runtime sets.
  /// Round keys by FIPS 197 section 5.2, powers as stitchgcm_layout.h says.
  stitchgcm_context context() const;

 private:
  Bytes key_;
  AesEcb aes_;
  Block hash_key_;
};

/// The counter block `blocks` later: its last 32 bits plus `blocks` modulo 2^32.
Block counter_after(Block counter, std::size_t blocks);

/// The context that init is called with: zeros, and the fields that the runtime sets.
stitchgcm_context blank_context(std::size_t key_bytes, std::size_t backend);

View bytes_of(const stitchgcm_context& context);

}  // namespace tests
