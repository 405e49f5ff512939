/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* The table of backends. A new one is a new entry, placed by its speed. */
#include "backend.h"

#include <assert.h>

#include "cpu.h"
#include "dispatch.h"
#include "portable.h"

#if defined(STITCHGCM_HAVE_AESNI_AVX)
#include "stitchgcm_routines.h"
#endif

/* Key set-up is a routine for each key length; the others read the number of rounds from the context. */
#define AESNI_AVX(init)                                                                           \
  {                                                                                               \
    init, stitchgcm_seal_aesni_avx, stitchgcm_open_aesni_avx, stitchgcm_encrypt_blocks_aesni_avx, \
        stitchgcm_decrypt_blocks_aesni_avx, stitchgcm_ctr32_aesni_avx, stitchgcm_ghash_aesni_avx  \
  }

const stitchgcm_backend stitchgcm_backends[] = {
#if defined(STITCHGCM_HAVE_AESNI_AVX)
    {"aesni_avx",
     STITCHGCM_CPU_AES | STITCHGCM_CPU_PCLMULQDQ | STITCHGCM_CPU_SSSE3 | STITCHGCM_CPU_SSE4_1 | STITCHGCM_CPU_AVX,
     {AESNI_AVX(stitchgcm_init_aes128_aesni_avx), AESNI_AVX(stitchgcm_init_aes192_aesni_avx),
      AESNI_AVX(stitchgcm_init_aes256_aesni_avx)}},
#endif
    {"portable",
     0,
     {{stitchgcm_init_aes128_portable, stitchgcm_seal_portable, stitchgcm_open_portable,
       stitchgcm_encrypt_blocks_portable, stitchgcm_decrypt_blocks_portable, stitchgcm_ctr32_portable,
       stitchgcm_ghash_portable},
      {stitchgcm_init_aes192_portable, stitchgcm_seal_portable, stitchgcm_open_portable,
       stitchgcm_encrypt_blocks_portable, stitchgcm_decrypt_blocks_portable, stitchgcm_ctr32_portable,
       stitchgcm_ghash_portable},
      {stitchgcm_init_aes256_portable, stitchgcm_seal_portable, stitchgcm_open_portable,
       stitchgcm_encrypt_blocks_portable, stitchgcm_decrypt_blocks_portable, stitchgcm_ctr32_portable,
       stitchgcm_ghash_portable}}},
};

const size_t stitchgcm_backends_count = sizeof stitchgcm_backends / sizeof stitchgcm_backends[0];

static_assert(sizeof stitchgcm_backends / sizeof stitchgcm_backends[0] <= STITCHGCM_MOST_BACKENDS,
              "a set of backends is a 32-bit mask");
