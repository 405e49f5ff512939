// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// EVP_AEAD, the one-call interface of BoringSSL and aws-lc, with the tag apart from the text.
#include <fmt/format.h>

#include "libcrypto.hpp"

struct evp_aead_st;
struct evp_aead_ctx_st;

namespace stitchgcm::bench {
namespace {

using Aead = evp_aead_st;
using Context = evp_aead_ctx_st;
using Bytes = const std::uint8_t*;

struct EvpAead {
  explicit EvpAead(const Library& library) {
    library.get(aead[0], "EVP_aead_aes_128_gcm");
    library.get(aead[1], "EVP_aead_aes_192_gcm");
    library.get(aead[2], "EVP_aead_aes_256_gcm");
    library.get(context_new, "EVP_AEAD_CTX_new");
    library.get(context_free, "EVP_AEAD_CTX_free");
    library.get(seal, "EVP_AEAD_CTX_seal_scatter");
    library.get(open, "EVP_AEAD_CTX_open_gather");
  }

  const Aead* (*aead[3])();
  Context* (*context_new)(const Aead*, Bytes key, std::size_t key_bytes, std::size_t tag_length);
  void (*context_free)(Context*);
  int (*seal)(const Context*, std::uint8_t* out, std::uint8_t* tag, std::size_t* tag_length, std::size_t tag_room,
              Bytes iv, std::size_t iv_bytes, Bytes in, std::size_t bytes, Bytes extra_in, std::size_t extra_bytes,
              Bytes aad, std::size_t aad_bytes);
  int (*open)(const Context*, std::uint8_t* out, Bytes iv, std::size_t iv_bytes, Bytes in, std::size_t bytes, Bytes tag,
              std::size_t tag_length, Bytes aad, std::size_t aad_bytes);
};

class EvpAeadContender : public Contender {
 public:
  EvpAeadContender(std::string name, Library library)
      : Contender(std::move(name), fmt::format("{}, by EVP_AEAD; key set-up allocates", describe(library))),
        library_(std::move(library)),
        evp_(library_),
        context_(nullptr, evp_.context_free) {}

  void set_key(std::span<const std::uint8_t> key, std::size_t) override {
    key_bytes_ = key.size();
    if (!make_context(key)) throw std::runtime_error(fmt::format("{} takes no key of {} bytes", name(), key.size()));
  }

  std::size_t run(Operation operation, Job& job, std::size_t count) override {
    const std::span<const std::uint8_t> aad = job.aad();
    const std::size_t iv_bytes = job.iv_bytes();
    if (operation == Operation::seal) {
      return job.each_message(operation, count, [&](const Message& m) {
        std::size_t length = 0;
        return evp_.seal(context_.get(), m.out, m.tag, &length, tag_bytes, m.iv, iv_bytes, m.in, m.bytes, nullptr, 0,
                         aad.data(), aad.size()) == 1;
      });
    }
    if (operation == Operation::open) {
      return job.each_message(operation, count, [&](const Message& m) {
        return evp_.open(context_.get(), m.out, m.iv, iv_bytes, m.in, m.bytes, m.tag, tag_bytes, aad.data(),
                         aad.size()) == 1;
      });
    }
    return job.each_key(key_bytes_, count, [&](std::span<const std::uint8_t> key) { return make_context(key); });
  }

 private:
  bool make_context(std::span<const std::uint8_t> key) {
    context_.reset(evp_.context_new(evp_.aead[(key.size() - 16) / 8](), key.data(), key.size(), tag_bytes));
    return context_ != nullptr;
  }

  Library library_;
  EvpAead evp_;
  std::unique_ptr<Context, void (*)(Context*)> context_;
  std::size_t key_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Contender> make_evp_aead(std::string name, Library library) {
  return std::make_unique<EvpAeadContender>(std::move(name), std::move(library));
}

}  // namespace stitchgcm::bench
