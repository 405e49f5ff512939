// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Object files with one fault each: the verifier refuses each, for the right reason. Most are assembled, so that they
// are what a user could have; some have bytes changed that no assembler writes.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstddef>
#include <cstring>

#include "support/bytes.hpp"
#include "support/verify_objects.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;
namespace fs = std::filesystem;

const std::string kReturns = function_text("f", "  ret");

/// What is wrong with the objects, when loaded and decoded.
std::string fault_of(const std::vector<std::string>& sources) {
  const SmallObjects objects(sources);
  return message_of([&] { objects.functions(); });
}

Bytes bytes_of_file(const fs::path& file) {
  const std::string text = contents(file);
  return {text.begin(), text.end()};
}

/// An object that is right, as bytes to change.
class Changeable {
 public:
  Changeable()
      : objects_({"  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1, 2\n" +
                  function_text("f", "  lea rax, [rip + table]\n  call g\n  ret") + function_text("g", "  ret")}),
        original_(bytes_of_file(objects_.paths()[0])) {}

  const Bytes& original() const { return original_; }

  std::string fault_of(const Bytes& changed) const {
    const fs::path file = folder_ / "changed.o";
    write_file(file, std::string(changed.begin(), changed.end()));
    return message_of([&] {
      const Image image({file});
      for (const Symbol& s : image.symbols()) decode(image, s);
    });
  }

  std::string fault_with(std::size_t offset, std::uint8_t value) const {
    Bytes changed = original_;
    changed.at(offset) = value;
    return fault_of(changed);
  }

  /// With `change` made to the header of the first section of this type that holds something, or nothing.
  template <class Change>
  std::string fault_with_section(std::uint32_t type, bool empty, Change&& change) const {
    Bytes changed = original_;
    const auto header = read<Elf64_Ehdr>(0);
    for (std::size_t i = 1; i < header.e_shnum; i++) {
      const std::size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
      auto section = read<Elf64_Shdr>(at);
      if (section.sh_type != type || (section.sh_size == 0) != empty) continue;
      change(section);
      std::memcpy(changed.data() + at, &section, sizeof section);
      return fault_of(changed);
    }
    throw std::runtime_error("no such section to change");
  }

  /// With `change` made to the symbol of the function f.
  template <class Change>
  std::string fault_with_f(Change&& change) const {
    Bytes changed = original_;
    std::size_t at = 0, end = 0;
    fault_with_section(SHT_SYMTAB, false, [&](Elf64_Shdr& s) {
      at = s.sh_offset;
      end = s.sh_offset + s.sh_size;
    });
    for (; at < end; at += sizeof(Elf64_Sym)) {
      auto symbol = read<Elf64_Sym>(at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value != 0) continue;
      change(symbol);
      std::memcpy(changed.data() + at, &symbol, sizeof symbol);
      return fault_of(changed);
    }
    throw std::runtime_error("no such symbol to change");
  }

 private:
  template <class T>
  T read(std::size_t at) const {
    T value;
    std::memcpy(&value, original_.data() + at, sizeof value);
    return value;
  }

  TemporaryFolder folder_;
  SmallObjects objects_;
  Bytes original_;
};

TEST_CASE("verify objects: several, each with code and data of its own, become one image") {
  const std::string data = "  .section .rodata, \"a\", @progbits\n  .p2align 4\nnumbers:\n  .quad ";
  const SmallObjects objects({data + "0, 11\n" + function_text("f", "  mov rax, [rip + numbers + 8]\n  call g\n  ret"),
                              data + "22\n" + function_text("g", "  mov rax, [rip + numbers]\n  ret")});
  const Image image = objects.image();
  std::vector<std::uint8_t> loaded;
  for (const Symbol& s : image.symbols()) {
    const auto at = decode(image, s).instructions[0].operands[1].memory.absolute;
    REQUIRE(at.has_value());
    const auto bytes = image.constants(*at, 8);
    REQUIRE(bytes.size() == 8);
    loaded.push_back(bytes[0]);
  }
  CHECK(loaded == Bytes{11, 22});
}

TEST_CASE("verify objects: read-only data ends where its section ends, and code is no data") {
  const SmallObjects objects({"  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1, 2\n" +
                              function_text("f", "  lea rax, [rip + table]\n  ret")});
  const Image image = objects.image();
  const std::uint64_t table = *decode(image, *image.find("f")).instructions[0].operands[1].memory.absolute;
  CHECK(image.constants(table, 16).size() == 16);
  CHECK(image.constants(table, 17).empty());
  CHECK(image.constants(table + 16, 1).empty());
  CHECK(image.constants(table - 1, 1).empty());
  CHECK(image.constants(image.find("f")->address, 1).empty());
}

