// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// A linker in small. What is proved of the image must not be true of the layout that it happens to make and false of
// the one that the user's linker makes. So the code may refer from one section to another only by a relocation, and to
// a place within the section that the relocation is about; and an address is as aligned as its section, no more.
#include "verify/code/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "verify/code/object_file.hpp"

namespace stitchgcm::verify {
namespace {

// Sections lie further apart than a slip of an offset can reach.
constexpr std::uint64_t kFirstAddress = 0x100000, kPage = 0x1000, kGap = 0x100000;

constexpr std::uint8_t kFiller = 0xcc;  // int3, between routines

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", file, what));
}

struct Placed {
  ObjectFile object;
  std::size_t first_section = 0;  // in the image, of the object's
};

/// Where a symbol is, once all objects are placed.
struct Definition {
  std::uint64_t address = 0;
  std::size_t section = 0;
  bool hidden = false;
};

Definition definition_of(const Placed& p, const ObjectSymbol& s, const std::vector<Section>& sections) {
  const std::size_t section = p.first_section + *s.section;
  return {sections[section].address + s.offset, section, s.hidden};
}

/// Bytes of the padding that these begin with: filler or a no-operation. 0 if they begin with something else.
int padding_length(std::span<const std::uint8_t> bytes) {
  if (bytes[0] == kFiller) return 1;
  try {
    const Instruction i = decode_one(bytes, 0);
    return i.mnemonic == ZYDIS_MNEMONIC_NOP ? i.length : 0;
  } catch (const std::runtime_error&) {
    return 0;  // no instruction that is allowed
  }
}

/// Throws if a byte of the code is in two functions, or in none and not padding.
void account_for(const Section& section, const std::vector<Symbol>& by_address) {
  std::uint64_t at = section.address;
  const std::uint64_t end = at + section.bytes.size();
  const auto pad_until = [&](std::uint64_t to) {
    while (at < to) {
      const auto rest = std::span(section.bytes)
                            .subspan(static_cast<std::size_t>(at - section.address), static_cast<std::size_t>(to - at));
      const int length = padding_length(rest);
      if (length == 0) {
        fail(section.name, fmt::format("byte {:#04x} at {:#x} is no function's", rest[0], at - section.address));
      }
      at += static_cast<std::uint64_t>(length);
    }
  };
  for (const Symbol& s : by_address) {
    if (s.address < section.address || s.address >= end) continue;
    if (s.address < at) fail(section.name, fmt::format("{} overlaps another function", s.name));
    pad_until(s.address);
    at = s.address + s.size;
  }
  pad_until(end);
}

}  // namespace

