/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Which backends of a table a CPU can run, and which of them it should. Internal. */
#ifndef STITCHGCM_CHOICE_H
#define STITCHGCM_CHOICE_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STITCHGCM_MOST_BACKENDS = 32 };

typedef struct stitchgcm_choice {
  uint32_t available; /* bit i: all that backend i needs is there */
  uint32_t preferred; /* the index of the one to use unless told otherwise; `count` if none is available */
} stitchgcm_choice;

/*
 * The choice among `count` backends, best first, at most STITCHGCM_MOST_BACKENDS, for a CPU with `features`. Preferred
 * is the first available one; but one with 512-bit vectors is passed over if `lowers_clock_for_512_bits`. It stays
 * available for those who select it by name. Pure.
 */
stitchgcm_choice stitchgcm_choose(const stitchgcm_backend *backends, size_t count, uint64_t features,
                                  int lowers_clock_for_512_bits);

#ifdef __cplusplus
}
#endif

#endif