TEST_CASE("verify objects: data are as aligned as the least aligned section promises") {
  const std::string code = kReturns + "  .section .rodata.a, \"a\", @progbits\n  .p2align 6\n  .quad 1\n";
  CHECK(SmallObjects({code}).image().constants_alignment() == 64);
  CHECK(SmallObjects({code + "  .section .rodata.b, \"a\", @progbits\n  .p2align 3\n  .quad 1\n"})
            .image()
            .constants_alignment() == 8);
}

TEST_CASE("verify objects: a file that is no object is refused") {
  const TemporaryFolder folder;
  const auto fault = [&](const char* name) { return message_of([&] { Image({folder / name}); }); };
  write_file(folder / "text.o", "This is no object file, but long enough to hold the header of one, and more.\n");
  write_file(folder / "empty.o", "");
  CHECK(fault("text.o") == "text.o: not an ELF file");
  CHECK(fault("empty.o") == "empty.o: not an ELF file");
  CHECK(fault("missing.o") == "missing.o: cannot be read");
}

TEST_CASE("verify objects: an object for another machine, or already linked, is refused") {
  const Changeable object;
  const std::string reason = "changed.o: not a relocatable ELF object for x86-64";
  CHECK(object.fault_with(EI_CLASS, ELFCLASS32) == reason);
  CHECK(object.fault_with(EI_DATA, ELFDATA2MSB) == reason);
  CHECK(object.fault_with(EI_OSABI, ELFOSABI_FREEBSD) == reason);
  CHECK(object.fault_with(offsetof(Elf64_Ehdr, e_machine), EM_386) == reason);
  CHECK(object.fault_with(offsetof(Elf64_Ehdr, e_type), ET_DYN) == reason);
}

TEST_CASE("verify objects: an object that is cut off anywhere is refused") {
  const Changeable object;
  REQUIRE(object.fault_of(object.original()) == "nothing is wrong");
  for (std::size_t size = 4; size < object.original().size(); size += 7) {
    const Bytes part(object.original().begin(), object.original().begin() + static_cast<std::ptrdiff_t>(size));
    const std::string fault = object.fault_of(part);
    CHECK_MESSAGE(fault == "changed.o: cut off", "after ", size, " bytes: ", fault);
  }
}

TEST_CASE("verify objects: tables and sections that say something unknown of themselves are refused") {
  const Changeable object;
  CHECK(object.fault_with_section(SHT_SYMTAB, false, [](Elf64_Shdr& s) { s.sh_entsize = 16; }) ==
        "changed.o: a table whose entries have an unknown size");
  CHECK(object.fault_with_section(SHT_RELA, false, [](Elf64_Shdr& s) { s.sh_size -= 1; }) ==
        "changed.o: a table whose entries have an unknown size");
  CHECK(object.fault_with_section(SHT_RELA, false, [](Elf64_Shdr& s) { s.sh_link = 0; }) ==
        "changed.o: relocations without symbols");
  CHECK(object.fault_with_section(SHT_RELA, false, [](Elf64_Shdr& s) { s.sh_info = 99; }) ==
        "changed.o: relocations of a section that does not exist");
  CHECK(object.fault_with_section(SHT_RELA, false, [](Elf64_Shdr& s) { s.sh_type = SHT_REL; }) ==
        "changed.o: section .rela.text is of unknown type 0x9");
  CHECK(object.fault_with_section(SHT_PROGBITS, false, [](Elf64_Shdr& s) { s.sh_addralign = 24; }) ==
        "changed.o: section .text has alignment 24");
  CHECK(object.fault_with_section(SHT_PROGBITS, false, [](Elf64_Shdr& s) { s.sh_addralign = 8192; }) ==
        "changed.o: section .text has alignment 8192");
  CHECK(object.fault_with_section(SHT_PROGBITS, true, [](Elf64_Shdr& s) {
    s.sh_type = SHT_SYMTAB;
    s.sh_entsize = sizeof(Elf64_Sym);
  }) == "changed.o: two symbol tables");
}

TEST_CASE("verify objects: symbols of an unknown kind are refused") {
  const Changeable object;
  CHECK(object.fault_with_f([](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS); }) ==
        "changed.o: symbol f is of unknown type 6");
  CHECK(object.fault_with_f([](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC); }) ==
        "changed.o: symbol f is of unknown type 10");
  CHECK(object.fault_with_f([](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_GNU_UNIQUE, STT_FUNC); }) ==
        "changed.o: symbol f is weak or shared, another may take its place");
}

TEST_CASE("verify objects: changed bytes make at worst another image, never an access out of bounds") {
  const Changeable object;
  Random random(3);
  int refused = 0;
  for (int trial = 0; trial < 3000; trial++) {
    Bytes changed = object.original();
    for (std::size_t n = 0; n <= random.below(3); n++) {
      changed[random.below(changed.size())] = random.below(2) == 0 ? 0xff : static_cast<std::uint8_t>(random.word());
    }
    // Whatever else it throws, or does, ends the test.
    if (object.fault_of(changed) != "nothing is wrong") refused++;
  }
  CHECK_MESSAGE(refused > 1000, "the changes no longer reach what is read");
}

