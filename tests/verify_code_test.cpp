// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's view of emitted/: all code of all symbols, and what it reads and calls, as it is in a program that the
// system's linker makes of the same objects.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

#include "support/verify_objects.hpp"
#include "verify/code/assemble.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;
namespace fs = std::filesystem;

std::vector<Function> functions_of(const Image& image) {
  std::vector<Function> functions;
  for (const Symbol& s : image.symbols()) functions.push_back(decode(image, s));
  return functions;
}

std::string place(const Function& f, const Instruction& i) {
  return fmt::format("{} + {:#x}: {}", f.symbol.name, i.address - f.symbol.address, i.text);
}

std::optional<std::uint64_t> read_address(const Instruction& i) {
  for (const Operand& o : i.operands) {
    if (o.kind == Operand::Kind::memory && o.memory.absolute) return o.memory.absolute;
  }
  return std::nullopt;
}

/// Bytes that the instruction reads there; of lea, what vectors are loaded from there.
std::size_t bytes_read(const Instruction& i) {
  for (const Operand& o : i.operands) {
    if (o.memory.absolute && o.memory.bits != 0) return static_cast<std::size_t>(o.memory.bits) / 8;
  }
  return 16;
}

/// Name and bytes of each line of MANIFEST that is a symbol's.
std::map<std::string, std::uint64_t> manifest() {
  std::map<std::string, std::uint64_t> sizes;
  std::istringstream lines(contents(fs::path(STITCHGCM_SOURCE_FOLDER) / "emitted/MANIFEST"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  ", 0) != 0) continue;
    std::istringstream words(line);
    std::string name;
    words >> name >> sizes[name];
  }
  return sizes;
}

/// The objects in a library that the system's linker made and its loader loaded.
class Loaded {
 public:
  explicit Loaded(const std::vector<fs::path>& objects) {
    const std::string library = (folder_ / "library.so").string();
    std::vector<std::string> command{"gcc", "-shared", "-nostdlib", "-o", library};
    for (const fs::path& o : objects) command.push_back(o.string());
    output_of(command);
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    link_map* map = nullptr;
    dlinfo(handle_, RTLD_DI_LINKMAP, &map);
    std::istringstream lines(output_of({"nm", library}));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::uint64_t value = 0;
      std::string type, name;
      if (words >> std::hex >> value >> type >> name) addresses_[name] = map->l_addr + value;
    }
  }
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  std::uint64_t address(const std::string& symbol) const { return addresses_.at(symbol); }
  static std::span<const std::uint8_t> memory(std::uint64_t address, std::size_t bytes) {
    return {reinterpret_cast<const std::uint8_t*>(address), bytes};
  }

 private:
  TemporaryFolder folder_;
  void* handle_ = nullptr;
  std::map<std::string, std::uint64_t> addresses_;
};

TEST_CASE("verify code: the functions of the objects are MANIFEST's symbols, with its sizes") {
  const Image image(emitted_objects());
  std::map<std::string, std::uint64_t> sizes;
  for (const Symbol& s : image.symbols()) sizes[s.name] = s.size;
  CHECK(sizes == manifest());
}

TEST_CASE("verify code: each byte of a function is in exactly one instruction, as Zydis alone decodes them") {
  const Image image(emitted_objects());
  ZydisDecoder zydis;
  ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (const Function& f : functions_of(image)) {
    const auto code = image.code(f.symbol);
    std::size_t count = 0, offset = 0;
    for (ZydisDecodedInstruction i; offset < code.size(); offset += i.length, count++) {
      const auto rest = code.subspan(offset);
      REQUIRE(ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis, nullptr, rest.data(), rest.size(), &i)));
      REQUIRE_MESSAGE(count < f.instructions.size(), f.symbol.name, ": instructions are missing at the end");
      const Instruction& ours = f.instructions[count];
      REQUIRE_MESSAGE(ours.address == f.symbol.address + offset, place(f, ours));
      REQUIRE_MESSAGE(ours.length == i.length, place(f, ours));
    }
    CHECK_MESSAGE(count == f.instructions.size(), f.symbol.name);
  }
}

TEST_CASE("verify code: a call goes to a function, what is read at a fixed address is read-only data") {
  const Image image(emitted_objects());
  int calls = 0, reads = 0;
  for (const Function& f : functions_of(image)) {
    for (const Instruction& i : f.instructions) {
      if (i.mnemonic == ZYDIS_MNEMONIC_CALL) {
        calls++;
        CHECK_MESSAGE(image.at(i.operands.at(0).immediate) != nullptr, place(f, i));
      }
      if (const auto address = read_address(i)) {
        reads++;
        CHECK_MESSAGE(image.constants(*address, bytes_read(i)).size() == bytes_read(i), place(f, i));
      }
    }
  }
  CHECK_MESSAGE(calls > 0, "nothing is called any more: take another example");
  CHECK_MESSAGE(reads > 0, "nothing is read any more: take another example");
}

