// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Random formulas of the verifier, and random values for what is unknown in them.
#pragma once

#include <string>

#include "bytes.hpp"
#include "verify/algebra/lane_pool.hpp"

namespace tests {

/// A block written as its 16 bytes.
stitchgcm::verify::Bits128 block_value(std::string_view hex_digits);
std::string hex(stitchgcm::verify::Bits128 block);

/// Values for all unknowns: every input another one, small variables, counters that start at multiples of 8 and for
/// every second seed close below 2^32.
stitchgcm::verify::Assignment random_values(std::uint64_t seed);

/// Draws formulas over inputs, powers, products, S-boxes, counters and integers.
class RandomLanes {
 public:
  RandomLanes(stitchgcm::verify::LanePool& pool, std::uint64_t seed);

  stitchgcm::verify::Bits128 bits();
  stitchgcm::verify::Affine affine();
  stitchgcm::verify::LinearMap map();
  /// One unknown, of any kind; S-boxes and products within up to `depth`.
  stitchgcm::verify::Lane unknown(int depth = 2);
  /// A sum of unknowns with some of their bits, and a constant: what may be multiplied by a power of H.
  stitchgcm::verify::Lane sum_of_masked(int depth = 2);
  /// A sum of linear maps of unknowns, and a constant.
  stitchgcm::verify::Lane lane(int depth = 2);

  Random& random() { return random_; }
  stitchgcm::verify::Variable n() const { return n_; }
  stitchgcm::verify::Variable i() const { return i_; }

 private:
  stitchgcm::verify::LanePool& pool_;
  Random random_;
  stitchgcm::verify::Variable n_, i_;
  stitchgcm::verify::CounterName counter_;
};

}  // namespace tests
