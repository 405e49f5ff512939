// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/message_start.hpp"

#include "gcm/batch.hpp"
#include "gcm/control.hpp"
#include "gcm/counter_patterns.hpp"
#include "gcm/ghash.hpp"
#include "gcm/partial.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using namespace Xbyak::util;

/// AAD that is not hashed by ghash. With the three batches and the nine other blocks of the last group, each of its
/// blocks has a power.
constexpr int kLastAadBytes = 64;
static_assert(kLastAadBytes / 16 + kLastGroupBatches * kBatchBlocks + 9 <= layout::kPowerCount);

constexpr int entry(int exponent) { return layout::power(exponent) - Roles::context_bias + Roles::power_bias; }

/// ghash(context, frame's hash, data, blocks): data and blocks are in rdx and rcx.
Program call_ghash(const Target& target) {
  Code c("call");
  c.lea(rdi, ptr[c.r.context - Roles::context_bias]);
  c.lea(rsi, MessageFrame::at(MessageFrame::kHash));
  return Program(c.strip("GHASH of whole blocks")) + assembly::call(target.symbol("ghash"));
}

Strip j0_of_12_bytes(FirstCounters how) {
  Code c("J0");
  const Xbyak::Xmm x = c.r.counter;
  c.mov(c.r.scratch, c.r.message_at(layout::kIv));
  if (how == FirstCounters::registers) {
    // Three loads of 4 bytes: callers write an IV in parts (4 + 8 or 8 + 4), and a load that spans two stores waits
    // until both have left the store queue.
    c.vmovd(x, dword[c.r.scratch]);
    c.vpinsrd(x, x, dword[c.r.scratch + 4], 1);
    c.vpinsrd(x, x, dword[c.r.scratch + 8], 2);
    c.mov(ecx, 0x01000000);
    c.vpinsrd(x, x, ecx, 3);
    c.cut("IV || 0^31 || 1");
  } else {
    c.mov(rcx, ptr[c.r.scratch]);
    c.mov(MessageFrame::at(MessageFrame::kCounterBlock), rcx);
    c.mov(ecx, dword[c.r.scratch + 8]);
    c.mov(dword[rsp + MessageFrame::kCounterBlock + 8], ecx);
    c.mov(dword[rsp + MessageFrame::kCounterBlock + 12], 0x01000000);
    c.load(x, MessageFrame::at(MessageFrame::kCounterBlock));
    c.cut("IV || 0^31 || 1, by way of memory");
  }
  c.reverse_bytes(x, x);
  c.store(MessageFrame::at(MessageFrame::kJ0), x);
  c.cut("J0");
  c.lea(c.r.counter_patterns, c.constant(counter_patterns_from_2()));
  return c.strip("the text's counters start at 2");
}

/// hash := (hash ^ product[0]) * H, by one product; product[0] has SP 800-38D's byte order.
Strip hash_block() {
  Code c("J0");
  const Xbyak::Xmm x = c.r.product[0];
  c.reverse_bytes(x, x);
  c.add(c.r.hash, c.r.hash, x);
  c.cut("Y ^ X");
  multiply(c, c.r.hash, power_in_context(c.r, 1));
  c.move(c.r.hash, c.r.high);
  return c.strip("Y");
}

