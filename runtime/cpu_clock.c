/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "cpu_clock.h"

/* Family and model as CPUID's leaf 1 tells them, the extended fields added (Intel SDM, volume 2A, CPUID). */
typedef struct cpu_model {
  uint32_t family, model;
} cpu_model;

/*
 * Intel's CPUs that change to a lower frequency for 512-bit vectors.
 *
 * Of Skylake's servers: Intel's Xeon Scalable specification updates have a turbo table each for non-AVX, AVX2 and
 * AVX-512 code. 512-bit instructions ask for the second, some hundred MHz below the first, multiplications of that
 * width for the third, and a core goes back about 2/3 ms after the last one (Intel Optimization Reference Manual, on
 * Skylake Server's power management; measured in T. Downs, "Gathering Intel on Intel AVX-512 Transitions", 2020).
 * Cascade Lake and Cooper Lake are other steppings of the same model, with three tables as well.
 *
 * Not in the list:
 *   Ice Lake (0x6a, 0x6c, 0x7d, 0x7e), Tiger Lake (0x8c, 0x8d): one client core alone loses 100 MHz of its turbo,
 *     several at once lose nothing (T. Downs, "Ice Lake AVX-512 Downclocking", 2020). Servers have AVX-512 turbo tables
 *     still. Others do pass 512 bits over on these models; whoever measures that to be right here adds them.
 *   Rocket Lake (0xa7): no change at all (the same, as updated in 2021). Sapphire Rapids (0x8f) and later: none known.
 *   AMD: Zen 4 executes 512 bits as two halves, and Zen 5 limits current and heat whatever the width.
 *
 * None of the listed CPUs has VAES, so none runs a backend wider than 128 bits. The list counts for a virtual machine
 * that shows a listed model with more features than the model has, and for a 512-bit backend without VAES.
 */
static const cpu_model intel_models[] = {
    {6, 0x55}, /* Skylake-X and -SP, Cascade Lake, Cooper Lake: see above */
    {6, 0x57}, /* Knights Landing: a lower frequency for heavy use of AVX, as Intel tells of its Xeon Phi */
    {6, 0x66}, /* Cannon Lake: Skylake's core with 512-bit vectors; never measured, taken to be like it */
    {6, 0x85}, /* Knights Mill: a variant of Knights Landing */
};

enum { MODELS = sizeof intel_models / sizeof intel_models[0] };

static int is_intel(const stitchgcm_cpuid *cpuid) {
  return cpuid->value[STITCHGCM_CPUID_0_EBX] == 0x756e6547 && /* "Genu" */
         cpuid->value[STITCHGCM_CPUID_0_EDX] == 0x49656e69 && /* "ineI" */
         cpuid->value[STITCHGCM_CPUID_0_ECX] == 0x6c65746e;   /* "ntel" */
}

static cpu_model model_of(uint32_t leaf_1_eax) {
  const uint32_t family = leaf_1_eax >> 8 & 0xf, model = leaf_1_eax >> 4 & 0xf;
  const uint32_t extended_family = leaf_1_eax >> 20 & 0xff, extended_model = leaf_1_eax >> 16 & 0xf;
  cpu_model whole;
  whole.family = family == 0xf ? family + extended_family : family;
  whole.model = family == 0xf || family == 6 ? extended_model << 4 | model : model;
  return whole;
}

int stitchgcm_cpu_lowers_clock_for_512_bits(const stitchgcm_cpuid *cpuid) {
  if (!is_intel(cpuid) || cpuid->value[STITCHGCM_CPUID_0_EAX] < 1) return 0;
  const cpu_model cpu = model_of(cpuid->value[STITCHGCM_CPUID_1_EAX]);
  for (size_t i = 0; i < MODELS; i++) {
    if (intel_models[i].family == cpu.family && intel_models[i].model == cpu.model) return 1;
  }
  return 0;
}
