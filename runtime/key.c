/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "call_count.h"
#include "dispatch.h"
#include "stitchgcm.h"
#include "wipe.h"

static int is_key_length(size_t key_bytes) { return key_bytes == 16 || key_bytes == 24 || key_bytes == 32; }

/* The arguments are checked. */
static void set_key(stitchgcm_key *key, size_t backend, const uint8_t *bytes, size_t key_bytes) {
  uint8_t copy[32]; /* `bytes` may lie in `key`, which is overwritten first */
  stitchgcm_context *context = &key->context;
  memcpy(copy, bytes, key_bytes);
  memset(context, 0, sizeof *context);
  context->rounds = (uint32_t)key_bytes / 4 + 6;
  context->backend = (uint32_t)backend;
  context->form = STITCHGCM_FORM_POWERS;
  stitchgcm_count_call(backend);
  stitchgcm_context_routines(context)->init(context, copy);
  stitchgcm_wipe(copy, sizeof copy);
}

stitchgcm_status stitchgcm_key_init(stitchgcm_key *key, const uint8_t *bytes, size_t key_bytes) {
  if (key == NULL || (bytes == NULL && key_bytes != 0)) return STITCHGCM_ERROR_NULL;
  if (!is_key_length(key_bytes)) return STITCHGCM_ERROR_KEY_BYTES;
  set_key(key, stitchgcm_selected_index(), bytes, key_bytes);
  return STITCHGCM_OK;
}

stitchgcm_status stitchgcm_key_init_for(stitchgcm_key *key, const char *backend, const uint8_t *bytes,
                                        size_t key_bytes) {
  if (key == NULL || backend == NULL || (bytes == NULL && key_bytes != 0)) return STITCHGCM_ERROR_NULL;
  if (!is_key_length(key_bytes)) return STITCHGCM_ERROR_KEY_BYTES;
  const size_t index = stitchgcm_runnable_index(backend);
  if (index == stitchgcm_backends_count) return STITCHGCM_ERROR_BACKEND;
  set_key(key, index, bytes, key_bytes);
  return STITCHGCM_OK;
}

void stitchgcm_key_clear(stitchgcm_key *key) {
  if (key != NULL) stitchgcm_wipe(key, sizeof *key);
}

const char *stitchgcm_key_backend(const stitchgcm_key *key) {
  if (key == NULL || !stitchgcm_context_is_usable(&key->context)) return NULL;
  return stitchgcm_backends[key->context.backend].name;
}
