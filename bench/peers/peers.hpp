// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Other people's libraries as contenders. Each function throws Unavailable if the library is not here.
#pragma once

#include <memory>
#include <string>

#include "contender.hpp"
#include "cpu_class.hpp"

namespace stitchgcm::bench {

/// The installed OpenSSL, by EVP.
std::unique_ptr<Contender> make_openssl(const CpuClass& cpu_class);

/// intel-ipsec-mb's direct API, with the manager that the class allows.
std::unique_ptr<Contender> make_ipsec_mb(const CpuClass& cpu_class);

/// The libcrypto in this file: by EVP_AEAD if it has that (BoringSSL, aws-lc), else by EVP.
std::unique_ptr<Contender> make_dynamic(const std::string& path, const CpuClass& cpu_class);

}  // namespace stitchgcm::bench
