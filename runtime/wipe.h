/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Removal of secrets from memory. Internal. */
#ifndef STITCHGCM_WIPE_H
#define STITCHGCM_WIPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sets `bytes` bytes at `memory` to 0, also where the compiler can tell that nobody reads them again. It reaches named
 * objects only: what the compiler spilled to the stack by itself is out of reach of C.
 */
void stitchgcm_wipe(void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
