/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * The two structures that the emitted assembly reads: where each field is, in bytes.
 * The generator asserts its own offsets against these at compile time, so the two cannot drift apart.
 */
#ifndef STITCHGCM_LAYOUT_H
#define STITCHGCM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define STITCHGCM_ROUND_KEYS 15u /* AES-256 needs all of them, AES-192 13, AES-128 11 */
#define STITCHGCM_POWERS 40u     /* powers of H in a context: five batches of eight blocks are reduced at once */

/*
 * What is kept of a key. All of it is secret but `rounds`, `backend` and `form`. It holds no pointer, so it may be
 * copied with memcpy, to any address.
 */
typedef struct stitchgcm_context {
  uint8_t round_key[STITCHGCM_ROUND_KEYS][16]; /* FIPS 197's key schedule, for encryption */
  uint8_t hash_key[16];                        /* H = AES(key, 0^128) */
  uint32_t rounds;                             /* 10, 12 or 14; 0 in a context that holds no key */
  uint32_t backend;                            /* index of the backend that made it, see backend.h */
  uint32_t form;                               /* how the powers are stored; 1: as said below */
  uint32_t reserved[13];
  /*
   * The powers of H as the multipliers want them, power[i] of H^(STITCHGCM_POWERS - i), so that H itself comes last and
   * vectors of any width hold the factors of as many blocks in a row. With the 16 bytes of H^k reversed and bit i of
   * them read as the coefficient of x^i, a power is that times x, modulo x^128 + x^127 + x^126 + x^121 + 1. The factor
   * makes up for GHASH's bit reflection, without it a reduced product would come out divided by x. Both halves of
   * middle[i] hold low ^ high of power[i], the factor of Karatsuba's middle product.
   */
  uint8_t power[STITCHGCM_POWERS][16];
  uint8_t middle[STITCHGCM_POWERS][16];
} stitchgcm_context;

/*
 * One message. `in` and `out` are equal (in place) or do not overlap. A pointer of length 0 is not read, may be null.
 * seal writes `out` and `tag`; open reads `tag` and writes `out`.
 */
typedef struct stitchgcm_message {
  const uint8_t *iv; /* 1 byte or more; 12 is fast and is what protocols use */
  size_t iv_bytes;
  const uint8_t *aad;
  size_t aad_bytes;
  const uint8_t *in;
  uint8_t *out;
  size_t bytes; /* of `in` and of `out` */
  uint8_t *tag;
  size_t tag_bytes; /* 4, 8 or 12..16 */
} stitchgcm_message;

#endif