Program j0_of_other_lengths(const Target& target) {
  Code clear("J0");
  clear.clear(clear.r.hash);
  clear.store(MessageFrame::at(MessageFrame::kHash), clear.r.hash);
  clear.cut("Y := 0");
  clear.mov(rdx, clear.r.message_at(layout::kIv));
  clear.mov(rcx, clear.r.message_at(layout::kIvBytes));
  clear.shr(rcx, 4);
  clear.cut("the IV's whole blocks");

  Code rest("J0");
  rest.load(rest.r.hash, MessageFrame::at(MessageFrame::kHash));
  rest.reverse_bytes(rest.r.hash, rest.r.hash);
  rest.cut("Y");
  rest.mov(rest.r.aad, rest.r.message_at(layout::kIv));
  rest.mov(rest.r.aad_bytes, rest.r.message_at(layout::kIvBytes));
  rest.mov(rest.r.scratch, rest.r.aad_bytes);
  rest.and_(rest.r.scratch, -16);
  rest.add(rest.r.aad, rest.r.scratch);
  rest.and_(rest.r.aad_bytes.cvt32(), 15);
  rest.cut("the bytes after the whole blocks");

  Code lengths("J0");
  lengths.mov(lengths.r.scratch, lengths.r.message_at(layout::kIvBytes));
  lengths.shl(lengths.r.scratch, 3);
  lengths.bswap(lengths.r.scratch);
  lengths.vmovq(lengths.r.product[0], lengths.r.scratch);
  lengths.vpslldq(lengths.r.product[0], lengths.r.product[0], 8);
  lengths.cut("0^64 || [bits(IV)]64");

  Code done("J0");
  done.store(MessageFrame::at(MessageFrame::kJ0), done.r.hash);
  done.cut("J0");
  done.vpaddd(done.r.counter, done.r.hash, done.constant(counter_steps(), kCounterStepBytes));
  done.lea(done.r.counter_patterns, MessageFrame::at(MessageFrame::kPatterns));
  done.cut("J0 + 1");

  return Program(clear.strip(), "J0 of an IV that is not 12 bytes long") + call_ghash(target) + rest.strip() +
         when("partial", {}, Condition::not_equal,
              load_partial(rest.r.product[0], rest.r.aad, rest.r.aad_bytes) + hash_block()) +
         lengths.strip() + hash_block() + done.strip() + make_counter_patterns(rsp + MessageFrame::kPatterns);
}

/// hash := GHASH of all AAD but the last 1..64 bytes, through the ghash routine.
Program hash_long_aad(const Target& target) {
  Code begin("AAD");
  begin.store(MessageFrame::at(MessageFrame::kHash), begin.r.hash);
  begin.lea(rcx, ptr[begin.r.scratch - 1]);
  begin.shr(rcx, 6);
  begin.shl(rcx, 2);
  begin.mov(rdx, begin.r.message_at(layout::kAad));
  begin.cut("all but the last 1..64 bytes");
  Code end("AAD");
  end.load(end.r.hash, MessageFrame::at(MessageFrame::kHash));
  end.reverse_bytes(end.r.hash, end.r.hash);
  end.cut("Y");
  return Program(begin.strip(), "long AAD") + call_ghash(target) + end.strip();
}

/// aad, aad_bytes := the last 1..64 bytes.
Strip last_aad_bytes() {
  Code c("AAD");
  c.mov(c.r.scratch, c.r.message_at(layout::kAadBytes));
  c.lea(c.r.aad_bytes, ptr[c.r.scratch - 1]);
  c.and_(c.r.aad_bytes.cvt32(), kLastAadBytes - 1);
  c.add(c.r.aad_bytes.cvt32(), 1);
  c.mov(c.r.aad, c.r.message_at(layout::kAad));
  c.add(c.r.aad, c.r.scratch);
  c.sub(c.r.aad, c.r.aad_bytes);
  return c.strip("the last 1..64 bytes of AAD");
}

/// group := blocks of AAD + 8 batches + whole + (partial > 0) + 1; scratch := blocks of AAD.
Strip count_blocks() {
  Code c("AAD");
  c.lea(c.r.scratch.cvt32(), ptr[c.r.aad_bytes + 15]);
  c.shr(c.r.scratch.cvt32(), 4);
  c.cut("blocks of AAD");
  c.lea(c.r.group, ptr[c.r.scratch + c.r.batches * 8]);
  c.lea(c.r.group, ptr[c.r.group + c.r.whole + 1]);
  c.cmp(c.r.partial, 1);
  c.sbb(c.r.group, -1);
  return c.strip("blocks left to hash, the lengths included");
}

Strip power_of(const Xbyak::Reg64& exponent) {
  Code c("AAD");
  c.neg(exponent);
  c.shl(exponent, 4);
  c.lea(c.r.power, ptr[c.r.context + exponent + entry(0)]);
  return c.strip("the power of the first block");
}

/// sums += (product[0] ^ hash) * power; hash := 0; power moves on.
Strip aad_block() {
  Code c("AAD");
  const Xbyak::Xmm x = c.r.product[0];
  c.reverse_bytes(x, x);
  c.add(x, x, c.r.hash);
  c.clear(c.r.hash);
  c.cut("X ^ Y");
  multiply_block_and_add(c, {c.r.power, -Roles::power_bias});
  c.add(c.r.power, layout::kPowerBytes);
  return c.strip("the next power");
}

