// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Everything that a routine can see of the CPU at one moment, on one path.
#include <array>
#include <cstdint>
#include <optional>

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
  /// What a contract's specification has computed so far on this path: "Y", "J0", ..
  std::map<std::string, Lane> ghosts;
  std::map<std::string, Affine> ghost_numbers;
  /// The verdict of a comparison of tags that the contract declares public, once it was taken.
  std::optional<bool> verdict;
};

}  // namespace stitchgcm::verify
