/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* The portable backend: AES-GCM from the bitsliced AES of portable_aes and the multiplication of portable_ghash. */
#include "portable.h"

#include <string.h>

#include "bytes.h"
#include "portable_aes.h"
#include "portable_ghash.h"
#include "wipe.h"

/* Keystream in batches. `used` bytes of `stream` are consumed; `counter` is the counter block of the next batch. */
typedef struct keystream {
  stitchgcm_portable_keys keys;
  uint8_t counter[16];
  uint8_t stream[STITCHGCM_PORTABLE_BATCH_BYTES];
  size_t used;
} keystream;

/* What GHASH takes of a text on its way through: an encryption's result, a decryption's input, or nothing. */
typedef enum hashed { HASH_NOTHING, HASH_OUT, HASH_IN } hashed;

/* Adds to the last 32 bits, big-endian, modulo 2^32: inc_32 of SP 800-38D, section 6.2, `blocks` times. */
static void advance_counter(uint8_t counter[16], size_t blocks) {
  stitchgcm_store_be32(counter + 12, stitchgcm_load_be32(counter + 12) + (uint32_t)blocks);
}

static void keystream_start(keystream *k, const stitchgcm_context *context, const uint8_t counter[16]) {
  stitchgcm_portable_aes_slice_keys(&k->keys, context, context->rounds);
  memcpy(k->counter, counter, 16);
  k->used = STITCHGCM_PORTABLE_BATCH_BYTES;
}

static void keystream_refill(keystream *k) {
  for (unsigned n = 0; n < STITCHGCM_PORTABLE_BLOCKS; n++) {
    memcpy(k->stream + 16 * n, k->counter, 16);
    advance_counter(k->counter, 1);
  }
  stitchgcm_portable_aes_encrypt(&k->keys, k->stream, k->stream);
  k->used = 0;
}

/* out := in + keystream. All of a text but its last part is whole blocks, as GHASH needs it. */
static void crypt_text(keystream *k, const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t bytes,
                       hashed what, uint8_t accumulator[16]) {
  while (bytes > 0) {
    if (k->used == STITCHGCM_PORTABLE_BATCH_BYTES) keystream_refill(k);
    size_t taken = STITCHGCM_PORTABLE_BATCH_BYTES - k->used;
    if (taken > bytes) taken = bytes;
    if (what == HASH_IN) stitchgcm_portable_ghash(context, accumulator, in, taken);
    for (size_t i = 0; i < taken; i++) out[i] = (uint8_t)(in[i] ^ k->stream[k->used + i]);
    if (what == HASH_OUT) stitchgcm_portable_ghash(context, accumulator, out, taken);
    k->used += taken;
    in += taken;
    out += taken;
    bytes -= taken;
  }
}

/* The block [8 * first]_64 || [8 * second]_64 of two lengths in bits. */
static void hash_lengths(const stitchgcm_context *context, uint8_t accumulator[16], size_t first, size_t second) {
  uint8_t lengths[16];
  stitchgcm_store_be64(lengths, (uint64_t)first * 8);
  stitchgcm_store_be64(lengths + 8, (uint64_t)second * 8);
  stitchgcm_portable_ghash(context, accumulator, lengths, 16);
}

/* J0, SP 800-38D, algorithm 4, step 2. */
static void initial_counter(const stitchgcm_context *context, const stitchgcm_message *message, uint8_t counter[16]) {
  memset(counter, 0, 16);
  if (message->iv_bytes == 12) {
    memcpy(counter, message->iv, 12);
    counter[15] = 1;
  } else {
    stitchgcm_portable_ghash(context, counter, message->iv, message->iv_bytes);
    hash_lengths(context, counter, 0, message->iv_bytes);
  }
}