TEST_CASE("verify code: a program of the system's linker reads the same bytes and calls the same functions") {
  const Image image(emitted_objects());
  const Loaded program(emitted_objects());
  for (const Function& f : functions_of(image)) {
    const std::uint64_t begin = program.address(f.symbol.name);
    for (const Instruction& i : f.instructions) {
      const std::uint64_t there = begin + (i.address - f.symbol.address);
      const Instruction linked = decode_one(Loaded::memory(there, static_cast<std::size_t>(i.length)), there);
      CHECK_MESSAGE(linked.form == i.form, place(f, i), ", linked: ", linked.text);
      if (i.mnemonic == ZYDIS_MNEMONIC_CALL) {
        const Symbol* const callee = image.at(i.operands.at(0).immediate);
        CHECK_MESSAGE(program.address(callee->name) == linked.operands.at(0).immediate, place(f, i));
      }
      if (const auto address = read_address(i)) {
        const auto ours = image.constants(*address, bytes_read(i));
        const auto theirs = Loaded::memory(*read_address(linked), bytes_read(i));
        CHECK_MESSAGE(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end()), place(f, i));
      }
    }
  }
}

TEST_CASE("verify code: the order of the objects makes no difference but to addresses") {
  std::vector<fs::path> reversed(emitted_objects().rbegin(), emitted_objects().rend());
  const Image one(emitted_objects()), other(reversed);
  for (const Function& f : functions_of(one)) {
    const Symbol* const symbol = other.find(f.symbol.name);
    REQUIRE_MESSAGE(symbol != nullptr, f.symbol.name);
    const Function g = decode(other, *symbol);
    REQUIRE_MESSAGE(f.instructions.size() == g.instructions.size(), f.symbol.name);
    for (std::size_t n = 0; n < f.instructions.size(); n++) {
      const Instruction &a = f.instructions[n], &b = g.instructions[n];
      CHECK_MESSAGE(a.form == b.form, place(f, a));
      if (a.mnemonic == ZYDIS_MNEMONIC_CALL) {
        CHECK_MESSAGE(one.at(a.operands[0].immediate)->name == other.at(b.operands[0].immediate)->name, place(f, a));
      }
      if (const auto address = read_address(a)) {
        const auto x = one.constants(*address, 16), y = other.constants(*read_address(b), 16);
        CHECK_MESSAGE(std::equal(x.begin(), x.end(), y.begin(), y.end()), place(f, a));
      }
    }
  }
}

TEST_CASE("verify code: clang's objects hold the instructions of gcc's") {
  if (!is_installed("clang")) {
    MESSAGE("skipped: clang is not installed");
    return;
  }
  const TemporaryFolder folder;
  const auto sources = files_below(fs::path(STITCHGCM_SOURCE_FOLDER) / "emitted", ".S");
  const Image gnu(emitted_objects()), llvm(assemble(sources, folder.path(), "clang"));
  REQUIRE(gnu.symbols().size() == llvm.symbols().size());
  for (const Function& f : functions_of(gnu)) {
    const Function g = decode(llvm, *llvm.find(f.symbol.name));
    const bool same =
        std::equal(f.instructions.begin(), f.instructions.end(), g.instructions.begin(), g.instructions.end(),
                   [](const Instruction& a, const Instruction& b) { return a.form == b.form && a.length == b.length; });
    CHECK_MESSAGE(same, f.symbol.name);
  }
}

TEST_CASE("verify code: a source that cannot be assembled is one line, with the assembler's error") {
  const TemporaryFolder folder;
  write_file(folder / "wrong.S", ".intel_syntax noprefix\n  ret\n  vpxer xmm0, xmm1, xmm2\n  vpxar xmm0, xmm1, xmm2\n");
  const std::string message = message_of([&] { assemble({folder / "wrong.S"}, folder.path(), "gcc"); });
  CHECK_MESSAGE(message.find("wrong.S is not assembled: ") != std::string::npos, message);
  CHECK_MESSAGE(message.find("wrong.S:3: Error: ") != std::string::npos, message);
  CHECK_MESSAGE(message.find("vpxer") != std::string::npos, message);
  CHECK_MESSAGE(message.find('\n') == std::string::npos, message);
}

TEST_CASE("verify code: a compiler that is not there is named") {
  const TemporaryFolder folder;
  write_file(folder / "empty.S", "");
  CHECK(message_of([&] { assemble({folder / "empty.S"}, folder.path(), "no-such-compiler"); }) ==
        "no-such-compiler cannot be run: No such file or directory");
}

TEST_CASE("verify code: two sources do not overwrite each other's object") {
  const TemporaryFolder folder;
  for (const char* name : {"one/backend/seal.S", "two/backend/seal.S"}) write_file(folder / name, "");
  const std::string message = message_of([&] {
    assemble({folder / "one/backend/seal.S", folder / "two/backend/seal.S"}, folder.path(), "gcc");
  });
  CHECK_MESSAGE(
      message.find("two/backend/seal.S: another source makes an object of the same name") != std::string::npos,
      message);
}

TEST_CASE("verify code: a temporary folder is gone with its value") {
  fs::path path;
  {
    const stitchgcm::verify::TemporaryFolder folder;
    path = folder.path();
    write_file(path / "below" / "file", "text");
    REQUIRE(fs::exists(path));
  }
  CHECK_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace tests
