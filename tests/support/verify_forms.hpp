// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every form of instruction that the verifier's table takes, as machine code with random registers, addresses and
// numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "verify/machine/semantics.hpp"

namespace tests {

enum class Masking { none, merging, zeroing };

/// A row of the table with one choice of what it leaves open.
struct RowForm {
  const stitchgcm::verify::Row* row;
  stitchgcm::verify::Encoding encoding;
  int length;                                   // of vectors: 128, 256, 512
  int width;                                    // of general registers: 32, 64
  std::vector<stitchgcm::verify::Kinds> kinds;  // one for each operand
  Masking masking;

  /// "vpxord z z m512 evex {k}"; nothing if there is no such instruction.
  std::optional<std::string> name() const;
  /// Random machine code of the form; nothing if Zydis finds none, which it may not for some choices of registers.
  std::optional<Bytes> encode(Random& random) const;
};

/// All forms of a row that can be encoded.
std::vector<RowForm> forms_of(const stitchgcm::verify::Row& row);

}  // namespace tests
