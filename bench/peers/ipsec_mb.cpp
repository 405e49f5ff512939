// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// intel-ipsec-mb's direct API: one call a message, with a key that was expanded once.
#include <fmt/format.h>

#include "peers.hpp"

#if STITCHGCM_BENCH_HAVE_IPSEC_MB
#include <dlfcn.h>
#include <intel-ipsec-mb.h>

#include <cstring>
#endif

namespace stitchgcm::bench {

#if STITCHGCM_BENCH_HAVE_IPSEC_MB

namespace {

// The library's functions by key length, as its macros IMB_AES128_GCM_ENC and so on would pick them.
struct Routines {
  aes_gcm_enc_dec_t seal;
  aes_gcm_enc_dec_t open;
  aes_gcm_init_var_iv_t init;
  aes_gcm_enc_dec_update_t seal_update;
  aes_gcm_enc_dec_update_t open_update;
  aes_gcm_enc_dec_finalize_t seal_finalize;
  aes_gcm_enc_dec_finalize_t open_finalize;
  aes_gcm_pre_t key_setup;
};

struct FreeManager {
  void operator()(IMB_MGR* manager) const { free_mb_mgr(manager); }
};
using Manager = std::unique_ptr<IMB_MGR, FreeManager>;

Manager make_manager(const CpuClass& cpu_class) {
  // No GFNI and no SHA below native: neither is AES-GCM's, but they would let the library choose wider code.
  const bool all = cpu_class.ipsec_mb == IpsecMbArch::best;
  Manager manager(alloc_mb_mgr(all ? 0 : IMB_FLAG_SHANI_OFF | IMB_FLAG_GFNI_OFF));
  if (!manager) throw Unavailable("ipsec-mb: no memory for its manager");
  switch (cpu_class.ipsec_mb) {
    case IpsecMbArch::sse: init_mb_mgr_sse(manager.get()); break;
    case IpsecMbArch::avx: init_mb_mgr_avx(manager.get()); break;
    case IpsecMbArch::avx2: init_mb_mgr_avx2(manager.get()); break;
    case IpsecMbArch::best: init_mb_mgr_auto(manager.get(), nullptr); break;
  }
  const int error = imb_get_errno(manager.get());
  if (error != 0) throw Unavailable(fmt::format("ipsec-mb: class {}: {}", cpu_class.name, imb_get_strerror(error)));
  return manager;
}

Routines routines_for(const IMB_MGR& m, std::size_t key_bytes) {
  if (key_bytes == 16) {
    return {m.gcm128_enc,        m.gcm128_dec,          m.gcm128_init_var_iv,  m.gcm128_enc_update,
            m.gcm128_dec_update, m.gcm128_enc_finalize, m.gcm128_dec_finalize, m.gcm128_pre};
  }
  if (key_bytes == 24) {
    return {m.gcm192_enc,        m.gcm192_dec,          m.gcm192_init_var_iv,  m.gcm192_enc_update,
            m.gcm192_dec_update, m.gcm192_enc_finalize, m.gcm192_dec_finalize, m.gcm192_pre};
  }
  return {m.gcm256_enc,        m.gcm256_dec,          m.gcm256_init_var_iv,  m.gcm256_enc_update,
          m.gcm256_dec_update, m.gcm256_enc_finalize, m.gcm256_dec_finalize, m.gcm256_pre};
}

// The name of the code that seals with AES-128: it tells more than used_arch, which is the same for several.
std::string code_path(const IMB_MGR& manager) {
  constexpr std::array<const char*, IMB_ARCH_NUM> names{"none", "no AES-NI", "SSE", "AVX", "AVX2", "AVX512"};
  const char* arch = manager.used_arch < names.size() ? names[manager.used_arch] : "unknown";
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<void*>(manager.gcm128_enc), &info) != 0 && info.dli_sname != nullptr;
  return fmt::format("arch {}{}{}", arch, found ? ", " : "", found ? info.dli_sname : "");
}

class IpsecMb : public Contender {
 public:
  explicit IpsecMb(Manager manager)
      : Contender("ipsec-mb",
                  fmt::format("intel-ipsec-mb {}, direct API, {}", imb_get_version_str(), code_path(*manager))),
        manager_(std::move(manager)) {}

  void set_key(std::span<const std::uint8_t> key, std::size_t iv_bytes) override {
    key_bytes_ = key.size();
    short_iv_ = iv_bytes == IMB_GCM_IV_DATA_LEN;
    routines_ = routines_for(*manager_, key.size());
    routines_.key_setup(key.data(), &key_);
  }

  std::size_t run(Operation operation, Job& job, std::size_t count) override {
    if (operation == Operation::seal) {
      return job.each_message(operation, count, [&](const Message& message) {
        if (short_iv_) {
          one_call(routines_.seal, message, job, message.tag);
        } else {
          three_calls(routines_.seal_update, routines_.seal_finalize, message, job, message.tag);
        }
        return true;
      });
    }
    if (operation == Operation::open) {
      return job.each_message(operation, count, [&](const Message& message) {
        Tag tag;
        if (short_iv_) {
          one_call(routines_.open, message, job, tag.data());
        } else {
          three_calls(routines_.open_update, routines_.open_finalize, message, job, tag.data());
        }
        return equal(tag.data(), message.tag);
      });
    }
    return job.each_key(key_bytes_, count, [&](std::span<const std::uint8_t> key) {
      routines_.key_setup(key.data(), &key_);
      return true;
    });
  }

 private:
  void one_call(aes_gcm_enc_dec_t routine, const Message& m, const Job& job, std::uint8_t* tag) {
    routine(&key_, &context_, m.out, m.in, m.bytes, m.iv, job.aad().data(), job.aad().size(), tag, tag_bytes);
  }

  void three_calls(aes_gcm_enc_dec_update_t update, aes_gcm_enc_dec_finalize_t finalize, const Message& m,
                   const Job& job, std::uint8_t* tag) {
    routines_.init(&key_, &context_, m.iv, job.iv_bytes(), job.aad().data(), job.aad().size());
    update(&key_, &context_, m.out, m.in, m.bytes);
    finalize(&key_, &context_, tag, tag_bytes);
  }

  // The library leaves the comparison to its user; this one takes the same time wherever the tags differ.
  static bool equal(const std::uint8_t* a, const std::uint8_t* b) {
    std::uint64_t x[2];
    std::uint64_t y[2];
    std::memcpy(x, a, sizeof x);
    std::memcpy(y, b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
  }

  Manager manager_;
  Routines routines_{};
  alignas(64) gcm_key_data key_{};  // its header asks for it only when LINUX is defined
  gcm_context_data context_{};
  std::size_t key_bytes_ = 0;
  bool short_iv_ = true;
};

}  // namespace

std::unique_ptr<Contender> make_ipsec_mb(const CpuClass& cpu_class) {
  return std::make_unique<IpsecMb>(make_manager(cpu_class));
}

#else

std::unique_ptr<Contender> make_ipsec_mb(const CpuClass&) {
  throw Unavailable("ipsec-mb: this program was built without it (Debian's libipsec-mb-dev)");
}

#endif

}  // namespace stitchgcm::bench
