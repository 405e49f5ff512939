// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Structured programs, from the tree to code that runs: branches, loops, ladders, labels, jumps and frames.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gcm/routines.hpp"
#include "support/asm_routines.hpp"
#include "support/asm_strips.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;

/// Appends a letter to the text that rsi points to.
Program letter(char c) {
  return strip_of("trace", [&](Recorder& code) {
    code.mov(byte[rsi], c), code.add(rsi, 1);
    code.cut("letter");
  });
}

/// A letter, and as much code after it as makes a jump over it long.
Program long_letter(char c) {
  return letter(c) + Program(strip_of("trace", [](Recorder& code) {
           for (int n = 0; n < 50; n++) code.lea(r11, ptr[r11 + 1]);
         }));
}

Strip compare_arguments() {
  return strip_of("control", [](Recorder& c) { c.cmp(rdi, rdx); });
}

/// What the letters of a routine are for its first and third argument; rsi is its second.
std::string trace(void (*f)(std::uint64_t, char*, std::uint64_t), std::uint64_t a, std::uint64_t b = 0) {
  std::array<char, 64> text{};
  f(a, text.data(), b);
  return text.data();
}
using Traced = void(std::uint64_t, char*, std::uint64_t);

struct Comparison {
  Condition condition;
  const char* name;
  bool (*holds)(std::uint64_t, std::uint64_t);
};
const std::vector<Comparison> comparisons{
    {Condition::equal, "equal", [](std::uint64_t a, std::uint64_t b) { return a == b; }},
    {Condition::not_equal, "not equal", [](std::uint64_t a, std::uint64_t b) { return a != b; }},
    {Condition::below, "below", [](std::uint64_t a, std::uint64_t b) { return a < b; }},
    {Condition::below_or_equal, "below or equal", [](std::uint64_t a, std::uint64_t b) { return a <= b; }},
    {Condition::above, "above", [](std::uint64_t a, std::uint64_t b) { return a > b; }},
    {Condition::above_or_equal, "above or equal", [](std::uint64_t a, std::uint64_t b) { return a >= b; }},
};
constexpr std::array<std::uint64_t, 6> numbers{0, 1, 5, 1ULL << 31, 1ULL << 63, ~0ULL};

TEST_CASE("program: when runs `then` if the unsigned comparison holds, and else `otherwise`") {
  for (const Comparison& c : comparisons) {
    CAPTURE(c.name);
    LoweredSample s({
        sample_routine("one_arm", letter('<') + when("x", compare_arguments(), c.condition, letter('t')) + letter('>')),
        sample_routine("two_arms", when("x", compare_arguments(), c.condition, letter('t'), letter('o')) + letter('>')),
        sample_routine("long_arms",
                       when("x", compare_arguments(), c.condition, long_letter('t'), long_letter('o')) + letter('>')),
    });
    for (const std::uint64_t a : numbers) {
      for (const std::uint64_t b : numbers) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(trace(s.function<Traced>(0), a, b) == (c.holds(a, b) ? "<t>" : "<>"));
        CHECK(trace(s.function<Traced>(1), a, b) == (c.holds(a, b) ? "t>" : "o>"));
        CHECK(trace(s.function<Traced>(2), a, b) == (c.holds(a, b) ? "t>" : "o>"));
      }
    }
  }
}

TEST_CASE("program: repeat runs its body once and as long as the step says so") {
  const Strip step = strip_of("control", [](Recorder& c) { c.sub(rdi, 1); });
  for (const bool aligned : {false, true}) {
    CAPTURE(aligned);
    LoweredSample s({
        sample_routine("short_loop", letter('<') + repeat("x", letter('b'), step, Condition::not_equal, aligned)),
        sample_routine("long_loop", letter('<') + repeat("x", long_letter('b'), step, Condition::not_equal, aligned)),
    });
    for (const std::size_t n : {1u, 2u, 9u}) {
      CAPTURE(n);
      CHECK(trace(s.function<Traced>(0), n) == "<" + std::string(n, 'b'));
      CHECK(trace(s.function<Traced>(1), n) == "<" + std::string(n, 'b'));
    }
  }
}

