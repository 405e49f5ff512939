// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/counterexample/calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gcm/layout.hpp"

namespace stitchgcm::verify {
namespace {

struct Named {
  const char* name;
  Routine routine;
};
constexpr Named kRoutines[] = {{"init", Routine::init},
                               {"seal", Routine::seal},
                               {"open", Routine::open},
                               {"encrypt_blocks", Routine::encrypt_blocks},
                               {"decrypt_blocks", Routine::decrypt_blocks},
                               {"ctr32", Routine::ctr32},
                               {"ghash", Routine::ghash}};

const char* name_of(Routine r) {
  return std::find_if(std::begin(kRoutines), std::end(kRoutines), [r](const Named& n) { return n.routine == r; })->name;
}

int key_bits(int rounds) { return 32 * (rounds - 6); }

/// What the contract puts into registers and memory at the entry, as numbers.
class Entry {
 public:
  Entry(const Contract& contract, std::size_t which, const Image& image, const Lengths& lengths)
      : state_(contract.entry({pool_, image}, which)) {
    for (const auto& [v, range] : state_.facts.ranges()) {
      const auto found = lengths.find(pool_.variables().name(v));
      values_[v] = found != lengths.end() ? found->second : static_cast<std::int64_t>(range.low);
    }
  }

  std::int64_t value(const Affine& a) const { return verify::substitute(a, values_).constant(); }
  std::int64_t number(GeneralRegister r) const { return value(state_.general[r].value); }
  std::int64_t noted(const std::string& name) const { return value(state_.ghost_numbers->at(name)); }
  RegionId region(GeneralRegister r) const { return state_.general[r].region; }
  /// What 8 bytes of the memory that a register points to hold.
  const Scalar& slot(GeneralRegister r, std::int64_t place) const {
    return state_.memory.region(region(r)).windows.at(Affine(0)).slots.at(place);
  }
  int rounds(GeneralRegister context) const {
    return static_cast<int>(static_cast<std::uint32_t>(value(slot(context, layout::kRounds).value)));
  }

 private:
  LanePool pool_;
  State state_;
  Substitution values_;
};

struct Parts {
  std::string name, key, backend;  // "init", "aes128", "aesni_avx"
};

/// <prefix>_<name>[_aes<bits>]_<backend>: the backend is what follows a name that is known.
std::optional<Parts> parts_of(const std::string& symbol, const std::string& prefix) {
  if (!symbol.starts_with(prefix + "_")) return std::nullopt;
  const std::string rest = symbol.substr(prefix.size() + 1);
  for (const char* name : {"init", "powers", "seal", "open", "encrypt_blocks", "decrypt_blocks", "encrypt_batches",
                           "decrypt_batches", "ctr32", "ghash"}) {
    if (!rest.starts_with(fmt::format("{}_", name))) continue;
    Parts parts{name, "", rest.substr(std::string(name).size() + 1)};
    for (const char* key : {"aes128", "aes192", "aes256"}) {
      if (!parts.backend.starts_with(fmt::format("{}_", key))) continue;
      parts.key = key;
      parts.backend = parts.backend.substr(parts.key.size() + 1);
    }
    return parts;
  }
  return std::nullopt;
}

int rounds_of_key(const std::string& key) { return std::stoi(key.substr(3)) / 32 + 6; }

Call message_call(const Entry& e, Routine routine) {
  Call c;
  c.routine = routine;
  c.rounds = e.rounds(rdi);
  c.in_place = e.slot(rsi, layout::kIn).region == e.slot(rsi, layout::kOut).region;
  c.iv = e.value(e.slot(rsi, layout::kIvBytes).value);
  c.aad = e.value(e.slot(rsi, layout::kAadBytes).value);
  c.text = e.value(e.slot(rsi, layout::kTextBytes).value);
  c.tag = e.value(e.slot(rsi, layout::kTagBytes).value);
  return c;
}

Call blocks_call(const Entry& e, Routine routine) {
  Call c;
  c.routine = routine;
  c.rounds = e.rounds(rdi);
  c.in_place = routine != Routine::ghash && e.region(rsi) == e.region(rdx);
  c.blocks = e.number(rcx);
  return c;
}

/// Messages, and whole blocks, that have so many batches and then so many blocks (the lengths are one) to be hashed.
std::vector<Call> calls_of_batches(const Entry& e, bool encrypt, int rounds) {
  constexpr std::int64_t kBatchBlocks = 8, kMostWhole = kBatchBlocks - 1;
  const std::int64_t batches = e.number(rdx), after = e.noted("after");
  Call c;
  c.rounds = rounds;
  c.in_place = e.region(rsi) == e.region(rdi);
  c.routine = encrypt ? Routine::encrypt_blocks : Routine::decrypt_blocks;
  c.blocks = kBatchBlocks * batches + std::min(after, kMostWhole);
  std::vector<Call> calls{c};
  if (after == 0) return calls;
  c.routine = encrypt ? Routine::seal : Routine::open;
  const std::int64_t whole = std::min(after - 1, kMostWhole), part = after - 1 > kMostWhole ? 5 : 0;
  c.text = layout::kBlockBytes * (kBatchBlocks * batches + whole) + part;
  c.blocks = 0;
  calls.push_back(c);
  return calls;
}

}  // namespace

std::string Call::text_of() const {
  std::string words = fmt::format("{}, AES-{}", name_of(routine), key_bits(rounds));
  switch (routine) {
    case Routine::init: return words;
    case Routine::seal:
    case Routine::open:
      words += fmt::format(", IV of {} bytes, AAD of {} bytes, text of {} bytes, tag of {} bytes", iv, aad, text, tag);
      break;
    default: words += fmt::format(", {} block{}", blocks, blocks == 1 ? "" : "s");
  }
  return words + (in_place ? ", in place" : "");
}

std::int64_t Call::bytes() const { return iv + aad + 2 * text + tag + 2 * layout::kBlockBytes * blocks; }

std::vector<Call> calls_at(const Lengths& lengths, const Contract& contract, std::size_t which, const Image& image,
                           const std::string& prefix) {
  const std::optional<Parts> parts = parts_of(contract.symbol(), prefix);
  if (!parts) return {};
  const Entry e(contract, which, image, lengths);
  std::vector<Call> calls;
  if (parts->name == "init" || parts->name == "powers") {
    for (const int rounds : {10, 12, 14}) {
      if (!parts->key.empty() && rounds != rounds_of_key(parts->key)) continue;
      calls.emplace_back();
      calls.back().routine = Routine::init;
      calls.back().rounds = rounds;
    }
  } else if (parts->name.ends_with("_batches")) {
    calls = calls_of_batches(e, parts->name.starts_with("encrypt"), rounds_of_key(parts->key));
  } else {
    const Routine routine = std::find_if(std::begin(kRoutines), std::end(kRoutines), [&](const Named& n) {
                              return n.name == parts->name;
                            })->routine;
    const bool message = routine == Routine::seal || routine == Routine::open;
    calls.push_back(message ? message_call(e, routine) : blocks_call(e, routine));
  }
  for (Call& c : calls) {
    const std::string key = c.routine == Routine::init ? fmt::format("aes{}_", key_bits(c.rounds)) : "";
    c.symbol = fmt::format("{}_{}_{}{}", prefix, name_of(c.routine), key, parts->backend);
  }
  return calls;
}

}  // namespace stitchgcm::verify
