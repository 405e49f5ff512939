// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Formulas as text, for messages and reports: one line, cut where it gets long.
#include <fmt/format.h>

#include "verify/algebra/lane_state.hpp"

namespace stitchgcm::verify {
namespace {

constexpr int kDeepestText = 3;
constexpr std::size_t kLongestText = 300;

std::string block_text(Bits128 v) {
  std::string text;
  for (std::uint8_t b : bytes_of(v)) text += fmt::format("{:02x}", b);
  return text;
}

/// "byte 3", "bytes 0..7": the bytes that `kept` selects. Nothing if it is no run of whole bytes.
std::optional<std::string> byte_run(Bits128 kept) {
  for (int first = 0; first < 16; first++) {
    for (int last = first; last < 16; last++) {
      if (kept != (low_bits(8 * (last + 1)) & ~low_bits(8 * first))) continue;
      return first == last ? fmt::format("byte {}", first) : fmt::format("bytes {}..{}", first, last);
    }
  }
  return std::nullopt;
}

/// The bits that a map keeps, if that is all it does.
std::optional<Bits128> kept_bits(const BitMatrix& m) {
  Bits128 kept = 0;
  for (int i = 0; i < 128; i++) {
    const Bits128 row = m.row[static_cast<std::size_t>(i)];
    if (row != 0 && row != bit(i)) return std::nullopt;
    kept |= row;
  }
  return kept;
}

/// "bytes [0 1 2 3 - - ..]": for each byte of the result the byte it comes from. Nothing if the map does not move whole
/// bytes.
std::optional<std::string> byte_moves(const BitMatrix& m) {
  std::string text;
  for (std::size_t byte = 0; byte < 16; byte++) {
    const Bits128 row = m.row[8 * byte];
    int from = -1;
    for_each_bit(row, [&](int i) { from = i; });
    if (row != 0 && (row != bit(from) || from % 8 != 0)) return std::nullopt;
    for (std::size_t b = 0; b < 8; b++) {
      if (m.row[8 * byte + b] != row << b) return std::nullopt;
    }
    text += (text.empty() ? "" : " ") + (row == 0 ? std::string("-") : std::to_string(from / 8));
  }
  return "bytes [" + text + "]";
}

/// The operand, of which only some bits are kept; `support`: those that it can have anyway.
std::string text_of_kept(Bits128 kept, Bits128 support, const std::string& operand) {
  if ((support & ~kept) == 0) return operand;
  if (const auto run = byte_run(kept)) return *run + " of " + operand;
  return operand + " & " + block_text(kept);
}

}  // namespace

std::string LanePool::State::describe_map(MatrixId id, Bits128 support, const std::string& operand) const {
  const BitMatrix& m = linear.matrix(id);
  if (const auto named = map_names.find(id); named != map_names.end()) return named->second + "(" + operand + ")";
  if (const auto kept = kept_bits(m)) return text_of_kept(*kept, support, operand);
  if (const auto moves = byte_moves(m)) return *moves + " of " + operand;
  return fmt::format("M{}({})", id, operand);
}

std::string LanePool::State::describe_atom(AtomId id, int depth) const {
  const Atom& a = atoms[id];
  switch (a.kind) {
    case AtomKind::input: {
      std::string text = names[a.name].text;
      const bool only_one = affines[a.index] == Affine(0) && affines[a.count] == Affine(0);
      if (only_one) return text;
      text += "[" + variables.describe(affines[a.index]);
      if (!(affines[a.count] == Affine(0))) text += ", " + variables.describe(affines[a.count]) + " blocks";
      return text + "]";
    }
    case AtomKind::power: return a.exponent == 1 ? "H" : fmt::format("H^{}", a.exponent);
    case AtomKind::product: {
      const std::string whole = describe_atom(a.base, depth), base = text_of_kept(a.kept, atom_support(a.base), whole);
      return (base == whole ? base : "(" + base + ")") +
             (a.exponent == 1 ? " * H" : fmt::format(" * H^{}", a.exponent));
    }
    case AtomKind::sbox: return depth <= 0 ? "S(..)" : "S(" + describe(a.lane, depth - 1) + ")";
    case AtomKind::counter: return counters[a.name].text + " + " + variables.describe(affines[a.index]);
    case AtomKind::integer: return "number(" + variables.describe(affines[a.index]) + ")";
  }
  return "";
}

std::string LanePool::State::describe(Lane lane, int depth) const {
  const Form& f = form(lane);
  if (f.is_table()) return "by residue: " + describe(f.by_residue[0], depth) + ", ..";
  std::string text;
  const auto add = [&text](const std::string& term) { text += (text.empty() ? "" : " ^ ") + term; };
  for (const Term& t : f.terms) {
    if (text.size() > kLongestText) return text + " ^ ..";
    if (is_pair(t)) {
      add(fmt::format("T{}({}, {})", t.coefficient, describe_atom(first_of(t), depth),
                      describe_atom(second_of(t), depth)));
    } else {
      add(describe_map(t.coefficient, atom_support(atom_of(t)), describe_atom(atom_of(t), depth)));
    }
  }
  if (f.constant != 0) add(block_text(f.constant));
  return text.empty() ? "0" : text;
}

std::string LanePool::describe(Lane a) const {
  std::string text = state_->describe(a, kDeepestText);
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + " ..";
  return text;
}

}  // namespace stitchgcm::verify
