/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "cpu.h"

#include <string.h>

/* The parts of XCR0 that an operating system must have set for a feature's registers to survive a task switch. */
enum {
  STATE_NONE = 0,
  STATE_AVX = 1 << 1 | 1 << 2,                        /* xmm, upper halves of ymm */
  STATE_AVX512 = STATE_AVX | 1 << 5 | 1 << 6 | 1 << 7 /* masks, upper halves of zmm0-15, zmm16-31 */
};

enum { OSXSAVE = 1 << 27 /* leaf 1, ECX */, LEAF_7 = 0x7, LEAF_24 = 0x24 };

/* A feature is there if the field of `width` bits from `shift` on is at least `least`. */
typedef struct feature_rule {
  const char *name;
  uint32_t feature;
  stitchgcm_cpuid_register where;
  uint32_t shift, width, least;
  uint32_t state;
  uint32_t builds_on;
} feature_rule;

/* What a rule builds on comes before it. */
static const feature_rule rules[] = {
    {"aes", STITCHGCM_CPU_AES, STITCHGCM_CPUID_1_ECX, 25, 1, 1, STATE_NONE, 0},
    {"pclmulqdq", STITCHGCM_CPU_PCLMULQDQ, STITCHGCM_CPUID_1_ECX, 1, 1, 1, STATE_NONE, 0},
    {"sse3", STITCHGCM_CPU_SSE3, STITCHGCM_CPUID_1_ECX, 0, 1, 1, STATE_NONE, 0},
    {"ssse3", STITCHGCM_CPU_SSSE3, STITCHGCM_CPUID_1_ECX, 9, 1, 1, STATE_NONE, 0},
    {"sse4.1", STITCHGCM_CPU_SSE4_1, STITCHGCM_CPUID_1_ECX, 19, 1, 1, STATE_NONE, 0},
    {"movbe", STITCHGCM_CPU_MOVBE, STITCHGCM_CPUID_1_ECX, 22, 1, 1, STATE_NONE, 0},
    {"avx", STITCHGCM_CPU_AVX, STITCHGCM_CPUID_1_ECX, 28, 1, 1, STATE_AVX, 0},
    {"bmi1", STITCHGCM_CPU_BMI1, STITCHGCM_CPUID_7_EBX, 3, 1, 1, STATE_NONE, 0},
    {"avx2", STITCHGCM_CPU_AVX2, STITCHGCM_CPUID_7_EBX, 5, 1, 1, STATE_AVX, STITCHGCM_CPU_AVX},
    {"bmi2", STITCHGCM_CPU_BMI2, STITCHGCM_CPUID_7_EBX, 8, 1, 1, STATE_NONE, 0},
    {"vaes", STITCHGCM_CPU_VAES, STITCHGCM_CPUID_7_ECX, 9, 1, 1, STATE_AVX, STITCHGCM_CPU_AVX},
    {"vpclmulqdq", STITCHGCM_CPU_VPCLMULQDQ, STITCHGCM_CPUID_7_ECX, 10, 1, 1, STATE_AVX, STITCHGCM_CPU_AVX},
    {"avx512f", STITCHGCM_CPU_AVX512F, STITCHGCM_CPUID_7_EBX, 16, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX2},
    {"avx512dq", STITCHGCM_CPU_AVX512DQ, STITCHGCM_CPUID_7_EBX, 17, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX512F},
    {"avx512bw", STITCHGCM_CPU_AVX512BW, STITCHGCM_CPUID_7_EBX, 30, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX512F},
    {"avx512vl", STITCHGCM_CPU_AVX512VL, STITCHGCM_CPUID_7_EBX, 31, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX512F},
    {"avx512vbmi", STITCHGCM_CPU_AVX512VBMI, STITCHGCM_CPUID_7_ECX, 1, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX512F},
    {"avx10", STITCHGCM_CPU_AVX10, STITCHGCM_CPUID_7_1_EDX, 19, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX2},
    {"avx10.1", STITCHGCM_CPU_AVX10_1, STITCHGCM_CPUID_24_EBX, 0, 8, 1, STATE_AVX512, STITCHGCM_CPU_AVX10},
    {"avx10.2", STITCHGCM_CPU_AVX10_2, STITCHGCM_CPUID_24_EBX, 0, 8, 2, STATE_AVX512, STITCHGCM_CPU_AVX10},
    {"avx10_256", STITCHGCM_CPU_AVX10_256, STITCHGCM_CPUID_24_EBX, 17, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX10},
    {"avx10_512", STITCHGCM_CPU_AVX10_512, STITCHGCM_CPUID_24_EBX, 18, 1, 1, STATE_AVX512, STITCHGCM_CPU_AVX10},
};

enum { RULES = sizeof rules / sizeof rules[0] };

/* 1 if the CPU has the leaf and sub-leaf that this register belongs to. */
static int is_reported(const stitchgcm_cpuid *cpuid, stitchgcm_cpuid_register where) {
  const uint32_t highest_leaf = cpuid->value[STITCHGCM_CPUID_0_EAX];
  switch (where) {
    case STITCHGCM_CPUID_0_EAX:
    case STITCHGCM_CPUID_0_EBX:
    case STITCHGCM_CPUID_0_ECX:
    case STITCHGCM_CPUID_0_EDX: return 1;
    case STITCHGCM_CPUID_1_EAX:
    case STITCHGCM_CPUID_1_ECX: return highest_leaf >= 1;
    case STITCHGCM_CPUID_7_EAX:
    case STITCHGCM_CPUID_7_EBX:
    case STITCHGCM_CPUID_7_ECX: return highest_leaf >= LEAF_7;
    case STITCHGCM_CPUID_7_1_EDX: return highest_leaf >= LEAF_7 && cpuid->value[STITCHGCM_CPUID_7_EAX] >= 1;
    case STITCHGCM_CPUID_24_EBX: return highest_leaf >= LEAF_24;
    case STITCHGCM_CPUID_REGISTERS: break;
  }
  return 0;
}

uint64_t stitchgcm_cpu_features(const stitchgcm_cpuid *cpuid, uint64_t xcr0) {
  const int has_xcr0 =
      is_reported(cpuid, STITCHGCM_CPUID_1_ECX) && (cpuid->value[STITCHGCM_CPUID_1_ECX] & OSXSAVE) != 0;
  const uint64_t state = has_xcr0 ? xcr0 : 0;
  uint64_t features = 0;
  for (size_t i = 0; i < RULES; i++) {
    const feature_rule *rule = &rules[i];
    const uint32_t field = cpuid->value[rule->where] >> rule->shift & ((UINT32_C(1) << rule->width) - 1);
    if (is_reported(cpuid, rule->where) && field >= rule->least && (state & rule->state) == rule->state &&
        (features & rule->builds_on) == rule->builds_on) {
      features |= rule->feature;
    }
  }
  return features;
}

uint64_t stitchgcm_cpu_feature_named(const char *name, size_t bytes) {
  for (size_t i = 0; i < RULES; i++) {
    if (strlen(rules[i].name) == bytes && memcmp(rules[i].name, name, bytes) == 0) return rules[i].feature;
  }
  return 0;
}
