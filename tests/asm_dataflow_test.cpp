// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What the order check knows of instructions: which two orders it takes for the same. Each verdict is held against this
// CPU, which runs both orders from many states.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "asm/dataflow.hpp"
#include "support/asm_machine.hpp"
#include "support/asm_strips.hpp"
#include "support/tally.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;

const PointerCases pointers{{{ZYDIS_REGISTER_RSI, "in"}, {ZYDIS_REGISTER_RDI, "out"}, {ZYDIS_REGISTER_RSP, "frame"}}};
constexpr int states = 100;

/// Pieces named by letters, and the same pieces in another order.
class Orders {
 public:
  template <class Record>
  void piece(char letter, Record record) {
    pieces_[letter] = strip_of(std::string("strip ") + letter, [&](Recorder& c) {
      record(c);
      c.cut("piece");
    });
  }
  Strip order(const std::string& letters) const {
    Strip s;
    for (const char letter : letters) s += pieces_.at(letter);
    return s;
  }

 private:
  std::map<char, Strip> pieces_;
};

std::string refusal_of_order(const Strip& in_order, const Strip& reordered) {
  return refusal_of([&] { require_same_dataflow({{&in_order}}, {{&reordered}}, pointers, "the pieces"); });
}

bool can_run() {
  const std::string why = why_no_machine();
  if (!why.empty()) announce("SKIPPED dataflow: native runs of both orders: " + why);
  return why.empty();
}

void check_accepted(const Orders& orders, const std::string& in_order, const std::string& reordered) {
  const Strip a = orders.order(in_order), b = orders.order(reordered);
  const std::string refusal = refusal_of_order(a, b);
  CHECK_MESSAGE(refusal.empty(), reordered << " should do as " << in_order << " does, but: " << refusal);
  if (!can_run()) return;
  const std::string difference = native_difference(a, b, pointers, states);
  CHECK_MESSAGE(difference.empty(), "accepted, but the CPU gets another " << difference);
}

void check_refused(const Orders& orders, const std::string& in_order, const std::string& reordered) {
  const Strip a = orders.order(in_order), b = orders.order(reordered);
  CHECK_MESSAGE(!refusal_of_order(a, b).empty(), reordered << " passes for " << in_order);
  if (!can_run()) return;
  CHECK_MESSAGE(!native_difference(a, b, pointers, states).empty(),
                "refused, but the CPU gets the same from both orders: the test shows nothing");
}

TEST_CASE("dataflow: a write of 32 bits ends what was in all 64") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(rax, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.mov(rax, ptr[rsi + 8]); });
  o.piece('z', [](Recorder& c) { c.mov(eax, ecx); });
  check_accepted(o, "abz", "baz");
}

TEST_CASE("dataflow: a write of 16 or 8 bits keeps the other bits") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(rax, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.mov(rax, ptr[rsi + 8]); });
  o.piece('w', [](Recorder& c) { c.mov(ax, cx); });
  o.piece('l', [](Recorder& c) { c.mov(al, cl); });
  o.piece('h', [](Recorder& c) { c.mov(ah, cl); });
  o.piece('s', [](Recorder& c) { c.setc(al); });
  for (const char* last : {"w", "l", "h", "s"}) {
    CAPTURE(last);
    check_refused(o, std::string("ab") + last, std::string("ba") + last);
  }
}

TEST_CASE("dataflow: bits 8..15 are not bits 0..7") {
  Orders o;
  o.piece('l', [](Recorder& c) { c.movzx(ecx, al); });
  o.piece('h', [](Recorder& c) { c.movzx(ecx, ah); });
  check_refused(o, "lh", "hl");
}

TEST_CASE("dataflow: an exchange of 64 bits moves two values, an exchange of fewer bits makes new ones") {
  Orders o;
  o.piece('x', [](Recorder& c) { c.xchg(rax, rcx); });
  o.piece('d', [](Recorder& c) { c.xchg(eax, ecx); });
  o.piece('b', [](Recorder& c) { c.xchg(al, cl); });
  check_accepted(o, "xx", "");
  check_refused(o, "dd", "");
  check_refused(o, "xdx", "xxx");
  check_refused(o, "xb", "bb");
}

TEST_CASE("dataflow: cmov reads the register that it may leave as it is") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(rax, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.mov(rax, ptr[rsi + 8]); });
  o.piece('c', [](Recorder& c) { c.cmovc(rax, rcx); });
  check_refused(o, "abc", "bac");
}

