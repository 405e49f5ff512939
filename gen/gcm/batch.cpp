// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/batch.hpp"

#include <fmt/format.h>

#include "gcm/counter_patterns.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using assembly::Timed;

constexpr int kBatchBytes = layout::kBlockBytes * kBatchBlocks;

/// The text of block n of the batch that lies `ahead` turns past the pointers.
Xbyak::Address text(const Xbyak::Reg64& base, int n, int ahead, int offset = 0) {
  return Xbyak::util::ptr[base + (layout::kBlockBytes * n + kBatchBytes * ahead + offset)];
}

/// out := in ^ AES(key, counter + n), eight blocks in lock step: one load of a round key serves all of them.
Strip aes(KeyLength k, int ahead) {
  Code c("aes");
  std::vector<Xbyak::Xmm> states;
  for (int n = 0; n < kBatchBlocks; n++) states.push_back(c.r.block(n));
  counter_blocks(c);
  aes_rounds(c, states, c.r.round_key, rounds(k));
  for (int n = 0; n < kBatchBlocks; n++) c.add(states[n], states[n], text(c.r.in, n, ahead)), c.cut("text");
  for (int n = 0; n < kBatchBlocks; n++) c.store(text(c.r.out, n, ahead), states[n]), c.cut("out");
  return c.strip();
}

/// ring[n] := ciphertext, bytes reversed, and the sum of its halves. In integer registers: byte shuffles, AES and
/// carry-less multiplies share two of the vector units, while these are idle.
Strip reverse(Direction d, int ahead) {
  Code c("reverse");
  const Xbyak::Reg64 x = c.r.scratch, ciphertext = d == Direction::encrypt ? c.r.out : c.r.in;
  for (int n = 0; n < kBatchBlocks; n++) {
    const std::string note = fmt::format("block {}", n);
    c.mov(x, text(ciphertext, n, ahead, 8));
    c.bswap(x);
    c.mov(BatchFrame::low(n), x);
    c.cut(note);
    c.mov(x, text(ciphertext, n, ahead));
    c.bswap(x);
    c.mov(BatchFrame::high(n), x);
    c.xor_(x, BatchFrame::low(n));
    c.mov(BatchFrame::middle(n), x);
    c.cut(note);
  }
  return c.strip();
}

/// sums += ring[0..7] * H^m .. H^(m-7), where `power` points.
Strip products(const BatchSchedule& s, int ahead) {
  Code c("ghash");
  const auto& [low, high, middle] = c.r.product;
  for (int n = 0; n < kBatchBlocks; n++) {
    const std::string note = fmt::format("block {}", n);
    const PowerAt h{c.r.power, layout::kPowerBytes * (n + ahead * kBatchBlocks) - Roles::power_bias};
    int multiplied = 0;
    const auto multiply = [&](const Xbyak::Xmm& x, const Xbyak::Address& factor, int halves) {
      c.vpclmulqdq(x, x, factor, static_cast<uint8_t>(halves));
      if (++multiplied % s.multiply_group == 0) c.cut(note + ": multiply");
    };
    // Each half by a load of its own: a load of the whole block would span two stores and wait for both.
    c.vmovq(low, BatchFrame::low(n)), c.cut(note);
    c.vmovq(high, BatchFrame::high(n)), c.cut(note);
    c.vmovq(middle, BatchFrame::middle(n)), c.cut(note);
    multiply(low, h.value(), 0x00);
    multiply(high, h.value(), 0x10);
    multiply(middle, h.middle(), 0x00);
    c.cut(note + ": multiply");
    c.add(c.r.low, c.r.low, low), c.cut(note + ": sum");
    c.add(c.r.high, c.r.high, high), c.cut(note + ": sum");
    c.add(c.r.middle, c.r.middle, middle), c.cut(note + ": sum");
  }
  return c.strip();
}

/// hash := Y, the sums reduced.
Strip reduce_to_hash() {
  Code c("reduce");
  reduce(c);
  return c.strip();
}

/// sums := Y * H^(8 group), which stands before the group's first block.
Strip begin_group(const Xbyak::Xmm& y) {
  Code c("begin");
  c.move(c.r.product[0], y), c.cut("Y");
  clear_sums(c);
  multiply_block_and_add(c, {c.r.power, -Roles::power_bias});
  return c.strip();
}

Strip advance() {
  Code c("advance");
  // lea, which leaves the flags as the integer strip of the same batch set them.
  c.lea(c.r.in, Xbyak::util::ptr[c.r.in + kBatchBytes]);
  c.lea(c.r.out, Xbyak::util::ptr[c.r.out + kBatchBytes]);
  c.lea(c.r.power, Xbyak::util::ptr[c.r.power + layout::kPowerBytes * kBatchBlocks]);
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
                const Timed cipher = assembly::at_steps(aes(k, ahead), s.aes_start, s.aes_time, s.gaps);
                const Timed ring = assembly::spread(reverse(d, ahead), s.reverse_start, s.reverse_time);
                const Timed hash = assembly::spread(products(s, ahead), s.hash_start, s.hash_time);
                // In order: in place, the ciphertext of a decryption is read before it is overwritten.
                if (d == Direction::encrypt) return std::vector<Timed>{cipher, ring, hash};
                return std::vector<Timed>{ring, cipher, hash};
              },
          .advance = advance,
          .between = {reduce_to_hash()}};
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
  full.shl(r.power, 7);
  full.neg(r.power);
  full.lea(r.power,
           Xbyak::util::ptr[r.context + r.power + (layout::power(0) - Roles::context_bias + Roles::power_bias)]);
  full.cut("H^(8 group)");

  Code last("control");
  last.mov(r.group, r.batches);
  last.mov(r.scratch, r.batches);
  last.shl(r.scratch, 7);
  last.mov(r.power, r.end_power);
  last.sub(r.power, r.scratch);
  last.cut("the powers that end at end_power");
  static_assert(layout::kPowerBytes * kBatchBlocks == 1 << 7);

  return when("group", compare(r.batches, kLastGroupBatches), Condition::above, full.strip(), last.strip());
}

Program batches(Direction d, KeyLength k, const BatchSchedule& s) {
  const assembly::PipelinedLoop loop = batch_loop(d, k, s);
  // The last turns are hashed after the loop, where no group may end.
  if (loop.lead > kLastGroupBatches) throw std::logic_error("more batches in flight than the last group holds");

  Code count("control");
  const Roles& r = count.r;
  count.sub(r.batches, 1);
  count.sub(r.group, 1);
  count.cut("one batch hashed");

  const Program turn = Program(loop.body, "AES of the next batch | GHASH of this one") + Program(count.strip()) +
                       when("reduce", {}, Condition::equal,
                            Program(reduce_to_hash(), "the group ends") + next_group() + begin_group(r.high));
  const Program pipelined = Program(loop.prologue, "AES of the first batch") +
                            when("more", compare(r.batches, loop.lead), Condition::above,
                                 repeat("turn", turn, compare(r.batches, loop.lead), Condition::above)) +
                            Program(loop.epilogue, "GHASH of the last batch");

  Program p = Program(first_counters(), "enter") + next_group() +
              when("hash", compare(r.batches, kLastGroupBatches), Condition::above, begin_group(r.hash));
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
  return p + Program(last_counter(), "leave");
}

}  // namespace stitchgcm::gcm
