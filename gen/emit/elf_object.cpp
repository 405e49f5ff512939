// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/elf_object.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

namespace stitchgcm::emit {
namespace {

/// A file in memory, read with its bounds checked.
class Image {
 public:
  explicit Image(const std::filesystem::path& file) : name_(file.string()) {
    std::ifstream in(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  template <class T>
  T read(size_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof value).data(), sizeof value);
    return value;
  }

  std::span<const char> range(size_t offset, size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) fail();
    return {bytes_.data() + offset, size};
  }

  std::string text(size_t offset) const {
    const auto rest = range(offset, bytes_.size() - std::min(offset, bytes_.size()));
    const auto end = std::find(rest.begin(), rest.end(), '\0');
    if (end == rest.end()) fail();
    return {rest.begin(), end};
  }

  [[noreturn]] void fail() const { throw std::runtime_error(name_ + " is not a whole x86-64 ELF object"); }

 private:
  std::string name_;
  std::vector<char> bytes_;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : image_(file), header_(image_.read<Elf64_Ehdr>(0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_machine != EM_X86_64 || header_.e_type != ET_REL) {
      image_.fail();
    }
  }

  ElfObject run() const {
    ElfObject o;
    o.text = contents(".text");
    o.read_only_data = contents(".rodata");
    read_symbols(o);
    read_relocations(o);
    return o;
  }

 private:
  Elf64_Shdr section(size_t index) const {
    return image_.read<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string section_name(const Elf64_Shdr& s) const {
    return image_.text(section(header_.e_shstrndx).sh_offset + s.sh_name);
  }

  /// The section with this name; a null section if there is none.
  Elf64_Shdr find(const std::string& name) const {
    for (size_t k = 0; k < header_.e_shnum; k++) {
      if (section_name(section(k)) == name) return section(k);
    }
    return {};
  }

  std::vector<uint8_t> contents(const std::string& name) const {
    const Elf64_Shdr s = find(name);
    const auto bytes = image_.range(s.sh_offset, s.sh_size);
    return {bytes.begin(), bytes.end()};
  }

  std::string symbol_name(const Elf64_Shdr& table, const Elf64_Sym& s) const {
    if (ELF64_ST_TYPE(s.st_info) == STT_SECTION) return section_name(section(s.st_shndx));
    return image_.text(section(table.sh_link).sh_offset + s.st_name);
  }

  Elf64_Sym symbol(const Elf64_Shdr& table, size_t index) const {
    return image_.read<Elf64_Sym>(table.sh_offset + index * sizeof(Elf64_Sym));
  }

  void read_symbols(ElfObject& o) const {
    const Elf64_Shdr table = find(".symtab");
    for (size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); k++) {
      const Elf64_Sym s = symbol(table, k);
      if (ELF64_ST_BIND(s.st_info) != STB_GLOBAL || s.st_shndx == SHN_UNDEF) continue;
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
      o.functions.push_back(
          {symbol_name(table, s), s.st_value, s.st_size, ELF64_ST_VISIBILITY(s.st_other) == STV_HIDDEN});
    }
    std::sort(o.functions.begin(), o.functions.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  }

  void read_relocations(ElfObject& o) const {
    const Elf64_Shdr relocations = find(".rela.text"), table = find(".symtab");
    for (size_t k = 0; k < relocations.sh_size / sizeof(Elf64_Rela); k++) {
      const auto r = image_.read<Elf64_Rela>(relocations.sh_offset + k * sizeof(Elf64_Rela));
      const Elf64_Sym s = symbol(table, ELF64_R_SYM(r.r_info));
      // A local label that the assembler did not replace by its section is given as the section all the same.
      const bool local_label = ELF64_ST_BIND(s.st_info) == STB_LOCAL && ELF64_ST_TYPE(s.st_info) != STT_SECTION;
      const std::string target = local_label ? section_name(section(s.st_shndx)) : symbol_name(table, s);
      const int64_t base = local_label ? static_cast<int64_t>(s.st_value) : 0;
      o.relocations.push_back({r.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(r.r_info)), target, base + r.r_addend});
    }
    std::sort(o.relocations.begin(), o.relocations.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  }

  Image image_;
  Elf64_Ehdr header_;
};

}  // namespace

ElfObject read_elf_object(const std::filesystem::path& file) { return Reader(file).run(); }

}  // namespace stitchgcm::emit
