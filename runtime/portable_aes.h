/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* AES encryption (FIPS 197) in portable C, bitsliced: no table look-up and no branch depends on a secret. Internal. */
#ifndef STITCHGCM_PORTABLE_AES_H
#define STITCHGCM_PORTABLE_AES_H

#include "stitchgcm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks that one call encrypts side by side: as many as fill the 64-bit slices. */
enum { STITCHGCM_PORTABLE_BLOCKS = 4, STITCHGCM_PORTABLE_BATCH_BYTES = 64 };

/* The round keys in the form the rounds want: slice[i][b] holds bit b of each byte of round key i, once per block. */
typedef struct stitchgcm_portable_keys {
  uint64_t slice[STITCHGCM_ROUND_KEYS][8];
  uint32_t rounds;
} stitchgcm_portable_keys;

/*
 * round_key[0..rounds] := FIPS 197's KEYEXPANSION of `key`, which has 16, 24 or 32 bytes for 10, 12 or 14 `rounds`.
 * Source: FIPS 197, section 5.2.
 */
void stitchgcm_portable_aes_expand_key(uint8_t round_key[STITCHGCM_ROUND_KEYS][16], const uint8_t *key,
                                       uint32_t rounds);

/* keys := the context's round_key[0..rounds], sliced. The caller wipes `keys`. */
void stitchgcm_portable_aes_slice_keys(stitchgcm_portable_keys *keys, const stitchgcm_context *context,
                                       uint32_t rounds);

/* out[16*i..] := AES(key, in[16*i..]) for i = 0..3. `in` and `out` may be the same buffer. Source: FIPS 197, 5.1. */
void stitchgcm_portable_aes_encrypt(const stitchgcm_portable_keys *keys,
                                    const uint8_t in[STITCHGCM_PORTABLE_BATCH_BYTES],
                                    uint8_t out[STITCHGCM_PORTABLE_BATCH_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
