// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <cstdint>
#include <map>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

/// Registers as bits: general ones 0..15, vectors 16..47.
using Registers = std::uint64_t;
constexpr Registers general_bit(int n) { return Registers{1} << n; }
constexpr Registers vector_bit(int n) { return Registers{1} << (16 + n); }

/// For each instruction, the registers whose values may still be read from there on, in the routine or by those that it
/// calls. Only decides which paths are worth joining: nothing that is proved rests on it.
std::map<std::uint64_t, Registers> live_registers(const Image& image, const Function& function);

}  // namespace stitchgcm::verify
