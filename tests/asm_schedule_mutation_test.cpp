// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Schedules with a random change. Whatever the order check accepts must compute on this CPU what the sequential order
// does; and what it refuses should compute something else, or the check would forbid good schedules.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "gcm/batch.hpp"
#include "support/asm_mutants.hpp"
#include "support/asm_strips.hpp"
#include "support/tally.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;
namespace gcm = stitchgcm::gcm;

#if defined(__SANITIZE_ADDRESS__)
constexpr int slow_build = 10;
#else
constexpr int slow_build = 1;
#endif

bool can_run() {
  const std::string why = why_no_machine();
  if (!why.empty()) announce("SKIPPED mutants of schedules: " + why);
  return why.empty();
}

void check_verdicts(const MutantJudge& judge) {
  announce(judge.report());
  for (const std::string& w : judge.wrong()) FAIL_CHECK(w);
  for (const std::string& n : judge.needless()) FAIL_CHECK("refused, but the same in all runs: " << n);
  CHECK_MESSAGE(judge.accepted() * 50 > judge.mutants(), "hardly any mutant is accepted: the test shows little");
  CHECK_MESSAGE(judge.refused() * 50 > judge.mutants(), "hardly any mutant is refused: the test shows little");
}

/// Changes the order of the loop's body; the check is that of a pipeline: sequential ; prologue = prologue ; body.
void judge_loop_bodies(const std::string& title, const PipelinedLoop& loop, int mutants, std::uint64_t seed) {
  const PointerCases cases = gcm::pointer_cases();
  const auto refusal = [&](const Strip& body) {
    return refusal_of([&] {
      require_same_dataflow({{&loop.sequential}, {&loop.prologue, 1}}, {{&loop.prologue}, {&body}}, cases, title);
    });
  };
  REQUIRE(refusal(loop.body) == "");
  MutantJudge judge(title, loop.sequential + loop.prologue, cases);
  Random random(seed);
  for (int n = 0; n < mutants / slow_build; n++) {
    const Strip body = mutated(loop.body, random);
    judge.judge(loop.prologue + body, refusal(body));
  }
  check_verdicts(judge);
}

TEST_CASE("schedule mutants: the loop of encrypted batches") {
  if (!can_run()) return;
  judge_loop_bodies("encrypted batches",
                    gcm::batch_loop(gcm::Direction::encrypt, gcm::KeyLength::aes128, gcm::Choices{}.encrypt), 800, 1);
}

TEST_CASE("schedule mutants: the loop of decrypted batches") {
  if (!can_run()) return;
  judge_loop_bodies("decrypted batches",
                    gcm::batch_loop(gcm::Direction::decrypt, gcm::KeyLength::aes256, gcm::Choices{}.decrypt), 800, 2);
}

// A batch in small: two chains of counters through AES that share registers with a third one in turn, a ring on the
// stack from which products are summed, and a strip that lives on flags and moves the pointers.
struct SmallBatch {
  static inline const PointerCases cases{{{ZYDIS_REGISTER_RSI, "text"},
                                          {ZYDIS_REGISTER_RDI, "text"},
                                          {ZYDIS_REGISTER_RSP, "frame"},
                                          {ZYDIS_REGISTER_RBX, "keys"},
                                          {ZYDIS_REGISTER_R8, "powers"}},
                                         {{ZYDIS_REGISTER_RSI, "in"},
                                          {ZYDIS_REGISTER_RDI, "out"},
                                          {ZYDIS_REGISTER_RSP, "frame"},
                                          {ZYDIS_REGISTER_RBX, "keys"},
                                          {ZYDIS_REGISTER_R8, "powers"}}};
  static constexpr int counter = 128;  // in the frame, after the ring

  /// Two blocks, `first` and the next, through registers x and x + 1 with their round keys by way of `key`.
  static Strip chain(int first, int x, const Xbyak::Xmm& key) {
    return strip_of(fmt::format("blocks {}-{}", first, first + 1), [&](Recorder& c) {
      const auto each = [&](const std::string& note, auto&& f) {
        for (int n = 0; n < 2; n++) f(Xbyak::Xmm(x + n), first + n), c.cut(note);
      };
      c.vmovdqu(key, ptr[rsp + counter]), c.cut("counter");
      each("counter", [&](const Xbyak::Xmm& state, int n) { c.vpaddd(state, key, ptr[rbx - 16 * (n + 1)]); });
      for (int i = 1; i <= 4; i++) {
        c.vmovdqu(key, ptr[rbx + 16 * i]), c.cut(fmt::format("round {}", i));
        each(fmt::format("round {}", i), [&](const Xbyak::Xmm& state, int) { c.vaesenc(state, state, key); });
      }
      each("text", [&](const Xbyak::Xmm& state, int n) { c.vpxor(state, state, ptr[rsi + 16 * n]); });
      each("out", [&](const Xbyak::Xmm& state, int n) { c.vmovdqu(ptr[rdi + 16 * n], state); });
      each("to the ring", [&](const Xbyak::Xmm& state, int n) { c.vmovdqu(ptr[rsp + 16 * (n % 4)], state); });
    });
  }

