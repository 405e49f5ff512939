// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// One thing to time: an operation, a key length, a place, and a size (or a list of sizes that follow each other).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stitchgcm::bench {

enum class Operation { seal, open, key_setup, encrypt_blocks, decrypt_blocks, ctr32, ghash };

/// True for the routines that work on whole blocks and know no messages.
constexpr bool is_routine(Operation operation) { return operation >= Operation::encrypt_blocks; }

/// in: the output overwrites the input. out: two buffers.
enum class Place { in, out };

std::string_view text(Operation operation);

struct Cell {
  Operation operation = Operation::seal;
  int bits = 128;  ///< of the key
  Place place = Place::in;
  std::vector<std::uint32_t> sizes;  ///< bytes of text, one a message, again from the start after the last; never empty
  std::string row;                   ///< what stands for it in the first column of a table

  /// Cells of one table share it: "AES-128 seal, in place".
  std::string table() const;
  /// For a message about one of its sizes: "AES-128 seal, in place, 257 bytes".
  std::string name(std::size_t bytes) const;
  double mean_bytes() const;
};

}  // namespace stitchgcm::bench
