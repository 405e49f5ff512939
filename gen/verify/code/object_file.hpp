// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// One relocatable ELF object for x86-64, as far as it says what is executed and what is read.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stitchgcm::verify {

/// Code or read-only data.
struct ObjectSection {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::uint64_t alignment = 1;
  bool executable = false;
};

struct ObjectSymbol {
  std::string name;                    // of a section's symbol: the section's
  std::optional<std::size_t> section;  // of ObjectFile::sections; nothing if it is defined elsewhere, or not loaded
  std::uint64_t offset = 0;            // in the section
  std::uint64_t size = 0;
  bool function = false;
  bool global = false;
  bool hidden = false;  // nothing outside of the program or library that it is linked into can take its place
};

/// The 4 bytes at section + offset become symbol + addend - their own address.
struct ObjectRelocation {
  std::size_t section = 0, symbol = 0;  // of ObjectFile
  std::uint64_t offset = 0;
  std::int64_t addend = 0;
};

struct ObjectFile {
  std::string name;  // without its folder
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
  std::vector<ObjectRelocation> relocations;
};

/// Throws std::runtime_error, "<name>: <what>", if the file cannot be read, is cut off or no relocatable ELF object for
/// x86-64, or holds anything whose effect on the linked code is not known here: a section that is writable or that the
/// linker may merge or leave out, a weak or common symbol, a function or label with code of unknown extent, a
/// relocation of data or of another kind than R_X86_64_PC32 and R_X86_64_PLT32.
/// Source: System V ABI, chapters 4 and 5, and its AMD64 supplement.
ObjectFile read_object(const std::filesystem::path& path);

}  // namespace stitchgcm::verify