TEST_CASE("dataflow: bsf and bsr leave the register as it is when there is no bit") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(rax, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.mov(rax, ptr[rsi + 8]); });
  o.piece('f', [](Recorder& c) { c.bsf(rax, rcx); });
  o.piece('r', [](Recorder& c) { c.bsr(rax, rcx); });
  for (const char* last : {"f", "r"}) {
    CHECK(!refusal_of_order(o.order(std::string("ab") + last), o.order(std::string("ba") + last)).empty());
  }
}

TEST_CASE("dataflow: legacy SSE keeps the bits from 128 up, VEX clears them") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.vmovdqu(ymm1, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.vmovdqu(ymm1, ptr[rsi + 32]); });
  o.piece('s', [](Recorder& c) { c.movdqu(xmm1, ptr[rdi]); });
  o.piece('v', [](Recorder& c) { c.vmovdqu(xmm1, ptr[rdi]); });
  o.piece('z', [](Recorder& c) { c.pxor(xmm1, xmm1); });
  o.piece('y', [](Recorder& c) { c.vpxor(xmm1, xmm1, xmm1); });
  check_refused(o, "abs", "bas");
  check_refused(o, "abz", "baz");
  check_accepted(o, "abv", "bav");
  check_accepted(o, "aby", "bay");
}

TEST_CASE("dataflow: x ^ x depends on no x, but x ^ x of a part of a register keeps the rest") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(rax, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.mov(rax, ptr[rsi + 8]); });
  o.piece('d', [](Recorder& c) { c.xor_(eax, eax); });
  o.piece('w', [](Recorder& c) { c.xor_(ax, ax); });
  o.piece('l', [](Recorder& c) { c.xor_(al, al); });
  check_accepted(o, "abd", "bad");
  check_refused(o, "abw", "baw");
  check_refused(o, "abl", "bal");
}

TEST_CASE("dataflow: the flags of a comparison end with the next one, and not with what leaves them alone") {
  Orders o;
  o.piece('p', [](Recorder& c) { c.cmp(rax, rcx); });
  o.piece('q', [](Recorder& c) { c.cmp(rdx, rbx); });
  o.piece('c', [](Recorder& c) { c.sbb(r8, r8); });
  o.piece('l', [](Recorder& c) { c.lea(r9, ptr[r9 + 8]); });
  o.piece('m', [](Recorder& c) { c.vpaddd(xmm1, xmm1, xmm2); });
  check_refused(o, "pcq", "pqc");
  check_accepted(o, "pcl", "plc");
  check_accepted(o, "pcm", "mpc");
}

TEST_CASE("dataflow: inc keeps the carry") {
  Orders o;
  o.piece('p', [](Recorder& c) { c.cmp(rax, rcx); });
  o.piece('q', [](Recorder& c) { c.cmp(rdx, rbx); });
  o.piece('i', [](Recorder& c) { c.inc(r8); });
  o.piece('a', [](Recorder& c) { c.add(r8, 1); });
  check_refused(o, "pqi", "qpi");
  check_accepted(o, "pqa", "qpa");
}

TEST_CASE("dataflow: a shift by a count that may be 0 may leave the flags as they are") {
  Orders o;
  o.piece('p', [](Recorder& c) { c.cmp(rax, rbx); });
  o.piece('q', [](Recorder& c) { c.cmp(rdx, rbx); });
  o.piece('c', [](Recorder& c) { c.shl(r8, cl); });
  o.piece('r', [](Recorder& c) { c.ror(r8, cl); });
  o.piece('z', [](Recorder& c) { c.shl(r8, 0); });
  o.piece('s', [](Recorder& c) { c.shl(r8, 1); });
  check_refused(o, "pqc", "qpc");
  check_refused(o, "pqr", "qpr");
  check_refused(o, "pqz", "qpz");
  check_accepted(o, "pqs", "qps");
}

TEST_CASE("dataflow: a load that spans two stores depends on both") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(ptr[rsp], rax); });
  o.piece('b', [](Recorder& c) { c.mov(ptr[rsp + 8], rcx); });
  o.piece('l', [](Recorder& c) { c.vmovdqu(xmm1, ptr[rsp]); });
  check_accepted(o, "abl", "bal");
  check_refused(o, "abl", "alb");
  check_refused(o, "abl", "bla");
}

