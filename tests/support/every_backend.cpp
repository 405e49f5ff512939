// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The runtime's own source once more, under another name and with all backends said to be there.
#define STITCHGCM_HAVE_AESNI 1
#define STITCHGCM_HAVE_AESNI_AVX 1
#define STITCHGCM_HAVE_VAES_AVX2 1
#define STITCHGCM_HAVE_VAES_AVX10_256 1
#define STITCHGCM_HAVE_VAES_AVX512 1
#define stitchgcm_backends every_backend
#define stitchgcm_backends_count every_backend_count

#include "every_backend_routines.hpp"
// After the header whose guard keeps the emitted one out.
#include "backends.c"
