/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* A backend as the runtime sees it: its name, what it needs of the CPU, and its routines by key length. Internal. */
#ifndef STITCHGCM_BACKEND_H
#define STITCHGCM_BACKEND_H

#include "stitchgcm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The routines for one key length. None checks its arguments. The emitted header says what each computes and may touch;
 * the portable backend implements the same contracts. `counter` is the next counter block and is advanced by `blocks`
 * in its last 32 bits; `accumulator` is GHASH's Y, in SP 800-38D's byte order.
 */
typedef struct stitchgcm_routines {
  void (*init)(stitchgcm_context *context, const uint8_t *key);
  void (*seal)(const stitchgcm_context *context, const stitchgcm_message *message);
  int (*open)(const stitchgcm_context *context, const stitchgcm_message *message); /* 1: authentic, 0: not */
  void (*encrypt_blocks)(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                         uint8_t counter[16], uint8_t accumulator[16]);
  void (*decrypt_blocks)(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                         uint8_t counter[16], uint8_t accumulator[16]);
  void (*ctr32)(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks, uint8_t counter[16]);
  void (*ghash)(const stitchgcm_context *context, uint8_t accumulator[16], const uint8_t *data, size_t blocks);
} stitchgcm_routines;

enum { STITCHGCM_AES128, STITCHGCM_AES192, STITCHGCM_AES256, STITCHGCM_KEY_LENGTHS };

typedef struct stitchgcm_backend {
  const char *name;
  uint64_t features;       /* bits of cpu.h that must all be there, */
  uint64_t features_avx10; /* or else these: what it has of AVX-512 can be there as AVX10, by other bits of CPUID */
  uint32_t vector_bits;    /* of its widest vectors: 128, 256 or 512; 0 in portable */
  stitchgcm_routines routines[STITCHGCM_KEY_LENGTHS];
} stitchgcm_backend;

/* Best first; portable is last and needs nothing. A context's `backend` is an index into it. */
extern const stitchgcm_backend stitchgcm_backends[];
extern const size_t stitchgcm_backends_count;

#ifdef __cplusplus
}
#endif

#endif
