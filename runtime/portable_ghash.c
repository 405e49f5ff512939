/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Bit order. SP 800-38D (section 6.3) reads a block as a polynomial modulo x^128 + x^7 + x^2 + x + 1 whose constant
 * coefficient is the first bit. In the block's big-endian 128-bit integer that is bit 127: coefficients run backwards.
 * Reading bit i as the coefficient of x^i instead turns the modulus into its mirror image
 *
 *   Q = x^128 + x^127 + x^126 + x^121 + 1,
 *
 * and a product of blocks into a * b * x^-127 modulo Q, as the mirror image of a product of polynomials of degree up to
 * 127 is taken at degree 254. Of this, x is put into the stored power, V = H*x mod Q, and the x^-128 that is left is
 * what Montgomery's reduction gives: because Q = 1 modulo x^64, adding p0*Q to a product clears its lowest 64-bit word
 * p0, and doing so twice divides by x^128 for the price of a few shifts.
 *
 * Multiplication. An integer product is a carry-less one where no column of its sum carries into one that is looked at.
 * With only every fourth bit of two 32-bit factors kept, at most 8 ones meet in a column, and their sum (4 bits) stays
 * clear of the next; its lowest bit is the carry-less coefficient. Four by four such products make a full one. This is
 * constant time where the multiplication 32 x 32 -> 64 is, which holds for current x86, Arm Cortex-A and POWER
 * processors, though not for some microcontrollers.
 */
#include "portable_ghash.h"

#include <string.h>

#include "bytes.h"
#include "wipe.h"

/* Bit i of hi:lo is the coefficient of x^i. */
typedef struct element {
  uint64_t hi, lo;
} element;

/* The carry-less product of two polynomials of degree up to 31. */
static inline uint64_t multiply32(uint32_t a, uint32_t b) {
  const uint32_t holes = 0x11111111u;
  uint64_t a0 = a & holes, a1 = a & (holes << 1), a2 = a & (holes << 2), a3 = a & (holes << 3);
  uint64_t b0 = b & holes, b1 = b & (holes << 1), b2 = b & (holes << 2), b3 = b & (holes << 3);
  uint64_t c0 = (a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1);
  uint64_t c1 = (a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2);
  uint64_t c2 = (a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3);
  uint64_t c3 = (a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0);
  const uint64_t columns = UINT64_C(0x1111111111111111);
  return (c0 & columns) | (c1 & columns << 1) | (c2 & columns << 2) | (c3 & columns << 3);
}

/* The carry-less product of two polynomials of degree up to 63, by Karatsuba's three multiplications. */
static inline element multiply64(uint64_t a, uint64_t b) {
  uint64_t high = multiply32((uint32_t)(a >> 32), (uint32_t)(b >> 32));
  uint64_t low = multiply32((uint32_t)a, (uint32_t)b);
  uint64_t middle = multiply32((uint32_t)(a >> 32 ^ a), (uint32_t)(b >> 32 ^ b)) ^ high ^ low;
  element product = {high ^ middle >> 32, low ^ middle << 32};
  return product;
}

/* a * b * x^-128 mod Q */
static element multiply(element a, element b) {
  element high = multiply64(a.hi, b.hi);
  element low = multiply64(a.lo, b.lo);
  element middle = multiply64(a.hi ^ a.lo, b.hi ^ b.lo);
  uint64_t p0 = low.lo;
  uint64_t p1 = low.hi ^ middle.lo ^ high.lo ^ low.lo;
  uint64_t p2 = high.lo ^ middle.hi ^ high.hi ^ low.hi;
  uint64_t p3 = high.hi;
  /* Add p0 * Q, then p1 * Q * x^64: the terms x^121, x^126, x^127 and x^128 of Q, split at the word boundary. */
  p1 ^= p0 << 57 ^ p0 << 62 ^ p0 << 63;
  p2 ^= p0 >> 7 ^ p0 >> 2 ^ p0 >> 1 ^ p0;
  p2 ^= p1 << 57 ^ p1 << 62 ^ p1 << 63;
  p3 ^= p1 >> 7 ^ p1 >> 2 ^ p1 >> 1 ^ p1;
  element product = {p3, p2};
  return product;
}

/* a * x mod Q */
static element times_x(element a) {
  uint64_t carry = 0 - (a.hi >> 63);
  element product = {(a.hi << 1 | a.lo >> 63) ^ (carry & UINT64_C(0xc200000000000000)), a.lo << 1 ^ (carry & 1)};
  return product;
}

static element load_block(const uint8_t block[16]) {
  element a = {stitchgcm_load_be64(block), stitchgcm_load_be64(block + 8)};
  return a;
}

static void store_block(uint8_t block[16], element a) {
  stitchgcm_store_be64(block, a.hi);
  stitchgcm_store_be64(block + 8, a.lo);
}

void stitchgcm_portable_ghash_powers(stitchgcm_context *context) {
  element power = load_block(context->hash_key);
  element factor = times_x(power);
  element stored = factor;
  for (unsigned i = STITCHGCM_POWERS; i-- > 0;) {
    stitchgcm_store_le64(context->power[i], stored.lo);
    stitchgcm_store_le64(context->power[i] + 8, stored.hi);
    stitchgcm_store_le64(context->middle[i], stored.hi ^ stored.lo);
    stitchgcm_store_le64(context->middle[i] + 8, stored.hi ^ stored.lo);
    power = multiply(power, factor);
    stored = times_x(power);
  }
  stitchgcm_wipe(&power, sizeof power);
  stitchgcm_wipe(&factor, sizeof factor);
  stitchgcm_wipe(&stored, sizeof stored);
}

void stitchgcm_portable_ghash(const stitchgcm_context *context, uint8_t accumulator[16], const uint8_t *data,
                              size_t bytes) {
  const uint8_t *hash_key = context->power[STITCHGCM_POWERS - 1];
  element factor = {stitchgcm_load_le64(hash_key + 8), stitchgcm_load_le64(hash_key)};
  element y = load_block(accumulator);
  uint8_t last[16] = {0};
  while (bytes > 0) {
    const uint8_t *block = data;
    size_t taken = 16;
    if (bytes < 16) {
      memcpy(last, data, bytes);
      block = last;
      taken = bytes;
    }
    element x = load_block(block);
    y.hi ^= x.hi;
    y.lo ^= x.lo;
    y = multiply(y, factor);
    data += taken;
    bytes -= taken;
  }
  store_block(accumulator, y);
  stitchgcm_wipe(&factor, sizeof factor);
  stitchgcm_wipe(&y, sizeof y);
  stitchgcm_wipe(last, sizeof last);
}
