/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "wipe.h"

#include <stdint.h>
#include <string.h>

void stitchgcm_wipe(void *memory, size_t bytes) {
  if (bytes == 0) return;
#if defined(__GNUC__) || defined(__clang__)
  memset(memory, 0, bytes);
  /* The empty statement claims to read the memory, so the stores before it have a reader even after inlining. */
  __asm__ volatile("" : : "r"(memory) : "memory");
#else
  volatile uint8_t *byte = (volatile uint8_t *)memory;
  for (size_t i = 0; i < bytes; i++) byte[i] = 0;
#endif
}
