// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The results as tables for people, and as CSV for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness.hpp"

namespace stitchgcm::bench {

struct TableStyle {
  bool markdown = false;
  bool difference = false;  ///< minima only, and of all but the first contender as ns more than the first
};

/// One table for each Cell::table(), a row a cell, the contenders side by side: minimum and median ns, for the first
/// also cycles per byte and GB/s of the minimum, for the others their minimum divided by the first's.
std::string tables(std::span<const CellResult> results, const Contenders& contenders, const TableStyle& style);

/// One line for each cell and contender, with a header line. Fields: operation, key_bits, place, bytes (the mean, where
/// sizes are mixed), contender, min_ns, median_ns, cycles, cycles_per_byte, gb_per_s, ratio (to the first contender).
std::string csv(std::span<const CellResult> results, const Contenders& contenders);

}  // namespace stitchgcm::bench
