// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "cell.hpp"

#include <fmt/format.h>

#include <numeric>

namespace stitchgcm::bench {

std::string_view text(Operation operation) {
  switch (operation) {
    case Operation::seal: return "seal";
    case Operation::open: return "open";
    case Operation::key_setup: return "key set-up";
    case Operation::encrypt_blocks: return "encrypt_blocks";
    case Operation::decrypt_blocks: return "decrypt_blocks";
    case Operation::ctr32: return "ctr32";
    case Operation::ghash: return "ghash";
  }
  return "";
}

std::string Cell::table() const {
  if (operation == Operation::key_setup) return "key set-up";
  if (operation == Operation::ghash) return "ghash";
  return fmt::format("AES-{} {}, {}", bits, text(operation), place == Place::in ? "in place" : "out of place");
}

std::string Cell::name(std::size_t bytes) const {
  if (operation == Operation::key_setup) return fmt::format("AES-{} key set-up", bits);
  return fmt::format("{}, {} bytes", table(), bytes);
}

double Cell::mean_bytes() const {
  return std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
}

}  // namespace stitchgcm::bench
