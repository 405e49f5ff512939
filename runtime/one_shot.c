/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * stitchgcm_seal and stitchgcm_open: the checks, then the backend's routine. For a message of 16 bytes the checks are a
 * good part of the call, so they make one set of faults without a branch, and a single branch asks whether it is empty.
 */
#include "call_count.h"
#include "dispatch.h"
#include "stitchgcm.h"

/* In the order in which stitchgcm.h lists the errors: of several faults the one of the lowest bit is reported. */
enum {
  FAULT_NULL = 1 << 0,
  FAULT_KEY = 1 << 1,
  FAULT_IV_BYTES = 1 << 2,
  FAULT_TAG_BYTES = 1 << 3,
  FAULT_AAD_BYTES = 1 << 4,
  FAULT_TEXT_BYTES = 1 << 5,
  FAULT_OVERLAP = 1 << 6
};

/* Bit n is set for the tag lengths n of SP 800-38D, section 5.2.1.2: 4, 8, 12, 13, 14, 15, 16. */
enum { TAG_LENGTHS = 1 << 4 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 16 };

/* `fault` if the condition, 0 or 1, holds. */
static inline uint32_t fault_if(uint32_t condition, uint32_t fault) { return (0 - condition) & fault; }

static inline uint32_t is_missing(const void *pointer, size_t bytes) {
  return (uint32_t)(pointer == NULL) & (uint32_t)(bytes != 0);
}

static inline uint32_t is_tag_length(size_t bytes) {
  return (uint32_t)(bytes <= 16) & (uint32_t)TAG_LENGTHS >> (bytes & 31);
}

/*
 * 1 if [a, a + a_bytes) and [b, b + b_bytes) share a byte. Of two ranges that overlap one starts within the other, and
 * that is asked by differences of addresses modulo the size of the address space, so that no sum can overflow.
 */
static inline uint32_t overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  const uintptr_t a_from_b = (uintptr_t)a - (uintptr_t)b;
  const uintptr_t b_from_a = (uintptr_t)b - (uintptr_t)a;
  return ((uint32_t)(a_from_b < b_bytes) | (uint32_t)(b_from_a < a_bytes)) & (uint32_t)(a_bytes != 0) &
         (uint32_t)(b_bytes != 0);
}

/* Neither `key` nor `m` is null. */
static inline uint32_t find_faults(const stitchgcm_key *key, const stitchgcm_message *m) {
  const uint64_t iv_bytes = m->iv_bytes, aad_bytes = m->aad_bytes, text_bytes = m->bytes;
  const uint32_t missing = is_missing(m->iv, m->iv_bytes) | is_missing(m->aad, m->aad_bytes) |
                           is_missing(m->in, m->bytes) | is_missing(m->out, m->bytes) |
                           is_missing(m->tag, m->tag_bytes);
  const uint32_t text_overlaps = (uint32_t)(m->in != m->out) & overlap(m->in, m->bytes, m->out, m->bytes);
  /* The routines read key and message to the end, so neither may change under them. */
  const uint32_t others_overlap = overlap(m->tag, m->tag_bytes, m->out, m->bytes) |
                                  overlap(key, sizeof *key, m->out, m->bytes) |
                                  overlap(key, sizeof *key, m->tag, m->tag_bytes) |
                                  overlap(m, sizeof *m, m->out, m->bytes) | overlap(m, sizeof *m, m->tag, m->tag_bytes);
  return fault_if(missing, FAULT_NULL) | fault_if(stitchgcm_context_is_usable(&key->context) ^ 1, FAULT_KEY) |
         fault_if((uint32_t)(iv_bytes - 1 >= STITCHGCM_MAX_IV_BYTES), FAULT_IV_BYTES) |
         fault_if((is_tag_length(m->tag_bytes) & 1) ^ 1, FAULT_TAG_BYTES) |
         fault_if((uint32_t)(aad_bytes > STITCHGCM_MAX_AAD_BYTES), FAULT_AAD_BYTES) |
         fault_if((uint32_t)(text_bytes > STITCHGCM_MAX_TEXT_BYTES), FAULT_TEXT_BYTES) |
         fault_if(text_overlaps | others_overlap, FAULT_OVERLAP);
}

static stitchgcm_status status_of(uint32_t faults) {
  if (faults & FAULT_NULL) return STITCHGCM_ERROR_NULL;
  if (faults & FAULT_KEY) return STITCHGCM_ERROR_KEY;
  if (faults & FAULT_IV_BYTES) return STITCHGCM_ERROR_IV_BYTES;
  if (faults & FAULT_TAG_BYTES) return STITCHGCM_ERROR_TAG_BYTES;
  if (faults & FAULT_AAD_BYTES) return STITCHGCM_ERROR_AAD_BYTES;
  if (faults & FAULT_TEXT_BYTES) return STITCHGCM_ERROR_TEXT_BYTES;
  if (faults & FAULT_OVERLAP) return STITCHGCM_ERROR_OVERLAP;
  return STITCHGCM_OK;
}

stitchgcm_status stitchgcm_seal(const stitchgcm_key *key, const stitchgcm_message *message) {
  if (key == NULL || message == NULL) return STITCHGCM_ERROR_NULL;
  const uint32_t faults = find_faults(key, message);
  if (faults != 0) return status_of(faults);
  stitchgcm_count_call(key->context.backend);
  stitchgcm_context_routines(&key->context)->seal(&key->context, message);
  return STITCHGCM_OK;
}

stitchgcm_status stitchgcm_open(const stitchgcm_key *key, const stitchgcm_message *message) {
  if (key == NULL || message == NULL) return STITCHGCM_ERROR_NULL;
  const uint32_t faults = find_faults(key, message);
  if (faults != 0) return status_of(faults);
  stitchgcm_count_call(key->context.backend);
  return stitchgcm_context_routines(&key->context)->open(&key->context, message) ? STITCHGCM_OK : STITCHGCM_ERROR_TAG;
}
