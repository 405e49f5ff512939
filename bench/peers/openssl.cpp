// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// OpenSSL's EVP as its manual page EVP_EncryptInit(3) says to use it for AEAD: the cipher fetched once, one context
// for each direction that keeps the key, and per message only a new IV. The tag goes by way of parameters where there
// are (OpenSSL 3): on an AMD Zen 3 that is 20 ns a message faster than EVP_CIPHER_CTX_ctrl, which makes them each time.
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "libcrypto.hpp"

struct evp_cipher_ctx_st;
struct evp_cipher_st;

namespace stitchgcm::bench {
namespace {

using Context = evp_cipher_ctx_st;
using Cipher = evp_cipher_st;
using Bytes = const unsigned char*;

// Numbers of OpenSSL's public headers evp.h and crypto.h, which its ABI keeps.
constexpr int set_iv_length = 0x9;
constexpr int get_tag = 0x10;
constexpr int set_tag = 0x11;
constexpr int cpu_settings = 1008;
constexpr unsigned octet_string = 5;

// OSSL_PARAM(3). A list of them ends with one without a key.
struct Parameter {
  const char* key = nullptr;
  unsigned type = 0;
  void* data = nullptr;
  std::size_t size = 0;
  std::size_t size_returned = 0;
};
using TagParameters = std::array<Parameter, 2>;

TagParameters tag_parameters(std::uint8_t* tag) { return {Parameter{"tag", octet_string, tag, tag_bytes, 0}, {}}; }

struct Evp {
  explicit Evp(const Library& library) {
    library.get(context_new, "EVP_CIPHER_CTX_new");
    library.get(context_free, "EVP_CIPHER_CTX_free");
    library.get(control, "EVP_CIPHER_CTX_ctrl");
    library.get(encrypt_init, "EVP_EncryptInit_ex");
    library.get(encrypt_update, "EVP_EncryptUpdate");
    library.get(encrypt_final, "EVP_EncryptFinal_ex");
    library.get(decrypt_init, "EVP_DecryptInit_ex");
    library.get(decrypt_update, "EVP_DecryptUpdate");
    library.get(decrypt_final, "EVP_DecryptFinal_ex");
    library.get(cipher_by_number[0], "EVP_aes_128_gcm");
    library.get(cipher_by_number[1], "EVP_aes_192_gcm");
    library.get(cipher_by_number[2], "EVP_aes_256_gcm");
    library.find(fetch, "EVP_CIPHER_fetch");  // from OpenSSL 3 on
    library.find(cipher_free, "EVP_CIPHER_free");
    library.find(get_parameters, "EVP_CIPHER_CTX_get_params");
    library.find(set_parameters, "EVP_CIPHER_CTX_set_params");
    library.find(info, "OPENSSL_info");
  }

  using Init = int(Context*, const Cipher*, void* engine, Bytes key, Bytes iv);
  using Update = int(Context*, unsigned char* out, int* out_bytes, Bytes in, int bytes);
  using Final = int(Context*, unsigned char* out, int* out_bytes);
  Context* (*context_new)();
  void (*context_free)(Context*);
  int (*control)(Context*, int command, int number, void* pointer);
  Init* encrypt_init;
  Update* encrypt_update;
  Final* encrypt_final;
  Init* decrypt_init;
  Update* decrypt_update;
  Final* decrypt_final;
  const Cipher* (*cipher_by_number[3])();
  Cipher* (*fetch)(void* library_context, const char* name, const char* properties);
  void (*cipher_free)(Cipher*);
  int (*get_parameters)(Context*, Parameter*);
  int (*set_parameters)(Context*, const Parameter*);
  const char* (*info)(int what);
};

// What the library says it sees of the CPU, held against what the class hides: a mask that did not work must not pass
// as a comparison within one class.
std::string cpu_seen(const Evp& evp, const CpuClass& cpu_class) {
  const char* settings = evp.info != nullptr ? evp.info(cpu_settings) : nullptr;
  if (settings == nullptr) return "does not tell what it sees of the CPU";
  const std::string text(settings);
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || colon == std::string::npos) return text;
  const std::uint64_t leaf_1 = std::strtoull(text.c_str() + equals + 1, nullptr, 16);
  const std::uint64_t leaf_7 = std::strtoull(text.c_str() + colon + 1, nullptr, 16);
  if ((leaf_1 & cpu_class.libcrypto_mask_1) != 0 || (leaf_7 & cpu_class.libcrypto_mask_7) != 0) {
    throw std::runtime_error(fmt::format("OpenSSL did not take the mask for class {}: {}", cpu_class.name, text));
  }
  return text;
}

class EvpContender : public Contender {
 public:
  EvpContender(std::string name, Library&& library, const CpuClass& cpu_class)
      : EvpContender(std::move(name), Evp(library), std::move(library), cpu_class) {}

  ~EvpContender() override {
    evp_.context_free(encrypt_);
    evp_.context_free(decrypt_);
    free_cipher();
  }

