// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What the contracts of the AES-GCM routines are made of: the key context, the counter, texts and their hash.
#include "verify/contract/contract.hpp"
#include "verify/contract/stored_form.hpp"
#include "verify/contract/system_v.hpp"

namespace stitchgcm::verify {

/// Which vector registers hold GHASH's sums between routines of a backend.
struct SumsRegisters {
  int low = 10, high = 11, middle = 12;
};

/// A length or count of a contract, with its range.
Affine add_length(Setting setting, State& state, const std::string& name, Wide low, Wide high);
/// The variable that makes a proof hold at any place of a text: blocks are numbered from 8 * position on.
Affine add_position(Setting setting, State& state);

// Keys

/// 10 + 2 r for r = 0, 1, 2: the number of rounds of any key.
Affine any_rounds(Setting setting, State& state);
/// The round keys of a context, 0..rounds; throws Undecided if rounds is not settled.
std::vector<Lane> round_keys(LanePool& pool, const Facts& facts, const Affine& rounds);
/// A context as init leaves it, read-only: round keys, H, rounds, powers.
RegionId add_context(Setting setting, State& state, const Affine& rounds);
/// What the blocks of a context with that many rounds hold; of H's powers only.
std::shared_ptr<const Content> powers_content(LanePool& pool);

// Counters

/// The counter block of text block i: 96 bits that stay and start + i, where the start is not known. If `residue` is
/// given, start mod 8 is that; else it may be any of 0..7, and is secret.
struct CounterBlocks {
  Lane first_96_bits;
  std::string name;
  std::optional<int> residue;
  int known_low_bits = 3;  // 0: the start may be anything, without eight cases

  Lane number(LanePool& pool, const Affine& block) const;    // in bits 0..31, little-endian
  Lane block(LanePool& pool, const Affine& block) const;     // in SP 800-38D's byte order
  Lane reversed(LanePool& pool, const Affine& block) const;  // bytes reversed
};
CounterBlocks any_counter(LanePool& pool, const std::string& name, std::optional<int> residue);
/// AES(key, counter block of text block i).
Lane keystream(LanePool& pool, const Facts& facts, const Affine& rounds, const CounterBlocks& counter,
               const Affine& block);

// Texts

/// An unknown text, its blocks by number.
std::shared_ptr<const Content> unknown_text(LanePool& pool, const std::string& name, Secrecy secrecy);
/// `text` XOR keystream. A plaintext is written as ciphertext XOR keystream: for a given key and counter each is a
/// function of the other, so that any plaintext is one of these, and what GHASH works on is the plain unknown.
std::shared_ptr<const Content> xor_keystream(LanePool& pool, const std::string& name,
                                             std::shared_ptr<const Content> text, const Affine& rounds,
                                             const CounterBlocks& counter);
/// A buffer [from, to) with a content, or none.
RegionId add_buffer(State& state, const std::string& name, const Affine& from, const Affine& to, bool writable,
                    std::shared_ptr<const Content> initial);
RegionId add_block(LanePool& pool, State& state, const std::string& name, Lane block, bool writable);
/// Throws Refused unless [from, to) of the region holds `content`, as it did at entry or since it was written.
void require_content(Setting setting, State& state, RegionId region, const Affine& from, const Affine& to,
                     const std::shared_ptr<const Content>& content, const std::string& what);

// The hash

/// y after the blocks up to `to` (a known number of them after those that are done).
void advance_hash(LanePool& pool, const Facts& facts, HashProgress& hash, const Affine& to);
Sums sums_in(const State& state, const SumsRegisters& registers);
void set_sums(State& state, const SumsRegisters& registers, const Sums& sums);
/// Any sums that stand for y * H^exponent; with exponent 0 for y. Where paths join they must be the same unknowns on
/// each: those of one `when`.
void set_any_sums(LanePool& pool, State& state, const SumsRegisters& registers, Lane y, std::int64_t exponent,
                  const std::string& when = "");
bool sums_stand_for(LanePool& pool, const State& state, const SumsRegisters& registers, Lane y, std::int64_t exponent);

inline Lane& vector_lane(State& state, int n) { return state.vector[static_cast<std::size_t>(n)][0]; }
inline const Lane& vector_lane(const State& state, int n) { return state.vector[static_cast<std::size_t>(n)][0]; }
inline Scalar& general(State& state, int n) { return state.general[static_cast<std::size_t>(n)]; }
inline const Scalar& general(const State& state, int n) { return state.general[static_cast<std::size_t>(n)]; }

/// Throws Refused, naming `what`, unless the register holds a pointer into the region / a public number.
Affine require_pointer(const State& state, int reg, RegionId region, const std::string& what);
const Scalar& require_any_pointer(const State& state, int reg, const std::string& what);
Affine require_number(const State& state, int reg, const std::string& what);
/// Throws Refused, with both formulas, unless they are equal under the facts.
void require_equal(LanePool& pool, const Facts& facts, Lane got, Lane wanted, const std::string& what);

}  // namespace stitchgcm::verify
