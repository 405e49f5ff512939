// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Everything that a routine can see of the CPU at one moment, on one path.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/machine/memory.hpp"

namespace stitchgcm::verify {

/// The flags, as what the last instruction that set them computed. They are worked out when a branch asks.
struct Flags {
  enum class Kind : std::uint8_t {
    undefined,   // reading them is refused
    difference,  // cmp, sub: CF ZF SF OF of a - b
    sum,         // add: CF ZF of a + b
    result,      // and, or, xor, test: ZF SF of a; CF = OF = 0
    zero,        // ZF = (a == 0), the others are undefined
    lane_zero    // vptest x, x: ZF = (lane == 0); CF = 1
  };
  Kind kind = Kind::undefined;
  Scalar a, b;
  int bits = 64;
  Lane lane{};
  friend bool operator==(const Flags&, const Flags&) = default;
};

/// GHASH, as far as a path has followed it: y is its state after blocks [from, at) of data, begun with start.
struct HashProgress {
  std::shared_ptr<const Content> data;
  Lane start;
  Affine from;
  Lane y;
  Affine at;
};

/// What a region is to hold in the end.
struct Output {
  RegionId region;
  std::shared_ptr<const Content> content;
};

inline constexpr int kGeneralRegisters = 16, kVectorRegisters = 32, kMaskRegisters = 8, kVectorLanes = 4;
enum GeneralRegister : int { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

struct State {
  std::array<Scalar, kGeneralRegisters> general;
  std::array<std::array<Lane, kVectorLanes>, kVectorRegisters> vector;  // lane l: bits 128 l .. 128 l + 127
  std::array<std::optional<std::uint64_t>, kMaskRegisters> mask;        // public constants; nothing: not known
  Flags flags;
  Memory memory;
  Facts facts;
  std::uint64_t ip = 0;
  RegionId stack{};
  RegionId constants{};  // the image's read-only data; place = address
  /// What the specification has got to on this path.
  std::optional<HashProgress> hash;
  CopyOnWrite<std::map<std::string, Lane>> ghosts;  // "J0", ..
  CopyOnWrite<std::map<std::string, Affine>> ghost_numbers;
  std::vector<Output> outputs;
  /// Texts begin at block 8 * position, for any position: what holds at one place of a text holds at the next.
  std::optional<Variable> position;
  /// The verdict of a comparison of tags that the contract declares public, once it was taken.
  std::optional<bool> verdict;
};

}  // namespace stitchgcm::verify