TEST_CASE("program: the head of an aligned loop is at a multiple of 64, after no-ops that do nothing") {
  for (int before = 0; before < 70; before += 3) {
    CAPTURE(before);
    const Strip first = strip_of("before", [&](Recorder& c) {
      for (int n = 0; n < before; n++) c.nop();
    });
    const Strip step = strip_of("control", [](Recorder& c) { c.sub(rdi, 1); });
    LoweredSample s({sample_routine("loop", Program(first) + repeat("x", letter('b'), step, Condition::not_equal))});
    for (const Item& item : s.routine(0).items) {
      if (std::holds_alternative<Label>(item.value)) CHECK(item.offset % 64 == 0);
    }
    CHECK(trace(s.function<Traced>(), 3) == "bbb");
  }
}

TEST_CASE("program: a ladder runs the last `count` rungs, each once and in order, for every count") {
  for (const std::size_t rungs : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u}) {
    CAPTURE(rungs);
    const std::string all = std::string("ABCDEFGHIJKLMNOP").substr(0, rungs);
    std::vector<Program> short_rungs, long_rungs;
    for (const char c : all) short_rungs.push_back(letter(c)), long_rungs.push_back(long_letter(c));
    LoweredSample s({sample_routine("short", letter('<') + ladder("x", rdi, short_rungs) + letter('>')),
                     sample_routine("long", letter('<') + ladder("x", rdi, long_rungs) + letter('>'))});
    for (std::size_t count = 0; count <= rungs; count++) {
      CAPTURE(count);
      const std::string want = "<" + all.substr(rungs - count) + ">";
      CHECK(trace(s.function<Traced>(0), count) == want);
      CHECK(trace(s.function<Traced>(1), count) == want);
    }
  }
}

/// The comparisons on the way to the rung for `count`.
int comparisons_of_entry(const LoweredRoutine& routine, std::int64_t count) {
  int comparisons_made = 0;
  std::int64_t boundary = 0;
  std::string sought;  // the label at which execution goes on
  for (const Item& item : routine.items) {
    const auto* label = std::get_if<Label>(&item.value);
    if (label && label->name == sought) sought.clear();
    if (!sought.empty()) continue;
    if (const auto* jump = std::get_if<Jump>(&item.value); jump && (!jump->condition || count >= boundary)) {
      sought = jump->target;
    }
    const auto* i = std::get_if<Instruction>(&item.value);
    if (!i || i->stage == "frame") continue;
    if (i->decoded.mnemonic != ZYDIS_MNEMONIC_CMP) break;
    boundary = i->operands[1].imm.value.s;
    comparisons_made++;
  }
  return comparisons_made;
}

TEST_CASE("program: a ladder of 15 rungs is entered after four comparisons, whatever the count") {
  LoweredSample s({sample_routine("ladder", ladder("x", rdi, std::vector<Program>(15, letter('r'))))});
  for (std::int64_t count = 0; count <= 15; count++) {
    CAPTURE(count);
    CHECK(comparisons_of_entry(s.routine(0), count) == 4);
  }
}

Program nested() {
  const Strip step = strip_of("control", [](Recorder& c) { c.sub(rdi, 1); });
  return repeat("outer",
                when("odd", compare_arguments(), Condition::equal, letter('o'),
                     when("more", compare_arguments(), Condition::above, letter('m'))) +
                    ladder("rest", rdx, {letter('2'), letter('1')}),
                step, Condition::not_equal) +
         when("odd", compare_arguments(), Condition::equal, letter('o'));
}

TEST_CASE("program: labels are named from the path in the tree, whatever else is in the file") {
  const LoweredSample alone({sample_routine("sample", nested())});
  const std::string want =
      "sample_outer sample_outer_odd_else sample_outer_odd_else_more_end sample_outer_odd_end sample_outer_rest_from_1 "
      "sample_outer_rest_2 sample_outer_rest_1 sample_outer_rest_0 sample_odd_end";
  CHECK(labels(alone.routine(0)) == want);
  const LoweredSample second({sample_routine("other", nested()), sample_routine("sample", letter('x') + nested())});
  CHECK(labels(second.routine(1)) == want);
}