TEST_CASE("verify objects: a symbol that no object defines is named") {
  CHECK(fault_of({function_text("f", "  call g\n  ret")}) == "a.o: g is not defined in any object");
}

TEST_CASE("verify objects: a symbol that two objects define is named") {
  CHECK(fault_of({kReturns, kReturns}) == "b.o: f is defined twice");
  // Also one that no linker would mix up, since proofs go by name.
  CHECK(fault_of({kReturns, "  .type f, @function\nf:\n  ret\n  .size f, 1\n"}) == "b.o: f is defined twice");
  const std::string data = "  .section .rodata, \"a\", @progbits\n  .globl table\n  .hidden table\ntable:\n  .quad 1\n";
  CHECK(fault_of({kReturns + data, data}) == "b.o: table is defined twice");
}

TEST_CASE("verify objects: a relocation of another kind is refused") {
  const std::string data = "  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1\n";
  struct Row {
    std::string body;
    int type;
  };
  for (const Row& row :
       {Row{"  movabs rax, offset table\n  ret", R_X86_64_64}, Row{"  mov eax, offset table\n  ret", R_X86_64_32},
        Row{"  mov rax, [table + rcx*8]\n  ret", R_X86_64_32S},
        Row{"  mov rax, [rip + g@GOTPCREL]\n  ret", R_X86_64_REX_GOTPCRELX},
        Row{"  lea rax, [rip + _GLOBAL_OFFSET_TABLE_]\n  ret", R_X86_64_GOTPC32}}) {
    const std::string fault = fault_of({data + function_text("f", row.body)});
    CHECK_MESSAGE(fault.find(" is of unknown type " + std::to_string(row.type)) != std::string::npos, row.body, ": ",
                  fault);
  }
}

TEST_CASE("verify objects: a relocation in data is refused") {
  CHECK(fault_of({kReturns + "  .section .rodata, \"a\", @progbits\n  .long f - .\n"}) ==
        "a.o: relocation at .rodata + 0x0 is in data");
}

TEST_CASE("verify objects: a relocation that is of no distance in an instruction is refused") {
  // mov eax, and a distance that each linker makes another number.
  const std::string data = "  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1\n";
  const std::string fault = fault_of({data + function_text("f", "  .byte 0xb8\n  .long table - .\n  ret")});
  CHECK_MESSAGE(fault.find("f: the relocation at 0x") == 0, fault);
  CHECK_MESSAGE(fault.find("is of no distance in an instruction") != std::string::npos, fault);
}

TEST_CASE("verify objects: two relocations of one place are refused, and one that does not reach") {
  const std::string data = "  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1\n";
  const std::string load = "  lea rax, [rip + table]\n  ret\n";
  for (const std::string place : {"f + 3", "f + 4", "f"}) {
    const std::string fault =
        fault_of({data + function_text("f", load + "  .reloc " + place + ", R_X86_64_PC32, table")});
    CHECK_MESSAGE(fault.find("a.o: two relocations of one place, a.o .text + 0x") == 0, place, ": ", fault);
  }
  CHECK(fault_of({data + function_text("f", "  lea rax, [rip + table + 0x7fffffff]\n  ret")}) ==
        "a.o: the relocation at a.o .text + 0x3 does not reach");
}

TEST_CASE("verify objects: what is beside the data of a relocation is refused") {
  const std::string data = "  .section .rodata, \"a\", @progbits\ntable:\n  .quad 1, 2\n";
  const std::string reason = "refers to what the linker may put elsewhere";
  for (const std::string place : {"table + 16", "table - 1", "table + 0x100000"}) {
    const std::string fault = fault_of({data + function_text("f", "  lea rax, [rip + " + place + "]\n  ret")});
    CHECK_MESSAGE(fault.find(reason) != std::string::npos, place, ": ", fault);
  }
  for (const std::string place : {"table", "table + 15"}) {
    CHECK(fault_of({data + function_text("f", "  lea rax, [rip + " + place + "]\n  ret")}) == "nothing is wrong");
  }
}

TEST_CASE("verify objects: a distance between sections without a relocation is refused") {
  // It leads to the data in the image's layout, and only there.
  const std::string data = "  .section .rodata, \"a\", @progbits\n  .zero 0x8000\n";
  const auto object = [&](std::uint64_t distance) {
    return data + function_text("f", "  lea rax, [rip + " + std::to_string(distance) + "]\n  ret");
  };
  const Image image = SmallObjects({object(0)}).image();
  std::uint64_t distance = 0;
  for (const Section& s : image.sections()) {
    if (!s.executable) distance = s.address + 0x4000 - image.find("f")->address;
  }
  const std::string fault = fault_of({object(distance)});
  CHECK_MESSAGE(fault.find("refers to what the linker may put elsewhere") != std::string::npos, fault);
}

