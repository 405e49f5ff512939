// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What an assembler made of a file: the parts of an ELF relocatable object that say so.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stitchgcm::emit {

struct ElfRelocation {
  size_t offset;  // in .text
  uint32_t type;
  std::string target;  // a symbol's name, or a section's
  int64_t addend;
};

struct ElfFunction {
  std::string name;
  size_t offset, bytes;
  bool hidden;
};

struct ElfObject {
  std::vector<uint8_t> text, read_only_data;
  std::vector<ElfRelocation> relocations;  // of .text, by offset
  std::vector<ElfFunction> functions;      // global, by offset
};

/// Throws std::runtime_error for a file that is not an x86-64 ELF object.
ElfObject read_elf_object(const std::filesystem::path& file);

}  // namespace stitchgcm::emit
