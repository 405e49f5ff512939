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
};

struct Symbol {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string file;  // the object's file name
};

class Image {
 public:
  /// Reads relocatable ELF x86-64 objects. Throws std::runtime_error, with the file's name, if one is none, a symbol is
  /// defined twice or missing, a relocation is of a kind that is not known, or a writable or unknown section has bytes.
  explicit Image(const std::vector<std::filesystem::path>& objects);

  /// For tests: code and read-only data by themselves.
  Image(std::vector<Section> sections, std::vector<Symbol> symbols);

  const std::vector<Symbol>& symbols() const { return symbols_; }  // functions, in the order of files and addresses
  const Symbol* find(const std::string& name) const;
  const Symbol* at(std::uint64_t address) const;  // the function that begins there
  /// Read-only data that is not code; empty span if any of the bytes is not there.
  std::span<const std::uint8_t> constants(std::uint64_t address, std::size_t size) const;
  std::span<const std::uint8_t> code(const Symbol& symbol) const;
  std::vector<Section>& sections() { return sections_; }  // for mutation

 private:
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

/// The instructions of one function, found by decoding its bytes from first to last.
struct Function {
  Symbol symbol;
  std::vector<Instruction> instructions;  // by address
  const Instruction* at(std::uint64_t address) const;
};

/// Throws std::runtime_error with the address and the bytes: an instruction is undecodable, or of an encoding that is not
/// allowed (see decoder.cpp), or straddles the end of the function.
Function decode(const Image& image, const Symbol& symbol);

/// One instruction from bytes at an address. Throws as decode does.
Instruction decode_one(std::span<const std::uint8_t> bytes, std::uint64_t address);

}  // namespace stitchgcm::verify
