// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
/*
 * Stands in for the emitted header, whose include guard it takes: each backend with the least that code of its class
 * needs, and routines that do nothing. What the emitted code really needs is tested in emit_features_test.cpp.
 */
#ifndef STITCHGCM_ROUTINES_H
#define STITCHGCM_ROUTINES_H

#include "stitchgcm_layout.h"

#define STITCHGCM_AESNI_FEATURES(F) F(AES) F(PCLMULQDQ) F(SSSE3) F(SSE4_1)
#define STITCHGCM_AESNI_FEATURES_AVX10(F) STITCHGCM_AESNI_FEATURES(F)
#define STITCHGCM_AESNI_VECTOR_BITS 128
#define STITCHGCM_AESNI_AVX_FEATURES(F) F(AES) F(PCLMULQDQ) F(AVX)
#define STITCHGCM_AESNI_AVX_FEATURES_AVX10(F) STITCHGCM_AESNI_AVX_FEATURES(F)
#define STITCHGCM_AESNI_AVX_VECTOR_BITS 128
#define STITCHGCM_VAES_AVX2_FEATURES(F) F(AES) F(PCLMULQDQ) F(AVX) F(AVX2) F(BMI2) F(VAES) F(VPCLMULQDQ)
#define STITCHGCM_VAES_AVX2_FEATURES_AVX10(F) STITCHGCM_VAES_AVX2_FEATURES(F)
#define STITCHGCM_VAES_AVX2_VECTOR_BITS 256
#define STITCHGCM_VAES_AVX10_256_FEATURES(F) \
  F(AES) F(AVX) F(BMI2) F(VAES) F(VPCLMULQDQ) F(AVX512F) F(AVX512VL) F(AVX512BW) F(AVX512DQ)
#define STITCHGCM_VAES_AVX10_256_FEATURES_AVX10(F) F(AES) F(AVX) F(BMI2) F(VAES) F(VPCLMULQDQ) F(AVX10_1) F(AVX10_256)
#define STITCHGCM_VAES_AVX10_256_VECTOR_BITS 256
#define STITCHGCM_VAES_AVX512_FEATURES(F) STITCHGCM_VAES_AVX10_256_FEATURES(F)
#define STITCHGCM_VAES_AVX512_FEATURES_AVX10(F) STITCHGCM_VAES_AVX10_256_FEATURES_AVX10(F) F(AVX10_512)
#define STITCHGCM_VAES_AVX512_VECTOR_BITS 512

#define STITCHGCM_IDLE_BACKEND(name)                                                                                \
  static void stitchgcm_init_aes128_##name(stitchgcm_context*, const uint8_t*) {}                                   \
  static void stitchgcm_init_aes192_##name(stitchgcm_context*, const uint8_t*) {}                                   \
  static void stitchgcm_init_aes256_##name(stitchgcm_context*, const uint8_t*) {}                                   \
  static void stitchgcm_seal_##name(const stitchgcm_context*, const stitchgcm_message*) {}                          \
  static int stitchgcm_open_##name(const stitchgcm_context*, const stitchgcm_message*) { return 0; }                \
  static void stitchgcm_encrypt_blocks_##name(const stitchgcm_context*, const uint8_t*, uint8_t*, size_t, uint8_t*, \
                                              uint8_t*) {}                                                          \
  static void stitchgcm_decrypt_blocks_##name(const stitchgcm_context*, const uint8_t*, uint8_t*, size_t, uint8_t*, \
                                              uint8_t*) {}                                                          \
  static void stitchgcm_ctr32_##name(const stitchgcm_context*, const uint8_t*, uint8_t*, size_t, uint8_t*) {}       \
  static void stitchgcm_ghash_##name(const stitchgcm_context*, uint8_t*, const uint8_t*, size_t) {}

STITCHGCM_IDLE_BACKEND(aesni)
STITCHGCM_IDLE_BACKEND(aesni_avx)
STITCHGCM_IDLE_BACKEND(vaes_avx2)
STITCHGCM_IDLE_BACKEND(vaes_avx10_256)
STITCHGCM_IDLE_BACKEND(vaes_avx512)

#undef STITCHGCM_IDLE_BACKEND

#endif
