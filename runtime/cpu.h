/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* What the CPU and the operating system let us use. Internal. */
#ifndef STITCHGCM_CPU_H
#define STITCHGCM_CPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One bit each; a set of features is their sum, in a uint64_t. Emitted headers name them as here: SSE4.1 as SSE4_1. */
typedef enum stitchgcm_cpu_feature {
  STITCHGCM_CPU_AES = 1 << 0,
  STITCHGCM_CPU_PCLMULQDQ = 1 << 1,
  STITCHGCM_CPU_SSSE3 = 1 << 2,
  STITCHGCM_CPU_SSE4_1 = 1 << 3,
  STITCHGCM_CPU_MOVBE = 1 << 4,
  STITCHGCM_CPU_AVX = 1 << 5,
  STITCHGCM_CPU_AVX2 = 1 << 6,
  STITCHGCM_CPU_BMI1 = 1 << 7,
  STITCHGCM_CPU_BMI2 = 1 << 8,
  STITCHGCM_CPU_VAES = 1 << 9,
  STITCHGCM_CPU_VPCLMULQDQ = 1 << 10,
  STITCHGCM_CPU_AVX512F = 1 << 11,
  STITCHGCM_CPU_AVX512DQ = 1 << 12,
  STITCHGCM_CPU_AVX512BW = 1 << 13,
  STITCHGCM_CPU_AVX512VL = 1 << 14,
  STITCHGCM_CPU_AVX512VBMI = 1 << 15,
  STITCHGCM_CPU_AVX10 = 1 << 16,     /* some version of AVX10 */
  STITCHGCM_CPU_AVX10_1 = 1 << 17,   /* version 1 or later */
  STITCHGCM_CPU_AVX10_2 = 1 << 18,   /* version 2 or later */
  STITCHGCM_CPU_AVX10_256 = 1 << 19, /* AVX10 with 256-bit vectors */
  STITCHGCM_CPU_AVX10_512 = 1 << 20, /* AVX10 with 512-bit vectors */
  STITCHGCM_CPU_SSE3 = 1 << 21
} stitchgcm_cpu_feature;

/* The CPUID registers that matter here, by leaf and sub-leaf. */
typedef enum stitchgcm_cpuid_register {
  STITCHGCM_CPUID_0_EAX, /* the highest leaf */
  STITCHGCM_CPUID_0_EBX, /* the maker's name, in the order EBX, EDX, ECX */
  STITCHGCM_CPUID_0_ECX,
  STITCHGCM_CPUID_0_EDX,
  STITCHGCM_CPUID_1_EAX, /* family, model and stepping */
  STITCHGCM_CPUID_1_ECX,
  STITCHGCM_CPUID_7_EAX, /* the highest sub-leaf of leaf 7 */
  STITCHGCM_CPUID_7_EBX,
  STITCHGCM_CPUID_7_ECX,
  STITCHGCM_CPUID_7_1_EDX,
  STITCHGCM_CPUID_24_EBX, /* leaf 0x24 */
  STITCHGCM_CPUID_REGISTERS
} stitchgcm_cpuid_register;

typedef struct stitchgcm_cpuid {
  uint32_t value[STITCHGCM_CPUID_REGISTERS];
} stitchgcm_cpuid;

/*
 * The set of features of a CPU with these registers under an operating system that set this XCR0. Pure.
 * A feature counts only if
 *   - its leaf and sub-leaf are there: what is read beyond the highest one means nothing;
 *   - what it builds on counts too (AVX2 and VAES on AVX, AVX-512BW on AVX-512F, ...);
 *   - the operating system saves its registers: OSXSAVE, and XCR0 with bits 1 and 2 for AVX, with bits 5 to 7 as well
 *     for AVX-512 and AVX10. `xcr0` is ignored when OSXSAVE is off, since it cannot be read then.
 * Source: Intel SDM, volume 1, 14.3 and 15.2 to 15.4; Intel AVX10 architecture specification, chapter on enumeration.
 */
uint64_t stitchgcm_cpu_features(const stitchgcm_cpuid *cpuid, uint64_t xcr0);

/* Executes CPUID and, where it is allowed, XGETBV: *cpuid and *xcr0 := what they say, or 0 for what there is not. */
void stitchgcm_cpu_read(stitchgcm_cpuid *cpuid, uint64_t *xcr0);

/* The feature whose name ("aes", "sse4.1", "avx512bw", ...) is these bytes, or 0. */
uint64_t stitchgcm_cpu_feature_named(const char *name, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
