// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

/// Registers as bits: general ones 0..15, vectors 16..47, the flags 48.
using Registers = std::uint64_t;
constexpr Registers general_bit(int n) { return Registers{1} << n; }
constexpr Registers vector_bit(int n) { return Registers{1} << (16 + n); }
constexpr Registers kFlagsBit = Registers{1} << 48;
constexpr Registers kAllRegisters = kFlagsBit - 1;
/// What a caller may read after a call: the result, and what is preserved.
constexpr Registers kReturned = general_bit(0) | general_bit(3) | general_bit(4) | general_bit(5) | general_bit(12) |
                                general_bit(13) | general_bit(14) | general_bit(15);

/// The condition of a jump on flags; of a cmov, setcc, sbb or adc that of the jump which asks the same. Nothing if the
/// instruction does not read flags.
std::optional<ZydisMnemonic> condition_read(const Instruction& instruction);
/// Whether all flags that are read anywhere become new.
bool sets_flags(const Instruction& instruction);

/// For each instruction, what may still be read from there on, in the routine or by those that it calls, if `returned`
/// is read after the return. Proofs only decide by it which paths are worth joining: none rests on it.
std::map<std::uint64_t, Registers> live_registers(const Image& image, const Function& function,
                                                  Registers returned = kReturned);

}  // namespace stitchgcm::verify
