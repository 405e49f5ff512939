/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * What a build with STITCHGCM_TESTING offers to tests and benchmarks on top of stitchgcm.h. The product has none of it.
 *
 * Such a build also honours the environment variable STITCHGCM_CPU_FEATURES, unless the program runs with other rights
 * than its user's: a list such as "aes,pclmulqdq,ssse3,sse4.1,avx" of the features that the CPU shall seem to have, of
 * those it has, and no others. The names are those of cpu.c; "" leaves the portable backend.
 */
#ifndef STITCHGCM_TESTING_H
#define STITCHGCM_TESTING_H

#include <stddef.h>
#include <stdint.h>

#ifdef STITCHGCM_TESTING

#ifdef __cplusplus
extern "C" {
#endif

/* How often the public functions called init, seal or open of this backend; 0 for an index that there is not. */
uint64_t stitchgcm_testing_calls(size_t backend);

/* All counts := 0. */
void stitchgcm_testing_reset_calls(void);

/* Undoes stitchgcm_backend_select and lets the next call ask CPU and environment again. Not beside other calls. */
void stitchgcm_testing_forget_cpu(void);

#ifdef __cplusplus
}
#endif

#endif

#endif