TEST_CASE("program: a jump to what follows it anyway is left out") {
  const LoweredSample s(
      {sample_routine("sample", when("x", compare_arguments(), Condition::equal, letter('t'), Program()))});
  const auto jumps =
      std::ranges::count_if(s.routine(0).items, [](const Item& i) { return std::holds_alternative<Jump>(i.value); });
  CHECK(jumps == 1);
}

TEST_CASE("program: jumps are as short as they reach, in every distance around the limit") {
  std::vector<Routine> routines;
  for (int bytes = 116; bytes < 136; bytes++) {
    const Program body = strip_of("body", [&](Recorder& c) {
      for (int n = 0; n < bytes; n++) c.nop();
    });
    const Strip step = strip_of("control", [](Recorder& c) { c.sub(rdi, 1); });
    routines.push_back(
        sample_routine(fmt::format("when_{}", bytes), when("x", compare_arguments(), Condition::equal, body)));
    routines.push_back(
        sample_routine(fmt::format("loop_{}", bytes), repeat("x", body, step, Condition::not_equal, false)));
    routines.push_back(sample_routine(
        fmt::format("nested_{}", bytes),
        when("x", compare_arguments(), Condition::equal, repeat("y", body, step, Condition::not_equal, false), body)));
  }
  const LoweredSample s(std::move(routines));
  std::size_t long_jumps = 0, short_jumps = 0;
  for (const LoweredRoutine& r : s.file().routines) {
    const std::string wrong = needlessly_long_jump(r);
    CHECK_MESSAGE(wrong.empty(), r.routine->symbol << ": a long jump " << wrong);
    for (const Item& i : r.items) {
      if (std::holds_alternative<Jump>(i.value)) (i.bytes.size() == 2 ? short_jumps : long_jumps)++;
    }
  }
  CHECK(short_jumps > 20);
  CHECK(long_jumps > 20);
}

