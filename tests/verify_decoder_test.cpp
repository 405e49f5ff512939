// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Single instructions as the verifier takes them, from their bytes, and encodings and functions that it must not take.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/bytes.hpp"
#include "support/verify_objects.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

constexpr std::uint64_t kAddress = 0x1000;

/// The bytes are hex, with spaces.
Instruction instruction(std::string digits) {
  std::erase(digits, ' ');
  return decode_one(unhex(digits), kAddress);
}

std::string fault(const std::string& digits) {
  const std::string message = message_of([&] { instruction(digits); });
  const std::string begin = "0x1000: " + digits + ": ";
  return message.rfind(begin, 0) == 0 ? message.substr(begin.size()) : message;
}

/// One function of these bytes, at kAddress, before another one.
struct Code {
  explicit Code(std::string digits) {
    std::erase(digits, ' ');
    Bytes bytes = unhex(digits);
    const std::size_t size = bytes.size();
    bytes.push_back(0xc3);
    image =
        Image({{"code", kAddress, bytes, true}}, {{"f", kAddress, size, "test"}, {"g", kAddress + size, 1, "test"}});
  }
  Function decoded() const { return decode(image, *image.find("f")); }
  std::string fault() const {
    return message_of([&] { decoded(); });
  }
  Image image{{}, {}};
};

TEST_CASE("verify decoder: text and form of an instruction") {
  struct Row {
    std::string bytes, text, form;
  };
  for (const Row& row : {
           Row{"c5 f9 ef c1", "vpxor xmm0, xmm0, xmm1", "vpxor x x x"},
           Row{"c4 41 15 ef 07", "vpxor ymm8, ymm13, [r15]", "vpxor y y m256"},
           Row{"66 0f ef 07", "pxor xmm0, [rdi]", "pxor x m128"},
           Row{"62 a1 65 40 ef cc", "vpxord zmm17, zmm19, zmm20", "vpxord z z z evex"},
           Row{"62 f1 65 08 ef cc", "vpxord xmm1, xmm3, xmm4", "vpxord x x x evex"},
           Row{"62 f1 7f c9 6f 07", "vmovdqu8 zmm0 {k1} {z}, zmmword ptr [rdi]", "vmovdqu8 z m512 evex {z}"},
           Row{"62 f1 7f 4f 7f 07", "vmovdqu8 zmmword ptr [rdi] {k7}, zmm0", "vmovdqu8 m512 z evex {k}"},
           Row{"c4 e1 fb 92 c8", "kmovq k1, rax", "kmovq k r64"},
           Row{"48 8d 44 b7 10", "lea rax, [rdi+rsi*4+0x10]", "lea r64 m0"},
           Row{"48 c1 e0 05", "shl rax, 0x05", "shl r64 i"},
           Row{"48 d1 e0", "shl rax, 0x01", "shl r64 i"},
           Row{"48 d3 e0", "shl rax, cl", "shl r64 r8"},
           Row{"48 0f ad d0", "shrd rax, rdx, cl", "shrd r64 r64 r8"},
           Row{"66 01 c0", "add ax, ax", "add r16 r16"},
           Row{"40 88 e0", "mov al, spl", "mov r8 r8"},
           Row{"88 e0", "mov al, ah", "mov r8 r8h"},
           Row{"f3 0f 1e fa", "endbr64", "endbr64"},
           Row{"f3 48 0f b8 c1", "popcnt rax, rcx", "popcnt r64 r64"},
           Row{"c3", "ret", "ret"},
       }) {
    const Instruction i = instruction(row.bytes);
    CHECK(i.text == row.text);
    CHECK_MESSAGE(i.form == row.form, row.text);
  }
}

TEST_CASE("verify decoder: a memory operand's base, index, scale and displacement") {
  const auto memory = [](const char* digits) { return instruction(digits).operands.at(1).memory; };
  const MemoryOperand whole = memory("4b 8b 44 a5 f0");  // [r13 + r12*4 - 16]
  CHECK(whole.base == 13);
  CHECK(whole.index == 12);
  CHECK(whole.scale == 4);
  CHECK(whole.displacement == -16);
  CHECK(whole.bits == 64);
  CHECK_FALSE(whole.absolute.has_value());

  const MemoryOperand index_alone = memory("48 8d 04 cd 40 00 00 00");  // [rcx*8 + 64]
  CHECK_FALSE(index_alone.base.has_value());
  CHECK(index_alone.index == 1);
  CHECK(index_alone.scale == 8);
  CHECK(index_alone.displacement == 64);

  const MemoryOperand base_alone = memory("48 8b 04 24");  // [rsp]
  CHECK(base_alone.base == 4);
  CHECK_FALSE(base_alone.index.has_value());
  CHECK(base_alone.displacement == 0);
}

