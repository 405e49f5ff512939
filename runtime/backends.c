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

const stitchgcm_backend stitchgcm_backends[] = {
#if defined(STITCHGCM_HAVE_AESNI_AVX)
    {"aesni_avx",
     STITCHGCM_CPU_AES | STITCHGCM_CPU_PCLMULQDQ | STITCHGCM_CPU_SSSE3 | STITCHGCM_CPU_SSE4_1 | STITCHGCM_CPU_AVX,
     {{stitchgcm_init_aes128_aesni_avx, stitchgcm_seal_aes128_aesni_avx, stitchgcm_open_aes128_aesni_avx,
       stitchgcm_encrypt_blocks_aes128_aesni_avx, stitchgcm_decrypt_blocks_aes128_aesni_avx,
       stitchgcm_ctr32_aes128_aesni_avx, stitchgcm_ghash_aesni_avx},
      {stitchgcm_init_aes192_aesni_avx, stitchgcm_seal_aes192_aesni_avx, stitchgcm_open_aes192_aesni_avx,
       stitchgcm_encrypt_blocks_aes192_aesni_avx, stitchgcm_decrypt_blocks_aes192_aesni_avx,
       stitchgcm_ctr32_aes192_aesni_avx, stitchgcm_ghash_aesni_avx},
      {stitchgcm_init_aes256_aesni_avx, stitchgcm_seal_aes256_aesni_avx, stitchgcm_open_aes256_aesni_avx,
       stitchgcm_encrypt_blocks_aes256_aesni_avx, stitchgcm_decrypt_blocks_aes256_aesni_avx,
       stitchgcm_ctr32_aes256_aesni_avx, stitchgcm_ghash_aesni_avx}}},
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
