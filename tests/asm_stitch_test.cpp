// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Stitched orders and pipelined loops: which are refused, and that the refusal names both instructions that collide,
// with the stages and turns they belong to; and that sharing in turn is accepted.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "asm/pipeline.hpp"
#include "support/asm_strips.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;

const Regions apart{{ZYDIS_REGISTER_RSI, "in"}, {ZYDIS_REGISTER_RDI, "out"}, {ZYDIS_REGISTER_RSP, "frame"}};
const Regions in_place{{ZYDIS_REGISTER_RSI, "text"}, {ZYDIS_REGISTER_RDI, "text"}, {ZYDIS_REGISTER_RSP, "frame"}};
const PointerCases both{in_place, apart};

std::string refusal_of_stitch(const std::vector<Timed>& strips, const PointerCases& cases = both) {
  return refusal_of([&] { stitch(strips, cases, "the stitch"); });
}

/// "" if the message of a refusal has all of `parts`; else what is wrong with it.
std::string wrong_refusal(const std::string& message, std::vector<std::string> parts) {
  if (message.empty()) return "it is accepted";
  parts.push_back("the stitch: ");
  return missing_from(message, parts);
}

/// frame[slot] := in[slot], its 32-bit words permuted in a way of its own, by way of `t`.
Strip copy_by_way_of(const Xbyak::Xmm& t, const std::string& stage, int slot) {
  return strip_of(stage, [&](Recorder& c) {
    c.vmovdqu(t, ptr[rsi + 16 * slot]), c.cut("load");
    c.vpshufd(t, t, static_cast<std::uint8_t>(0x4e + slot)), c.cut("permute");
    c.vmovdqu(ptr[rsp + 16 * slot], t), c.cut("store");
  });
}

