// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/batch.hpp"

#include <fmt/format.h>

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using assembly::Timed;

/// One chain: counters, AES, text. The last chain of a batch moves the counter on.
Strip chain(Direction d, KeyLength k, const BatchSchedule& s, int first, int ahead) {
  Code c(fmt::format("blocks {}-{}", first, first + s.chain - 1));
  const Xbyak::Xmm key = first / s.chain % 2 == 0 ? c.r.round_key : c.r.other_round_key;
  if (s.chain == kBatchBlocks) c.byte_reverse_register = c.r.other_round_key;
  std::vector<Xbyak::Xmm> states;
  for (int n = first; n < first + s.chain; n++) states.push_back(c.r.block(n));
  const auto text = [&](const Xbyak::Reg64& base, int n) {
    return Xbyak::util::ptr[base + layout::kBlockBytes * (n + ahead * kBatchBlocks)];
  };
  const auto each = [&](const std::string& note, auto f) {
    for (int n = first; n < first + s.chain; n++) {
      f(c.r.block(n), n);
      c.cut(note);
    }
  };

  c.load(key, BatchFrame::counter());
  c.cut("counter + n");
  each("counter + n", [&](const Xbyak::Xmm& x, int n) {
    if (n == 0) {
      c.move(x, key);
    } else {
      c.vpaddd(x, key, c.constant(counter_steps(), kCounterStepBytes * n));
    }
  });
  if (first + s.chain == kBatchBlocks) {
    c.vpaddd(key, key, c.constant(counter_steps(), kCounterStepBytes * kBatchBlocks));
    c.store(BatchFrame::counter(), key);
    c.cut("counter + n");
  }
  whiten(c, states, key);
  aes_rounds(c, states, key, rounds(k));
  if (d == Direction::encrypt) {
    each("text", [&](const Xbyak::Xmm& x, int n) { c.add(x, x, text(c.r.in, n)); });
    each("out", [&](const Xbyak::Xmm& x, int n) { c.store(text(c.r.out, n), x), c.reverse_bytes(x, x); });
    each("ciphertext to the ring", [&](const Xbyak::Xmm& x, int n) { c.store(BatchFrame::ring(n), x); });
  } else {
    // Through the chain's key register, which is free now. The ciphertext could go to the ring before AES, but then a
    // batch would overwrite the blocks of the batch before it that GHASH has not read.
    each("text", [&](const Xbyak::Xmm& x, int n) { c.load(key, text(c.r.in, n)), c.add(x, x, key), c.store(text(c.r.out, n), x), c.reverse_bytes(key, key), c.store(BatchFrame::ring(n), key); });
  }
  return c.strip();
}

/// sums += ring[0..7] * H^m .. H^(m-7), where `power` points; Y is added to block 0.
Strip products(const BatchSchedule& s, int ahead) {
  Code c("ghash");
  const auto& [x, m, t] = c.r.product;
  // Block 0 waits for Y, the end of a reduction's long chain of dependent instructions: others go before it.
  for (int n : {1, 2, 3, 0, 4, 5, 6, 7}) {
    const std::string note = fmt::format("block {}", n);
    c.load(x, BatchFrame::ring(n)), c.cut(note);
    if (n == 0) {
      c.add(x, x, BatchFrame::hash()), c.cut("block 0 + Y");
      c.clear(t), c.store(BatchFrame::hash(), t), c.cut("Y is used up");
      c.vpshufd(m, x, 0x4e), c.cut("halves exchanged");
    } else {
      // The ring has the high half where a load finds it, which saves a shuffle.
      c.vmovq(m, BatchFrame::ring(n, 8)), c.cut(note);
    }
    c.add(m, m, x), c.cut("low ^ high");
    multiply_and_add(c, {c.r.power, layout::kPowerBytes * (n + ahead * kBatchBlocks) - Roles::power_bias}, s.multiply_group);
  }
  return c.strip();
}

/// Y := the sums, reduced, to the frame; sums := 0.
Strip reduce_to_frame() {
  Code c("reduce");
  reduce(c);
  c.store(BatchFrame::hash(), c.r.high), c.cut("Y, to be added to the next block");
  clear_sums(c);
  return c.strip();
}

Strip advance() {
  Code c("advance");
  constexpr int bytes = layout::kBlockBytes * kBatchBlocks;
  c.add(c.r.in, bytes);
  c.add(c.r.out, bytes);
  c.add(c.r.power, layout::kPowerBytes * kBatchBlocks);
  return c.strip("the next batch");
}

