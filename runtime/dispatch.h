/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Which backends can run here, and whether a context belongs to one of them. The CPU is asked once, at the first use,
 * and the answer is kept as a mask: bit i for entry i of stitchgcm_backends. Threads that come first together find the
 * same answer and store it twice, so no lock is needed. Internal.
 */
#ifndef STITCHGCM_DISPATCH_H
#define STITCHGCM_DISPATCH_H

#include "atomic.h"
#include "backend.h"
#include "choice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* stitchgcm_context.form of powers stored as stitchgcm_layout.h says. */
enum { STITCHGCM_FORM_POWERS = 1 };

/* 0 as long as nobody asked; never 0 after, since portable needs nothing. Read it by stitchgcm_available_backends. */
extern stitchgcm_atomic32 stitchgcm_available_mask;

/* Asks the CPU (in testing builds the environment, too) and sets stitchgcm_available_mask to the answer it returns. */
uint32_t stitchgcm_detect_backends(void);

static inline uint32_t stitchgcm_available_backends(void) {
  const uint32_t mask = stitchgcm_atomic32_load(&stitchgcm_available_mask);
  return mask != 0 ? mask : stitchgcm_detect_backends();
}

/* The index of the backend for new keys: the selected one, or else the one that this CPU should run. */
size_t stitchgcm_selected_index(void);

/* The index of the backend with this name if it can run here, else stitchgcm_backends_count. */
size_t stitchgcm_runnable_index(const char *name);

/* Index into stitchgcm_backend.routines for 10, 12 or 14 rounds; more than 2 for any other number. */
static inline uint32_t stitchgcm_key_length_index(uint32_t rounds) {
  /* Rotated to the right by one bit, an odd difference becomes a huge number: one comparison refuses it, too. */
  const uint32_t beyond_aes128 = rounds - 10;
  return beyond_aes128 >> 1 | beyond_aes128 << 31;
}

/* 1 if the context holds a key that was made by a backend that can run here, else 0. */
static inline int stitchgcm_context_is_usable(const stitchgcm_context *context) {
  /* The shift is taken modulo 32 to be defined; an index that large has failed the comparison. */
  const uint32_t is_runnable = stitchgcm_available_backends() >> (context->backend & 31) & 1;
  return stitchgcm_key_length_index(context->rounds) < STITCHGCM_KEY_LENGTHS &&
         context->form == STITCHGCM_FORM_POWERS && context->backend < STITCHGCM_MOST_BACKENDS && is_runnable;
}

/* The routines for a usable context. */
static inline const stitchgcm_routines *stitchgcm_context_routines(const stitchgcm_context *context) {
  return &stitchgcm_backends[context->backend].routines[stitchgcm_key_length_index(context->rounds)];
}

#ifdef __cplusplus
}
#endif

#endif
