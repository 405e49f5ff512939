// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Which registers may still be read, instruction by instruction, in small routines.
#include <doctest/doctest.h>

#include "support/verify_objects.hpp"
#include "verify/proof/liveness.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

constexpr Registers kRax = general_bit(0);
constexpr const char* kGeneralNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::string names(Registers live) {
  std::string text;
  const auto add = [&text](const std::string& name) { text += (text.empty() ? "" : " ") + name; };
  for (int n = 0; n < 16; n++) {
    if ((live & general_bit(n)) != 0) add(kGeneralNames[n]);
  }
  for (int n = 0; n < 32; n++) {
    if ((live & vector_bit(n)) != 0) add("v" + std::to_string(n));
  }
  if ((live & kFlagsBit) != 0) add("flags");
  return text;
}

/// Before each instruction of `f`, what is live: general registers by number, v<n>, flags; one after the other.
std::string live(const std::string& body, Registers returned = 0, const std::string& others = "") {
  const SmallObjects objects({function_text("f", body) + others});
  const Image image = objects.image();
  const Function f = decode(image, *image.find("f"));
  const auto registers = live_registers(image, f, returned);
  std::string text;
  for (const Instruction& i : f.instructions) {
    const auto found = registers.find(i.address);
    text += (found == registers.end() ? "" : names(found->second)) + "; ";
  }
  return text.substr(0, text.size() - 2);
}

std::string live_at_first(const std::string& body, Registers returned, const std::string& others = "") {
  const std::string all = live("  " + body + "\n  ret\n", returned, others);
  return all.substr(0, all.find(';'));
}

}  // namespace

TEST_CASE("verify liveness: a value is live from where it is made to where it is read last") {
  CHECK(live("  mov rax, rdi\n  add rax, rsi\n  mov [rdx], rax\n  ret\n") == "rdx rsi rdi; rax rdx rsi; rax rdx; ");
  CHECK(live("  vmovdqu xmm0, [rdi]\n  vpxor xmm1, xmm0, xmm2\n  vmovdqu [rsi], xmm1\n  ret\n") ==
        "rsi rdi v2; rsi v0 v2; rsi v1; ");
}

TEST_CASE("verify liveness: what is overwritten before it is read is not live") {
  CHECK(live("  mov rax, rdi\n  mov rax, rsi\n  ret\n", kRax) == "rsi rdi; rsi; rax");
  CHECK(live_at_first("mov eax, 1", kRax) == "");
  CHECK(live_at_first("movzx eax, byte ptr [rdi]", kRax) == "rdi");
  CHECK(live_at_first("lea rax, [rdi+8]", kRax) == "rdi");
  CHECK(live_at_first("pop rbx", general_bit(3)) == "rsp");
  CHECK(live_at_first("vmovq rax, xmm3", kRax) == "v3");
  CHECK(live_at_first("vmovdqa xmm1, xmm2", vector_bit(1)) == "v2");
  CHECK(live_at_first("vpaddd zmm20, zmm21, zmm22", vector_bit(20)) == "v21 v22");
}

TEST_CASE("verify liveness: a register that is cleared with itself is not read") {
  CHECK(live_at_first("xor eax, eax", kRax) == "");
  CHECK(live_at_first("vpxor xmm1, xmm1, xmm1", vector_bit(1)) == "");
  CHECK_MESSAGE(live_at_first("pxor xmm1, xmm1", 0) == "", "the operand does not matter");
  CHECK_MESSAGE(live_at_first("pxor xmm1, xmm1", vector_bit(1)) == "v1", "the upper lanes stay");
  CHECK(live_at_first("xor eax, ecx", kRax) == "rax rcx");
  CHECK(live_at_first("vpxor xmm1, xmm1, xmm2", vector_bit(1)) == "v1 v2");
  CHECK(live_at_first("vpxor xmm1, xmm2, xmm1", vector_bit(1)) == "v1 v2");
  CHECK(live_at_first("xor eax, 5", kRax) == "rax");
}

TEST_CASE("verify liveness: what is written in part is still read by who reads the rest") {
  for (const std::string instruction : {"mov al, 1", "setb al", "mov ax, cx", "cmovb rax, rcx", "add rax, 1"}) {
    CHECK_MESSAGE(live_at_first(instruction, kRax).starts_with("rax"), instruction);
  }
  for (const std::string instruction : {"paddd xmm1, xmm2", "movdqa xmm1, xmm2", "vpternlogd zmm1, zmm2, zmm3, 0x96",
                                        "vmovdqu32 zmm1{k1}, zmm2", "vptest xmm1, xmm2"}) {
    CHECK_MESSAGE(live_at_first(instruction, vector_bit(1)).starts_with("v1 v2"), instruction);
  }
  CHECK_MESSAGE(live_at_first("vptest xmm1, xmm2", 0) == "v1 v2", "it only sets flags");
}