TEST_CASE("stitch: a shared temporary that two strips overwrite in turn is refused") {
  const Strip first = copy_by_way_of(xmm0, "first", 0), second = copy_by_way_of(xmm0, "second", 1);
  const std::string wrong = wrong_refusal(
      refusal_of_stitch({{first, {0, 20, 30}}, {second, {10, 40, 50}}}),
      {"an input of " + place("vpshufd xmm0, xmm0, 0x4e", "first", "permute"),
       place("vmovdqu xmm0, [rsi]", "first", "load"), place("vmovdqu xmm0, [rsi+0x10]", "second", "load")});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("stitch: a temporary that the second strip takes when the first is done with it is accepted") {
  const Strip first = copy_by_way_of(xmm0, "first", 0), second = copy_by_way_of(xmm0, "second", 1),
              other = copy_by_way_of(xmm1, "other", 2);
  const std::string refusal = refusal_of_stitch({{first, {0, 10, 20}}, {second, {25, 45, 65}}, {other, {5, 15, 50}}});
  CHECK_MESSAGE(refusal.empty(), refusal);
}

TEST_CASE("stitch: a flag that another strip clobbers is refused") {
  const Strip borrow = strip_of("borrow", [](Recorder& c) {
    c.cmp(rax, rcx), c.cut("compare");
    c.sbb(rdx, rdx), c.cut("mask");
  });
  const Strip count = strip_of("count", [](Recorder& c) { c.add(r8, 8), c.cut("next"); });
  const std::string wrong =
      wrong_refusal(refusal_of_stitch({{borrow, {0, 20}}, {count, {10}}}),
                    {"an input of " + place("sbb rdx, rdx", "borrow", "mask"),
                     place("cmp rax, rcx", "borrow", "compare"), place("add r8, 0x08", "count", "next")});
  CHECK_MESSAGE(wrong.empty(), wrong);

  const Strip choice = strip_of("choice", [](Recorder& c) {
    c.cmp(rax, rcx), c.cut("compare");
    c.cmovb(rdx, rbx), c.cut("smaller");
  });
  const Strip zero = strip_of("zero", [](Recorder& c) { c.xor_(r8d, r8d), c.cut("clear"); });
  const std::string wrong_too =
      wrong_refusal(refusal_of_stitch({{choice, {0, 20}}, {zero, {10}}}),
                    {place("cmp rax, rcx", "choice", "compare"), place("xor r8d, r8d", "zero", "clear")});
  CHECK_MESSAGE(wrong_too.empty(), wrong_too);
}

TEST_CASE("stitch: between a comparison and its use, what leaves the flags alone is accepted") {
  const Strip borrow = strip_of("borrow", [](Recorder& c) {
    c.cmp(rax, rcx), c.cut("compare");
    c.sbb(rdx, rdx), c.cut("mask");
  });
  const Strip count = strip_of("count", [](Recorder& c) {
    c.lea(r8, ptr[r8 + 8]), c.cut("next");
    c.vpaddd(xmm1, xmm1, xmm2), c.cut("next");
  });
  const std::string refusal = refusal_of_stitch({{borrow, {0, 20}}, {count, {10, 10}}});
  CHECK_MESSAGE(refusal.empty(), refusal);
}

TEST_CASE("stitch: in place, a store before the load of what was there is refused, and only then") {
  const Strip hash = strip_of("ghash", [](Recorder& c) {
    c.vmovdqu(xmm1, ptr[rsi]), c.cut("ciphertext");
    c.vpxor(xmm2, xmm2, xmm1), c.cut("sum");
  });
  const Strip decrypt = strip_of("aes", [](Recorder& c) { c.vmovdqu(ptr[rdi], xmm0), c.cut("plaintext"); });
  const std::vector<Timed> store_first{{hash, {10, 20}}, {decrypt, {0}}}, load_first{{hash, {0, 20}}, {decrypt, {10}}};

  CHECK_MESSAGE(refusal_of_stitch(store_first, {apart}) == "", "of two buffers, each may go first");
  CHECK_MESSAGE(refusal_of_stitch(load_first) == "", "the load is first");
  const std::string wrong =
      wrong_refusal(refusal_of_stitch(store_first, both),
                    {place("vmovdqu xmm1, [rsi]", "ghash", "ciphertext"), "the initial contents of text"});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("stitch: in place, a store before the load by which another stage made that text is refused with both") {
  // As before, where the text was made by an earlier stage: now it is the two producers that are told apart.
  const Strip make = strip_of("whiten", [](Recorder& c) { c.vmovdqu(ptr[rsi], xmm3), c.cut("text"); });
  const Strip hash = strip_of("ghash", [](Recorder& c) { c.vpxor(xmm2, xmm2, ptr[rsi]), c.cut("sum"); });
  const Strip decrypt =
      strip_of("aes", [](Recorder& c) { c.vpaddd(xmm0, xmm0, xmm4), c.vmovdqu(ptr[rdi], xmm0), c.cut("plaintext"); });
  const std::string wrong = wrong_refusal(
      refusal_of_stitch({{make, {0}}, {hash, {20}}, {decrypt, {10}}}),
      {place("vpxor xmm2, xmm2, [rsi]", "ghash", "sum"), place("vpaddd xmm0, xmm0, xmm4", "aes", "plaintext")});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("stitch: a ring on the stack is accepted while its slots are read before they are written again") {
  const Strip fill = strip_of("aes", [](Recorder& c) {
    for (int n = 0; n < 4; n++) c.vmovdqu(ptr[rsp + 16 * (n % 2)], Xbyak::Xmm(n)), c.cut("to the ring");
  });
  const Strip drain = strip_of("ghash", [](Recorder& c) {
    for (int n = 0; n < 4; n++)
      c.vpxor(Xbyak::Xmm(4 + n), Xbyak::Xmm(4 + n), ptr[rsp + 16 * (n % 2)]), c.cut("from the ring");
  });
  // Sequential is here what a ring of four would do.
  Strip in_order, late, soon;
  for (const char* letters : {"frfrfrfr", "ffrrffrr", "fffrfrrr"}) {
    Strip& s = letters[1] == 'r' ? in_order : letters[2] == 'r' ? soon : late;
    std::size_t filled = 0, drained = 0;
    for (const char* l = letters; *l; l++) {
      s.pieces.push_back(*l == 'f' ? fill.pieces[filled++] : drain.pieces[drained++]);
    }
  }
  const auto refusal = [&](const Strip& reordered) {
    return refusal_of([&] { require_same_dataflow({{&in_order}}, {{&reordered}}, both, "the stitch"); });
  };
  CHECK(refusal(soon) == "");
  const std::string wrong =
      wrong_refusal(refusal(late), {place("vpxor xmm4, xmm4, [rsp]", "ghash", "from the ring"), "an input of"});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("stitch: a register that starts from zero is free of what was in it") {
  const Strip sum = strip_of("sum", [](Recorder& c) {
    c.vpxor(xmm0, xmm0, xmm0), c.cut("clear");
    c.vpxor(xmm0, xmm0, ptr[rsi]), c.cut("add");
  });
  const Strip keep =
      strip_of("keep", [](Recorder& c) { c.vmovdqu(xmm0, ptr[rdi]), c.vmovdqu(ptr[rsp], xmm0), c.cut("copy"); });
  CHECK(refusal_of_stitch({{keep, {5}}, {sum, {10, 20}}}) == "");
  // Not in order: then xmm0 ends as the copy.
  CHECK(refusal_of_stitch({{keep, {15}}, {sum, {10, 20}}}) != "");
}

TEST_CASE("stitch: times that decrease, or are not one a piece, are the caller's mistake") {
  const Strip s = copy_by_way_of(xmm0, "first", 0);
  CHECK_THROWS_AS(stitch({{s, {0, 20, 10}}}, both, "the stitch"), std::logic_error);
  CHECK_THROWS_AS(stitch({{s, {0, 20}}}, both, "the stitch"), std::logic_error);
  CHECK_THROWS_AS(stitch({{s, {0, 10, 20}}}, {}, "the stitch"), std::logic_error);
}

TEST_CASE("stitch: at equal times the earlier strip goes first, and a strip keeps its order") {
  const Strip merged =
      stitch({at(copy_by_way_of(xmm0, "first", 0), 7), at(copy_by_way_of(xmm1, "second", 1), 7)}, both, "the stitch");
  std::string order;
  for (const Piece& p : merged.pieces) order += fmt::format("{} {}, ", p.code.front().stage, p.note);
  CHECK(order == "first load, first permute, first store, second load, second permute, second store, ");
}

// A loop over blocks: load, three rounds, store, a block time apart; so that a block is in flight for a little more
// than four block times. Its registers rotate.
struct Rotation {
  int states;      // registers that the blocks take in turn
  int blocks = 4;  // of a turn
  int lag = 4;     // block times by which a block begins before its place in the turn
};

Pipeline rotating(const Rotation& r) {
  Pipeline p;
  p.name = "the stitch";
  p.period = r.blocks * kBlockTime;
  p.turn = [=](int ahead) {
    std::vector<Timed> strips;
    for (int n = 0; n < r.blocks; n++) {
      const Xbyak::Xmm x(n % r.states);
      const int place = 16 * (n + ahead * r.blocks);
      strips.push_back({strip_of(fmt::format("block {}", n),
                                 [&](Recorder& c) {
                                   c.vmovdqu(x, ptr[rsi + place]), c.cut("load");
                                   for (int i = 1; i <= 3; i++)
                                     c.vaesenc(x, x, xmm15), c.cut(fmt::format("round {}", i));
                                   c.vmovdqu(ptr[rdi + place], x), c.cut("store");
                                 }),
                        {}});
      for (int step = 0; step < 5; step++) strips.back().at.push_back((n - r.lag + step) * kBlockTime);
    }
    return strips;
  };
  p.advance = [=] {
    return strip_of("advance", [&](Recorder& c) {
      c.add(rsi, 16 * r.blocks), c.add(rdi, 16 * r.blocks);
      c.cut("pointers");
    });
  };
  return p;
}

std::string refusal_of_pipeline(const Pipeline& p) {
  return refusal_of([&] { pipeline(p, both); });
}

TEST_CASE("pipeline: enough registers in rotation are accepted, also when more than one turn is in flight") {
  CHECK(refusal_of_pipeline(rotating({.states = 8, .blocks = 8})) == "");
  CHECK(pipeline(rotating({.states = 8, .blocks = 8}), both).lead == 1);
  // A store and the load of the block that takes its register fall on one time, and the store is first.
  CHECK(refusal_of_pipeline(rotating({.states = 4})) == "");
  CHECK(pipeline(rotating({.states = 4}), both).lead == 1);
}

TEST_CASE("pipeline: too few registers in rotation are refused, in one turn and across turns") {
  const std::string within =
      wrong_refusal(refusal_of_pipeline(rotating({.states = 3, .blocks = 6})),
                    {"one turn of the loop", "(block 0, ", "(block 3, load, turn 0)", "vmovdqu xmm0, [rsi+0x30]"});
  CHECK_MESSAGE(within.empty(), within);
  const std::string across =
      wrong_refusal(refusal_of_pipeline(rotating({.states = 2, .blocks = 2})),
                    {"one turn of the loop", place("vaesenc xmm0, xmm0, xmm15", "block 0", "round 3"),
                     place("vaesenc xmm0, xmm0, xmm15", "block 0", "round 2", 1)});
  CHECK_MESSAGE(across.empty(), across);
}

TEST_CASE("pipeline: prologue, body and epilogue begin and end turns as often as they say") {
  const PipelinedLoop loop = pipeline(rotating({.states = 4}), both);
  const auto count = [](const Strip& s, const std::string& note) {
    std::size_t n = 0;
    for (const Piece& p : s.pieces) n += p.note == note ? 1 : 0;
    return n;
  };
  CHECK(count(loop.sequential, "load") == 4);
  CHECK(count(loop.body, "load") == 4);
  CHECK(count(loop.body, "store") == 4);
  CHECK(count(loop.prologue, "load") + count(loop.epilogue, "load") == 4);
  CHECK(count(loop.prologue, "store") + count(loop.epilogue, "store") == 4);
  CHECK(count(loop.prologue, "pointers") == 0);
  CHECK(count(loop.body, "pointers") == 1);
  CHECK(count(loop.epilogue, "pointers") == 1);
}

TEST_CASE("pipeline: displacements that do not follow the pointers are refused") {
  Pipeline p = rotating({.states = 4});
  const auto turn = p.turn;
  p.turn = [turn](int) { return turn(0); };  // the next turn reads this turn's text
  const std::string wrong = wrong_refusal(refusal_of_pipeline(p), {"one turn of the loop"});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("pipeline: a turn may not end after its period") {
  Pipeline p = rotating({.states = 4, .lag = 3});
  CHECK_THROWS_AS(pipeline(p, both), std::logic_error);
}

TEST_CASE("pipeline: what runs between two turns may stand after the next has begun only if it commutes with it") {
  Pipeline p = rotating({.states = 4});
  p.between = {strip_of("reduce", [](Recorder& c) { c.vpclmulqdq(xmm8, xmm9, xmm10, 0), c.cut("fold"); })};
  CHECK_MESSAGE(refusal_of_pipeline(p) == "", "its registers are its own");
  p.between = {strip_of("reduce", [](Recorder& c) { c.vpclmulqdq(xmm8, xmm9, xmm0, 0), c.cut("fold"); })};
  const std::string read = wrong_refusal(
      refusal_of_pipeline(p), {"what runs between two turns", "vpclmulqdq xmm8, xmm9, xmm0, 0x00", "reduce"});
  CHECK_MESSAGE(read.empty(), read);
  p.between = {strip_of("reduce", [](Recorder& c) { c.vpxor(xmm15, xmm15, xmm14), c.cut("fold"); })};
  const std::string written =
      wrong_refusal(refusal_of_pipeline(p), {"what runs between two turns", "vaesenc", "vpxor xmm15, xmm15, xmm14"});
  CHECK_MESSAGE(written.empty(), written);
}

}  // namespace
}  // namespace tests
