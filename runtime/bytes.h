/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Integers from and to bytes of a given order, whatever the machine's own order and alignment rules. Internal. */
#ifndef STITCHGCM_BYTES_H
#define STITCHGCM_BYTES_H

#include <stdint.h>

static inline uint32_t stitchgcm_load_le32(const uint8_t bytes[4]) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void stitchgcm_store_le32(uint8_t bytes[4], uint32_t value) {
  for (unsigned i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t stitchgcm_load_le64(const uint8_t bytes[8]) {
  return (uint64_t)stitchgcm_load_le32(bytes) | (uint64_t)stitchgcm_load_le32(bytes + 4) << 32;
}

static inline void stitchgcm_store_le64(uint8_t bytes[8], uint64_t value) {
  for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t stitchgcm_load_be32(const uint8_t bytes[4]) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

static inline void stitchgcm_store_be32(uint8_t bytes[4], uint32_t value) {
  for (unsigned i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline uint64_t stitchgcm_load_be64(const uint8_t bytes[8]) {
  return (uint64_t)stitchgcm_load_be32(bytes) << 32 | (uint64_t)stitchgcm_load_be32(bytes + 4);
}

static inline void stitchgcm_store_be64(uint8_t bytes[8], uint64_t value) {
  for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

#endif