TEST_CASE("verify liveness: addresses are read, by loads, stores and lea") {
  CHECK(live_at_first("mov rax, [rdi+8*rcx]", kRax) == "rcx rdi");
  CHECK(live_at_first("vmovdqu [rsi+rdx], xmm5", 0) == "rdx rsi v5");
  CHECK(live_at_first("mov [rax], rcx", 0) == "rax rcx");
  CHECK(live_at_first("lea rax, [rax+4*r15]", kRax) == "rax r15");
  CHECK(live_at_first("push rbx", 0) == "rbx rsp");
}

TEST_CASE("verify liveness: at a branch what either side reads is live") {
  CHECK(live("  test rdi, rdi\n  je 1f\n  mov rax, rsi\n  ret\n1:\n  mov rax, rdx\n  ret\n", kRax) ==
        "rdx rsi rdi; rdx rsi flags; rsi; rax; rdx; rax");
  CHECK_MESSAGE(live("  jmp 1f\n  mov rax, rsi\n1:\n  mov rax, rdx\n  ret\n", kRax) == "rdx; rdx rsi; rdx; rax",
                "what is jumped over is not executed");
}

TEST_CASE("verify liveness: what the next turn of a loop reads is live at its end") {
  CHECK(live("1:\n  vpxor xmm0, xmm0, [rsi]\n  add rsi, 16\n  mov r8, 0\n  sub rcx, 1\n  jne 1b\n  ret\n",
             vector_bit(0)) == "rcx rsi v0; rcx rsi v0; rcx rsi v0; rcx rsi v0; rcx rsi v0 flags; v0");
  // rdx is read in the inner loop only, r8 at the head of the outer one.
  const std::string nested =
      live("1:\n  mov rax, r8\n2:\n  add rax, rdx\n  sub rcx, 1\n  jne 2b\n  sub rsi, 1\n  jne 1b\n  ret\n");
  CHECK(nested ==
        "rcx rdx rsi r8; rax rcx rdx rsi r8; rax rcx rdx rsi r8; rax rcx rdx rsi r8 flags; rcx rdx rsi r8; rcx rdx rsi "
        "r8 flags; ");
}

TEST_CASE("verify liveness: flags are live from what sets all of them to what asks for one") {
  CHECK(live("  cmp rdi, rsi\n  lea rdx, [rdi+1]\n  jb 1f\n1:\n  ret\n") == "rsi rdi; rdi flags; flags; ");
  CHECK(live("  cmp rdi, rsi\n  add rdi, 1\n  jb 1f\n1:\n  ret\n") == "rsi rdi; rdi; flags; ");
  CHECK_MESSAGE(live("  inc rdi\n  jb 1f\n1:\n  ret\n") == "rdi flags; flags; ", "inc leaves CF");
  for (const std::string reader :
       {"cmovb rax, rcx", "cmove rax, rcx", "setbe al", "setne al", "adc rax, 0", "sbb rax, rax"}) {
    CHECK_MESSAGE(live_at_first(reader, 0).ends_with("flags"), reader);
  }
  for (const std::string setter : {"test eax, eax", "xor eax, eax", "neg rax", "and eax, 1", "vptest xmm0, xmm0"}) {
    CHECK_MESSAGE(!live_at_first(setter + "\n  je 1f\n1:", 0).ends_with("flags"), setter);
  }
}

TEST_CASE("verify liveness: at the return what a caller may read is live") {
  CHECK(live("  mov rcx, rdi\n  ret\n") == "rdi; ");
  CHECK(live("  mov rcx, rdi\n  ret\n", general_bit(1) | vector_bit(31)) == "rdi v31; rcx v31");
  CHECK(live("  ret\n", kReturned) == "rax rbx rsp rbp r12 r13 r14 r15");
  const SmallObjects objects({function_text("f", "  mov rax, rdi\n  ret\n")});
  const Image image = objects.image();
  const Function f = decode(image, image.symbols().at(0));
  CHECK_MESSAGE(names(live_registers(image, f).at(f.symbol.address)) == "rbx rsp rbp rdi r12 r13 r14 r15",
                "a result and the preserved registers, if nothing else is said");
}

TEST_CASE("verify liveness: a call reads what its callee reads, and leaves no flags") {
  const std::string callee = function_text("g", "  mov rcx, rdx\n  vmovdqu [rcx], xmm3\n  ret\n");
  CHECK(live("  cmp rdi, rsi\n  call g\n  jb 1f\n  mov rax, r8\n1:\n  ret\n", kRax, callee) ==
        "rax rdx rsi rdi r8 v3; rax rdx r8 v3; rax r8 flags; r8; rax");
  const std::string between = function_text("h", "  mov rdx, r9\n  call g\n  ret\n");
  CHECK_MESSAGE(live_at_first("call h", 0, between + callee) == "r9 v3", "callees of the callee count");
  const std::string endless = function_text("h", "  call h\n  ret\n");
  CHECK_MESSAGE(live_at_first("call h", 0, endless) == names(kAllRegisters | kFlagsBit),
                "where it is not followed, all is read");
}

}  // namespace tests
