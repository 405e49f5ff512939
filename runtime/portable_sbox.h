/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * AES's S-box on 64 bytes at once, as logic. Internal.
 *
 * A byte is eight bits b7..b0 in eight words, 64 bytes side by side; every line below works on all of them.
 * SUBBYTES(a) = A * a^-1 + 0x63 in GF(2)[x] / (x^8 + x^4 + x^3 + x + 1), with 0^-1 = 0 (FIPS 197, section 5.1.1).
 * Inversion is cheap in a tower of quadratic extensions, where it needs one inversion in the field below:
 *
 *   GF(4)   = GF(2)[w]   / (w^2 + w + 1)
 *   GF(16)  = GF(4)[u]   / (u^2 + u + w^2)
 *   GF(256) = GF(16)[v]  / (v^2 + v + L),   L = w*u + w
 *
 *   (p*v + q)^-1 = p*D^-1 * v + (p + q)*D^-1   with the norm   D = L*p^2 + p*q + q^2       (alike for u with w^2 for L)
 *
 * D = 0 only for p = q = 0, and every formula maps 0 to 0, so zero needs no special case. Fields of one size are
 * isomorphic: to_tower sends x to the root of x^8 + x^4 + x^3 + x + 1 that is 0x53 in the tower, from_tower goes back
 * and applies A on the way. Of all towers of this shape and all roots, this one had the fewest additions in the two
 * maps and in L*p^2 together in a search that shared sums greedily: 26.
 */
#ifndef STITCHGCM_PORTABLE_SBOX_H
#define STITCHGCM_PORTABLE_SBOX_H

#include <stdint.h>

typedef struct stitchgcm_gf4 {
  uint64_t hi, lo; /* hi*w + lo */
} stitchgcm_gf4;

typedef struct stitchgcm_gf16 {
  stitchgcm_gf4 hi, lo; /* hi*u + lo */
} stitchgcm_gf16;

typedef struct stitchgcm_gf256 {
  stitchgcm_gf16 hi, lo; /* hi*v + lo */
} stitchgcm_gf256;

static inline stitchgcm_gf4 stitchgcm_gf4_add(stitchgcm_gf4 a, stitchgcm_gf4 b) {
  stitchgcm_gf4 sum = {a.hi ^ b.hi, a.lo ^ b.lo};
  return sum;
}

static inline stitchgcm_gf4 stitchgcm_gf4_multiply(stitchgcm_gf4 a, stitchgcm_gf4 b) {
  uint64_t low = a.lo & b.lo;
  stitchgcm_gf4 product = {((a.hi ^ a.lo) & (b.hi ^ b.lo)) ^ low, (a.hi & b.hi) ^ low};
  return product;
}

/* a^2, which in GF(4) is a^-1 too. */
static inline stitchgcm_gf4 stitchgcm_gf4_square(stitchgcm_gf4 a) {
  stitchgcm_gf4 square = {a.hi, a.hi ^ a.lo};
  return square;
}

/* w^2 * a */
static inline stitchgcm_gf4 stitchgcm_gf4_scale(stitchgcm_gf4 a) {
  stitchgcm_gf4 scaled = {a.lo, a.hi ^ a.lo};
  return scaled;
}

static inline stitchgcm_gf16 stitchgcm_gf16_add(stitchgcm_gf16 a, stitchgcm_gf16 b) {
  stitchgcm_gf16 sum = {stitchgcm_gf4_add(a.hi, b.hi), stitchgcm_gf4_add(a.lo, b.lo)};
  return sum;
}

static inline stitchgcm_gf16 stitchgcm_gf16_multiply(stitchgcm_gf16 a, stitchgcm_gf16 b) {
  stitchgcm_gf4 high = stitchgcm_gf4_multiply(a.hi, b.hi);
  stitchgcm_gf4 low = stitchgcm_gf4_multiply(a.lo, b.lo);
  stitchgcm_gf4 all = stitchgcm_gf4_multiply(stitchgcm_gf4_add(a.hi, a.lo), stitchgcm_gf4_add(b.hi, b.lo));
  stitchgcm_gf16 product = {stitchgcm_gf4_add(all, low), stitchgcm_gf4_add(stitchgcm_gf4_scale(high), low)};
  return product;
}

