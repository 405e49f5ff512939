// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Memory as regions: each has a base address that is not known, exact bounds, and what its bytes hold.
//
// A region's bytes are, from the last word to the first: `slots` (public numbers and pointers of 8 bytes), `pieces`
// (parts of lanes, stored one by one), `runs` (any number of blocks, one formula for all), and what the region held at
// the start. Places are expressions in public lengths: pieces and slots whose places differ by a known number share a
// window. A store into what cannot be told apart makes the region forget that: reading it is refused from then on.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "verify/machine/copy_on_write.hpp"
#include "verify/machine/facts.hpp"
#include "verify/machine/scalar.hpp"

namespace stitchgcm::verify {

/// What the blocks of a region hold: bytes 16 b .. 16 b + 15 are those of `block(facts, b)`, which may throw Undecided.
/// Two contents are the same if they have the same text.
struct Content {
  std::string text;
  std::function<Lane(const Facts& facts, const Affine& block)> block;
  friend bool operator==(const Content& a, const Content& b) { return a.text == b.text; }
};

/// Part of a lane in consecutive bytes.
struct Piece {
  Lane lane;
  int first_byte;  // of the lane
  int bytes;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Bytes [from, to) hold `content`; from and to are multiples of 16.
struct Run {
  Affine from, to;
  std::shared_ptr<const Content> content;
  friend bool operator==(const Run& a, const Run& b) {
    return a.from == b.from && a.to == b.to && *a.content == *b.content;
  }
};

struct Window {
  std::map<std::int64_t, Piece> pieces;  // by place, without overlap
  std::map<std::int64_t, Scalar> slots;  // 8 bytes each
  friend bool operator==(const Window&, const Window&) = default;
};

struct Region {
  std::string name;
  Affine from, to;  // bytes that there are
  bool readable = true;
  bool writable = false;
  int alignment = 1;
  std::function<bool(std::int64_t place, std::int64_t bytes)> exists;  // instead of from and to
  std::shared_ptr<const Content> initial;  // nothing: reading what was not written is refused
  std::map<Affine, Window> windows;        // by the symbolic part of their places
  std::vector<Run> runs;                   // without overlap
  bool forgotten = false;                  // initial is not to be relied on any more
};

/// The formula with what the facts say of its variables, in normal form.
Lane resolve(LanePool& pool, const Facts& facts, Lane lane);

class Memory {
 public:
  RegionId add(Region region);
  const Region& region(RegionId id) const { return *regions_.at(static_cast<std::size_t>(id)); }
  /// For a change.
  Region& edit(RegionId id) { return regions_.at(static_cast<std::size_t>(id)).own(); }
  bool shares_region(const Memory& other, RegionId id) const {
    const auto i = static_cast<std::size_t>(id);
    return regions_.at(i).shares_with(other.regions_.at(i));
  }
  std::size_t size() const { return regions_.size(); }

  /// `bytes` bytes from the place on as a lane, the rest 0; 1 <= bytes <= 16. Throws Refused (bounds, rights, never
  /// written, forgotten) and Undecided.
  Lane load(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes) const;
  void store(const Facts& facts, RegionId id, const Affine& place, Lane lane, int first_byte, int bytes);
  /// 8 bytes as what they hold, a number or a pointer if one was stored there; else data.
  Scalar load_scalar(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes) const;
  void store_scalar(const Facts& facts, RegionId id, const Affine& place, const Scalar& value);

  /// Public numbers of which [place, place + bytes) covers some bytes and not all become parts of lanes, which may be
  /// written over in part. They hold what they held.
  void split_numbers(LanePool& pool, const Facts& facts, RegionId id, const Affine& place, int bytes);

  /// Throws Refused unless [place, place + bytes) lies in the region and may be read or written.
  void check_access(const Facts& facts, RegionId id, const Affine& place, const Affine& bytes, bool write) const;

  /// Contents set by a contract: [from, to) holds `content` from now on.
  void set_run(const Facts& facts, RegionId id, const Run& run);
  void forget(RegionId id);
  /// Whole blocks stored one by one that hold `content` become part of the run of it that they touch (or of a new one).
  void gather_runs(LanePool& pool, const Facts& facts, RegionId id, const std::shared_ptr<const Content>& content);

 private:
  struct Place {
    Affine window;
    std::int64_t offset;
  };
  Place locate(const Facts& facts, const Affine& place) const;
  void clear(const Facts& facts, Region& r, const Place& at, int bytes);
  std::optional<Lane> load_byte(LanePool& pool, const Facts& facts, const Region& r, const Place& at) const;

  std::vector<CopyOnWrite<Region>> regions_;
};

}  // namespace stitchgcm::verify
