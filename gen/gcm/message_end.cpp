// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/message_end.hpp"

#include <fmt/format.h>

#include "gcm/aes.hpp"
#include "gcm/control.hpp"
#include "gcm/ghash.hpp"
#include "gcm/partial.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using namespace Xbyak::util;

constexpr int kRungs = 7;
constexpr int kShortestTag = 4;

/// block[d] := AES(key, counter + whole - d) for 0 <= d <= 7 (d = 0 is the partial block's, or nobody's), and if asked
/// j0_block := AES(key, J0), nine blocks in lock step: they take hardly longer than one.
Program last_keystream(bool with_j0) {
  Code c("end");
  std::vector<Xbyak::Xmm> states;
  const Xbyak::Xmm t = c.r.product[0];
  c.vmovd(t, c.r.whole.cvt32());
  c.vpaddd(c.r.block(0), c.r.counter, t);
  c.cut("counter + whole");
  states.push_back(c.r.block(0));
  for (int d = 1; d <= kRungs; d++) {
    c.vpaddd(c.r.block(d), c.r.block(0), c.constant(counter_steps_back(), kCounterStepBytes * d));
    c.cut(fmt::format("{} before the end", d));
    states.push_back(c.r.block(d));
  }
  if (with_j0) {
    c.load(c.r.j0_block, MessageFrame::at(MessageFrame::kJ0));
    c.cut("J0");
    states.push_back(c.r.j0_block);
  }
  whiten(c, states, c.r.round_key);
  return Program(c.strip()) + aes_rounds_of_context(states, c.r.round_key);
}

/// in, out, power := where the whole blocks end.
Strip pointers_to_end() {
  Code c("end");
  c.mov(c.r.scratch, c.r.whole);
  c.shl(c.r.scratch, 4);
  c.add(c.r.in, c.r.scratch);
  c.add(c.r.out, c.r.scratch);
  c.lea(c.r.power, ptr[c.r.end_power + c.r.scratch]);
  return c.strip("past the whole blocks");
}

/// The whole block that ends `d` blocks before the end.
Strip rung(Direction direction, int d) {
  Code c(fmt::format("block {} before the end", d));
  const Xbyak::Xmm x = c.r.product[0], keystream = c.r.block(d);
  const int at = -layout::kBlockBytes * d;
  if (direction == Direction::encrypt) {
    c.add(keystream, keystream, ptr[c.r.in + at]);
    c.store(ptr[c.r.out + at], keystream);
    c.reverse_bytes(x, keystream);
  } else {
    c.load(x, ptr[c.r.in + at]);
    c.add(keystream, keystream, x);
    c.store(ptr[c.r.out + at], keystream);
    c.reverse_bytes(x, x);
  }
  c.cut("text");
  multiply_block_and_add(c, {c.r.power, -layout::kPowerBytes * d - Roles::power_bias});
  return c.strip();
}

Program whole_blocks(Direction direction, size_t least) {
  std::vector<Program> rungs;
  for (int d = kRungs; d >= 1; d--)
    rungs.push_back(Program(rung(direction, d), fmt::format("whole block {} before the end", d)));
  return ladder("blocks", Roles{}.whole, std::move(rungs), least);
}

/// The last block if it is not whole; its power is the one at `power`.
Program partial_block(Direction direction) {
  const Roles r;
  const Xbyak::Xmm x = r.product[0], keystream = r.block(0);
  Code apply("partial block");
  Program text;
  if (direction == Direction::encrypt) {
    apply.add(x, x, keystream);
    apply.cut("text ^ keystream");
    text = Program(apply.strip()) + keep_first_bytes(x, r.partial) + store_partial(r.out, x, r.partial, r.group);
  } else {
    apply.add(keystream, keystream, x);
    apply.cut("text ^ keystream");
    text = Program(apply.strip()) + store_partial(r.out, keystream, r.partial, r.group);
  }
  Code hash("partial block");
  hash.reverse_bytes(x, x);
  multiply_block_and_add(hash, {r.power, -Roles::power_bias});
  return when("partial", is_zero(r.partial), Condition::not_equal,
              load_partial(x, r.in, r.partial) + text + hash.strip());
}

/// product[0] := [bits(AAD)]64 || [bits(text)]64, bytes reversed.
void lengths_block(Code& c) {
  const Xbyak::Xmm x = c.r.product[0];
  c.mov(c.r.scratch, c.r.message_at(layout::kTextBytes));
  c.shl(c.r.scratch, 3);
  c.vmovq(x, c.r.scratch);
  c.mov(c.r.scratch, c.r.message_at(layout::kAadBytes));
  c.shl(c.r.scratch, 3);
  c.vpinsrq(x, x, c.r.scratch, 1);
  c.cut("[bits(AAD)]64 || [bits(text)]64");
}

}  // namespace

Program end_of_blocks(Direction d) {
  Code next("end");
  next.vmovd(next.r.product[0], next.r.whole.cvt32());
  next.vpaddd(next.r.product[0], next.r.product[0], next.r.counter);
  next.reverse_bytes(next.r.product[0], next.r.product[0]);
  next.store(ptr[next.r.counter_pointer], next.r.product[0]);
  next.cut("the next counter block");
  return Program(next.strip(), "end of the text") +
         when("rest", is_zero(next.r.whole), Condition::not_equal,
              last_keystream(false) + pointers_to_end() + whole_blocks(d, 1));
}

