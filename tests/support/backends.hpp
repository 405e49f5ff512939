// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Runs a test body once for every backend of the build, says which, and proves that this one really ran.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "backend.h"
#include "tally.hpp"

namespace tests {

inline constexpr std::array<std::size_t, 3> key_lengths{16, 24, 32};

struct Backend {
  std::size_t index;
  std::string name;
  const stitchgcm_backend* table;

  /// The routines for a key of 16, 24 or 32 bytes.
  const stitchgcm_routines& routines(std::size_t key_bytes) const { return table->routines[(key_bytes - 16) / 8]; }
  /// The backend in C: slow, and compiled, so that nothing can be promised of the registers it leaves.
  bool is_portable() const { return name == "portable"; }
};

/// The backends of this build that the CPU can run, best first. Prints "SKIPPED ..." for each of the others.
std::vector<Backend> runnable_backends(std::string_view title);

/// The one of them that keys are made for if none is selected: the first, but none with 512-bit vectors on a CPU that
/// lowers its clock for them.
Backend preferred_backend(std::string_view title);

/// The last backend, which every CPU runs.
Backend portable_backend();

/// For each runnable backend: body(backend, tally), for tests by way of the public functions. Fails unless the hit
/// counter of this backend moved and those of all others stayed. Ends with the tally's line.
void for_each_backend(std::string_view title, const std::function<void(const Backend&, Tally&)>& body);

/// The same for tests that call the routines of the table themselves, where no counter moves: the proof is that each
/// routine is another function than portable's.
void for_each_routine_table(std::string_view title, const std::function<void(const Backend&, Tally&)>& body);

}  // namespace tests
