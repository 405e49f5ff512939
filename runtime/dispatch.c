/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "dispatch.h"

#include <string.h>

#include "cpu.h"
#include "cpu_pretend.h"
#include "stitchgcm.h"
#include "testing.h"

stitchgcm_atomic32 stitchgcm_available_mask;

/* 0: the best of the available ones; else 1 + the index of the backend that was selected by name. */
static stitchgcm_atomic32 selection;

uint32_t stitchgcm_detect_backends(void) {
  stitchgcm_cpuid cpuid;
  uint64_t xcr0 = 0;
  uint32_t mask = 0;
  stitchgcm_cpu_read(&cpuid, &xcr0);
  uint64_t features = stitchgcm_cpu_features(&cpuid, xcr0);
#ifdef STITCHGCM_TESTING
  features = stitchgcm_cpu_restrict_by_environment(features);
#endif
  for (size_t i = 0; i < stitchgcm_backends_count; i++) {
    if ((stitchgcm_backends[i].features & ~features) == 0) mask |= UINT32_C(1) << i;
  }
  stitchgcm_atomic32_store(&stitchgcm_available_mask, mask);
  return mask;
}

size_t stitchgcm_selected_index(void) {
  const uint32_t selected = stitchgcm_atomic32_load(&selection);
  if (selected != 0) return selected - 1;
  const uint32_t mask = stitchgcm_available_backends();
  size_t best = 0;
  while ((mask >> best & 1) == 0) best++;
  return best;
}

size_t stitchgcm_runnable_index(const char *name) {
  const uint32_t mask = stitchgcm_available_backends();
  for (size_t i = 0; i < stitchgcm_backends_count; i++) {
    if ((mask >> i & 1) != 0 && strcmp(stitchgcm_backends[i].name, name) == 0) return i;
  }
  return stitchgcm_backends_count;
}

size_t stitchgcm_backend_count(void) { return stitchgcm_backends_count; }

const char *stitchgcm_backend_name(size_t index) {
  return index < stitchgcm_backends_count ? stitchgcm_backends[index].name : NULL;
}

int stitchgcm_backend_available(const char *name) {
  return name != NULL && stitchgcm_runnable_index(name) < stitchgcm_backends_count;
}

const char *stitchgcm_backend_selected(void) { return stitchgcm_backends[stitchgcm_selected_index()].name; }

stitchgcm_status stitchgcm_backend_select(const char *name) {
  uint32_t selected = 0;
  if (name != NULL) {
    const size_t index = stitchgcm_runnable_index(name);
    if (index == stitchgcm_backends_count) return STITCHGCM_ERROR_BACKEND;
    selected = (uint32_t)index + 1;
  }
  stitchgcm_atomic32_store(&selection, selected);
  return STITCHGCM_OK;
}

#ifdef STITCHGCM_TESTING
void stitchgcm_testing_forget_cpu(void) {
  stitchgcm_atomic32_store(&selection, 0);
  stitchgcm_atomic32_store(&stitchgcm_available_mask, 0);
}
#endif
