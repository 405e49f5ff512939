// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The end of a message by calls, for measuring: see message_end.hpp.
#include "gcm/control.hpp"
#include "gcm/ghash.hpp"
#include "gcm/message_end.hpp"
#include "gcm/partial.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using namespace Xbyak::util;

// Across the calls.
const Xbyak::Reg64 kIn = r12, kOut = r13, kWhole = r14, kPartial = r15;

template <class F>
Program step(F record) {
  Code c("end by calls");
  record(c);
  return Program(c.strip("arguments"));
}

Program call_ctr32(const Target& t) {
  return step([](Code& c) {
           c.lea(rdi, ptr[c.r.context - Roles::context_bias]);
           c.lea(r8, MessageFrame::at(MessageFrame::kCounterBlock));
         }) +
         assembly::call(t.symbol("ctr32"));
}

Program call_ghash(const Target& t) {
  return step([](Code& c) {
           c.lea(rdi, ptr[c.r.context - Roles::context_bias]);
           c.lea(rsi, MessageFrame::at(MessageFrame::kHash));
         }) +
         assembly::call(t.symbol("ghash"));
}

Program ctr32_of_text(const Target& t) {
  return step([](Code& c) { c.mov(rsi, kIn), c.mov(rdx, kOut), c.mov(rcx, kWhole); }) + call_ctr32(t);
}

Program ghash_of(const Target& t, const Xbyak::Reg64& data) {
  return step([&](Code& c) { c.mov(rdx, data), c.mov(rcx, kWhole); }) + call_ghash(t);
}

Program ctr32_of_buffer(const Target& t) {
  return step([](Code& c) {
           c.lea(rsi, MessageFrame::at(MessageFrame::kText));
           c.mov(rdx, rsi);
           c.mov(ecx, 1);
         }) +
         call_ctr32(t);
}

Program ghash_of_buffer(const Target& t) {
  return step([](Code& c) {
           c.lea(rdx, MessageFrame::at(MessageFrame::kText));
           c.mov(ecx, 1);
         }) +
         call_ghash(t);
}

Program store_buffer(const Xbyak::Xmm& x) {
  return step([&](Code& c) { c.store(MessageFrame::at(MessageFrame::kText), x); });
}

Program partial_block(const Target& t, Direction d) {
  const Xbyak::Xmm x = Roles{}.product[0];
  const Program load = load_partial(x, kIn, kPartial) + store_buffer(x);
  const Program crypt = ctr32_of_buffer(t) + step([&](Code& c) { c.load(x, MessageFrame::at(MessageFrame::kText)); }) +
                        keep_first_bytes(x, kPartial) + store_partial(kOut, x, kPartial, Roles{}.group);
  if (d == Direction::encrypt) return load + crypt + store_buffer(x) + ghash_of_buffer(t);
  return load + ghash_of_buffer(t) + crypt;
}

}  // namespace

std::vector<Xbyak::Reg64> saved_by_finish_by_calls() { return {kIn, kOut, kWhole, kPartial}; }

Program finish_by_calls(const Target& t, Direction d) {
  const Roles r;
  const Xbyak::Xmm x = r.product[0];

  Code begin("end by calls");
  begin.mov(kIn, r.in), begin.mov(kOut, r.out), begin.mov(kWhole, r.whole), begin.mov(kPartial, r.partial);
  begin.reverse_bytes(x, r.counter);
  begin.store(MessageFrame::at(MessageFrame::kCounterBlock), x);
  begin.reverse_bytes(r.hash, r.hash);
  begin.store(MessageFrame::at(MessageFrame::kHash), r.hash);
  begin.cut("the counter block and Y to the frame");

  Code past("end by calls");
  past.shl(kWhole, 4);
  past.add(kIn, kWhole);
  past.add(kOut, kWhole);
  past.cut("past the whole blocks");

  Code lengths("end by calls");
  lengths.mov(r.scratch, r.message_at(layout::kTextBytes));
  lengths.shl(r.scratch, 3);
  lengths.vmovq(x, r.scratch);
  lengths.mov(r.scratch, r.message_at(layout::kAadBytes));
  lengths.shl(r.scratch, 3);
  lengths.vpinsrq(x, x, r.scratch, 1);
  lengths.reverse_bytes(x, x);
  lengths.store(MessageFrame::at(MessageFrame::kText), x);
  lengths.cut("lengths block");

  Code j0("end by calls");
  j0.load(x, MessageFrame::at(MessageFrame::kJ0));
  j0.reverse_bytes(x, x);
  j0.store(MessageFrame::at(MessageFrame::kCounterBlock), x);
  j0.clear(x);
  j0.store(MessageFrame::at(MessageFrame::kText), x);
  j0.cut("J0");

  Code tag("end by calls");
  tag.load(r.high, MessageFrame::at(MessageFrame::kText));
  tag.add(r.high, r.high, MessageFrame::at(MessageFrame::kHash));
  tag.cut("T = GHASH ^ AES(J0)");

  const Program whole =
      d == Direction::encrypt ? ctr32_of_text(t) + ghash_of(t, kOut) : ghash_of(t, kIn) + ctr32_of_text(t);
  return Program(begin.strip(), "end of the text, by calls") +
         when("whole", is_zero(kWhole), Condition::not_equal, whole) + past.strip() +
         when("partial", is_zero(kPartial), Condition::not_equal, partial_block(t, d)) + lengths.strip() +
         ghash_of_buffer(t) + j0.strip() + ctr32_of_buffer(t) + tag.strip();
}

}  // namespace stitchgcm::gcm
