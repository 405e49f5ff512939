/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * AES-GCM (NIST SP 800-38D) for x86-64, and portable C for everything else.
 *
 *   stitchgcm_key key;
 *   stitchgcm_key_init(&key, key_bytes, 32);
 *   stitchgcm_message m = {.iv = iv, .iv_bytes = 12, .in = text, .out = text, .bytes = n, .tag = tag, .tag_bytes = 16};
 *   stitchgcm_seal(&key, &m);
 *
 * Every function that can refuse its arguments returns a status; when that is not STITCHGCM_OK, it has written nothing
 * (but see stitchgcm_open for STITCHGCM_ERROR_TAG). All functions may be called from several threads at once, on one
 * const key too. Nothing allocates, and nothing is kept between calls but the choice of the backend.
 */
#ifndef STITCHGCM_H
#define STITCHGCM_H

#include "stitchgcm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STITCHGCM_VERSION_MAJOR 0
#define STITCHGCM_VERSION_MINOR 1
#define STITCHGCM_VERSION_PATCH 0
#define STITCHGCM_VERSION "0.1.0"

#if defined(_WIN32) || defined(__CYGWIN__)
#define STITCHGCM_API
#else
#define STITCHGCM_API __attribute__((visibility("default")))
#endif

/* SP 800-38D, 5.2.1.1: the longest text is 2^39 - 256 bits, the longest AAD and IV 2^64 - 1 bits (whole bytes here). */
#define STITCHGCM_MAX_TEXT_BYTES ((UINT64_C(1) << 36) - 32)
#define STITCHGCM_MAX_AAD_BYTES ((UINT64_C(1) << 61) - 1)
#define STITCHGCM_MAX_IV_BYTES ((UINT64_C(1) << 61) - 1)

typedef enum stitchgcm_status {
  STITCHGCM_OK = 0,
  STITCHGCM_ERROR_TAG,        /* open: the message is not authentic */
  STITCHGCM_ERROR_NULL,       /* a null pointer whose length is not 0, or a null key or message */
  STITCHGCM_ERROR_KEY_BYTES,  /* not 16, 24 or 32 */
  STITCHGCM_ERROR_IV_BYTES,   /* 0, or over the limit */
  STITCHGCM_ERROR_TAG_BYTES,  /* not 4, 8 or 12..16 */
  STITCHGCM_ERROR_AAD_BYTES,  /* over the limit */
  STITCHGCM_ERROR_TEXT_BYTES, /* over the limit */
  STITCHGCM_ERROR_OVERLAP,    /* `in` and `out` in part, or `out` or `tag` with the other, the key or the message */
  STITCHGCM_ERROR_KEY,        /* the key was never set, was cleared, or was made by a backend that is not here */
  STITCHGCM_ERROR_BACKEND     /* no backend of this name, or one that this CPU cannot run */
} stitchgcm_status;

/* A key, its hash key's powers included. The fields are the library's own; copy it as a whole or not at all. */
typedef struct stitchgcm_key {
  stitchgcm_context context;
} stitchgcm_key;

/*
 * Sets `key` for AES with the 16, 24 or 32 bytes at `bytes`, for the selected backend.
 * Errors: NULL, KEY_BYTES. Secret: the bytes, not their number.
 */
STITCHGCM_API stitchgcm_status stitchgcm_key_init(stitchgcm_key *key, const uint8_t *bytes, size_t key_bytes);

/* The same for the backend with this name, whichever is selected. Errors: NULL, KEY_BYTES, BACKEND. */
STITCHGCM_API stitchgcm_status stitchgcm_key_init_for(stitchgcm_key *key, const char *backend, const uint8_t *bytes,
                                                      size_t key_bytes);

/* Overwrites the key with zeros in a way that the compiler does not remove. Null is allowed. */
STITCHGCM_API void stitchgcm_key_clear(stitchgcm_key *key);

/*
 * Authenticated encryption, SP 800-38D algorithm 4: (C, T) = GCM-AE_K(IV, P, A) with C to `out`, the first `tag_bytes`
 * bytes of T to `tag`. The IV must never be used twice with one key.
 * `aad` and `iv` may lie anywhere, in `out` too: they are read before anything is written.
 * Errors: NULL, KEY, IV_BYTES, TAG_BYTES, AAD_BYTES, TEXT_BYTES, OVERLAP.
 */
STITCHGCM_API stitchgcm_status stitchgcm_seal(const stitchgcm_key *key, const stitchgcm_message *message);

/*
 * Authenticated decryption, SP 800-38D algorithm 5: P to `out` if the tag is right, else STITCHGCM_ERROR_TAG and
 * `bytes` zeros in `out`. The text is decrypted on the way, in the one pass that hashes it: while the call runs, `out`
 * holds text that is not authenticated yet; and when it fails in place, the ciphertext is gone.
 * The tag is compared in constant time. Errors: TAG, and those of stitchgcm_seal.
 */
STITCHGCM_API stitchgcm_status stitchgcm_open(const stitchgcm_key *key, const stitchgcm_message *message);

/* The backends of this build, best first: 0 <= index < stitchgcm_backend_count(). Null for any other index. */
STITCHGCM_API size_t stitchgcm_backend_count(void);
STITCHGCM_API const char *stitchgcm_backend_name(size_t index);
/* 1 if this CPU and operating system can run the backend with this name, else 0. */
STITCHGCM_API int stitchgcm_backend_available(const char *name);
/*
 * The name of the backend that stitchgcm_key_init uses, unless another was selected: the best available one, but none
 * with 512-bit vectors on a CPU that lowers its clock for them (cpu_clock.c lists those).
 */
STITCHGCM_API const char *stitchgcm_backend_selected(void);
/* Selects an available backend for the keys made from now on; null: the first choice again. Errors: BACKEND. */
STITCHGCM_API stitchgcm_status stitchgcm_backend_select(const char *name);
/* The name of the backend that a key was made for; null if it holds none. */
STITCHGCM_API const char *stitchgcm_key_backend(const stitchgcm_key *key);

/* A short English sentence for a status, never null. */
STITCHGCM_API const char *stitchgcm_status_text(stitchgcm_status status);
/* STITCHGCM_VERSION of the library that is linked. */
STITCHGCM_API const char *stitchgcm_version(void);

#ifdef __cplusplus
}
#endif

#endif
