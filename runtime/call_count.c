/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "call_count.h"

#include "dispatch.h"
#include "testing.h"

#ifdef STITCHGCM_TESTING

static stitchgcm_atomic64 calls[STITCHGCM_MOST_BACKENDS];

void stitchgcm_count_call(size_t backend) { stitchgcm_atomic64_add(&calls[backend], 1); }

uint64_t stitchgcm_testing_calls(size_t backend) {
  return backend < stitchgcm_backends_count ? stitchgcm_atomic64_load(&calls[backend]) : 0;
}

void stitchgcm_testing_reset_calls(void) {
  for (size_t i = 0; i < STITCHGCM_MOST_BACKENDS; i++) stitchgcm_atomic64_store(&calls[i], 0);
}

#endif
