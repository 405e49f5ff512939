/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Which CPUs run slower while 512-bit vectors are in use. Internal. */
#ifndef STITCHGCM_CPU_CLOCK_H
#define STITCHGCM_CPU_CLOCK_H

#include "cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1 if the CPU with these registers is in the list of cpu_clock.c: 512-bit vectors lower the clock of all that its core
 * does, for milliseconds, so that code which is not ours pays for it. 0 for every other CPU, known or not. Pure.
 */
int stitchgcm_cpu_lowers_clock_for_512_bits(const stitchgcm_cpuid *cpuid);

#ifdef __cplusplus
}
#endif

#endif