Program finish(Direction d) {
  Code lengths("lengths");
  lengths_block(lengths);
  multiply_block_and_add(lengths, power_in_context(lengths.r, 1));
  Code tag("tag");
  reduce(tag);
  tag.reverse_bytes(tag.r.high, tag.r.high);
  tag.cut("GHASH");
  tag.add(tag.r.high, tag.r.high, tag.r.j0_block);
  tag.cut("T = GHASH ^ AES(J0)");
  return Program(Strip{}, "keystream of the end, and of J0") + last_keystream(true) + pointers_to_end() +
         Program(lengths.strip(), "lengths block") + whole_blocks(d, 0) + partial_block(d) +
         Program(tag.strip(), "tag");
}

Program store_tag() {
  const Roles r;
  Code begin("tag");
  begin.mov(r.out, r.message_at(layout::kTag));
  begin.mov(r.partial, r.message_at(layout::kTagBytes));
  begin.cmp(r.partial, 16);
  begin.cut("the tag's length");
  Code whole("tag");
  whole.store(ptr[r.out], r.high);
  whole.cut("16 bytes");
  return Program(begin.strip()) + when("tag16", {}, Condition::equal, whole.strip(),
                                       store_partial(r.out, r.high, r.partial, r.group, kShortestTag));
}

Program check_tag() {
  const Roles r;
  const Xbyak::Xmm expected = r.product[0];
  Code begin("tag");
  begin.mov(r.in, r.message_at(layout::kTag));
  begin.mov(r.partial, r.message_at(layout::kTagBytes));
  begin.cmp(r.partial, 16);
  begin.cut("the tag's length");
  Code whole("tag");
  whole.load(expected, ptr[r.in]);
  whole.cut("16 bytes");
  Code differs("tag");
  differs.add(expected, expected, r.high);
  differs.vptest(expected, expected);
  differs.cut("zero flag: the tag is right");
  Code good("tag");
  good.mov(eax, 1);
  good.cut("authentic");

  Code zeros("wipe");
  zeros.mov(r.out, r.message_at(layout::kOut));
  zeros.mov(r.partial, r.message_at(layout::kTextBytes));
  zeros.clear(expected);
  zeros.cut("nothing of the text stays");
  Code sixteen("wipe");
  sixteen.store(ptr[r.out], expected);
  sixteen.add(r.out, 16);
  sixteen.cut("16 zeros");
  Code next_sixteen("wipe");
  next_sixteen.sub(r.partial, 16);
  next_sixteen.cmp(r.partial, 16);
  next_sixteen.cut("whole blocks");
  Code one("wipe");
  one.mov(byte[r.out], 0);
  one.add(r.out, 1);
  one.cut("a zero");
  Code next_one("wipe");
  next_one.sub(r.partial, 1);
  next_one.cut("bytes");
  Code bad("tag");
  bad.xor_(eax, eax);
  bad.cut("not authentic");
  const Program refuse =
      Program(zeros.strip(), "not authentic: zeros for the text") +
      when("whole", compare(r.partial, 16), Condition::above_or_equal,
           repeat("block", sixteen.strip(), next_sixteen.strip(), Condition::above_or_equal, false)) +
      when("rest", is_zero(r.partial), Condition::not_equal,
           repeat("byte", one.strip(), next_one.strip(), Condition::not_equal, false)) +
      bad.strip();

  return Program(begin.strip(), "compare the tags") +
         when("tag16", {}, Condition::equal, whole.strip(), load_partial(expected, r.in, r.partial, kShortestTag)) +
         keep_first_bytes(r.high, r.partial) + differs.strip() +
         when("authentic", {}, Condition::equal, good.strip(), refuse);
}

Strip wipe_vectors() {
  Code c("wipe");
  for (int n = 0; n < 16; n++) c.clear(Xbyak::Xmm(n));
  return c.strip("no key, keystream or text stays behind");
}

Program wipe_message_frame(const Choices& choices) {
  const auto zeros = [](std::vector<int> offsets) {
    Code c("wipe");
    c.clear(c.r.block(0));
    for (int offset : offsets) c.store(MessageFrame::at(offset), c.r.block(0));
    return c.strip("nothing secret in the frame");
  };
  std::vector<int> used{MessageFrame::kJ0, MessageFrame::kHash};
  if (choices.first_counters == FirstCounters::memory || choices.end == EndOfText::calls) {
    used.push_back(MessageFrame::kCounterBlock);
    used.push_back(MessageFrame::kText);
  }
  std::vector<int> patterns;
  for (int offset = MessageFrame::kPatterns; offset < MessageFrame::kBytes; offset += 16) patterns.push_back(offset);
  Code own("control");
  own.lea(own.r.group, MessageFrame::at(MessageFrame::kPatterns));
  own.cmp(own.r.counter_patterns, own.r.group);
  own.cut("patterns of J0's own, which hold bits of it?");
  return Program(zeros(used)) + when("patterns", own.strip(), Condition::equal, zeros(patterns));
}

}  // namespace stitchgcm::gcm
