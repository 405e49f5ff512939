/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Four blocks are held as eight words: slice b has bit b of all 64 bytes, the byte of row r and column c of block n at
 * position 16*r + 4*c + n (FIPS 197, section 3.4: byte i of a block is in row i mod 4 and column i / 4). So a row is 16
 * consecutive bits: SHIFTROWS rotates within rows, by columns of 4 bits, and MIXCOLUMNS rotates whole words, by rows.
 */
#include "portable_aes.h"

#include <string.h>

#include "bytes.h"
#include "portable_sbox.h"
#include "wipe.h"

/* Swaps the odd groups of `shift` bits in `low` with the even ones in `high`; `even` masks the latter. */
static inline void swap_groups(uint64_t *low, uint64_t *high, unsigned shift, uint64_t even) {
  uint64_t difference = ((*low >> shift) ^ *high) & even;
  *high ^= difference;
  *low ^= difference << shift;
}

/* Transposes word index and bit index within each byte: bit b of byte k in word j goes to bit j of byte k in word b. */
static void transpose(uint64_t word[8]) {
  for (unsigned i = 0; i < 8; i += 2) swap_groups(&word[i], &word[i + 1], 1, UINT64_C(0x5555555555555555));
  for (unsigned half = 0; half < 8; half += 4) {
    swap_groups(&word[half], &word[half + 2], 2, UINT64_C(0x3333333333333333));
    swap_groups(&word[half + 1], &word[half + 3], 2, UINT64_C(0x3333333333333333));
  }
  for (unsigned i = 0; i < 4; i++) swap_groups(&word[i], &word[i + 4], 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
}

/* The bytes of `column` at the even bytes of the result. */
static inline uint64_t spread(uint32_t column) {
  uint64_t bytes = column;
  bytes = (bytes | bytes << 16) & UINT64_C(0x0000ffff0000ffff);
  return (bytes | bytes << 8) & UINT64_C(0x00ff00ff00ff00ff);
}

/* The even bytes of `bytes`: the inverse of spread. */
static inline uint32_t gather(uint64_t bytes) {
  bytes &= UINT64_C(0x00ff00ff00ff00ff);
  bytes = (bytes | bytes >> 8) & UINT64_C(0x0000ffff0000ffff);
  return (uint32_t)(bytes | bytes >> 16);
}

/* Before the transposition, byte k = 2*r + c/2 of word 4*(c mod 2) + n is row r, column c of block n. */
static void slice_blocks(uint64_t slice[8], const uint8_t blocks[STITCHGCM_PORTABLE_BATCH_BYTES]) {
  for (unsigned n = 0; n < STITCHGCM_PORTABLE_BLOCKS; n++) {
    for (unsigned parity = 0; parity < 2; parity++) {
      const uint8_t *column = blocks + 16 * n + 4 * parity;
      slice[4 * parity + n] = spread(stitchgcm_load_le32(column)) | spread(stitchgcm_load_le32(column + 8)) << 8;
    }
  }
  transpose(slice);
}

static void unslice_blocks(uint8_t blocks[STITCHGCM_PORTABLE_BATCH_BYTES], uint64_t slice[8]) {
  transpose(slice);
  for (unsigned n = 0; n < STITCHGCM_PORTABLE_BLOCKS; n++) {
    for (unsigned parity = 0; parity < 2; parity++) {
      uint8_t *column = blocks + 16 * n + 4 * parity;
      stitchgcm_store_le32(column, gather(slice[4 * parity + n]));
      stitchgcm_store_le32(column + 8, gather(slice[4 * parity + n] >> 8));
    }
  }
}

static inline void add_round_key(uint64_t slice[8], const uint64_t round_key[8]) {
  for (unsigned b = 0; b < 8; b++) slice[b] ^= round_key[b];
}

/* Row r rotates left by r columns, that is to lower positions: rows 2 and 3 by two, then rows 1 and 3 by one. */
static inline void shift_rows(uint64_t slice[8]) {
  for (unsigned b = 0; b < 8; b++) {
    uint64_t word = slice[b];
    uint64_t difference = ((word >> 8) ^ word) & UINT64_C(0x00ff00ff00000000);
    word ^= difference ^ difference << 8;
    slice[b] = (word & UINT64_C(0x0000ffff0000ffff)) | ((word >> 4) & UINT64_C(0x0fff00000fff0000)) |
               ((word & UINT64_C(0x000f0000000f0000)) << 12);
  }
}

/* Brings row r + rows to row r. */
static inline uint64_t rotate_rows(uint64_t word, unsigned rows) {
  return word >> (16 * rows) | word << (64 - 16 * rows);
}

/* 2*a[r] + 3*a[r+1] + a[r+2] + a[r+3] = 2*(a[r] + a[r+1]) + a[r+1] + (a[r+2] + a[r+3]), rows modulo 4. */
static inline void mix_columns(uint64_t slice[8]) {
  uint64_t next[8], pair[8];
  for (unsigned b = 0; b < 8; b++) {
    next[b] = rotate_rows(slice[b], 1);
    pair[b] = slice[b] ^ next[b];
  }
  /* Twice `pair` is one weight up; what leaves at the top comes back as x^8 = x^4 + x^3 + x + 1. */
  for (unsigned b = 0; b < 8; b++) slice[b] = pair[(b + 7) % 8] ^ next[b] ^ rotate_rows(pair[b], 2);
  slice[1] ^= pair[7];
  slice[3] ^= pair[7];
  slice[4] ^= pair[7];
}

/* SUBWORD: the S-box on each byte of a word, FIPS 197, section 5.2. */
static uint32_t sub_word(uint32_t word) {
  uint64_t bit[8];
  uint32_t substituted = 0;
  for (unsigned b = 0; b < 8; b++) bit[b] = (word >> b) & 0x01010101u;
  stitchgcm_portable_sub_bytes(bit);
  for (unsigned b = 0; b < 8; b++) substituted |= ((uint32_t)bit[b] & 0x01010101u) << b;
  stitchgcm_wipe(bit, sizeof bit);
  return substituted;
}

void stitchgcm_portable_aes_expand_key(uint8_t round_key[STITCHGCM_ROUND_KEYS][16], const uint8_t *key,
                                       uint32_t rounds) {
  const uint32_t key_words = rounds - 6;
  const uint32_t words = 4 * (rounds + 1);
  uint32_t round_constant = 1;
  memcpy(round_key, key, 4 * key_words);
  /* Words are little-endian here: FIPS 197's rotation to the left is one to the right, and Rcon is in the low byte. */
  uint32_t word = stitchgcm_load_le32(key + 4 * (key_words - 1));
  for (uint32_t i = key_words; i < words; i++) {
    if (i % key_words == 0) {
      word = sub_word(word >> 8 | word << 24) ^ round_constant;
      round_constant = (round_constant << 1) ^ ((round_constant >> 7) * 0x11bu);
    } else if (key_words > 6 && i % key_words == 4) {
      word = sub_word(word);
    }
    const uint32_t before = i - key_words;
    word ^= stitchgcm_load_le32(&round_key[before / 4][4 * (before % 4)]);
    stitchgcm_store_le32(&round_key[i / 4][4 * (i % 4)], word);
  }
}

void stitchgcm_portable_aes_slice_keys(stitchgcm_portable_keys *keys, const stitchgcm_context *context,
                                       uint32_t rounds) {
  uint8_t copies[STITCHGCM_PORTABLE_BATCH_BYTES];
  keys->rounds = rounds;
  for (uint32_t i = 0; i <= rounds; i++) {
    for (unsigned n = 0; n < STITCHGCM_PORTABLE_BLOCKS; n++) memcpy(copies + 16 * n, context->round_key[i], 16);
    slice_blocks(keys->slice[i], copies);
  }
  stitchgcm_wipe(copies, sizeof copies);
}

void stitchgcm_portable_aes_encrypt(const stitchgcm_portable_keys *keys,
                                    const uint8_t in[STITCHGCM_PORTABLE_BATCH_BYTES],
                                    uint8_t out[STITCHGCM_PORTABLE_BATCH_BYTES]) {
  uint64_t slice[8];
  slice_blocks(slice, in);
  add_round_key(slice, keys->slice[0]);
  for (uint32_t round = 1; round < keys->rounds; round++) {
    stitchgcm_portable_sub_bytes(slice);
    shift_rows(slice);
    mix_columns(slice);
    add_round_key(slice, keys->slice[round]);
  }
  stitchgcm_portable_sub_bytes(slice);
  shift_rows(slice);
  add_round_key(slice, keys->slice[keys->rounds]);
  unslice_blocks(out, slice);
  stitchgcm_wipe(slice, sizeof slice);
}
