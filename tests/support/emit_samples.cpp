// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit_samples.hpp"

#include <fmt/format.h>

#include "asm/pipeline.hpp"
#include "asm_strips.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;

const Constant byte_order{"byte_order", {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, "the bytes of a block"};
const Constant steps{"steps", Bytes(32, 1), "what a step adds"};

Program load_constants() {
  return Program(strip_of("constants",
                          [](Recorder& c) {
                            c.vmovdqu(xmm9, c.constant(byte_order)), c.cut("order");
                            c.vpaddd(xmm0, xmm9, c.constant(steps)), c.cut("first step");
                            c.vpaddd(xmm1, xmm9, c.constant(steps, 16)), c.cut("second step");
                          }),
                 "constants");
}

/// One block is encrypted while the block before it is hashed.
PipelinedLoop stitched_loop() {
  Pipeline p;
  p.name = "sample";
  p.period = kBlockTime;
  p.turn = [](int ahead) {
    const Strip aes = strip_of("aes", [&](Recorder& c) {
      c.vmovdqu(xmm0, ptr[rsi + 16 * ahead]), c.cut("text");
      for (int i = 1; i <= 3; i++) c.vaesenc(xmm0, xmm0, xmm8), c.cut(fmt::format("round {}", i));
      c.vmovdqu(ptr[rsp], xmm0), c.cut("to the ring");
    });
    const Strip hash = strip_of("ghash", [](Recorder& c) {
      c.vmovdqu(xmm13, ptr[rsp]), c.cut("from the ring");
      c.vpclmulqdq(xmm14, xmm13, xmm9, 0x00), c.vpclmulqdq(xmm13, xmm13, xmm9, 0x11), c.cut("multiply");
      c.vpxor(xmm10, xmm10, xmm14), c.vpxor(xmm11, xmm11, xmm13), c.cut("sum");
    });
    return std::vector<Timed>{{aes, {-900, -700, -500, -300, -100}}, {hash, {50, 400, 800}}};
  };
  p.advance = [] { return strip_of("advance", [](Recorder& c) { c.add(rsi, 16), c.cut("the next block"); }); };
  return pipeline(p, {{{ZYDIS_REGISTER_RSI, "in"}, {ZYDIS_REGISTER_RSP, "frame"}}});
}

Program ladder_program() {
  std::vector<Program> rungs;
  for (int n = 0; n < 3; n++) {
    rungs.push_back(strip_of(
        "rung", [&](Recorder& c) { c.vpxor(xmm0, xmm0, ptr[rsi + 16 * n]), c.cut(fmt::format("block {}", n)); }));
  }
  return ladder("blocks", rcx, rungs);
}

Strip compare(const Xbyak::Reg64& r, int value) {
  return strip_of("control", [&](Recorder& c) { c.cmp(r, value), c.cut("how many"); });
}

}  // namespace

LoweredSample everything_sample() {
  const PipelinedLoop loop = stitched_loop();
  const Strip count = strip_of("control", [](Recorder& c) { c.sub(rcx, 1), c.cut("one done"); });
  const Program program =
      load_constants() + Program(loop.prologue, "first") +
      when("more", compare(rcx, 1), Condition::above,
           repeat("turn", Program(loop.body, "turn"), count, Condition::not_equal), call("helper")) +
      Program(loop.epilogue, "last") + ladder_program();
  return LoweredSample({sample_routine("sample", program, {40, {rbx, r12}}),
                        sample_routine("helper", strip_of("helper", [](Recorder& c) { c.vpxor(xmm0, xmm0, xmm0); }))});
}

LoweredSample stitched_sample() {
  return LoweredSample(
      {sample_routine("stitched", Program(stitched_loop().body, "AES of the next block | GHASH of this"))});
}

LoweredSample ladder_sample() {
  return LoweredSample({sample_routine("ladder", Program(compare(rcx, 3), "blocks") + ladder_program())});
}

LoweredSample frame_sample() { return LoweredSample({sample_routine("frame", {}, {24, {rbx, r12}})}); }

LoweredSample constant_sample() { return LoweredSample({sample_routine("constant", load_constants())}); }

}  // namespace tests
