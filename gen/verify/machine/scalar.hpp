// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a 64-bit general register or an 8-byte slot of memory holds.
#include <string>

#include "verify/algebra/lane_pool.hpp"

namespace stitchgcm::verify {

enum class RegionId : std::uint32_t {};

/// Public numbers and pointers are told apart from data, so that a branch or an address that depends on a secret has no
/// representation: there is nothing to evaluate, and the proof fails.
struct Scalar {
  enum class Kind : std::uint8_t {
    unknown,  // reading it is refused: paths with different values met
    number,   // public: `value` modulo 2^64
    pointer,  // the address of `region` (which is not known) + `value`
    lane      // data: bits 0..63 of `lane`, whose other bits are 0
  };

  Kind kind = Kind::unknown;
  RegionId region{};
  Affine value;
  Lane lane{};

  static Scalar number(const Affine& value) { return {Kind::number, {}, value, {}}; }
  static Scalar pointer(RegionId region, const Affine& offset = 0) { return {Kind::pointer, region, offset, {}}; }
  static Scalar data(Lane lane) { return {Kind::lane, {}, {}, lane}; }
  static Scalar unknown() { return {}; }

  bool is_number() const { return kind == Kind::number; }
  bool is_pointer() const { return kind == Kind::pointer; }
  bool is_data() const { return kind == Kind::lane; }
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

}  // namespace stitchgcm::verify
