// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace stitchgcm::verify {

/// Results of operations on numbered things, by operation and operands. Open addressing: lookups are most of the work.
class Memo {
 public:
  Memo() : entries_(1 << 12) {}

  std::optional<std::uint32_t> find(std::uint64_t a, std::uint64_t b) const {
    for (std::size_t i = slot(a, b);; i = (i + 1) & (entries_.size() - 1)) {
      const Entry& e = entries_[i];
      if (e.value_plus_1 == 0) return std::nullopt;
      if (e.a == a && e.b == b) return e.value_plus_1 - 1;
    }
  }

  std::uint32_t put(std::uint64_t a, std::uint64_t b, std::uint32_t value) {
    if (used_ * 2 > entries_.size()) grow();
    std::size_t i = slot(a, b);
    while (entries_[i].value_plus_1 != 0) i = (i + 1) & (entries_.size() - 1);
    entries_[i] = {a, b, value + 1};
    used_++;
    return value;
  }

 private:
  struct Entry {
    std::uint64_t a, b;
    std::uint32_t value_plus_1;
  };

  std::size_t slot(std::uint64_t a, std::uint64_t b) const {
    std::uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return static_cast<std::size_t>(h ^ (h >> 32)) & (entries_.size() - 1);
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    used_ = 0;
    for (const Entry& e : old) {
      if (e.value_plus_1 != 0) put(e.a, e.b, e.value_plus_1 - 1);
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace stitchgcm::verify
