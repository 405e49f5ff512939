/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * The table of backends, best first. An emitted one is a line at its place: the emitted header says what it needs, and
 * the build defines STITCHGCM_HAVE_<NAME> for each whose files are in it. The others are not in the table.
 */
#include "backend.h"

#include <assert.h>

#include "choice.h"
#include "cpu.h"
#include "portable.h"

#if defined(STITCHGCM_HAVE_AESNI) || defined(STITCHGCM_HAVE_AESNI_AVX) || defined(STITCHGCM_HAVE_VAES_AVX2) || \
    defined(STITCHGCM_HAVE_VAES_AVX10_256) || defined(STITCHGCM_HAVE_VAES_AVX512)
#include "stitchgcm_routines.h"
#endif

/* Key set-up is a routine for each key length; the others read the number of rounds from the context. */
#define ROUTINES(name, aes)                                                                                       \
  {                                                                                                               \
    stitchgcm_init_##aes##_##name, stitchgcm_seal_##name, stitchgcm_open_##name, stitchgcm_encrypt_blocks_##name, \
        stitchgcm_decrypt_blocks_##name, stitchgcm_ctr32_##name, stitchgcm_ghash_##name                           \
  }
#define BACKEND(name, features, features_avx10, vector_bits)                 \
  {                                                                          \
#name, features, features_avx10, vector_bits, {                          \
      ROUTINES(name, aes128), ROUTINES(name, aes192), ROUTINES(name, aes256) \
    }                                                                        \
  }
/* The emitted header names features by themselves, since those who vendor it have a cpu.h of their own. */
#define FEATURE(name) | STITCHGCM_CPU_##name
#define EMITTED_BACKEND(name, NAME)                                                                       \
  BACKEND(name, (0 STITCHGCM_##NAME##_FEATURES(FEATURE)), (0 STITCHGCM_##NAME##_FEATURES_AVX10(FEATURE)), \
          STITCHGCM_##NAME##_VECTOR_BITS)

const stitchgcm_backend stitchgcm_backends[] = {
#if defined(STITCHGCM_HAVE_VAES_AVX512)
    EMITTED_BACKEND(vaes_avx512, VAES_AVX512),
#endif
#if defined(STITCHGCM_HAVE_VAES_AVX10_256)
    EMITTED_BACKEND(vaes_avx10_256, VAES_AVX10_256),
#endif
#if defined(STITCHGCM_HAVE_VAES_AVX2)
    EMITTED_BACKEND(vaes_avx2, VAES_AVX2),
#endif
#if defined(STITCHGCM_HAVE_AESNI_AVX)
    EMITTED_BACKEND(aesni_avx, AESNI_AVX),
#endif
#if defined(STITCHGCM_HAVE_AESNI)
    EMITTED_BACKEND(aesni, AESNI),
#endif
    BACKEND(portable, 0, 0, 0),
};

const size_t stitchgcm_backends_count = sizeof stitchgcm_backends / sizeof stitchgcm_backends[0];

static_assert(sizeof stitchgcm_backends / sizeof stitchgcm_backends[0] <= STITCHGCM_MOST_BACKENDS,
              "a set of backends is a 32-bit mask");