Image::Image(const std::vector<std::filesystem::path>& objects) {
  std::vector<Placed> placed;
  std::uint64_t next = kFirstAddress;
  for (const auto& path : objects) {
    placed.push_back({read_object(path), sections_.size()});
    const ObjectFile& object = placed.back().object;
    for (const ObjectSection& s : object.sections) {
      sections_.push_back(
          {object.name + " " + s.name, next, s.bytes, s.executable, static_cast<int>(std::min(s.alignment, kPage))});
      next = (next + s.bytes.size() + kGap + kPage - 1) & ~(kPage - 1);
    }
  }

  std::map<std::string, Definition> global;
  for (const Placed& p : placed) {
    for (const ObjectSymbol& s : p.object.symbols) {
      if (!s.section || (!s.global && !s.function)) continue;
      const Definition d = definition_of(p, s, sections_);
      if (s.global && !global.emplace(s.name, d).second) fail(p.object.name, s.name + " is defined twice");
      if (!s.function) continue;
      if (find(s.name) != nullptr) fail(p.object.name, s.name + " is defined twice");
      symbols_.push_back({s.name, d.address, s.size, p.object.name});
    }
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  for (const Section& s : sections_) {
    if (s.executable) account_for(s, symbols_);
  }

  for (const Placed& p : placed) {
    for (const ObjectRelocation& r : p.object.relocations) {
      const ObjectSymbol& symbol = p.object.symbols[r.symbol];
      Definition to;
      if (symbol.section) {
        to = definition_of(p, symbol, sections_);
      } else {
        const auto found = symbol.global ? global.find(symbol.name) : global.end();
        if (found == global.end()) fail(p.object.name, symbol.name + " is not defined in any object");
        to = found->second;
      }
      if (symbol.global && !symbol.hidden && !to.hidden) {
        fail(p.object.name, symbol.name + " is not hidden: another may take its place when the program is loaded");
      }
      Section& in = sections_[p.first_section + r.section];
      const std::uint64_t field = in.address + r.offset;
      const std::uint64_t distance = to.address + static_cast<std::uint64_t>(r.addend) - field;
      const auto word = static_cast<std::int32_t>(static_cast<std::uint32_t>(distance));
      if (static_cast<std::uint64_t>(std::int64_t{word}) != distance) {
        fail(p.object.name, fmt::format("the relocation at {} + {:#x} does not reach", in.name, r.offset));
      }
      // Fields that overlap are filled in by one linker in one order, by the next in another.
      const auto above = relocations_.lower_bound(field);
      if ((above != relocations_.end() && above->first - field < 4) ||
          (above != relocations_.begin() && field - std::prev(above)->first < 4)) {
        fail(p.object.name, fmt::format("two relocations of one place, {} + {:#x}", in.name, r.offset));
      }
      relocations_[field] = to.section;
      std::memcpy(in.bytes.data() + r.offset, &word, sizeof word);
    }
  }
}

Image::Image(std::vector<Section> sections, std::vector<Symbol> symbols)
    : sections_(std::move(sections)), symbols_(std::move(symbols)), linked_(true) {}

const Symbol* Image::find(const std::string& name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == name; });
  return found == symbols_.end() ? nullptr : &*found;
}

const Symbol* Image::at(std::uint64_t address) const {
  const auto found =
      std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.address == address; });
  return found == symbols_.end() ? nullptr : &*found;
}

const Section* Image::section_of(std::uint64_t address) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [address](const Section& s) {
    return address >= s.address && address - s.address < s.bytes.size();
  });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::uint8_t> Image::constants(std::uint64_t address, std::size_t size) const {
  const Section* const s = section_of(address);
  if (s == nullptr || s->executable) return {};
  const std::size_t offset = static_cast<std::size_t>(address - s->address);
  if (size > s->bytes.size() - offset) return {};
  return std::span(s->bytes).subspan(offset, size);
}

int Image::constants_alignment() const {
  int least = static_cast<int>(kPage);
  for (const Section& s : sections_) {
    if (!s.executable) least = std::min(least, s.alignment);
  }
  return least;
}

std::span<const std::uint8_t> Image::code(const Symbol& symbol) const {
  const Section* const s = section_of(symbol.address);
  if (s == nullptr || !s->executable) throw std::runtime_error(symbol.name + " has no code");
  const std::size_t offset = static_cast<std::size_t>(symbol.address - s->address);
  if (symbol.size > s->bytes.size() - offset) throw std::runtime_error(symbol.name + " has no code");
  return std::span(s->bytes).subspan(offset, symbol.size);
}

std::vector<std::uint64_t> Image::relocated(const Symbol& symbol) const {
  std::vector<std::uint64_t> fields;
  // One that begins before the function may reach into it.
  for (auto r = relocations_.lower_bound(symbol.address - 3);
       r != relocations_.end() && r->first < symbol.address + symbol.size; ++r) {
    fields.push_back(r->first);
  }
  return fields;
}

bool Image::holds_in_any_layout(std::uint64_t field, std::uint64_t target) const {
  if (linked_) return true;
  const auto relocation = relocations_.find(field);
  const Section* const wanted = relocation == relocations_.end() ? section_of(field) : &sections_[relocation->second];
  return wanted != nullptr && section_of(target) == wanted;
}

const Instruction* Function::at(std::uint64_t address) const {
  const auto found = std::lower_bound(instructions.begin(), instructions.end(), address,
                                      [](const Instruction& i, std::uint64_t a) { return i.address < a; });
  return found == instructions.end() || found->address != address ? nullptr : &*found;
}

}  // namespace stitchgcm::verify
