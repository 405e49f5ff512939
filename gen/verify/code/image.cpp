// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace stitchgcm::verify {
namespace {

constexpr std::uint64_t kFirstAddress = 0x100000, kAlignment = 0x1000;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", file, what));
}

/// The parts of one object file, by bounds-checked copies.
class Object {
 public:
  explicit Object(const std::filesystem::path& path) : name_(path.filename().string()) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(path.string(), "cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64 || header.e_type != ET_REL) {
      fail(name_, "no relocatable ELF object for x86-64");
    }
    if (header.e_shentsize != sizeof(Elf64_Shdr)) fail(name_, "section headers of an unknown size");
    for (std::size_t i = 0; i < header.e_shnum; i++) {
      sections.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    if (header.e_shstrndx >= sections.size()) fail(name_, "no section names");
    names_ = header.e_shstrndx;
  }

  const std::string& name() const { return name_; }

  std::string section_name(std::size_t i) const { return text(names_, sections[i].sh_name); }
  std::string text(std::size_t string_section, std::uint64_t offset) const {
    const auto content = section(string_section);
    std::string s;
    for (std::size_t i = offset; i < content.size() && content[i] != 0; i++) s += static_cast<char>(content[i]);
    return s;
  }

  std::span<const std::uint8_t> section(std::size_t i) const {
    if (i >= sections.size()) fail(name_, "a section that does not exist");
    const Elf64_Shdr& s = sections[i];
    if (s.sh_type == SHT_NOBITS) return {};
    if (s.sh_offset > bytes_.size() || s.sh_size > bytes_.size() - s.sh_offset) fail(name_, "cut off in a section");
    return std::span(bytes_).subspan(s.sh_offset, s.sh_size);
  }

  template <class T>
  std::vector<T> entries(std::size_t i) const {
    const auto content = section(i);
    if (content.size() % sizeof(T) != 0) fail(name_, "a table of odd size");
    std::vector<T> all(content.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), content.data(), content.size());
    return all;
  }

  std::vector<Elf64_Shdr> sections;

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) fail(name_, "cut off");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string name_;
  std::vector<std::uint8_t> bytes_;
  std::size_t names_ = 0;
};

struct Placed {
  Object object;
  std::vector<std::optional<std::size_t>> section;  // of the object -> of the image
};

}  // namespace

