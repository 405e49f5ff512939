// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Emitted text and the assemblers: it assembles everywhere, to the same bytes in both syntaxes, and whoever changes one
// instruction of it is found out.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "emit/gas.hpp"
#include "emit/tree.hpp"
#include "gcm/routines.hpp"
#include "support/asm_strips.hpp"
#include "support/commands.hpp"
#include "support/emit_samples.hpp"

namespace tests {
namespace {

using namespace stitchgcm;
namespace fs = std::filesystem;

fs::path emitted() { return fs::path(STITCHGCM_SOURCE_FOLDER) / "emitted"; }

/// Assembles every emitted file of the checkout; the objects, or a failed check for each that does not assemble.
std::vector<std::string> assembled(const std::vector<std::string>& driver) {
  std::vector<std::string> objects;
  const TemporaryFolder folder;
  for (const fs::path& file : files_below(emitted(), ".S")) {
    std::vector<std::string> command = driver;
    command.insert(command.end(), {"-c", file.string(), "-o", (folder / "out.o").string()});
    const CommandResult r = run_command(command);
    CHECK_MESSAGE(r.code == 0, driver[0] << " on " << file.string() << ": " << r.error);
    CHECK_MESSAGE(r.error.empty(), driver[0] << " on " << file.string() << " warns: " << r.error);
    if (r.code == 0) objects.push_back(contents(folder / "out.o"));
  }
  CHECK(!objects.empty());
  return objects;
}

TEST_CASE("text: every emitted file assembles for ELF with gcc and with clang, without a warning") {
  assembled({"gcc", "-Wall"});
  assembled({"clang", "-Wall"});
}

TEST_CASE("text: every emitted file assembles for Mach-O, where symbols begin with an underscore") {
  for (const std::string& object : assembled({"clang", "-target", "x86_64-apple-darwin"})) {
    CHECK_MESSAGE(object.substr(0, 4) == "\xcf\xfa\xed\xfe", "no 64-bit Mach-O file");
    CHECK(object.find("_stitchgcm_") != std::string::npos);
  }
}

TEST_CASE("text: on other CPUs and in 32-bit address spaces every emitted file assembles to nothing") {
  for (const std::vector<std::string>& driver : {std::vector<std::string>{"clang", "-target", "aarch64-linux-gnu"},
                                                 {"clang", "-target", "x86_64-linux-gnux32"}}) {
    for (const std::string& object : assembled(driver)) CHECK(object.find("stitchgcm_") == std::string::npos);
  }
}

TEST_CASE("text: AT&T syntax gives the same bytes as Intel syntax, for the samples and for every routine") {
  const emit::Options att{.syntax = assembly::Syntax::att};
  const LoweredSample sample = everything_sample();
  const std::string text = emit::gas(sample.file(), att);
  CHECK(text.find(".intel_syntax") == std::string::npos);
  CHECK(text.find("%xmm0") != std::string::npos);
  CHECK(refusal_of([&] { emit::require_same_bytes(sample.file(), text, att, {}); }) == "");
  CHECK(refusal_of([&] { emit::generate(gcm::aesni_avx({}), att, {}); }) == "");
}

TEST_CASE("text: jumps around the limit of a short one are as long as both assemblers make them") {
  using namespace assembly;
  std::vector<Routine> routines;
  for (int bytes = 118; bytes < 132; bytes++) {
    const Strip body = strip_of("body", [&](Recorder& c) {
      for (int n = 0; n < bytes; n++) c.nop();
    });
    const Strip step = strip_of("control", [](Recorder& c) { c.sub(Xbyak::util::rdi, 1); });
    const Program loop = repeat("loop", body, step, Condition::not_equal, bytes % 2 == 0);
    routines.push_back(sample_routine(fmt::format("jumps_{}", bytes), when("two", step, Condition::above, loop, body) +
                                                                          when("one", step, Condition::equal, loop)));
  }
  const LoweredSample s(std::move(routines));
  const std::string text = emit::gas(s.file(), {});
  CHECK_MESSAGE(text.find("{disp32}") != std::string::npos, "one of them is long only because of the no-ops after it");
  CHECK(refusal_of([&] { emit::require_same_bytes(s.file(), text, {}, {}); }) == "");
}

// The forms of instructions that routines without AVX2 may want: memory on either side, all widths, all kinds of
// immediates. vmovq and vmovd by way of general registers have two encodings, of which assemblers choose one.
assembly::Strip many_forms() {
  using namespace Xbyak::util;
  return strip_of("forms", [](assembly::Recorder& c) {
    c.mov(rax, ptr[rsi]), c.mov(ptr[rdi], eax), c.mov(ptr[rdi], ax), c.mov(ptr[rdi], al), c.mov(ptr[rdi], ch);
    c.mov(byte[rdi], 1), c.mov(word[rdi], 0x1234), c.mov(dword[rdi], 1), c.mov(qword[rdi], -1);
    c.mov(eax, 0x80000000), c.mov(rax, -2), c.mov(rax, 0x123456789abcdef0), c.mov(r9, r10);
    c.movzx(eax, byte[rsi]), c.movzx(eax, word[rsi + rcx * 4]), c.movzx(rax, byte[rsi]), c.movzx(eax, cl);
    c.movzx(ax, cl), c.movsx(eax, byte[rsi]), c.movsx(rax, cx), c.movsxd(rax, dword[rsi]), c.movsxd(rax, ecx);
    c.lea(rax, ptr[rsi + rcx * 8 - 5]), c.lea(eax, ptr[rsi + 1]), c.lea(r12, ptr[r12 + r13 * 2 + 0x1000]);
    c.add(qword[rdi], 1), c.add(rax, ptr[rsi]), c.adc(ptr[rdi], rax), c.sbb(rax, rax), c.cmp(byte[rsi], 7);
    c.cmp(rax, 0x1000), c.cmp(dword[rsi], -1), c.test(rax, rax), c.test(al, 1), c.test(dword[rsi], 8);
    c.and_(eax, 15), c.or_(rax, rcx), c.xor_(r8d, r8d), c.not_(rax), c.neg(dword[rdi]), c.inc(rcx), c.dec(word[rdi]);
    c.shl(rax, 3), c.shr(qword[rdi], 1), c.sar(eax, cl), c.rol(ax, 8), c.ror(rax, 63), c.shld(rax, rcx, 4);
    c.imul(rax, rcx), c.imul(eax, ecx, 100), c.mul(qword[rsi]), c.bswap(r9), c.bswap(eax), c.xchg(rax, rcx);
    c.cmovb(rax, ptr[rsi]), c.cmova(eax, ecx), c.setc(al), c.setnz(byte[rdi]), c.mul(rcx), c.div(dword[rsi]),
        c.bsr(rax, rcx), c.bt(rax, 5);
    c.push(rax), c.pop(rcx), c.nop(), c.vzeroupper();
    c.vmovdqu(xmm1, ptr[rsi]), c.vmovdqa(ptr[rdi], xmm9), c.vmovdqu(ptr[r13], xmm15), c.vmovdqa(xmm1, xmm2);
    c.vmovq(xmm1, ptr[rsi]), c.vmovq(ptr[rdi], xmm1), c.vmovd(xmm1, ptr[rsi]), c.vmovd(ptr[rdi], xmm1);
    c.vmovd(xmm1, eax), c.vmovd(eax, xmm1), c.vmovq(xmm1, rax), c.vmovq(rax, xmm9), c.vmovq(xmm1, xmm2);
    c.vmovhps(ptr[rdi], xmm1), c.vmovlps(xmm1, xmm2, ptr[rsi]), c.vmovhps(xmm1, xmm2, ptr[rsi]);
    c.vpinsrq(xmm1, xmm1, ptr[rsi], 1), c.vpinsrd(xmm1, xmm1, eax, 3), c.vpinsrb(xmm1, xmm1, ptr[rsi], 5);
    c.vpinsrw(xmm1, xmm1, eax, 2), c.vpextrq(ptr[rdi], xmm1, 1), c.vpextrd(eax, xmm1, 2), c.vpextrb(ptr[rdi], xmm1, 9);
    c.vpextrw(ptr[rdi], xmm1, 4), c.vpaddd(xmm1, xmm2, ptr[rsi + 16]), c.vpaddq(xmm1, xmm2, xmm3),
        c.vpsubd(xmm1, xmm2, xmm3);
    c.vpxor(xmm1, xmm9, xmm10), c.vpor(xmm1, xmm2, ptr[rsi]), c.vpand(xmm8, xmm2, xmm3), c.vpandn(xmm1, xmm2, xmm3);
    c.vpshufb(xmm1, xmm2, ptr[rsi]), c.vpshufd(xmm1, xmm2, 0x4e), c.vpalignr(xmm1, xmm2, xmm3, 8),
        c.vpblendw(xmm1, xmm2, xmm3, 3);
    c.vpslldq(xmm1, xmm2, 4), c.vpsrldq(xmm1, xmm2, 8), c.vpslld(xmm1, xmm2, 31), c.vpsrlq(xmm1, xmm2, 63),
        c.vpsrad(xmm1, xmm2, 31);
    c.vpunpcklqdq(xmm1, xmm2, xmm3), c.vpunpckhqdq(xmm1, xmm2, ptr[rsi]), c.vpcmpeqb(xmm1, xmm2, xmm3),
        c.vpmovmskb(eax, xmm1);
    c.vptest(xmm1, xmm2), c.vpcmpgtd(xmm1, xmm2, xmm3), c.vmovddup(xmm1, ptr[rsi]), c.vxorps(ymm1, ymm2, ymm3);
    c.vbroadcastss(xmm1, ptr[rsi]), c.vmovdqu(ymm1, ptr[rsi]), c.vinsertf128(ymm1, ymm1, ptr[rsi], 1),
        c.vextractf128(ptr[rdi], ymm1, 1);
    c.vaesenc(xmm1, xmm2, ptr[rsi]), c.vaesenclast(xmm9, xmm9, xmm10), c.vaesdec(xmm1, xmm2, xmm3),
        c.vaesimc(xmm1, xmm2);
    c.vaeskeygenassist(xmm1, xmm2, 0x1b), c.vpclmulqdq(xmm1, xmm2, ptr[rsi], 0x11),
        c.vpclmulqdq(xmm1, xmm2, xmm3, 0x00);
  });
}

TEST_CASE("text: instructions of all forms come back through both assemblers, from both syntaxes") {
  const LoweredSample s({sample_routine("forms", many_forms())});
  for (const assembly::Syntax syntax : {assembly::Syntax::intel, assembly::Syntax::att}) {
    const emit::Options options{.syntax = syntax};
    CHECK(refusal_of([&] { emit::require_same_bytes(s.file(), emit::gas(s.file(), options), options, {}); }) == "");
  }
}

TEST_CASE("text: it is ASCII, and names no folder of the machine that made it") {
  for (const fs::path& file : files_below(emitted())) {
    const std::string text = contents(file);
    CHECK_MESSAGE(std::ranges::all_of(text, [](char c) { return c > 0; }), file.string());
    CHECK_MESSAGE(text.find(STITCHGCM_SOURCE_FOLDER) == std::string::npos, file.string());
  }
}

/// What the comparison with the assemblers says of the sample's text in which `from` has become `to`.
std::string refusal_of_change(const std::string& from, const std::string& to, const emit::Assemblers& assemblers = {}) {
  const LoweredSample s = everything_sample();
  std::string text = emit::gas(s.file(), {});
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, "the sample has no \"" << from << "\"");
  text.replace(at, from.size(), to);
  return refusal_of([&] { emit::require_same_bytes(s.file(), text, {}, assemblers); });
}

TEST_CASE("tampering: the sample itself passes") { CHECK(refusal_of_change("vaesenc", "vaesenc") == ""); }

TEST_CASE("tampering: one changed instruction is named with its symbol, its stage and the assembler") {
  const std::string where = "sample/sample.S through gcc: code at ";
  struct Change {
    std::string from, to, named;
  };
  const std::vector<Change> changes{
      {"vaesenc xmm0, xmm0, xmm8", "vaesenclast xmm0, xmm0, xmm8", "`vaesenc xmm0, xmm0, xmm8` (aes: round 1)"},
      {"vpclmulqdq xmm14, xmm13, xmm9, 0x00", "vpclmulqdq xmm14, xmm13, xmm9, 0x01",
       "`vpclmulqdq xmm14, xmm13, xmm9, 0x00` (ghash: multiply)"},
      {"vmovdqu [rsp], xmm0", "vmovdqa [rsp], xmm0", "`vmovdqu [rsp], xmm0` (aes: to the ring)"},
      {"  vpxor xmm0, xmm0, xmm0", "", "`vpxor xmm0, xmm0, xmm0`"},
      {"  vpxor xmm0, xmm0, xmm0", "  nop\n  vpxor xmm0, xmm0, xmm0", "`vpxor xmm0, xmm0, xmm0`"},
      {"sub rsp, 0x28", "sub rsp, 0x18", "`sub rsp, 0x28` (frame: the frame)"},
      {"  endbr64", "", "`endbr64`"},
  };
  for (const Change& c : changes) {
    const std::string missing = missing_from(refusal_of_change(c.from, c.to), {where, c.named});
    CHECK_MESSAGE(missing.empty(), "\"" << c.from << "\" -> \"" << c.to << "\":" << missing);
  }
}

TEST_CASE("tampering: jumps, constants, calls, symbols and sections are compared, too") {
  struct Change {
    std::string from, to, named;
  };
  const std::vector<Change> changes{
      {"jbe L(sample_more_else)", "jb L(sample_more_else)", "code at sample + 63: the jump to sample_more_else"},
      {"jne L(sample_more_turn)", "jne L(sample_more_else)", "the jump to sample_more_turn"},
      {".byte 0x0f, 0x0e", ".byte 0x0f, 0x0f", "read-only data at offset 1"},
      {"L(constant_steps) + 16", "L(constant_steps) + 8", "relocation at sample + "},
      {"call SYMBOL(stitchgcm_helper)", "call SYMBOL(stitchgcm_sample)",
       "the call of helper: expected stitchgcm_helper"},
      {"  add rsi, 0x10", "", "the jump to "},
      {".globl name; ", "", "the call of helper"},
      {".hidden name; ", "", "not hidden"},
      {".type name, @function; ", "", "global functions"},
      {".size name, . - name", "", "symbol sample"},
      {"END_FUNCTION(stitchgcm_helper)", "nop\nEND_FUNCTION(stitchgcm_helper)", "code at offset "},
  };
  for (const Change& c : changes) {
    const std::string missing =
        missing_from(refusal_of_change(c.from, c.to), {"sample/sample.S through gcc: ", c.named});
    CHECK_MESSAGE(missing.empty(), "\"" << c.from << "\" -> \"" << c.to << "\":" << missing);
  }
}

TEST_CASE("tampering: a routine that is not global is missed") {
  const LoweredSample s = ladder_sample();
  std::string text = emit::gas(s.file(), {});
  text.replace(text.find(".globl name; "), 13, "");
  CHECK(missing_from(refusal_of([&] { emit::require_same_bytes(s.file(), text, {}, {}); }), {"global functions"}) ==
        "");
}

TEST_CASE("tampering: a symbol of another prefix is named") {
  const LoweredSample s = ladder_sample();
  const std::string text = emit::gas(s.file(), {.prefix = "other"});
  CHECK(missing_from(refusal_of([&] { emit::require_same_bytes(s.file(), text, {}, {}); }),
                     {"symbol ladder: the assembler has other_ladder"}) == "");
}

TEST_CASE("tampering: both assemblers are asked, and one that fails or is not there is named") {
  CHECK(missing_from(refusal_of_change("vaesenc", "vaesenc", {.gnu = "false"}), {"through false: ", "failed"}) == "");
  CHECK(missing_from(refusal_of_change("vaesenc", "vaesenc", {.clang = "false"}), {"through false: ", "failed"}) == "");
  CHECK(missing_from(refusal_of_change("vaesenc", "vaesenc", {.gnu = "no-such-assembler"}), {"no-such-assembler"}) ==
        "");
  CHECK_MESSAGE(missing_from(refusal_of_change("  endbr64", "  no_such_instruction"), {"no_such_instruction"}) == "",
                "the assembler's own message is passed on");
}

}  // namespace
}  // namespace tests
