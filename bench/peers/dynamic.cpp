// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "libcrypto.hpp"
#include "peers.hpp"

namespace stitchgcm::bench {

std::string describe(const Library& library) {
  const char* (*version)(int) = nullptr;
  const char* text = library.find(version, "OpenSSL_version") ? version(0) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? text : "a libcrypto without a version", library.path());
}

std::unique_ptr<Contender> make_openssl(const CpuClass& cpu_class) {
  // The file that CMake found; on a machine that is not the one it was built on, whatever the loader finds.
  std::string reason;
  for (const char* path : std::array{STITCHGCM_BENCH_LIBCRYPTO, "libcrypto.so.3", "libcrypto.so"}) {
    try {
      return make_evp("openssl", Library(path), cpu_class);
    } catch (const Unavailable& error) {
      if (reason.empty()) reason = error.what();
    }
  }
  throw Unavailable(reason);
}

std::unique_ptr<Contender> make_dynamic(const std::string& path, const CpuClass& cpu_class) {
  // A path without a slash would be looked for among the system's libraries: not what a file name means elsewhere.
  Library library(std::filesystem::absolute(path).string());
  const std::string name = std::filesystem::path(path).filename().string();
  const bool aead = library.has("EVP_AEAD_CTX_seal_scatter");
  return aead ? make_evp_aead(name, std::move(library)) : make_evp(name, std::move(library), cpu_class);
}

}  // namespace stitchgcm::bench