TEST_CASE("dataflow: stores that overlap in one byte keep their order, stores side by side need not") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.mov(ptr[rsp], rax); });
  o.piece('b', [](Recorder& c) { c.mov(ptr[rsp + 7], rcx); });
  o.piece('c', [](Recorder& c) { c.mov(ptr[rsp + 8], rdx); });
  check_refused(o, "ab", "ba");
  check_accepted(o, "ac", "ca");
}

TEST_CASE("dataflow: a load of a few bytes of a wide store is followed to these bytes") {
  Orders o;
  o.piece('s', [](Recorder& c) { c.vmovdqu(ptr[rsp], xmm1); });
  o.piece('t', [](Recorder& c) { c.mov(ptr[rsp + 8], rax); });
  o.piece('l', [](Recorder& c) { c.mov(rcx, ptr[rsp]); });
  o.piece('h', [](Recorder& c) { c.mov(rdx, ptr[rsp + 8]); });
  check_accepted(o, "stl", "slt");
  check_refused(o, "sth", "sht");
}

TEST_CASE("dataflow: a store of part of a register is not a store of another part") {
  Orders o;
  o.piece('l', [](Recorder& c) { c.mov(ptr[rsp], al); });
  o.piece('h', [](Recorder& c) { c.mov(ptr[rsp], ah); });
  o.piece('x', [](Recorder& c) { c.vmovlps(ptr[rsp], xmm1); });
  o.piece('y', [](Recorder& c) { c.vmovhps(ptr[rsp], xmm1); });
  check_refused(o, "lh", "hl");
  check_refused(o, "xy", "yx");
}

TEST_CASE("dataflow: a masked store keeps the bytes that its mask leaves out") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.vmovdqu(ptr[rsp], xmm1); });
  o.piece('b', [](Recorder& c) { c.vmovdqu(ptr[rsp], xmm2); });
  o.piece('m', [](Recorder& c) { c.vmaskmovps(ptr[rsp], xmm3, xmm4); });
  o.piece('s', [](Recorder& c) { c.vmovdqu(ptr[rsp], xmm5); });
  check_refused(o, "abm", "bam");
  check_accepted(o, "abs", "bas");
}

TEST_CASE("dataflow: EVEX under a mask keeps what the mask leaves out, unless it is set to zero") {
  Orders o;  // not run: few CPUs have AVX-512
  o.piece('a', [](Recorder& c) { c.vmovdqu8(xmm1, ptr[rsi]); });
  o.piece('b', [](Recorder& c) { c.vmovdqu8(xmm1, ptr[rsi + 16]); });
  o.piece('m', [](Recorder& c) { c.vmovdqu8(xmm1 | k1, xmm2); });
  o.piece('z', [](Recorder& c) { c.vmovdqu8(xmm1 | k1 | T_z, xmm2); });
  o.piece('k', [](Recorder& c) { c.kmovq(k1, rax); });
  o.piece('s', [](Recorder& c) { c.vmovdqu8(ptr[rdi], xmm1); });
  o.piece('t', [](Recorder& c) { c.vmovdqu8(ptr[rdi] | k1, xmm2); });
  CHECK(!refusal_of_order(o.order("abm"), o.order("bam")).empty());
  CHECK(refusal_of_order(o.order("abz"), o.order("baz")).empty());
  CHECK_MESSAGE(!refusal_of_order(o.order("kz"), o.order("zk")).empty(), "the mask is an input");
  CHECK_MESSAGE(!refusal_of_order(o.order("asbst"), o.order("asbts")).empty(), "a masked store is followed by a whole");
  CHECK_MESSAGE(!refusal_of_order(o.order("bsast"), o.order("asbst")).empty(), "a masked store reads what it keeps");
}

TEST_CASE("dataflow: pointers are followed through add, sub, lea, mov and xchg by constants") {
  Orders o;
  o.piece('0', [](Recorder& c) { c.vmovdqu(ptr[rdi], xmm1); });
  o.piece('1', [](Recorder& c) { c.vmovdqu(ptr[rdi + 16], xmm1); });
  o.piece('+', [](Recorder& c) { c.add(rdi, 16); });
  o.piece('-', [](Recorder& c) { c.sub(rdi, 16); });
  o.piece('>', [](Recorder& c) { c.lea(rdi, ptr[rdi + 16]); });
  o.piece('<', [](Recorder& c) { c.lea(rdi, ptr[rdi - 16]); });
  o.piece('x', [](Recorder& c) { c.xchg(rdi, rsi); });
  o.piece('s', [](Recorder& c) { c.vmovdqu(ptr[rsi + 16], xmm1); });
  check_accepted(o, "1+", "+0");
  check_accepted(o, "1>", ">0");
  check_accepted(o, "0-", "-1");
  check_accepted(o, "1", ">0<");
  check_accepted(o, "1x", "xs");
  check_refused(o, "1+", "+1");
  check_refused(o, "1x", "x1");
}

