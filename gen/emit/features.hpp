// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What code needs of CPU and operating system, computed from its decoded instructions.
#include <set>
#include <string>

#include "asm/lower.hpp"

namespace stitchgcm::emit {

/// How a CPU tells that it has the instructions with EVEX prefixes or mask registers: by AVX-512's bits of CPUID, or by
/// a version of AVX10 and the widths of its vectors. A CPU may do both.
enum class Enumeration { avx512, avx10 };

/// Names as in the Intel manual: "AES", "AVX", "AVX512VL", "PCLMULQDQ"; with `avx10`, "AVX10.1", "AVX10_256" (vectors
/// of up to 256 bits) and "AVX10_512" in place of all that begin with AVX512. Throws std::runtime_error for an
/// instruction set that is not in the table, so that a new instruction cannot slip in without the runtime testing for
/// it.
std::set<std::string> features(const assembly::LoweredRoutine& routine, Enumeration by = Enumeration::avx512);

/// "AES AVX PCLMULQDQ"
std::string joined(const std::set<std::string>& names);

/// The bits of the widest vector register that an instruction names: 128, 256, 512, or 0 if none names one.
unsigned vector_bits(const assembly::LoweredRoutine& routine);

/// The bits of XCR0 that must be set for the instructions to be allowed: 1 and 2 for vectors by VEX, 5 to 7 as well for
/// EVEX and masks (Intel SDM, volume 1, 14.3 and 15.2). None for legacy encodings, and for VEX on general registers.
uint64_t register_state(const assembly::LoweredRoutine& routine);

}  // namespace stitchgcm::emit