Image::Image(const std::vector<std::filesystem::path>& objects) {
  std::vector<Placed> placed;
  std::uint64_t next = kFirstAddress;
  for (const auto& path : objects) {
    Placed p{Object(path), {}};
    const Object& o = p.object;
    p.section.resize(o.sections.size());
    for (std::size_t i = 0; i < o.sections.size(); i++) {
      const Elf64_Shdr& s = o.sections[i];
      if ((s.sh_flags & SHF_ALLOC) == 0 || s.sh_type == SHT_NOTE || s.sh_size == 0) continue;
      const std::string name = o.section_name(i);
      if (name.rfind(".eh_frame", 0) == 0) continue;  // for unwinding; no code reads it
      if ((s.sh_flags & SHF_WRITE) != 0 || s.sh_type != SHT_PROGBITS) {
        fail(o.name(), fmt::format("section {} is not code or read-only data", name));
      }
      const auto bytes = o.section(i);
      sections_.push_back(
          {o.name() + " " + name, next, {bytes.begin(), bytes.end()}, (s.sh_flags & SHF_EXECINSTR) != 0});
      p.section[i] = sections_.size() - 1;
      // A gap, so that one section's end is no other's begin.
      next = (next + s.sh_size + 2 * kAlignment) & ~(kAlignment - 1);
    }
    placed.push_back(std::move(p));
  }

  // Symbols by name, over all objects; those of one object by number.
  std::map<std::string, std::uint64_t> global;
  std::vector<std::vector<std::optional<std::uint64_t>>> address_of(placed.size());
  std::vector<std::vector<std::string>> undefined(placed.size());
  for (std::size_t n = 0; n < placed.size(); n++) {
    const auto& [o, section] = placed[n];
    for (std::size_t i = 0; i < o.sections.size(); i++) {
      if (o.sections[i].sh_type != SHT_SYMTAB) continue;
      for (const Elf64_Sym& symbol : o.entries<Elf64_Sym>(i)) {
        const std::string name = o.text(o.sections[i].sh_link, symbol.st_name);
        const std::size_t in = symbol.st_shndx;
        const bool defined = in != SHN_UNDEF && in < section.size() && section[in];
        std::optional<std::uint64_t> address;
        if (defined) address = sections_[*section[in]].address + symbol.st_value;
        address_of[n].push_back(address);
        undefined[n].push_back(name);
        const bool is_global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
        if (is_global && defined && !global.emplace(name, *address).second) fail(o.name(), name + " is defined twice");
        if (defined && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
          symbols_.push_back({name, *address, symbol.st_size, o.name()});
        }
      }
    }
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) { return a.address < b.address; });

  for (std::size_t n = 0; n < placed.size(); n++) {
    const auto& [o, section] = placed[n];
    for (std::size_t i = 0; i < o.sections.size(); i++) {
      const Elf64_Shdr& s = o.sections[i];
      const bool with_addends = s.sh_type == SHT_RELA;
      if (!with_addends && s.sh_type != SHT_REL) continue;
      if (s.sh_info >= section.size() || !section[s.sh_info]) continue;  // of a section that is not loaded
      if (!with_addends) fail(o.name(), "relocations without addends");
      Section& target = sections_[*section[s.sh_info]];
      for (const Elf64_Rela& r : o.entries<Elf64_Rela>(i)) {
        const std::size_t symbol = ELF64_R_SYM(r.r_info);
        if (symbol >= address_of[n].size()) fail(o.name(), "a relocation without a symbol");
        std::optional<std::uint64_t> to = address_of[n][symbol];
        if (!to) {
          const auto found = global.find(undefined[n][symbol]);
          if (found == global.end())
            fail(o.name(), fmt::format("{} is not defined in any object", undefined[n][symbol]));
          to = found->second;
        }
        const auto type = ELF64_R_TYPE(r.r_info);
        if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) {
          fail(o.name(), fmt::format("a relocation of type {} in {}", type, target.name));
        }
        if (r.r_offset > target.bytes.size() || target.bytes.size() - r.r_offset < 4)
          fail(o.name(), "a relocation out of bounds");
        const auto distance =
            static_cast<std::int64_t>(*to) + r.r_addend - static_cast<std::int64_t>(target.address + r.r_offset);
        const auto word = static_cast<std::int32_t>(distance);
        if (word != distance) fail(o.name(), "a relocation that does not reach");
        std::memcpy(target.bytes.data() + r.r_offset, &word, 4);
      }
    }
  }
}

Image::Image(std::vector<Section> sections, std::vector<Symbol> symbols)
    : sections_(std::move(sections)), symbols_(std::move(symbols)) {}

const Symbol* Image::find(const std::string& name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == name; });
  return found == symbols_.end() ? nullptr : &*found;
}

const Symbol* Image::at(std::uint64_t address) const {
  const auto found =
      std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.address == address; });
  return found == symbols_.end() ? nullptr : &*found;
}

std::span<const std::uint8_t> Image::constants(std::uint64_t address, std::size_t size) const {
  for (const Section& s : sections_) {
    if (s.executable || address < s.address || address - s.address > s.bytes.size()) continue;
    const std::size_t offset = static_cast<std::size_t>(address - s.address);
    if (size <= s.bytes.size() - offset) return std::span(s.bytes).subspan(offset, size);
  }
  return {};
}

std::span<const std::uint8_t> Image::code(const Symbol& symbol) const {
  for (const Section& s : sections_) {
    if (!s.executable || symbol.address < s.address || symbol.address - s.address > s.bytes.size()) continue;
    const std::size_t offset = static_cast<std::size_t>(symbol.address - s.address);
    if (symbol.size <= s.bytes.size() - offset) return std::span(s.bytes).subspan(offset, symbol.size);
  }
  throw std::runtime_error(symbol.name + " has no code");
}

const Instruction* Function::at(std::uint64_t address) const {
  const auto found = std::find_if(instructions.begin(), instructions.end(),
                                  [address](const Instruction& i) { return i.address == address; });
  return found == instructions.end() ? nullptr : &*found;
}

}  // namespace stitchgcm::verify