TEST_CASE("frame: CFI follows rsp, which is aligned to 16, for every number of saved registers and bytes") {
  const std::vector<Xbyak::Reg64> all{rbx, rbp, r12, r13, r14, r15};
  for (std::size_t saved = 0; saved <= all.size(); saved++) {
    for (const int bytes : {0, 1, 8, 16, 24, 100, 272}) {
      const Frame f{bytes, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(saved)}};
      CAPTURE(bytes);
      CAPTURE(saved);
      CHECK(f.allocated() >= bytes);
      CHECK(f.allocated() < bytes + 16);
      CHECK((8 + f.total()) % 16 == 0);
      // The address of a call's target does not matter here.
      const LoweredSample s({sample_routine("framed", call("framed"), f)});
      const std::string wrong = wrong_frame(s.routine(0));
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

TEST_CASE("frame: the saved registers come back") {
  const Program clobber = strip_of("clobber", [](Recorder& c) {
    for (const Xbyak::Reg64& r : {rbx, rbp, r12, r13, r14, r15}) c.xor_(r.cvt32(), r.cvt32());
    for (int n = 0; n < 6; n++) c.mov(qword[rsp + 8 * n], -1);
    c.lea(rax, ptr[rdi + rsi]);
  });
  LoweredSample s({sample_routine("clobber", clobber, {48, {rbx, rbp, r12, r13, r14, r15}})});
  // A caller that keeps values in callee-saved registers, as the compiler does across the calls of a loop.
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < 5; n++) sum += s.function<std::uint64_t(std::uint64_t, std::uint64_t)>()(n, sum);
  CHECK(sum == 26);
}

TEST_CASE("frame: every routine that is emitted restores what it must, and unwinds from every instruction") {
  for (const SourceFile& f : stitchgcm::gcm::aesni_avx({})) {
    const LoweredFile lowered = lower(f);
    for (const LoweredRoutine& r : lowered.routines) {
      CHECK_MESSAGE(wrong_frame(r).empty(), wrong_frame(r));
      CHECK_MESSAGE(unsaved_register(r).empty(), unsaved_register(r));
    }
  }
}

TEST_CASE("frame: controls: a register that is not saved and a frame that is not told of are found") {
  const Program push = strip_of("push", [](Recorder& c) { c.push(rax); });
  const LoweredSample s({sample_routine("pushes", push),
                         sample_routine("writes", strip_of("write", [](Recorder& c) { c.mov(r12d, 1); }))});
  CHECK(missing_from(wrong_frame(s.routine(0)), {"pushes", "24 below", "say 16"}) == "");
  CHECK(missing_from(unsaved_register(s.routine(1)), {"writes r12"}) == "");
}

TEST_CASE("frame: a register that need not be saved is refused") {
  CHECK(missing_from(refusal_of([] {
                       LoweredSample({sample_routine("x", {}, {0, {rbx, rax}})});
                     }),
                     {"rax need not be saved"}) == "");
}

TEST_CASE("program: a branch in a strip is refused, and named") {
  const std::vector<void (*)(Recorder&)> branches{
      [](Recorder& c) { c.ret(); },
      [](Recorder& c) { c.jmp(rax); },
      [](Recorder& c) { c.call(rax); },
      [](Recorder& c) {
        Xbyak::Label here;
        c.L(here), c.jne(here);
      },
      [](Recorder& c) {
        Xbyak::Label here;
        c.L(here), c.jmp(here);
      },
  };
  for (const auto& branch : branches) {
    CHECK(missing_from(refusal_of([&] { strip_of("the strip", branch); }), {"a branch in the strip \"the strip\""}) ==
          "");
  }
}

TEST_CASE("program: two parts of one name are refused, as their labels would be one") {
  const Program twice = when("x", compare_arguments(), Condition::equal, letter('a')) +
                        when("x", compare_arguments(), Condition::equal, letter('b'));
  CHECK(missing_from(refusal_of([&] { LoweredSample({sample_routine("sample", twice)}); }),
                     {"sample_x_end", "twice"}) == "");
}

Program load_constant(const Constant& constant, int offset = 0) {
  return strip_of("constant", [&](Recorder& c) { c.vmovdqu(xmm0, c.constant(constant, offset)); });
}

TEST_CASE("program: a constant is placed once for a file, and two of one name are refused") {
  const Constant a{"a", Bytes(24, 1), "a"}, b{"b", Bytes(16, 2), "b"}, other_a{"a", Bytes(24, 3), "not a"};
  const LoweredSample s(
      {sample_routine("first", load_constant(a) + load_constant(b)), sample_routine("second", load_constant(a, 8))});
  REQUIRE(s.file().constants.size() == 2);
  CHECK(s.file().constants[1].offset % kConstantAlignment == 0);
  CHECK(s.file().data.size() == 48);
  REQUIRE(s.file().relocations.size() == 3);
  CHECK(s.file().relocations[2].constant == "a");
  CHECK_MESSAGE(s.file().relocations[2].addend == 8 - 4, "relative to the end of the instruction, 4 bytes on");
  CHECK(
      missing_from(refusal_of([&] { LoweredSample({sample_routine("x", load_constant(a) + load_constant(other_a))}); }),
                   {"two constants are named a"}) == "");
}

TEST_CASE("program: arguments arrive where System V says") {
  LoweredSample s({sample_routine("sum", strip_of("sum", [](Recorder& c) {
                                    c.mov(rax, argument(0));
                                    for (std::size_t n = 1; n < 6; n++) c.imul(rax, rax, 10), c.add(rax, argument(n));
                                  }))});
  using Six = std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
  CHECK(s.function<Six>()(1, 2, 3, 4, 5, 6) == 123456);
  CHECK_THROWS(argument(6));
}

}  // namespace
}  // namespace tests
