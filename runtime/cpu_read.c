/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* The one place that asks the CPU itself. All judgement is in cpu.c, where it is tested for CPUs that are not here. */
#include <string.h>

#include "cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>

typedef struct cpuid_leaf {
  uint32_t eax, ebx, ecx, edx;
} cpuid_leaf;

static cpuid_leaf read_leaf(uint32_t leaf, uint32_t sub_leaf) {
  cpuid_leaf r;
  __cpuid_count(leaf, sub_leaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

void stitchgcm_cpu_read(stitchgcm_cpuid *cpuid, uint64_t *xcr0) {
  const uint32_t osxsave = UINT32_C(1) << 27;
  uint32_t *value = cpuid->value;
  memset(cpuid, 0, sizeof *cpuid);
  *xcr0 = 0;
  const cpuid_leaf leaf_0 = read_leaf(0, 0);
  value[STITCHGCM_CPUID_0_EAX] = leaf_0.eax;
  value[STITCHGCM_CPUID_0_EBX] = leaf_0.ebx;
  value[STITCHGCM_CPUID_0_ECX] = leaf_0.ecx;
  value[STITCHGCM_CPUID_0_EDX] = leaf_0.edx;
  if (leaf_0.eax >= 1) {
    const cpuid_leaf leaf = read_leaf(1, 0);
    value[STITCHGCM_CPUID_1_EAX] = leaf.eax;
    value[STITCHGCM_CPUID_1_ECX] = leaf.ecx;
  }
  if (leaf_0.eax >= 7) {
    const cpuid_leaf leaf = read_leaf(7, 0);
    value[STITCHGCM_CPUID_7_EAX] = leaf.eax;
    value[STITCHGCM_CPUID_7_EBX] = leaf.ebx;
    value[STITCHGCM_CPUID_7_ECX] = leaf.ecx;
    if (leaf.eax >= 1) value[STITCHGCM_CPUID_7_1_EDX] = read_leaf(7, 1).edx;
  }
  if (leaf_0.eax >= 0x24) value[STITCHGCM_CPUID_24_EBX] = read_leaf(0x24, 0).ebx;
  if (value[STITCHGCM_CPUID_1_ECX] & osxsave) {
    uint32_t low, high;
    /* XGETBV by its name needs no compiler flag in assembly, unlike the intrinsic. */
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    *xcr0 = (uint64_t)high << 32 | low;
  }
}

#else

void stitchgcm_cpu_read(stitchgcm_cpuid *cpuid, uint64_t *xcr0) {
  memset(cpuid, 0, sizeof *cpuid);
  *xcr0 = 0;
}

#endif