  void set_key(std::span<const std::uint8_t> key, std::size_t iv_bytes) override {
    free_cipher();
    cipher_ = nullptr;
    key_bytes_ = key.size();
    if (evp_.fetch != nullptr) {
      fetched_ = evp_.fetch(nullptr, fmt::format("AES-{}-GCM", 8 * key.size()).c_str(), nullptr);
      cipher_ = fetched_;
    }
    if (cipher_ == nullptr) cipher_ = evp_.cipher_by_number[(key.size() - 16) / 8]();
    const int iv_length = static_cast<int>(iv_bytes);
    const bool ok = evp_.encrypt_init(encrypt_, cipher_, nullptr, nullptr, nullptr) == 1 &&
                    evp_.decrypt_init(decrypt_, cipher_, nullptr, nullptr, nullptr) == 1 &&
                    evp_.control(encrypt_, set_iv_length, iv_length, nullptr) == 1 &&
                    evp_.control(decrypt_, set_iv_length, iv_length, nullptr) == 1 &&
                    evp_.encrypt_init(encrypt_, nullptr, nullptr, key.data(), nullptr) == 1 &&
                    evp_.decrypt_init(decrypt_, nullptr, nullptr, key.data(), nullptr) == 1;
    if (!ok)
      throw std::runtime_error(fmt::format("{} takes no key of {} and IV of {} bytes", name(), key.size(), iv_bytes));
  }

  std::size_t run(Operation operation, Job& job, std::size_t count) override {
    const std::span<const std::uint8_t> aad = job.aad();
    if (operation == Operation::seal) {
      return job.each_message(operation, count, [&](const Message& message) { return seal(message, aad); });
    }
    if (operation == Operation::open) {
      return job.each_message(operation, count, [&](const Message& message) { return open(message, aad); });
    }
    return job.each_key(key_bytes_, count, [&](std::span<const std::uint8_t> key) {
      return evp_.encrypt_init(encrypt_, nullptr, nullptr, key.data(), nullptr) == 1;
    });
  }

 private:
  EvpContender(std::string name, const Evp& evp, Library&& library, const CpuClass& cpu_class)
      : Contender(std::move(name), fmt::format("{}, by EVP, {}", describe(library), cpu_seen(evp, cpu_class))),
        library_(std::move(library)),
        evp_(evp),
        encrypt_(evp_.context_new()),
        decrypt_(evp_.context_new()) {}

  bool seal(const Message& m, std::span<const std::uint8_t> aad) {
    int done = 0;
    bool ok = evp_.encrypt_init(encrypt_, nullptr, nullptr, nullptr, m.iv) == 1;
    if (!aad.empty())
      ok &= evp_.encrypt_update(encrypt_, nullptr, &done, aad.data(), static_cast<int>(aad.size())) == 1;
    if (m.bytes != 0) ok &= evp_.encrypt_update(encrypt_, m.out, &done, m.in, static_cast<int>(m.bytes)) == 1;
    ok &= evp_.encrypt_final(encrypt_, m.out + m.bytes, &done) == 1;
    return ok && read_tag(m.tag);
  }

  bool open(const Message& m, std::span<const std::uint8_t> aad) {
    int done = 0;
    bool ok = evp_.decrypt_init(decrypt_, nullptr, nullptr, nullptr, m.iv) == 1;
    if (!aad.empty())
      ok &= evp_.decrypt_update(decrypt_, nullptr, &done, aad.data(), static_cast<int>(aad.size())) == 1;
    if (m.bytes != 0) ok &= evp_.decrypt_update(decrypt_, m.out, &done, m.in, static_cast<int>(m.bytes)) == 1;
    ok &= write_tag(m.tag);
    ok &= evp_.decrypt_final(decrypt_, m.out + m.bytes, &done) == 1;
    return ok;
  }

  bool read_tag(std::uint8_t* tag) {
    if (evp_.get_parameters == nullptr) return evp_.control(encrypt_, get_tag, tag_bytes, tag) == 1;
    TagParameters parameters = tag_parameters(tag);
    return evp_.get_parameters(encrypt_, parameters.data()) == 1;
  }

  bool write_tag(std::uint8_t* tag) {
    if (evp_.set_parameters == nullptr) return evp_.control(decrypt_, set_tag, tag_bytes, tag) == 1;
    const TagParameters parameters = tag_parameters(tag);
    return evp_.set_parameters(decrypt_, parameters.data()) == 1;
  }

  void free_cipher() {
    if (fetched_ != nullptr) evp_.cipher_free(fetched_);
    fetched_ = nullptr;
  }

  Library library_;
  Evp evp_;
  Context* encrypt_;
  Context* decrypt_;
  Cipher* fetched_ = nullptr;
  const Cipher* cipher_ = nullptr;
  std::size_t key_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Contender> make_evp(std::string name, Library library, const CpuClass& cpu_class) {
  return std::make_unique<EvpContender>(std::move(name), std::move(library), cpu_class);
}

}  // namespace stitchgcm::bench
