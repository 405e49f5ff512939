// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Classes of CPU: what a peer may use of this one, so that a backend meets code written for the same instructions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stitchgcm::bench {

/// The code paths that ipsec-mb can be told to take.
enum class IpsecMbArch { sse, avx, avx2, best };

struct CpuClass {
  std::string_view name;           ///< that of our backend for it, or "native"
  std::string_view what;           ///< instructions in use, for people
  std::uint64_t libcrypto_mask_1;  ///< bits of CPUID leaf 1 to hide: EDX low, ECX high
  std::uint64_t libcrypto_mask_7;  ///< bits of CPUID leaf 7 to hide: EBX low, ECX high
  IpsecMbArch ipsec_mb;
};

/// All classes, narrowest first; the last is "native", which hides nothing.
std::span<const CpuClass> cpu_classes();

/// Null if there is none of this name.
const CpuClass* find_cpu_class(std::string_view name);

/// Hides what is above the class from OpenSSL, BoringSSL and aws-lc, which read OPENSSL_ia32cap when they are loaded:
/// call it before any of them is. Native leaves the variable as the user set it.
void hide_from_libcrypto(const CpuClass& cpu_class);

}  // namespace stitchgcm::bench
