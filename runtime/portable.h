/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * The routines of the portable backend. What each computes, reads and writes is the contract of the emitted header;
 * none checks its arguments. Only init has one form per key length: the others take the number of rounds from the
 * context. Internal.
 */
#ifndef STITCHGCM_PORTABLE_H
#define STITCHGCM_PORTABLE_H

#include "stitchgcm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* round_key[0..rounds], hash_key = AES(key, 0^128) and power[], from 16, 24 or 32 bytes of key; no other field. */
void stitchgcm_init_aes128_portable(stitchgcm_context *context, const uint8_t *key);
void stitchgcm_init_aes192_portable(stitchgcm_context *context, const uint8_t *key);
void stitchgcm_init_aes256_portable(stitchgcm_context *context, const uint8_t *key);

/* SP 800-38D, algorithm 4. */
void stitchgcm_seal_portable(const stitchgcm_context *context, const stitchgcm_message *message);

/* SP 800-38D, algorithm 5. 1: authentic. 0: not, and `out` holds zeros. */
int stitchgcm_open_portable(const stitchgcm_context *context, const stitchgcm_message *message);

/* out := in + CTR keystream, and Y over `out` (encrypt) or over `in` (decrypt), for `blocks` whole blocks. */
void stitchgcm_encrypt_blocks_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                                       uint8_t counter[16], uint8_t accumulator[16]);
void stitchgcm_decrypt_blocks_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                                       uint8_t counter[16], uint8_t accumulator[16]);

/* out := in + CTR keystream (SP 800-38D, algorithm 3, with a counter block that is handed on). */
void stitchgcm_ctr32_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                              uint8_t counter[16]);

/* Y over `blocks` whole blocks (SP 800-38D, algorithm 2, from any Y). */
void stitchgcm_ghash_portable(const stitchgcm_context *context, uint8_t accumulator[16], const uint8_t *data,
                              size_t blocks);

#ifdef __cplusplus
}
#endif

#endif