  static Strip products() {
    return strip_of("ghash", [](Recorder& c) {
      for (int n = 0; n < 4; n++) {
        c.vmovdqu(xmm13, ptr[rsp + 16 * n]), c.cut("from the ring");
        c.vpclmulqdq(xmm14, xmm13, ptr[r8 + 16 * n], 0x00), c.cut("multiply");
        c.vpclmulqdq(xmm15, xmm13, ptr[r8 + 16 * n], 0x11), c.cut("multiply");
        c.vpxor(xmm10, xmm10, xmm14), c.cut("sum");
        c.vpxor(xmm11, xmm11, xmm15), c.cut("sum");
      }
    });
  }

  static Strip control() {
    return strip_of("control", [](Recorder& c) {
      c.cmp(rax, rcx), c.cut("compare");
      c.sbb(rdx, rdx), c.cut("mask");
      c.add(r9, rdx), c.cut("add");
      c.adc(r10, 0), c.cut("carry");
      c.cmovs(r11, r9), c.cut("choose");
      c.xor_(edx, edx), c.cut("clear");
      c.mov(dl, r11b), c.cut("low byte");
      c.lea(r8, ptr[r8 + 64]), c.cut("pointer");
      c.xchg(r12, r13), c.cut("exchange");
    });
  }

  static std::vector<Timed> strips() {
    return {at_steps(chain(0, 0, xmm8), 0, 4000, {1.0, 0.6}), at_steps(chain(2, 2, xmm9), 500, 4000, {1.0, 0.6}),
            spread(products(), 4600, 3000), at_steps(chain(4, 0, xmm8), 5600, 4000, {1.0, 0.6}),
            spread(control(), 9800, 1000)};
  }
};

/// Starts a strip at another time, stretches it, or moves one of its pieces in time.
void change_times(std::vector<Timed>& strips, Random& random) {
  Timed& s = strips[random.below(strips.size())];
  const auto somewhat = [&](int most) {
    return static_cast<Tick>(random.below(static_cast<std::size_t>(2 * most))) - most;
  };
  switch (random.below(3)) {
    case 0: {
      const Tick by = somewhat(3000);
      for (Tick& t : s.at) t += by;
      break;
    }
    case 1: {
      const int percent = 20 + static_cast<int>(random.below(200));
      const Tick start = s.at.front();
      for (Tick& t : s.at) t = start + (t - start) * percent / 100;
      break;
    }
    default: {
      const std::size_t n = random.below(s.at.size());
      s.at[n] += somewhat(2500);
      for (std::size_t k = n; k-- > 0;) s.at[k] = std::min(s.at[k], s.at[k + 1]);
      for (std::size_t k = n + 1; k < s.at.size(); k++) s.at[k] = std::max(s.at[k], s.at[k - 1]);
    }
  }
}

TEST_CASE("schedule mutants: other event times, with shared registers, a ring and flags") {
  if (!can_run()) return;
  const std::vector<Timed> unchanged = SmallBatch::strips();
  Strip in_order;
  for (const Timed& s : unchanged) in_order += s.strip;
  REQUIRE(refusal_of([&] { stitch(unchanged, SmallBatch::cases, "the batch"); }) == "");
  MutantJudge judge("event times", in_order, SmallBatch::cases);
  Random random(3);
  for (int n = 0; n < 1500 / slow_build; n++) {
    std::vector<Timed> strips = unchanged;
    for (std::size_t k = random.below(4) + 1; k > 0; k--) change_times(strips, random);
    detail::Timeline timeline;
    detail::append(timeline, strips, 0, -detail::kNever, detail::kNever);
    judge.judge(detail::sorted(timeline), refusal_of([&] { stitch(strips, SmallBatch::cases, "the batch"); }));
  }
  check_verdicts(judge);
}

// Parts of registers, flags that outlive an instruction, memory of all widths: what a hand-picked case may have missed.
// Registers are few, so that instructions meet.
class RandomInstructions {
 public:
  explicit RandomInstructions(Random& random) : random_(random) {}

  Strip strip(const std::string& stage, int pieces) {
    return strip_of(stage, [&](Recorder& c) {
      for (int n = 0; n < pieces; n++) put(c), c.cut("piece");
    });
  }

