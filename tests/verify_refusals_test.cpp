// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Routines with one fault each, made from the emitted ones: the verifier must refuse each, and for the right reason.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "verify/code/assemble.hpp"
#include "verify/proof/prove.hpp"

namespace {

using namespace stitchgcm::verify;
namespace fs = std::filesystem;

const std::string kFolder = std::string(STITCHGCM_SOURCE_FOLDER) + "/emitted/aesni_avx/";

/// One change of an emitted file: `before` must be there, and its first occurrence after `where` becomes `after`.
struct Fault {
  std::string file, where, before, after;
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string with(const Fault& f, std::string text) {
  const std::size_t where = text.find(f.where);
  REQUIRE_MESSAGE(where != std::string::npos, f.file, " has no \"", f.where,
                  "\" any more: the fault needs a new place");
  const std::size_t at = text.find(f.before, where);
  REQUIRE_MESSAGE(at != std::string::npos, f.file, " has no \"", f.before, "\" after \"", f.where, "\" any more");
  text.replace(at, f.before.size(), f.after);
  return text;
}

/// Proves `symbol` in the emitted files with the fault in one of them.
Verdict verdict_with(const Fault& fault, const std::string& name) {
  const TemporaryFolder folder;
  std::vector<fs::path> sources;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".S") continue;
    sources.push_back(entry.path());
    if (entry.path().filename() != fault.file) continue;
    sources.back() = folder.path() / fault.file;
    std::ofstream(sources.back()) << with(fault, read(entry.path()));
  }
  const Image image(assemble(sources, folder.path(), "gcc"));
  const std::string symbol = "stitchgcm_" + name + "_aesni_avx";
  const auto all = contracts("stitchgcm", "aesni_avx");
  const ContractTable table(image, all);
  const Symbol* found = image.find(symbol);
  REQUIRE(found != nullptr);
  return prove(image, decode(image, *found), *table.at(found->address), table);
}

/// The verifier's reason; empty if it proves the routine.
std::string refusal(const Fault& fault, const std::string& name) {
  const Verdict v = verdict_with(fault, name);
  return v.proved ? "" : v.failure->reason;
}

/// Empty if the reason is the wanted one; else what it is.
std::string unlike(const std::string& reason, const std::string& wanted) {
  if (reason.find(wanted) != std::string::npos) return "";
  return reason.empty() ? "the routine is proved, with the fault" : "refused, but for: " + reason;
}

}  // namespace

TEST_CASE("verify refuses a branch on a secret") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "vmovdqu xmm1, [r13]", "test rdx, rdx",
                               "vmovq rax, xmm1\n  test rax, rax\n  je 9f\n9:\n  test rdx, rdx"},
                              "ghash"),
                      "branch that depends on data"));
}

TEST_CASE("verify refuses a table looked up by a secret") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "vmovdqu xmm1, [r13]", "test rdx, rdx",
                               "vmovq rax, xmm1\n  and eax, 15\n  movzx eax, byte ptr [rdi+rax]\n  test rdx, rdx"},
                              "ghash"),
                      "secret in an address"));
}

TEST_CASE("verify refuses one byte read past the end") {
  CHECK_EQ("",
           unlike(refusal({"ghash.S", "ghash_aesni_avx_rest_end):", "vpshufb", "movzx eax, byte ptr [rsi]\n  vpshufb"},
                          "ghash"),
                  "past the end"));
}

TEST_CASE("verify refuses upper halves of vectors that are left dirty") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "---- return ----", "add rsp, 0x08",
                               "vmovdqu ymm7, [rip + L(constant_byte_reverse)]\n  pxor xmm7, xmm7\n  add rsp, 0x08"},
                              "ghash"),
                      "are not zero on return"));
}

TEST_CASE("verify refuses a preserved register that is changed") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "---- return ----", "  ret", "  mov rbx, rdi\n  ret"}, "ghash"),
                      "rbx must be preserved"));
}

TEST_CASE("verify refuses a write below the frame") {
  CHECK_EQ("",
           unlike(refusal({"ghash.S", "---- enter ----", "mov r13, rsi", "mov [rsp-8], rsi\n  mov r13, rsi"}, "ghash"),
                  "the stack out of its bounds"));
}

TEST_CASE("verify refuses a counter that counts in 64 bits") {
  const std::string why = refusal({"ctr32.S", "---- eight blocks ----", "vpaddd xmm1", "vpaddq xmm1"}, "ctr32");
  CHECK_FALSE_MESSAGE(why.empty(), "proved, with a 64-bit counter");
}

TEST_CASE("verify refuses a block that is multiplied by another power of H") {
  CHECK_EQ("",
           unlike(refusal({"ghash.S", "---- the blocks that are left ----", "[rbx+rax*1+0x350]", "[rbx+rax*1+0x340]"},
                          "ghash"),
                  "the accumulator"));
}

TEST_CASE("verify refuses two powers of H exchanged") {
  // The products then belong to two powers at once, and no reduction makes one field product of them.
  CHECK_EQ("", unlike(refusal({"ghash.S", "---- eight blocks ----", "[rbx+0x590]", "[rbx+0x570]"}, "ghash"),
                      "a product that is not reduced"));
}

TEST_CASE("verify refuses a block that is hashed twice and another not at all") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "rest_blocks_3):", "[rsi-0x30]", "[rsi-0x20]"}, "ghash"), "the accumulator"));
}

TEST_CASE("verify refuses a routine that is right for multiples of eight blocks only") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "test r10, r10", "je ", "jmp "}, "ghash"), "the accumulator"));
}

TEST_CASE("verify refuses a comparison of tags that stops early") {
  CHECK_EQ(
      "",
      unlike(
          refusal({"open.S", "zero flag: the tag is right", "vptest xmm13, xmm13",
                   "vmovq rax, xmm13\n  test rax, rax\n  jne L(open_aesni_avx_authentic_else)\n  vptest xmm13, xmm13"},
                  "open"),
          "branch that depends on data"));
}

TEST_CASE("verify refuses a secret that is left in the stack") {
  CHECK_EQ(
      "",
      unlike(refusal({"ghash.S", "---- leave ----", "vmovdqu [r13], xmm1", "vmovdqu [r13], xmm1\n  vmovq [rsp], xmm1"},
                     "ghash"),
             "a secret is left in the stack"));
}

TEST_CASE("verify refuses code that is never executed") {
  CHECK_EQ("", unlike(refusal({"ghash.S", "---- return ----", "add rsp, 0x08", "jmp 9f\n  nop\n9:\n  add rsp, 0x08"},
                              "ghash"),
                      "never executed"));
}