TEST_CASE("verify objects: a callee that another may replace when the program is loaded is refused") {
  const std::string visible = "  .text\n  .globl g\n  .type g, @function\ng:\n  ret\n  .size g, 1\n";
  const std::string calls = function_text("f", "  call g\n  ret");
  const std::string reason = "a.o: g is not hidden: another may take its place when the program is loaded";
  CHECK(fault_of({calls, visible}) == reason);
  CHECK(fault_of({calls + visible}) == reason);
  CHECK(fault_of({calls + "  .hidden g\n", visible}) == "nothing is wrong");
}

TEST_CASE("verify objects: sections that are neither code nor read-only data are refused, if they hold anything") {
  struct Row {
    std::string text, section;
  };
  for (const Row& row : {Row{"  .data\n  .quad 1\n", ".data"}, Row{"  .bss\n  .zero 8\n", ".bss"},
                         Row{"  .section .tdata, \"awT\", @progbits\n  .quad 1\n", ".tdata"},
                         Row{"  .section .rodata.cst16, \"aM\", @progbits, 16\n  .quad 1, 2\n", ".rodata.cst16"},
                         Row{"  .section .rodata.g, \"aG\", @progbits, f, comdat\n  .quad 1\n", ".group"},
                         Row{"  .section .text.w, \"awx\", @progbits\n  ret\n", ".text.w"},
                         Row{"  .section .init_array, \"a\", @init_array\n  .quad 0\n", ".init_array"}}) {
    const std::string fault = fault_of({kReturns + row.text});
    CHECK_MESSAGE(fault.find("a.o: section " + row.section + " is ") == 0, row.section, ": ", fault);
  }
  CHECK(fault_of({kReturns + "  .data\n  .bss\n  .section .note.GNU-stack, \"\", @progbits\n"}) == "nothing is wrong");
}

TEST_CASE("verify objects: symbols that the linker may take from elsewhere are refused") {
  CHECK(fault_of({"  .weak f\n" + kReturns}).find("is weak") != std::string::npos);
  CHECK(fault_of({kReturns + "  .comm shared, 8, 8\n"}) == "a.o: symbol shared is in no section");
  CHECK(fault_of({kReturns + "  .globl number\n  .set number, 5\n"}) == "a.o: symbol number is in no section");
  // Of GNU's own ABI, which the file's header says.
  CHECK(fault_of({kReturns + "  .type g, @gnu_indirect_function\ng:\n  ret\n  .size g, 1\n"}) ==
        "a.o: not a relocatable ELF object for x86-64");
}

TEST_CASE("verify objects: code is all in functions of known extent") {
  struct Row {
    std::string what, text, fault;
  };
  const std::string g = "  .globl g\n  .hidden g\n";
  for (const Row& row :
       {Row{"a label for others", kReturns + g + "g:\n  .byte 0xcc\n", "a.o: g is global, in code, and no function"},
        Row{"a function without size", kReturns + g + "  .type g, @function\ng:\n  ret\n",
            "a.o: function g has no size"},
        Row{"a function past the end", kReturns + g + "  .type g, @function\ng:\n  ret\n  .size g, 2\n",
            "a.o: symbol g goes past the end of .text"},
        Row{"a function in data",
            kReturns + g + "  .section .rodata, \"a\", @progbits\n  .type g, @function\ng:\n  ret\n  .size g, 1\n",
            "a.o: function g is not in code"},
        Row{"a function that is not loaded",
            kReturns + g + "  .section .debug_g, \"\", @progbits\n  .type g, @function\ng:\n  ret\n  .size g, 1\n",
            "a.o: function g is not in code"},
        Row{"an instruction between functions", kReturns + "  push rax\n" + function_text("g", "  ret"),
            "a.o .text: byte 0x50 at 0x1 is no function's"},
        Row{"an instruction after the last", kReturns + "  nop\n  .byte 0xcc\n  ret\n",
            "a.o .text: byte 0xc3 at 0x3 is no function's"},
        Row{"functions that overlap",
            function_text("f", "  nop\n  ret\n  ret") + "  .type g, @function\n  .set g, f + 1\n  .size g, 1\n",
            "a.o .text: g overlaps another function"}}) {
    CHECK_MESSAGE(fault_of({row.text}) == row.fault, row.what);
  }
  CHECK(fault_of({kReturns + "  .p2align 6, 0xcc\n" + function_text("g", "  ret") + "  .p2align 6\n"}) ==
        "nothing is wrong");
}

}  // namespace
}  // namespace tests
