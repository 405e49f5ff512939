/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Counts calls of backend routines in testing builds, and does nothing in others. Internal. */
#ifndef STITCHGCM_CALL_COUNT_H
#define STITCHGCM_CALL_COUNT_H

#include <stddef.h>

#ifdef STITCHGCM_TESTING

#ifdef __cplusplus
extern "C" {
#endif

void stitchgcm_count_call(size_t backend);

#ifdef __cplusplus
}
#endif

#else

static inline void stitchgcm_count_call(size_t backend) { (void)backend; }

#endif

#endif