static inline stitchgcm_gf16 stitchgcm_gf16_square(stitchgcm_gf16 a) {
  stitchgcm_gf4 high = stitchgcm_gf4_square(a.hi);
  stitchgcm_gf16 square = {high, stitchgcm_gf4_add(stitchgcm_gf4_scale(high), stitchgcm_gf4_square(a.lo))};
  return square;
}

static inline stitchgcm_gf16 stitchgcm_gf16_inverse(stitchgcm_gf16 a) {
  stitchgcm_gf4 norm =
      stitchgcm_gf4_add(stitchgcm_gf4_scale(stitchgcm_gf4_square(a.hi)),
                        stitchgcm_gf4_add(stitchgcm_gf4_multiply(a.hi, a.lo), stitchgcm_gf4_square(a.lo)));
  stitchgcm_gf4 norm_inverse = stitchgcm_gf4_square(norm);
  stitchgcm_gf16 inverse = {stitchgcm_gf4_multiply(a.hi, norm_inverse),
                            stitchgcm_gf4_multiply(stitchgcm_gf4_add(a.hi, a.lo), norm_inverse)};
  return inverse;
}

/* L * a^2 */
static inline stitchgcm_gf16 stitchgcm_gf16_square_scale(stitchgcm_gf16 a) {
  stitchgcm_gf16 scaled = {{a.hi.hi ^ a.lo.lo, a.hi.hi ^ a.hi.lo ^ a.lo.hi}, {a.lo.lo, a.lo.hi}};
  return scaled;
}

static inline stitchgcm_gf256 stitchgcm_gf256_inverse(stitchgcm_gf256 a) {
  stitchgcm_gf16 norm =
      stitchgcm_gf16_add(stitchgcm_gf16_square_scale(a.hi),
                         stitchgcm_gf16_add(stitchgcm_gf16_multiply(a.hi, a.lo), stitchgcm_gf16_square(a.lo)));
  stitchgcm_gf16 norm_inverse = stitchgcm_gf16_inverse(norm);
  stitchgcm_gf256 inverse = {stitchgcm_gf16_multiply(a.hi, norm_inverse),
                             stitchgcm_gf16_multiply(stitchgcm_gf16_add(a.hi, a.lo), norm_inverse)};
  return inverse;
}

static inline stitchgcm_gf256 stitchgcm_to_tower(const uint64_t bit[8]) {
  uint64_t bits51 = bit[5] ^ bit[1];
  uint64_t bits32 = bit[3] ^ bit[2];
  uint64_t bits75 = bit[7] ^ bit[5];
  stitchgcm_gf16 hi = {{bits75, bits51 ^ bits32 ^ bit[6] ^ bit[4]}, {bits75 ^ bits32, bit[1]}};
  stitchgcm_gf16 lo = {{bit[4] ^ bit[2], bit[7] ^ bit[2]}, {bit[7] ^ bit[1], bits51 ^ bit[6] ^ bit[0]}};
  stitchgcm_gf256 element = {hi, lo};
  return element;
}

/* bit := A * element + 0x63 */
static inline void stitchgcm_from_tower_affine(uint64_t bit[8], stitchgcm_gf256 element) {
  uint64_t y7 = element.hi.hi.hi, y6 = element.hi.hi.lo, y5 = element.hi.lo.hi, y4 = element.hi.lo.lo;
  uint64_t y3 = element.lo.hi.hi, y2 = element.lo.hi.lo, y1 = element.lo.lo.hi, y0 = element.lo.lo.lo;
  uint64_t y40 = y4 ^ y0, y32 = y3 ^ y2, y410 = y40 ^ y1, y64 = y6 ^ y4, y640 = y40 ^ y6;
  bit[0] = ~(y40 ^ y32);
  bit[1] = ~y410;
  bit[2] = y410 ^ y7 ^ y2;
  bit[3] = y640 ^ y32;
  bit[4] = y640;
  bit[5] = ~(y32 ^ y5 ^ y4);
  bit[6] = ~y64;
  bit[7] = y64 ^ y2;
}

/* SUBBYTES of the 64 bytes whose bits of weight 2^b are in bit[b]. */
static inline void stitchgcm_portable_sub_bytes(uint64_t bit[8]) {
  stitchgcm_from_tower_affine(bit, stitchgcm_gf256_inverse(stitchgcm_to_tower(bit)));
}

#endif
