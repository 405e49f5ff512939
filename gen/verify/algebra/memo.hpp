// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Tables of the algebra. Lookups are most of its work: open addressing, and keys of machine words.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace stitchgcm::verify {

/// Results of operations on numbered things, by operation and operands.
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

/// The numbers of things of which there is one each, by hash. The things themselves are kept elsewhere.
class InternIndex {
 public:
  /// The number with that hash for which `is_it` holds.
  template <class IsIt>
  std::optional<std::uint32_t> find(std::uint64_t hash, IsIt is_it) const {
    const auto h = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t i = h & (entries_.size() - 1);; i = (i + 1) & (entries_.size() - 1)) {
      const Entry& e = entries_[i];
      if (e.number_plus_1 == 0) return std::nullopt;
      if (e.hash == h && is_it(e.number_plus_1 - 1)) return e.number_plus_1 - 1;
    }
  }

  void add(std::uint64_t hash, std::uint32_t number) {
    if (used_ * 2 > entries_.size()) {
      std::vector<Entry> old(entries_.size() * 2);
      old.swap(entries_);
      for (const Entry& e : old) {
        if (e.number_plus_1 != 0) place(e);
      }
    }
    place({static_cast<std::uint32_t>(hash >> 32), number + 1});
    used_++;
  }

 private:
  struct Entry {
    std::uint32_t hash, number_plus_1;
  };

  void place(const Entry& e) {
    std::size_t i = e.hash & (entries_.size() - 1);
    while (entries_[i].number_plus_1 != 0) i = (i + 1) & (entries_.size() - 1);
    entries_[i] = e;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1 << 10);
  std::size_t used_ = 0;
};

/// A hash of machine words, one after the other.
class Hash {
 public:
  Hash& add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
    return *this;
  }
  std::uint64_t value() const { return state_ * 0xd6e8feb86659fd93u; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

/// Arrays that stay where they are.
template <class T>
class Arena {
 public:
  std::span<const T> keep(std::span<const T> array) {
    if (array.empty()) return {};
    if (array.size() > free_.size()) {
      const std::size_t size = std::max(array.size(), kChunk);
      chunks_.push_back(std::make_unique<T[]>(size));
      free_ = {chunks_.back().get(), size};
    }
    const std::span<T> kept = free_.first(array.size());
    std::copy(array.begin(), array.end(), kept.begin());
    free_ = free_.subspan(array.size());
    return kept;
  }

 private:
  static constexpr std::size_t kChunk = 4096;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::span<T> free_;
};

}  // namespace stitchgcm::verify
