/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "choice.h"

static int can_run(const stitchgcm_backend *backend, uint64_t features) {
  return (backend->features & ~features) == 0 || (backend->features_avx10 & ~features) == 0;
}

stitchgcm_choice stitchgcm_choose(const stitchgcm_backend *backends, size_t count, uint64_t features,
                                  int lowers_clock_for_512_bits) {
  stitchgcm_choice choice = {0, (uint32_t)count};
  for (size_t i = 0; i < count; i++) {
    if (!can_run(&backends[i], features)) continue;
    choice.available |= UINT32_C(1) << i;
    if (choice.preferred == count && !(lowers_clock_for_512_bits && backends[i].vector_bits == 512)) {
      choice.preferred = (uint32_t)i;
    }
  }
  return choice;
}