Program aad_blocks() {
  const Roles r;
  Code load("AAD");
  load.load(r.product[0], ptr[r.aad]);
  load.add(r.aad, layout::kBlockBytes);
  load.cut("X");
  Code next("AAD");
  next.sub(r.aad_bytes, layout::kBlockBytes);
  next.cmp(r.aad_bytes, layout::kBlockBytes);
  next.cut("whole blocks of AAD");
  return when("whole", compare(r.aad_bytes, layout::kBlockBytes), Condition::above_or_equal,
              repeat("block", Program(load.strip()) + aad_block(), next.strip(), Condition::above_or_equal, false)) +
         when("partial", is_zero(r.aad_bytes), Condition::not_equal,
              load_partial(r.product[0], r.aad, r.aad_bytes) + aad_block());
}

/// hash := Y, sums := 0.
Strip end_aad_group() {
  Code c("AAD");
  reduce(c);
  c.move(c.r.hash, c.r.high);
  c.cut("Y");
  clear_sums(c);
  return c.strip();
}

}  // namespace

Program make_j0(const Target& target, FirstCounters how) {
  return when("iv12", compare(qword[Roles{}.message + layout::kIvBytes], 12), Condition::equal,
              Program(j0_of_12_bytes(how), "J0"), j0_of_other_lengths(target));
}

Program split_text_length() {
  Code c("lengths");
  c.mov(c.r.batches, c.r.message_at(layout::kTextBytes));
  c.mov(c.r.partial.cvt32(), c.r.batches.cvt32());
  c.mov(c.r.whole.cvt32(), c.r.batches.cvt32());
  c.and_(c.r.partial.cvt32(), 15);
  c.shr(c.r.whole.cvt32(), 4);
  c.and_(c.r.whole.cvt32(), 7);
  c.shr(c.r.batches, 7);
  return Program(c.strip("bytes = 128 batches + 16 whole + partial"));
}

Program text_pointers() {
  Code c("lengths");
  c.lea(c.r.end_power, ptr[c.r.whole + 1]);
  c.cmp(c.r.partial, 1);
  c.sbb(c.r.end_power, -1);
  c.cut("blocks after the batches: whole + (partial > 0) + 1");
  c.neg(c.r.end_power);
  c.shl(c.r.end_power, 4);
  c.lea(c.r.end_power, ptr[c.r.context + c.r.end_power + entry(0)]);
  c.cut("the power of the first of them");
  c.mov(c.r.in, c.r.message_at(layout::kIn));
  c.mov(c.r.out, c.r.message_at(layout::kOut));
  return Program(c.strip("text"));
}

Program hash_aad(const Target& target, bool aggregate) {
  const Roles r;
  Code begin("AAD");
  begin.clear(r.hash), begin.cut("Y := 0");
  Code sums("AAD");
  clear_sums(sums);
  Code length("AAD");
  length.mov(r.scratch, r.message_at(layout::kAadBytes));
  length.test(r.scratch, r.scratch);
  length.cut("AAD");

  // The exponent of the first block: either all blocks of the message have a power, or only those of the AAD, and Y is
  // handed on reduced: more than three batches are hashed in groups of their own, see batch.hpp.
  Code exponent("AAD");
  if (aggregate) {
    exponent.cmp(r.batches, kLastGroupBatches);
    exponent.cmova(r.group, r.scratch);
  } else {
    exponent.mov(r.group, r.scratch);
  }
  exponent.cut("a power for each block, or for the AAD alone");
  Code used_up("control");
  used_up.lea(r.scratch, ptr[r.context + entry(0)]);
  used_up.cmp(r.power, r.scratch);
  used_up.cut("was H the last power?");
  const Program hash = Program(count_blocks()) + exponent.strip() + power_of(r.group) + aad_blocks() +
                       when("alone", used_up.strip(), Condition::equal, end_aad_group());
  return Program(begin.strip(), "AAD") +
         when("aad", length.strip(), Condition::not_equal,
              when("long", compare(r.scratch, kLastAadBytes), Condition::above, hash_long_aad(target)) +
                  split_text_length() + last_aad_bytes() + sums.strip() + hash,
              Program(sums.strip()) + split_text_length());
}

}  // namespace stitchgcm::gcm
