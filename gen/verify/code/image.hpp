// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The object files that users link, laid out at addresses of their own with all relocations between them applied.
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "verify/code/instruction.hpp"

namespace stitchgcm::verify {

struct Section {
  std::string name;  // file and section, for messages
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  bool executable = false;
  int alignment = 64;  // of the address in every program that is linked from it
};

struct Symbol {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string file;  // the object's file name
};

class Image {
 public:
  /// Reads relocatable ELF x86-64 objects. Throws std::runtime_error, with the file's name, as read_object does, and if
  /// a symbol is defined twice or missing or may be replaced when the program is loaded, if functions overlap, or if
  /// code holds bytes that are neither a function's nor padding.
  explicit Image(const std::vector<std::filesystem::path>& objects);

  /// For tests: code and read-only data by themselves, at their only addresses.
  Image(std::vector<Section> sections, std::vector<Symbol> symbols);

  const std::vector<Symbol>& symbols() const { return symbols_; }  // functions, in the order of files and addresses
  const Symbol* find(const std::string& name) const;
  const Symbol* at(std::uint64_t address) const;  // the function that begins there
  /// Read-only data that is not code; empty span if any of the bytes is not there.
  std::span<const std::uint8_t> constants(std::uint64_t address, std::size_t size) const;
  /// The power of 2 modulo which every read-only address is in every linked program what it is here.
  int constants_alignment() const;
  std::span<const std::uint8_t> code(const Symbol& symbol) const;

  /// Addresses of the 4-byte fields in `code(symbol)` that the linker fills in, ascending.
  std::vector<std::uint64_t> relocated(const Symbol& symbol) const;
  /// True if a distance in the code that ends in `target` here ends there wherever the linker puts sections: if the
  /// field is relocated, the target is in the section that the relocation is about, else in the field's own.
  bool holds_in_any_layout(std::uint64_t field, std::uint64_t target) const;

  const std::vector<Section>& sections() const { return sections_; }
  std::vector<Section>& sections() { return sections_; }  // for mutation

 private:
  const Section* section_of(std::uint64_t address) const;

  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::map<std::uint64_t, std::size_t> relocations_;  // field -> section that the relocation's symbol is in
  bool linked_ = false;                               // the addresses are the only ones
};

/// The instructions of one function, found by decoding its bytes from first to last.
struct Function {
  Symbol symbol;
  std::vector<Instruction> instructions;  // by address
  const Instruction* at(std::uint64_t address) const;
};

/// Throws std::runtime_error with the symbol, the address and the bytes if an instruction is undecodable, or of an
/// encoding that is not allowed (see decoder.cpp), or straddles the end of the function; if a jump goes elsewhere than
/// to one of the function's instructions, or a call to no function; if the last instruction goes on past the end; or if
/// what an instruction refers to depends on where the linker puts sections.
Function decode(const Image& image, const Symbol& symbol);

/// One instruction from bytes at an address. Throws as decode does.
Instruction decode_one(std::span<const std::uint8_t> bytes, std::uint64_t address);

}  // namespace stitchgcm::verify
