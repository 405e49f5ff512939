// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Everything about a backend that is a matter of choice: what `tune` may search, and what a reader may turn back.
#include <string>

#include "asm/schedule.hpp"

namespace stitchgcm::gcm {

enum class KeyLength { aes128, aes192, aes256 };
constexpr int rounds(KeyLength k) { return k == KeyLength::aes128 ? 10 : k == KeyLength::aes192 ? 12 : 14; }
constexpr int key_bits(KeyLength k) { return k == KeyLength::aes128 ? 128 : k == KeyLength::aes192 ? 192 : 256; }

enum class Direction { encrypt, decrypt };

/// When the pieces of one batch run, in block times from the start of its turn of the loop (see schedule.hpp). A turn
/// is eight block times; what has a negative time runs in the turn before.
struct BatchSchedule {
  assembly::Tick aes_start;  // of the eight chains, which go through the rounds in lock step
  assembly::Tick aes_time;
  assembly::StepGaps gaps;       // see at_steps
  assembly::Tick reverse_start;  // of the ciphertext on its way to GHASH
  assembly::Tick reverse_time;
  assembly::Tick hash_start;
  assembly::Tick hash_time;
  int multiply_group;  // carry-less multiplies in a row: 1, 2 or 3
};

/// The first counters of a routine: made in registers, or by way of narrow stores to memory and a wide load.
enum class FirstCounters { registers, memory };
/// The end of a text: inlined in seal and open, or by calls of ctr32 and ghash.
enum class EndOfText { inlined, calls };

struct Choices {
  /// GHASH runs behind AES: of the batch before.
  BatchSchedule encrypt = {.aes_start = -8000,
                           .aes_time = 8000,
                           .gaps = {1.0, 0.6},
                           .reverse_start = 100,
                           .reverse_time = 7000,
                           .hash_start = 1000,
                           .hash_time = 6900,
                           .multiply_group = 3};
  /// The ciphertext is there from the start, and must be read before it is overwritten in place.
  BatchSchedule decrypt = {.aes_start = -8000,
                           .aes_time = 8000,
                           .gaps = {1.0, 0.6},
                           .reverse_start = -6600,
                           .reverse_time = 6200,
                           .hash_start = 100,
                           .hash_time = 6600,
                           .multiply_group = 3};
  FirstCounters first_counters = FirstCounters::registers;
  EndOfText end = EndOfText::inlined;

  /// Sets one choice by name, e.g. "end", "calls". Throws std::invalid_argument with the names or values there are.
  void set(const std::string& name, const std::string& value);
};

}  // namespace stitchgcm::gcm
