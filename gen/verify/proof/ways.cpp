// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/proof/ways.hpp"

namespace stitchgcm::verify {

std::optional<Failure> failure_alone(int ways, const std::function<Explorer(std::mt19937_64& random)>& begin) {
  std::mt19937_64 random(1);
  for (int n = 0; n < ways; n++) {
    Explorer way = begin(random);
    try {
      way.walk(random);
    } catch (const Failure& f) {
      if (!f.gave_up) return f;
    }
  }
  return std::nullopt;
}

}  // namespace stitchgcm::verify
