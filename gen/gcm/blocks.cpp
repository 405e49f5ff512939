// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/blocks.hpp"

#include <fmt/format.h>

#include "gcm/aes.hpp"
#include "gcm/batch.hpp"
#include "gcm/control.hpp"
#include "gcm/ghash.hpp"
#include "gcm/message_end.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using namespace Xbyak::util;

/// block[n] := AES(key, counter + n), 0 <= n < 8; the counter waits in product[0], bytes reversed.
Program eight_blocks_of_keystream() {
  Code c("keystream");
  std::vector<Xbyak::Xmm> states;
  for (int n = 0; n < kBatchBlocks; n++) {
    c.vpaddd(c.r.block(n), c.r.product[0], c.constant(counter_steps(), kCounterStepBytes * n));
    c.cut("counter + n");
    states.push_back(c.r.block(n));
  }
  whiten(c, states, c.r.round_key);
  return Program(c.strip()) + aes_rounds_of_context(states, c.r.round_key);
}

Strip text_block(int n, int at) {
  Code c("text");
  c.add(c.r.block(n), c.r.block(n), ptr[c.r.in + at]);
  c.store(ptr[c.r.out + at], c.r.block(n));
  return c.strip(fmt::format("block {}", n));
}

/// X_n of a run of eight, its products with H^(8-n) added to the sums; Y goes to the first.
Strip ghash_block(int n, const Xbyak::Reg64& data, int at, int exponent, bool first) {
  Code c(fmt::format("block {}", n));
  const Xbyak::Xmm x = c.r.product[0];
  c.load(x, ptr[data + at]);
  c.reverse_bytes(x, x);
  if (first) c.add(x, x, c.r.hash);
  c.cut(first ? "X ^ Y" : "X");
  multiply_block_and_add(c, power_in_context(c.r, exponent));
  return c.strip();
}

}  // namespace

Program ctr32() {
  const Roles r;
  const Xbyak::Xmm counter = r.product[0];
  Code begin("enter");
  begin.lea(r.context, ptr[rdi + Roles::context_bias]);
  begin.mov(r.out, rdx);
  begin.mov(r.batches, rcx);
  begin.mov(r.whole, rcx);
  begin.mov(r.counter_pointer, r8);
  begin.shr(r.batches, 3);
  begin.and_(r.whole.cvt32(), 7);
  begin.load(counter, ptr[r.counter_pointer]);
  begin.reverse_bytes(counter, counter);
  begin.cut("blocks = 8 batches + whole");

  Program batch = Program(Strip{}, "eight blocks") + eight_blocks_of_keystream();
  for (int n = 0; n < kBatchBlocks; n++) batch += text_block(n, layout::kBlockBytes * n);
  Code advance("advance");
  advance.vpaddd(counter, counter, advance.constant(counter_steps(), kCounterStepBytes * kBatchBlocks));
  advance.add(r.in, layout::kBlockBytes * kBatchBlocks);
  advance.add(r.out, layout::kBlockBytes * kBatchBlocks);
  advance.cut("the next eight");
  Code next("control");
  next.sub(r.batches, 1);
  next.cut("batches");

  Code last("end");
  last.vmovd(r.product[1], r.whole.cvt32());
  last.vpaddd(r.product[1], r.product[1], counter);
  last.reverse_bytes(r.product[1], r.product[1]);
  last.store(ptr[r.counter_pointer], r.product[1]);
  last.cut("the next counter block");
  std::vector<Program> rungs;
  for (int n = kBatchBlocks - 2; n >= 0; n--) rungs.push_back(text_block(n, layout::kBlockBytes * n));

  return Program(begin.strip(), "enter") +
         when("batches", is_zero(r.batches), Condition::not_equal,
              repeat("batch", batch + advance.strip(), next.strip(), Condition::not_equal)) +
         Program(last.strip(), "the blocks that are left") +
         when("rest", is_zero(r.whole), Condition::not_equal,
              eight_blocks_of_keystream() + ladder("blocks", r.whole, std::move(rungs), 1)) +
         Program(wipe_vectors(), "wipe");
}

Program ghash() {
  const Roles r;
  const Xbyak::Reg64 data = r.in, blocks = r.batches;
  Code begin("enter");
  begin.lea(r.context, ptr[rdi + Roles::context_bias]);
  begin.mov(r.accumulator_pointer, rsi);
  begin.mov(data, rdx);
  begin.mov(blocks, rcx);
  begin.mov(r.whole, rcx);
  begin.shr(blocks, 3);
  begin.and_(r.whole.cvt32(), 7);
  begin.load(r.hash, ptr[r.accumulator_pointer]);
  begin.reverse_bytes(r.hash, r.hash);
  begin.cut("Y; blocks = 8 batches + whole");

  Code sums("sums");
  clear_sums(sums);
  const Strip no_sums = sums.strip();
  Strip batch = no_sums;
  // Y comes last: it is the end of a long chain, and the other seven products need not wait for it.
  for (int n = kBatchBlocks - 1; n >= 0; n--) {
    batch += ghash_block(n, data, layout::kBlockBytes * n, kBatchBlocks - n, n == 0);
  }
  Code end("reduce");
  reduce(end);
  end.move(r.hash, r.high);
  end.cut("Y");
  const Strip reduced = end.strip();
  Code advance("advance");
  advance.add(data, layout::kBlockBytes * kBatchBlocks);
  advance.cut("the next eight");
  Code next("control");
  next.sub(blocks, 1);
  next.cut("batches");

  // From the last block backwards, as at the end of a message; Y is multiplied on its own.
  Code to_end("end");
  to_end.mov(r.scratch, r.whole);
  to_end.shl(r.scratch, 4);
  to_end.add(data, r.scratch);
  to_end.neg(r.scratch);
  to_end.lea(r.power, ptr[r.context + r.scratch + (layout::power(0) - Roles::context_bias)]);
  to_end.move(r.product[0], r.hash);
  to_end.cut("Y");
  multiply_block_and_add(to_end, {r.power, 0});
  std::vector<Program> rungs;
  for (int d = kBatchBlocks - 1; d >= 1; d--) rungs.push_back(ghash_block(d, data, -layout::kBlockBytes * d, d, false));

  Code done("leave");
  done.reverse_bytes(r.hash, r.hash);
  done.store(ptr[r.accumulator_pointer], r.hash);
  done.cut("Y");

  return Program(begin.strip(), "enter") +
         when("batches", is_zero(blocks), Condition::not_equal,
              repeat("batch", Program(batch, "eight blocks") + Program(reduced) + advance.strip(), next.strip(),
                     Condition::not_equal)) +
         when("rest", is_zero(r.whole), Condition::not_equal,
              Program(no_sums, "the blocks that are left") + to_end.strip() +
                  ladder("blocks", r.whole, std::move(rungs), 1) + Program(reduced)) +
         Program(done.strip(), "leave") + wipe_vectors();
}

}  // namespace stitchgcm::gcm