/* Everything of a message but what becomes of the tag: out := text, tag := the 16 bytes that belong to it. */
static void crypt_message(const stitchgcm_context *context, const stitchgcm_message *message, hashed what,
                          uint8_t tag[16]) {
  keystream k;
  uint8_t counter[16];
  uint8_t tag_mask[16];
  initial_counter(context, message, counter);
  memset(tag, 0, 16);
  stitchgcm_portable_ghash(context, tag, message->aad, message->aad_bytes);
  /* The keystream starts at J0, not after it: its first block is E(J0), and a short message needs one batch in all. */
  keystream_start(&k, context, counter);
  keystream_refill(&k);
  memcpy(tag_mask, k.stream, 16);
  k.used = 16;
  crypt_text(&k, context, message->in, message->out, message->bytes, what, tag);
  hash_lengths(context, tag, message->aad_bytes, message->bytes);
  for (unsigned i = 0; i < 16; i++) tag[i] ^= tag_mask[i];
  stitchgcm_wipe(&k, sizeof k);
  stitchgcm_wipe(counter, sizeof counter);
  stitchgcm_wipe(tag_mask, sizeof tag_mask);
}

static void init(stitchgcm_context *context, const uint8_t *key, uint32_t rounds) {
  stitchgcm_portable_keys keys;
  uint8_t blocks[STITCHGCM_PORTABLE_BATCH_BYTES] = {0};
  stitchgcm_portable_aes_expand_key(context->round_key, key, rounds);
  stitchgcm_portable_aes_slice_keys(&keys, context, rounds);
  stitchgcm_portable_aes_encrypt(&keys, blocks, blocks);
  memcpy(context->hash_key, blocks, 16);
  stitchgcm_portable_ghash_powers(context);
  stitchgcm_wipe(&keys, sizeof keys);
  stitchgcm_wipe(blocks, sizeof blocks);
}

void stitchgcm_init_aes128_portable(stitchgcm_context *context, const uint8_t *key) { init(context, key, 10); }
void stitchgcm_init_aes192_portable(stitchgcm_context *context, const uint8_t *key) { init(context, key, 12); }
void stitchgcm_init_aes256_portable(stitchgcm_context *context, const uint8_t *key) { init(context, key, 14); }

void stitchgcm_seal_portable(const stitchgcm_context *context, const stitchgcm_message *message) {
  uint8_t tag[16];
  crypt_message(context, message, HASH_OUT, tag);
  memcpy(message->tag, tag, message->tag_bytes);
  stitchgcm_wipe(tag, sizeof tag);
}

int stitchgcm_open_portable(const stitchgcm_context *context, const stitchgcm_message *message) {
  uint8_t tag[16];
  uint32_t difference = 0;
  crypt_message(context, message, HASH_IN, tag);
  for (size_t i = 0; i < message->tag_bytes; i++) difference |= (uint32_t)(tag[i] ^ message->tag[i]);
  stitchgcm_wipe(tag, sizeof tag);
  /* Only the verdict, which is public, meets a branch; the place of the first wrong byte does not. */
  if (difference == 0) return 1;
  if (message->bytes > 0) memset(message->out, 0, message->bytes);
  return 0;
}

static void crypt_blocks(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                         uint8_t counter[16], hashed what, uint8_t accumulator[16]) {
  keystream k;
  keystream_start(&k, context, counter);
  crypt_text(&k, context, in, out, 16 * blocks, what, accumulator);
  advance_counter(counter, blocks);
  stitchgcm_wipe(&k, sizeof k);
}

void stitchgcm_encrypt_blocks_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                                       uint8_t counter[16], uint8_t accumulator[16]) {
  crypt_blocks(context, in, out, blocks, counter, HASH_OUT, accumulator);
}

void stitchgcm_decrypt_blocks_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                                       uint8_t counter[16], uint8_t accumulator[16]) {
  crypt_blocks(context, in, out, blocks, counter, HASH_IN, accumulator);
}

void stitchgcm_ctr32_portable(const stitchgcm_context *context, const uint8_t *in, uint8_t *out, size_t blocks,
                              uint8_t counter[16]) {
  crypt_blocks(context, in, out, blocks, counter, HASH_NOTHING, NULL);
}

void stitchgcm_ghash_portable(const stitchgcm_context *context, uint8_t accumulator[16], const uint8_t *data,
                              size_t blocks) {
  stitchgcm_portable_ghash(context, accumulator, data, 16 * blocks);
}
