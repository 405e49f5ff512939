// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "openssl.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "gf128.hpp"

namespace tests {
namespace {

constexpr std::size_t longest_iv_of_openssl = 128;

void must(int result, const char* what) {
  if (result != 1) throw std::runtime_error(fmt::format("OpenSSL: {} failed", what));
}

// OpenSSL refuses a null input pointer in places where an empty span has one.
const std::uint8_t* data_or_dummy(View bytes) {
  static const std::uint8_t dummy = 0;
  return bytes.empty() ? &dummy : bytes.data();
}

int length(View bytes) {
  if (bytes.size() > 0x7fffffff) throw std::length_error("OpenSSL takes at most 2^31 - 1 bytes a call");
  return static_cast<int>(bytes.size());
}

const EVP_CIPHER* ecb_cipher(std::size_t key_bytes) {
  switch (key_bytes) {
    case 16: return EVP_aes_128_ecb();
    case 24: return EVP_aes_192_ecb();
    case 32: return EVP_aes_256_ecb();
    default: throw std::invalid_argument(fmt::format("AES key of {} bytes", key_bytes));
  }
}

const EVP_CIPHER* gcm_cipher(std::size_t key_bytes) {
  switch (key_bytes) {
    case 16: return EVP_aes_128_gcm();
    case 24: return EVP_aes_192_gcm();
    case 32: return EVP_aes_256_gcm();
    default: throw std::invalid_argument(fmt::format("AES key of {} bytes", key_bytes));
  }
}

}  // namespace

AesEcb::AesEcb(View key) : context_(EVP_CIPHER_CTX_new()) {
  must(EVP_EncryptInit_ex(context_.get(), ecb_cipher(key.size()), nullptr, key.data(), nullptr), "AES key");
  must(EVP_CIPHER_CTX_set_padding(context_.get(), 0), "no padding");
}

Bytes AesEcb::encrypt(View blocks) const {
  Bytes out(blocks.size() + 16);
  int written = 0;
  must(EVP_EncryptUpdate(context_.get(), out.data(), &written, data_or_dummy(blocks), length(blocks)), "AES");
  out.resize(blocks.size());
  return out;
}

OpenSslGcm::OpenSslGcm(View key) : context_(EVP_CIPHER_CTX_new()), hash_key_(AesEcb(key).hash_key()) {
  must(EVP_EncryptInit_ex(context_.get(), gcm_cipher(key.size()), nullptr, key.data(), nullptr), "GCM key");
}

Sealed OpenSslGcm::seal(View iv, View aad, View text) const {
  Bytes equivalent;
  if (iv.size() > longest_iv_of_openssl) {
    equivalent = gf128::iv_for_j0(hash_key_, gf128::j0(hash_key_, iv));
    iv = equivalent;
  }
  EVP_CIPHER_CTX* context = context_.get();
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, length(iv), nullptr), "IV length");
  must(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, iv.data()), "IV");
  Sealed sealed;
  sealed.text.resize(text.size() + 16);
  int written = 0;
  must(EVP_EncryptUpdate(context, nullptr, &written, data_or_dummy(aad), length(aad)), "AAD");
  must(EVP_EncryptUpdate(context, sealed.text.data(), &written, data_or_dummy(text), length(text)), "text");
  must(EVP_EncryptFinal_ex(context, sealed.text.data() + text.size(), &written), "final");
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, sealed.tag.data()), "tag");
  sealed.text.resize(text.size());
  return sealed;
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  must(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr), "SHA-256");
}

void Sha256::add(View bytes) { must(EVP_DigestUpdate(context_.get(), data_or_dummy(bytes), bytes.size()), "SHA-256"); }

std::string Sha256::hex() const {
  const DigestContext copy(EVP_MD_CTX_new());
  must(EVP_MD_CTX_copy_ex(copy.get(), context_.get()), "SHA-256 copy");
  std::array<std::uint8_t, 32> digest{};
  must(EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr), "SHA-256 final");
  return tests::hex(digest);
}

std::string sha256_hex(View bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace tests