TEST_CASE("verify decoder: EVEX counts a displacement of one byte in units of the access") {
  CHECK(instruction("62 f1 7f 48 6f 47 ff").operands.at(1).memory.displacement == -64);  // vmovdqu8 zmm0, [rdi-64]
  CHECK(instruction("62 f1 7f 08 6f 47 02").operands.at(1).memory.displacement == 32);   // vmovdqu8 xmm0, [rdi+32]
}

TEST_CASE("verify decoder: masks are k1 to k7, k0 is none") {
  CHECK_FALSE(instruction("62 f1 7d 48 ef c1").mask.has_value());
  const Instruction merging = instruction("62 f1 7d 4b ef c1"), zeroing = instruction("62 f1 7d cb ef c1");
  CHECK(merging.mask == 3);
  CHECK_FALSE(merging.zeroing);
  CHECK(zeroing.mask == 3);
  CHECK(zeroing.zeroing);
  CHECK_MESSAGE(merging.operands.size() == 3, "the mask is no operand");
}

TEST_CASE("verify decoder: all 32 vector registers are told apart") {
  for (unsigned n = 0; n < 32; n++) {
    // vpxord zmm0, zmm0, zmm<n>: X and B, inverted, are its bits 4 and 3.
    const unsigned first = 0xf1u ^ ((n & 16) << 2) ^ ((n & 8) << 2);
    const Instruction i = instruction(fmt::format("62 {:02x} 7d 48 ef {:02x}", first, 0xc0 + (n & 7)));
    CHECK(i.operands.at(2).reg.number == static_cast<int>(n));
  }
}

TEST_CASE("verify decoder: numbers are extended to 64 bits as the instruction does") {
  CHECK(instruction("48 83 e4 c0").operands.at(1).immediate == 0xffffffffffffffc0);           // and rsp, -64
  CHECK(instruction("48 c7 c0 00 00 00 f0").operands.at(1).immediate == 0xfffffffff0000000);  // mov rax, -2^28
  CHECK(instruction("48 b8 11 22 33 44 55 66 77 88").operands.at(1).immediate == 0x8877665544332211);
  CHECK(instruction("66 0f 70 c1 ff").operands.at(2).immediate == 0xff);  // pshufd: a control, not a number
}

TEST_CASE("verify decoder: what is relative is given as an address, and where its distance is in the bytes") {
  struct Row {
    std::string bytes;
    std::uint64_t target;
    int offset, size;
  };
  for (const Row& row : {Row{"74 02", 0x1004, 1, 1}, Row{"eb fe", 0x1000, 1, 1}, Row{"e8 10 00 00 00", 0x1015, 1, 4},
                         Row{"0f 84 fa ff ff ff", 0x1000, 2, 4}}) {
    const Instruction i = instruction(row.bytes);
    CHECK_MESSAGE(i.operands.at(0).immediate == row.target, i.text);
    REQUIRE_MESSAGE(i.distance.has_value(), i.text);
    CHECK_MESSAGE(i.distance->offset == row.offset, i.text);
    CHECK_MESSAGE(i.distance->bytes == row.size, i.text);
  }
  // The distance counts from the end of the instruction, behind its number.
  const Instruction compare = instruction("81 3d f6 ff ff ff 01 00 00 00");
  CHECK(compare.operands.at(0).memory.absolute == 0x1000);
  REQUIRE(compare.distance.has_value());
  CHECK(compare.distance->offset == 2);
  CHECK_FALSE(instruction("48 8b 47 10").distance.has_value());
}

TEST_CASE("verify decoder: assemblers' paddings are no-operations without operands") {
  for (const std::string bytes : {"90", "66 90", "0f 1f 00", "0f 1f 40 00", "0f 1f 44 00 00", "66 0f 1f 44 00 00",
                                  "0f 1f 80 00 00 00 00", "0f 1f 84 00 00 00 00 00", "66 0f 1f 84 00 00 00 00 00",
                                  "66 2e 0f 1f 84 00 00 00 00 00", "66 66 2e 0f 1f 84 00 00 00 00 00"}) {
    const Instruction i = instruction(bytes);
    CHECK_MESSAGE(i.form == "nop", bytes);
    CHECK_MESSAGE(i.operands.empty(), bytes);
  }
}

TEST_CASE("verify decoder: prefixes that mean nothing, or more than is followed, are refused") {
  struct Row {
    std::string bytes, fault;
  };
  for (const Row& row : {
           Row{"f0 48 01 07", "prefix 0xf0"},        // lock add [rdi], rax
           Row{"f3 c3", "prefix 0xf3"},              // rep ret
           Row{"f2 e8 00 00 00 00", "prefix 0xf2"},  // bnd call
           Row{"f3 48 01 c0", "prefix 0xf3"},
           Row{"65 48 8b 07", "prefix 0x65"},  // gs
           Row{"2e 48 8b 07", "prefix 0x2e"},  // cs, ignored
           Row{"2e 74 00", "prefix 0x2e"},     // a branch hint
           Row{"3e ff e0", "prefix 0x3e"},     // notrack jmp rax
           Row{"67 48 8b 07", "prefix 0x67"},  // [edi]
           Row{"66 66 0f ef c1", "prefix 0x66"},
           Row{"48 66 0f ef c1", "prefix 0x48"},  // a REX that is none
           Row{"48 48 01 c0", "prefix 0x48"},
           Row{"48 0f 1f 00", "prefix 0x48"},
           Row{"66 48 01 c0", "two sizes of operands"},
           Row{"66 e9 00 00 00 00", "an operand-size prefix without an operand of 16 bits"},
           Row{"66 c3", "an operand-size prefix without an operand of 16 bits"},
           Row{"f3 a4", "a repeated instruction"},
       }) {
    CHECK_MESSAGE(fault(row.bytes) == row.fault, row.bytes);
  }
}