TEST_CASE("dataflow: two places of one constant are two addresses") {
  const Constant table{"table", Bytes(32, 7), "for this test"};
  Orders o;
  o.piece('a', [&](Recorder& c) { c.lea(rax, c.constant(table)); });
  o.piece('b', [&](Recorder& c) { c.lea(rax, c.constant(table, 16)); });
  o.piece('c', [&](Recorder& c) { c.mov(rcx, c.constant(table)); });
  CHECK(!refusal_of_order(o.order("ab"), o.order("ba")).empty());
  check_accepted(o, "ac", "ca");
}

TEST_CASE("dataflow: instructions of one register are followed, too") {
  Orders o;
  o.piece('a', [](Recorder& c) { c.bswap(rax); });
  o.piece('b', [](Recorder& c) { c.not_(rax); });
  o.piece('c', [](Recorder& c) { c.neg(rax); });
  check_refused(o, "abc", "acb");
  CHECK(refusal_of_order(o.order("abc"), o.order("abc")).empty());
}

TEST_CASE("dataflow: what the check does not follow is refused by name, whatever its order") {
  struct Refused {
    const char* text;
    void (*record)(Recorder&);
  };
  const std::vector<Refused> all{
      {"vzeroupper", [](Recorder& c) { c.vzeroupper(); }},
      {"vzeroall", [](Recorder& c) { c.vzeroall(); }},
      {"push rax", [](Recorder& c) { c.push(rax); }},
      {"pop rax", [](Recorder& c) { c.pop(rax); }},
      {"rep movsb", [](Recorder& c) { c.rep(), c.movsb(); }},
      {"lodsb", [](Recorder& c) { c.lodsb(); }},
      {"vmaskmovdqu", [](Recorder& c) { c.vmaskmovdqu(xmm0, xmm1); }},
      {"cpuid", [](Recorder& c) { c.cpuid(); }},
      {"rdtsc", [](Recorder& c) { c.rdtsc(); }},
      {"emms", [](Recorder& c) { c.emms(); }},
      {"fld1", [](Recorder& c) { c.fld1(); }},
      {"vldmxcsr", [](Recorder& c) { c.vldmxcsr(ptr[rsp]); }},
      {"bts [rsp], rax", [](Recorder& c) { c.bts(qword[rsp], rax); }},
      {"fs:", [](Recorder& c) { c.putSeg(fs), c.mov(rax, ptr[rsi]); }},
      {"[esi]", [](Recorder& c) { c.mov(rax, ptr[esi]); }},
      {"[esi+", [](Recorder& c) { c.lea(rax, ptr[esi + 4]); }},
  };
  for (const Refused& r : all) {
    const Strip s = strip_of("the strip", [&](Recorder& c) {
      r.record(c);
      c.cut("the piece");
    });
    const std::string missing = missing_from(refusal_of_order(s, s), {r.text, "the strip", "the piece"});
    CHECK_MESSAGE(missing.empty(), "it should be refused by name:" << missing);
  }
}

TEST_CASE("dataflow: an address that is no declared pointer plus a constant is refused") {
  const auto refusal = [](void (*record)(Recorder&)) {
    const Strip s = strip_of("the strip", record);
    return refusal_of_order(s, s);
  };
  CHECK(missing_from(refusal([](Recorder& c) { c.mov(rax, ptr[rsi + rcx]); }), {"indexed", "[rsi+rcx*1]"}) == "");
  CHECK(missing_from(refusal([](Recorder& c) { c.mov(rax, ptr[rbx]); }), {"no declared region", "[rbx]"}) == "");
  CHECK(missing_from(refusal([](Recorder& c) { c.add(rsi, rcx), c.mov(rax, ptr[rsi]); }),
                     {"no declared region", "[rsi]"}) == "");
  CHECK_MESSAGE(refusal([](Recorder& c) { c.lea(rax, ptr[rsi + rcx * 4]); }) == "",
                "an indexed address that is only computed is a value like others");
}

}  // namespace
}  // namespace tests
