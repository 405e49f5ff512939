/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "cpu_pretend.h"

#ifdef STITCHGCM_TESTING

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
#include <unistd.h>
#endif

int stitchgcm_cpu_parse_features(const char *list, uint64_t *features, const char **unknown, size_t *unknown_bytes) {
  uint64_t named = 0;
  while (*list != '\0') {
    list += strspn(list, ", ");
    const size_t bytes = strcspn(list, ", ");
    if (bytes == 0) break;
    const uint64_t feature = stitchgcm_cpu_feature_named(list, bytes);
    if (feature == 0) {
      *unknown = list;
      *unknown_bytes = bytes;
      return 0;
    }
    named |= feature;
    list += bytes;
  }
  *features = named;
  return 1;
}

uint64_t stitchgcm_cpu_restrict(uint64_t features, const char *list, int is_privileged) {
  uint64_t named = 0;
  const char *unknown = NULL;
  size_t unknown_bytes = 0;
  if (list == NULL || is_privileged) return features;
  if (!stitchgcm_cpu_parse_features(list, &named, &unknown, &unknown_bytes)) {
    fprintf(stderr, "STITCHGCM_CPU_FEATURES: no CPU feature is called '%.*s'\n", (int)unknown_bytes, unknown);
    abort();
  }
  return features & named;
}

static int is_privileged(void) {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
  return issetugid() != 0;
#else
  return 1; /* no way to tell, so the variable is not trusted */
#endif
}

uint64_t stitchgcm_cpu_restrict_by_environment(uint64_t features) {
  return stitchgcm_cpu_restrict(features, getenv("STITCHGCM_CPU_FEATURES"), is_privileged());
}

#endif
