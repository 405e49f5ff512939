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

/// When the pieces of one batch run, in block times (see schedule.hpp). AES of a chain begins `lag` block times before
/// the place of its first block in the turn, so that GHASH, whose times are 0..blocks, runs behind it.
struct BatchSchedule {
  int chain = 4;  // blocks that go through the rounds in lock step, with one round-key register
  int lag = 8;
  assembly::Tick chain_time = 8000;  // from a chain's first piece to its last
  assembly::StepGaps gaps = {1.0, 0.6};
  assembly::Tick hash_start = 100;
  assembly::Tick hash_time = 7900;
  int multiply_group = 3;  // carry-less multiplies in a row: 1, 2 or 3 (see docs in batch.cpp)
};

/// The first counters of a routine: made in registers, or by way of narrow stores to memory and a wide load.
enum class FirstCounters { registers, memory };
/// The end of a text: inlined in seal and open, or by calls of ctr32 and ghash.
enum class EndOfText { inlined, calls };

struct Choices {
  BatchSchedule encrypt;
  BatchSchedule decrypt;
  FirstCounters first_counters = FirstCounters::registers;
  EndOfText end = EndOfText::inlined;

  /// Sets one choice by name, e.g. "end", "calls". Throws std::invalid_argument with the names or values there are.
  void set(const std::string& name, const std::string& value);
};

}  // namespace stitchgcm::gcm
