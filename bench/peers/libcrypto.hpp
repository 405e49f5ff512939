// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The two interfaces by which a libcrypto seals: OpenSSL's EVP, and BoringSSL's and aws-lc's EVP_AEAD.
#pragma once

#include <memory>
#include <string>

#include "cpu_class.hpp"
#include "library.hpp"

namespace stitchgcm::bench {

std::unique_ptr<Contender> make_evp(std::string name, Library library, const CpuClass& cpu_class);
std::unique_ptr<Contender> make_evp_aead(std::string name, Library library);

/// What the library calls itself, and the file it came from.
std::string describe(const Library& library);

}  // namespace stitchgcm::bench