 private:
  Xbyak::Reg64 general() { return pick<Xbyak::Reg64>({rax, rcx, rdx}); }
  Xbyak::Xmm vector() { return Xbyak::Xmm(static_cast<int>(random_.below(3))); }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[random_.below(from.size())];
  }

  void put(Recorder& c) {
    // One draw after the other: compilers choose the order in which arguments are evaluated.
    const Xbyak::Reg64 a = general();
    Xbyak::Reg64 b = general();
    while (b == a) b = general();  // an instruction of one register is often idle
    const Xbyak::Xmm x = vector();
    const Xbyak::Xmm y = vector();
    const Xbyak::Reg8 low = pick<Xbyak::Reg8>({al, cl});
    const Xbyak::Reg8 other = pick<Xbyak::Reg8>({ah, ch, dl});
    const Xbyak::Reg64 pointer = pick<Xbyak::Reg64>({rsi, rdi});
    const Xbyak::Address place = ptr[pointer + pick<int>({0, 1, 4, 8, 15, 16})];
    switch (random_.below(34)) {
      case 0: c.mov(a, b); break;
      case 1: c.mov(a.cvt32(), b.cvt32()); break;
      case 2: c.mov(a.cvt16(), b.cvt16()); break;
      case 3: random_.below(2) == 0 ? c.mov(low, other) : c.mov(other, low); break;
      case 4: c.movzx(a.cvt32(), random_.below(2) == 0 ? low : Xbyak::Reg8(ah)); break;
      case 5: c.add(a, b); break;
      case 6: c.adc(a, b); break;
      case 7: c.sub(a.cvt32(), b.cvt32()); break;
      case 8: c.sbb(a, b); break;
      case 9: c.cmp(a, b); break;
      case 10: c.inc(a); break;
      case 11: c.dec(a.cvt32()); break;
      case 12: c.cmovc(a, b); break;
      case 13: c.setz(other); break;
      case 14: c.xor_(a.cvt32(), a.cvt32()); break;
      case 15: c.xor_(al, al); break;
      case 16: c.xchg(a, b); break;
      case 17: c.xchg(al, cl); break;
      case 18: c.xchg(a.cvt32(), b.cvt32()); break;
      case 19: c.rcl(a, 1); break;
      case 20: c.shl(rdx, cl); break;
      case 21: c.bswap(a); break;
      case 22: c.lea(a, ptr[b + 24]); break;
      case 23: c.lea(a, ptr[a + b * 2]); break;
      case 24: c.mov(place, a); break;
      case 25: c.mov(place, random_.below(2) == 0 ? low : other); break;
      case 26: c.mov(a, place); break;
      case 27: c.vmovdqu(x, place); break;
      case 28: c.vmovdqu(place, x); break;
      case 29: c.movdqu(x, place); break;
      case 30: c.vpxor(x, x, x); break;
      case 31: c.pxor(x, y); break;
      case 32: c.vmovq(x, place); break;
      default: c.vpaddq(x, y, place); break;
    }
  }

  Random& random_;
};

TEST_CASE("schedule mutants: random instructions, of which none that is accepted computes something else") {
  if (!can_run()) return;
  const PointerCases cases{{{ZYDIS_REGISTER_RSI, "text"}, {ZYDIS_REGISTER_RDI, "text"}},
                           {{ZYDIS_REGISTER_RSI, "in"}, {ZYDIS_REGISTER_RDI, "out"}}};
  Random random(4);
  RandomInstructions instructions(random);
  std::size_t accepted = 0, refused = 0, same = 0;
  for (int set = 0; set < 150 / slow_build; set++) {
    const Strip in_order = instructions.strip("first", 4) + instructions.strip("second", 4);
    MutantJudge judge(fmt::format("set {}", set), in_order, cases);
    for (int n = 0; n < 20; n++) {
      Strip code = mutated(in_order, random);
      if (n % 2 == 1) code = mutated(code, random);
      judge.judge(code, refusal_of([&] { require_same_dataflow({{&in_order}}, {{&code}}, cases, "the order"); }));
    }
    for (const std::string& w : judge.wrong()) FAIL_CHECK(w);
    accepted += judge.accepted();
    refused += judge.refused();
    same += judge.needless().size();
  }
  // Of random instructions many are idle, and many sums commute, which terms do not know.
  announce(fmt::format("random instructions: {} mutants: {} accepted, {} refused, of which {} the same in all runs",
                       accepted + refused, accepted, refused, same));
  CHECK(accepted > 100 / slow_build);
  CHECK(refused > 10 * same);
}

}  // namespace
}  // namespace tests
