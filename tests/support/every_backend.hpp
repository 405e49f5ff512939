// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The runtime's table of backends as it is when all that there will ever be are compiled in. Their routines do nothing:
// it is for tests of what is chosen, which run nothing of it.
#pragma once

#include <cstddef>

#include "backend.h"

namespace tests {

extern "C" {
extern const stitchgcm_backend every_backend[];
extern const std::size_t every_backend_count;
}

}  // namespace tests
