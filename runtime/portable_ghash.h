/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* GHASH (SP 800-38D, section 6.4) in portable C: no table look-up and no branch depends on a secret. Internal. */
#ifndef STITCHGCM_PORTABLE_GHASH_H
#define STITCHGCM_PORTABLE_GHASH_H

#include "stitchgcm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* context->power[] and middle[] := the powers of context->hash_key, in the form that stitchgcm_layout.h describes. */
void stitchgcm_portable_ghash_powers(stitchgcm_context *context);

/*
 * Y := (Y + X_1) * H, (Y + X_2) * H, ... over the blocks X of `data`, the last one filled up with zeros if `bytes` is
 * not a multiple of 16. Y is `accumulator`; H comes from context->power[].
 */
void stitchgcm_portable_ghash(const stitchgcm_context *context, uint8_t accumulator[16], const uint8_t *data,
                              size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
