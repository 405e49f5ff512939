// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Small routines with one of everything that is emitted: they stay as they are when AES-GCM's routines change.
#pragma once

#include "asm_routines.hpp"

namespace tests {

/// Routine 0, "sample": constants, stitched strips, an aligned loop, a branch, a ladder, a call of routine 1, "helper".
LoweredSample everything_sample();

/// Two strips stitched, of which one is ahead by a turn.
LoweredSample stitched_sample();

/// A ladder of three rungs.
LoweredSample ladder_sample();

/// A frame with two saved registers.
LoweredSample frame_sample();

/// A constant that is used at two places.
LoweredSample constant_sample();

}  // namespace tests
