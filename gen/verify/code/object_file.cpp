// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/object_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace stitchgcm::verify {
namespace {

constexpr std::uint64_t kMostAlignment = 4096;
// What clang writes and <elf.h> does not name: unwind tables (AMD64 supplement), and a list of symbols for the linker.
constexpr std::uint32_t kUnwind = 0x70000001, kAddressSignificance = 0x6fff4c03;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) {
    file_.name = path.filename().string();
    std::ifstream in(path, std::ios::binary);
    if (!in) fail("cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  ObjectFile read() {
    read_headers();
    read_sections();
    read_symbols();
    for (const Elf64_Shdr& s : headers_) {
      if (s.sh_type == SHT_RELA) read_relocations(s);
    }
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}: {}", file_.name, what));
  }

  template <class T>
  T at(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) fail("cut off");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::span<const std::uint8_t> content(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS) return {};
    if (s.sh_offset > bytes_.size() || s.sh_size > bytes_.size() - s.sh_offset) fail("cut off");
    return std::span(bytes_).subspan(s.sh_offset, s.sh_size);
  }

  template <class T>
  std::vector<T> table(const Elf64_Shdr& s) const {
    if (s.sh_entsize != sizeof(T) || s.sh_size % sizeof(T) != 0) fail("a table whose entries have an unknown size");
    std::vector<T> all;
    content(s);  // all of it is there, or this throws
    for (std::uint64_t i = 0; i < s.sh_size; i += sizeof(T)) all.push_back(at<T>(s.sh_offset + i));
    return all;
  }

  std::string text(std::size_t strings, std::uint64_t offset) const {
    if (strings >= headers_.size() || headers_[strings].sh_type != SHT_STRTAB) fail("names without a string table");
    const auto all = content(headers_[strings]);
    if (offset >= all.size()) fail("a name outside of its string table");
    const auto* const begin = reinterpret_cast<const char*>(all.data()) + offset;
    return {begin, strnlen(begin, all.size() - offset)};
  }

  void read_headers() {
    constexpr std::uint8_t kIdentity[] = {ELFMAG0,     ELFMAG1,    ELFMAG2,       ELFMAG3, ELFCLASS64,
                                          ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE, 0};
    if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) fail("not an ELF file");
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, kIdentity, sizeof kIdentity) != 0 || header.e_machine != EM_X86_64 ||
        header.e_type != ET_REL || header.e_flags != 0 || header.e_shentsize != sizeof(Elf64_Shdr)) {
      fail("not a relocatable ELF object for x86-64");
    }
    for (std::uint64_t i = 0; i < header.e_shnum; i++) {
      headers_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    section_names_ = header.e_shstrndx;
  }

  void read_sections() {
    kept_.resize(headers_.size());
    for (std::size_t i = 0; i < headers_.size(); i++) {
      const Elf64_Shdr& s = headers_[i];
      const std::string name = text(section_names_, s.sh_name);
      names_.push_back(name);
      switch (s.sh_type) {
        case SHT_NULL:
        case SHT_SYMTAB:
        case SHT_STRTAB:
        case SHT_RELA:
        case kAddressSignificance: continue;
        case SHT_PROGBITS:
        case SHT_NOBITS:
        case SHT_NOTE:
        case kUnwind: break;
        default: fail(fmt::format("section {} is of unknown type {:#x}", name, s.sh_type));
      }
      if ((s.sh_flags & SHF_ALLOC) == 0 || s.sh_size == 0) continue;
      const bool executable = (s.sh_flags & SHF_EXECINSTR) != 0;
      // Neither is read by the code: a note is for the loader, the frames are for unwinding.
      if (!executable && (s.sh_type == SHT_NOTE || name == ".eh_frame")) continue;
      if (s.sh_type != SHT_PROGBITS || (s.sh_flags & ~std::uint64_t{SHF_ALLOC | SHF_EXECINSTR}) != 0) {
        fail(fmt::format("section {} is neither code nor read-only data", name));
      }
      const std::uint64_t alignment = s.sh_addralign == 0 ? 1 : s.sh_addralign;
      if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
        fail(fmt::format("section {} has alignment {}", name, alignment));
      }
      const auto bytes = content(s);
      kept_[i] = file_.sections.size();
      file_.sections.push_back({name, {bytes.begin(), bytes.end()}, alignment, executable});
    }
  }

  void read_symbols() {
    for (std::size_t i = 0; i < headers_.size(); i++) {
      if (headers_[i].sh_type != SHT_SYMTAB) continue;
      if (symbol_table_) fail("two symbol tables");
      symbol_table_ = i;
      for (const Elf64_Sym& s : table<Elf64_Sym>(headers_[i])) {
        file_.symbols.push_back(symbol(s, text(headers_[i].sh_link, s.st_name)));
      }
    }
  }

  ObjectSymbol symbol(const Elf64_Sym& from, const std::string& name) const {
    const unsigned type = ELF64_ST_TYPE(from.st_info), binding = ELF64_ST_BIND(from.st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(from.st_other);
    ObjectSymbol s;
    s.name = name;
    s.size = from.st_size;
    s.offset = from.st_value;
    s.function = type == STT_FUNC;
    s.global = binding != STB_LOCAL;
    s.hidden = visibility != STV_DEFAULT;
    if (type == STT_FILE) return s;
    if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC && type != STT_SECTION) {
      fail(fmt::format("symbol {} is of unknown type {}", name, type));
    }
    if (from.st_shndx == SHN_UNDEF) return s;
    if (binding != STB_LOCAL && binding != STB_GLOBAL) {
      fail(fmt::format("symbol {} is weak or shared, another may take its place", name));
    }
    // Among them common symbols, absolute ones, and numbers of more than 16 bits.
    if (from.st_shndx >= headers_.size()) fail(fmt::format("symbol {} is in no section", name));
    s.section = kept_[from.st_shndx];
    if (type == STT_SECTION) s.name = names_[from.st_shndx];
    if (!s.section) {
      if (s.function) fail(fmt::format("function {} is not in code", name));
      return s;
    }
    const ObjectSection& in = file_.sections[*s.section];
    if (s.offset > in.bytes.size() || s.size > in.bytes.size() - s.offset) {
      fail(fmt::format("symbol {} goes past the end of {}", s.name, in.name));
    }
    if (s.function && !in.executable) fail(fmt::format("function {} is not in code", name));
    if (s.function && s.size == 0) fail(fmt::format("function {} has no size", name));
    // Others could go there, past what is proved of the function.
    if (s.global && !s.function && in.executable) fail(fmt::format("{} is global, in code, and no function", name));
    return s;
  }

  void read_relocations(const Elf64_Shdr& header) {
    if (header.sh_info >= headers_.size()) fail("relocations of a section that does not exist");
    const std::optional<std::size_t> section = kept_[header.sh_info];
    if (!section) return;
    const ObjectSection& in = file_.sections[*section];
    if (header.sh_link != symbol_table_) fail("relocations without symbols");
    for (const Elf64_Rela& r : table<Elf64_Rela>(header)) {
      const std::uint64_t type = ELF64_R_TYPE(r.r_info), symbol = ELF64_R_SYM(r.r_info);
      const std::string place = fmt::format("relocation at {} + {:#x}", in.name, r.r_offset);
      if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) fail(fmt::format("{} is of unknown type {}", place, type));
      // A distance in data holds for one layout only.
      if (!in.executable) fail(place + " is in data");
      if (r.r_offset > in.bytes.size() || in.bytes.size() - r.r_offset < 4) fail(place + " is past the end");
      if (symbol == STN_UNDEF || symbol >= file_.symbols.size()) fail(place + " has no symbol");
      file_.relocations.push_back({*section, symbol, r.r_offset, r.r_addend});
    }
  }

  ObjectFile file_;
  std::vector<std::uint8_t> bytes_;
  std::vector<Elf64_Shdr> headers_;
  std::vector<std::string> names_;                // of sections, by their number in the file
  std::vector<std::optional<std::size_t>> kept_;  // in file_.sections, by their number in the file
  std::size_t section_names_ = 0;
  std::optional<std::size_t> symbol_table_;
};

}  // namespace

ObjectFile read_object(const std::filesystem::path& path) { return Reader(path).read(); }

}  // namespace stitchgcm::verify