Strip compare(const Xbyak::Reg64& r, int value) {
  Code c("control");
  c.cmp(r, value);
  return c.strip(fmt::format("{} : {}", r.toString(), value));
}

assembly::Pipeline description(Direction d, KeyLength k, const BatchSchedule& s) {
  return {.name = d == Direction::encrypt ? "encrypt batches" : "decrypt batches",
          .period = kBatchBlocks * assembly::kBlockTime,
          .turn =
              [=](int ahead) {
                std::vector<Timed> strips;
                for (int first = 0; first < kBatchBlocks; first += s.chain) {
                  strips.push_back(assembly::at_steps(chain(d, k, s, first, ahead),
                                                      (first - s.lag) * assembly::kBlockTime, s.chain_time, s.gaps));
                }
                strips.push_back(assembly::spread(products(s, ahead), s.hash_start, s.hash_time));
                return strips;
              },
          .advance = advance,
          .between = {reduce_to_frame()}};
}

}  // namespace

assembly::PipelinedLoop batch_loop(Direction d, KeyLength k, const BatchSchedule& s) {
  return assembly::pipeline(description(d, k, s), pointer_cases());
}

Program next_group() {
  Code full("control");
  const Roles& r = full.r;
  full.lea(r.group, Xbyak::util::ptr[r.batches - kLastGroupBatches]);
  full.mov(r.scratch.cvt32(), kGroupBatches);
  full.cmp(r.group, r.scratch);
  full.cmova(r.group, r.scratch);
  full.cut("min(5, what the last group leaves)");
  full.mov(r.power, r.group);
  full.shl(r.power, 8);
  full.neg(r.power);
  full.lea(r.power, Xbyak::util::ptr[r.context + r.power + (layout::power(0) - Roles::context_bias + Roles::power_bias)]);
  full.cut("H^(8 group)");

  Code last("control");
  last.mov(r.group, r.batches);
  last.mov(r.scratch, r.batches);
  last.shl(r.scratch, 8);
  last.mov(r.power, r.end_power);
  last.sub(r.power, r.scratch);
  last.cut("the powers that end at end_power");
  static_assert(layout::kPowerBytes * kBatchBlocks == 1 << 8);

  return when("group", compare(r.batches, kLastGroupBatches), Condition::above, full.strip(), last.strip());
}

Program batches(Direction d, KeyLength k, const BatchSchedule& s) {
  const assembly::PipelinedLoop loop = batch_loop(d, k, s);
  // The last turns are hashed after the loop, where no group may end.
  if (loop.lead > kLastGroupBatches) throw std::logic_error("more batches in flight than the last group holds");

  Code begin("enter");
  const Roles& r = begin.r;
  begin.store(BatchFrame::counter(), r.counter);
  begin.store(BatchFrame::hash(), r.hash);
  begin.cut("counter and Y to the frame");
  if (s.chain == kBatchBlocks) begin.load(r.other_round_key, begin.constant(byte_reverse()));

  Code count("control");
  count.sub(r.batches, 1);
  count.sub(r.group, 1);
  count.cut("one batch hashed");

  const Program turn = Program(loop.body, "AES of the next batch | GHASH of this one") + Program(count.strip()) +
                       when("reduce", {}, Condition::equal, Program(reduce_to_frame(), "the group ends") + next_group());
  const Program pipelined =
      Program(loop.prologue, "AES of the first batch") +
      when("more", compare(r.batches, loop.lead), Condition::above,
           repeat("turn", turn, compare(r.batches, loop.lead), Condition::above)) +
      Program(loop.epilogue, "GHASH of the last batch");

  Code end("leave");
  end.load(r.counter, BatchFrame::counter());
  end.clear(r.hash);
  end.store(BatchFrame::counter(), r.hash);
  end.store(BatchFrame::hash(), r.hash);
  end.cut("counter; the frame is wiped");

  Program p = Program(begin.strip(), "enter") + next_group();
  if (loop.lead == 1) {
    p += pipelined;
  } else {
    Code next("control");
    next.sub(r.batches, 1);
    next.cut("one batch done");
    p += when("pipelined", compare(r.batches, loop.lead), Condition::above_or_equal, pipelined,
              repeat("one", Program(loop.sequential, "one batch, too few for the pipeline"), next.strip(),
                     Condition::not_equal));
  }
  return p + Program(end.strip(), "leave");
}

}  // namespace stitchgcm::gcm