TEST_CASE("verify decoder: encodings outside of the list are refused") {
  struct Row {
    std::string bytes, fault;
  };
  const std::string encoding = "an encoding that is not allowed (3DNow, XOP or MVEX)";
  for (const Row& row : {
           Row{"62 f1 79 48 ef c1", encoding},          // vpxord with one bit of EVEX cleared: MVEX, for Zydis
           Row{"62 f9 7d 48 ef c1", "no instruction"},  // and with one set
           Row{"0f 0f c1 9e", encoding},
           Row{"8f e9 78 80 c1", encoding},
           Row{"62 f1 7d 58 ef 07", "an embedded broadcast"},
           Row{"62 f1 74 58 58 c1", "embedded rounding"},
           Row{"62 f1 7d c8 ef c1", "no instruction"},  // zeroing without a mask
           Row{"62 f1 7d 68 ef c1", "no instruction"},  // a vector length that does not exist
           Row{"c5 e0 84 00 00 00 00", "an instruction of Knights Corner"},
           Row{"cb", "a far branch"},  // a return, by its mnemonic
           Row{"48 ff 1f", "a far branch"},
           Row{"c2 08 00", "a return that takes arguments off the stack"},
           Row{"0f 1f 08", "a no-operation that is reserved for other uses"},
           Row{"0f 1e fa", "a no-operation that is reserved for other uses"},
           Row{"0f ef c1", "a register of a kind that is not allowed"},  // mm0
           Row{"8c d8", "a register of a kind that is not allowed"},     // ds
           Row{"d9 c0", "a register of a kind that is not allowed"},     // st0
           Row{"48 a1 11 22 33 44 55 66 77 88", "an absolute address"},
           Row{"48 8b 04 25 00 10 00 00", "an absolute address"},
           Row{"62 f2 7d 49 90 04 0f", "an address of a kind that is not allowed"},  // a gather
           Row{"06", "no instruction"},
           Row{"48 8b", "an instruction that goes past the end"},
           Row{"c5 f9 ef", "an instruction that goes past the end"},
       }) {
    CHECK_MESSAGE(fault(row.bytes) == row.fault, row.bytes);
  }
}

TEST_CASE("verify decoder: a function's jumps go to its own instructions") {
  CHECK(Code("eb 01 90 c3").fault() == "nothing is wrong");
  // To the second byte of mov eax, 0x90909090; behind the function; in front of it.
  for (const std::string bytes : {"eb 01 b8 90 90 90 90 c3", "eb 01 c3", "eb fd c3"}) {
    const std::string message = Code(bytes).fault();
    CHECK_MESSAGE(message.rfind("f: jmp 0x", 0) == 0, bytes, ": ", message);
    CHECK_MESSAGE(message.find(" at 0x1000 goes to no instruction of the routine") != std::string::npos, message);
  }
}

TEST_CASE("verify decoder: a function's calls go to the begin of a function") {
  CHECK(Code("e8 01 00 00 00 c3").fault() == "nothing is wrong");
  const std::string message = Code("e8 00 00 00 00 c3").fault();
  CHECK_MESSAGE(message.find(" at 0x1000 goes to no function") != std::string::npos, message);
}

TEST_CASE("verify decoder: a function ends with its last instruction") {
  CHECK(Code("c3 90 0f 1f 00").fault() == "nothing is wrong");
  CHECK(Code("90 90").fault() == "f: the code goes on past its end");
  CHECK(Code("e8 00 00 00 00").fault() == "f: the code goes on past its end");
  // The last instruction takes a byte of the next function; the function's byte after the last instruction begins none.
  CHECK(Code("c3 b8 00 00 00").fault() == "f: 0x1001: b8 00 00 00: an instruction that goes past the end");
  CHECK(Code("c3 06").fault() == "f: 0x1001: 06: no instruction");
}

TEST_CASE("verify decoder: instructions of a function are found by address") {
  const Function f = Code("48 89 c8 90 c3").decoded();
  REQUIRE(f.at(kAddress + 3) != nullptr);
  CHECK(f.at(kAddress + 3)->form == "nop");
  CHECK(f.at(kAddress + 1) == nullptr);
  CHECK(f.at(kAddress + 5) == nullptr);
  CHECK(f.at(kAddress - 1) == nullptr);
}

}  // namespace
}  // namespace tests
