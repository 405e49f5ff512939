/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
#include "stitchgcm.h"

const char *stitchgcm_status_text(stitchgcm_status status) {
  switch (status) {
    case STITCHGCM_OK: return "No error.";
    case STITCHGCM_ERROR_TAG: return "The message is not authentic.";
    case STITCHGCM_ERROR_NULL: return "A pointer that is needed is null.";
    case STITCHGCM_ERROR_KEY_BYTES: return "A key has 16, 24 or 32 bytes.";
    case STITCHGCM_ERROR_IV_BYTES: return "An IV has 1 to 2^61 - 1 bytes.";
    case STITCHGCM_ERROR_TAG_BYTES: return "A tag has 4, 8 or 12 to 16 bytes.";
    case STITCHGCM_ERROR_AAD_BYTES: return "The additional data is longer than 2^61 - 1 bytes.";
    case STITCHGCM_ERROR_TEXT_BYTES: return "The text is longer than 2^36 - 32 bytes.";
    case STITCHGCM_ERROR_OVERLAP: return "Buffers overlap in a way that is not allowed.";
    case STITCHGCM_ERROR_KEY: return "The key is not set, or its backend is not here.";
    case STITCHGCM_ERROR_BACKEND: return "There is no such backend, or this CPU cannot run it.";
  }
  return "Unknown status.";
}

const char *stitchgcm_version(void) { return STITCHGCM_VERSION; }
