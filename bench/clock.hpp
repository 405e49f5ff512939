// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Time, true core cycles, and the one core that all is timed on.
#pragma once

#include <optional>

namespace stitchgcm::bench {

/// Nanoseconds of a clock that only goes forward. Its zero means nothing.
double now_ns();

/// The clock of this core right now, in cycles per nanosecond (GHz), from a chain of register additions that each wait
/// for the one before: one cycle each, whatever the time stamp counter runs at. Takes a few microseconds. An
/// interruption makes the answer too low, never too high, so of several answers take the highest.
double core_ghz();

/// Keeps this thread on the CPU with this number, or, when there is none, on the one that it runs on. Returns the
/// CPU's number, or nothing if the system refuses.
std::optional<int> pin_to_cpu(std::optional<int> cpu);

}  // namespace stitchgcm::bench
