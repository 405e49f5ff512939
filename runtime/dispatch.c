/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "dispatch.h"

#include <string.h>

#include "cpu.h"
#include "cpu_clock.h"
#include "cpu_pretend.h"
#include "stitchgcm.h"
#include "testing.h"

stitchgcm_atomic32 stitchgcm_available_mask;

/* 1 + the index of the backend that this CPU should run; 0 as long as nobody asked. */
static stitchgcm_atomic32 preference;

/* 0: the preferred one; else 1 + the index of the backend that was selected by name. */
static stitchgcm_atomic32 selection;

static stitchgcm_choice detect(void) {
  stitchgcm_cpuid cpuid;
  uint64_t xcr0 = 0;
  stitchgcm_cpu_read(&cpuid, &xcr0);
  uint64_t features = stitchgcm_cpu_features(&cpuid, xcr0);
#ifdef STITCHGCM_TESTING
  features = stitchgcm_cpu_restrict_by_environment(features);
#endif
  const stitchgcm_choice choice = stitchgcm_choose(stitchgcm_backends, stitchgcm_backends_count, features,
                                                   stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid));
  stitchgcm_atomic32_store(&preference, choice.preferred + 1);
  stitchgcm_atomic32_store(&stitchgcm_available_mask, choice.available);
  return choice;
}

uint32_t stitchgcm_detect_backends(void) { return detect().available; }

size_t stitchgcm_selected_index(void) {
  const uint32_t selected = stitchgcm_atomic32_load(&selection);
  if (selected != 0) return selected - 1;
  /* A thread may see the mask of another and not its preference yet, so this does not rely on the mask. */
  const uint32_t preferred = stitchgcm_atomic32_load(&preference);
  return preferred != 0 ? preferred - 1 : detect().preferred;
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
  stitchgcm_atomic32_store(&preference, 0);
  stitchgcm_atomic32_store(&stitchgcm_available_mask, 0);
}
#endif
