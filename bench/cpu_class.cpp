// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "cpu_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace stitchgcm::bench {
namespace {

constexpr std::uint64_t ecx(unsigned bit) { return std::uint64_t{1} << (32 + bit); }
constexpr std::uint64_t ebx(unsigned bit) { return std::uint64_t{1} << bit; }

// CPUID leaf 1, ECX, and leaf 7 subleaf 0 (Intel SDM volume 2A, CPUID). OpenSSL's manual page OPENSSL_ia32cap(3) tells
// how the variable lays them out: leaf 1 as EDX, ECX; a colon; leaf 7 as EBX, ECX; a tilde clears the bits that follow.
constexpr std::uint64_t avx = ecx(28);
constexpr std::uint64_t avx2 = ebx(5);
constexpr std::uint64_t avx512 = ebx(16) | ebx(17) | ebx(21) | ebx(28) | ebx(30) | ebx(31);  // F DQ IFMA CD BW VL
constexpr std::uint64_t vaes = ecx(9) | ecx(10);                                             // VAES and VPCLMULQDQ

constexpr std::array classes{
    CpuClass{"aesni", "AES-NI, PCLMULQDQ, SSE4.1", avx, avx2 | avx512 | vaes, IpsecMbArch::sse},
    CpuClass{"aesni_avx", "AES-NI, PCLMULQDQ, AVX", 0, avx2 | avx512 | vaes, IpsecMbArch::avx},
    CpuClass{"vaes_avx2", "VAES, VPCLMULQDQ, AVX2", 0, avx512, IpsecMbArch::avx2},
    CpuClass{"native", "all that this CPU has", 0, 0, IpsecMbArch::best},
};

}  // namespace

std::span<const CpuClass> cpu_classes() { return classes; }

const CpuClass* find_cpu_class(std::string_view name) {
  const auto* found =
      std::find_if(classes.begin(), classes.end(), [&](const CpuClass& one) { return one.name == name; });
  return found == classes.end() ? nullptr : found;
}

void hide_from_libcrypto(const CpuClass& cpu_class) {
  if (cpu_class.libcrypto_mask_1 == 0 && cpu_class.libcrypto_mask_7 == 0) return;
  const std::string leaf_1 =
      cpu_class.libcrypto_mask_1 != 0 ? fmt::format("~{:#x}", cpu_class.libcrypto_mask_1) : std::string();
  const std::string value = fmt::format("{}:~{:#x}", leaf_1, cpu_class.libcrypto_mask_7);
  ::setenv("OPENSSL_ia32cap", value.c_str(), 1);
}

}  // namespace stitchgcm::bench
