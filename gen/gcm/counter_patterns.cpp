// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/counter_patterns.hpp"

#include <fmt/format.h>

namespace stitchgcm::gcm {
namespace {

constexpr int kAtOnce = 8;

Xbyak::Address step(Code& c, int n) { return c.constant(counter_steps(), kCounterStepBytes * n); }

/// x := reversed(counter) ^ round key 0.
void whitened(Code& c, const Xbyak::Xmm& x, const Xbyak::Xmm& counter) {
  c.reverse_bytes(x, counter);
  c.add(x, x, c.r.round_key_at(0));
}

}  // namespace

assembly::Strip make_counter_patterns(const Xbyak::RegExp& to) {
  Code c("counters");
  const Xbyak::Xmm r = c.r.product[0], x = c.r.product[1];
  c.vpslld(r, c.r.counter, 29);
  c.vpsrld(r, r, 29);
  c.cut("r");
  for (int j = 0; j < kAtOnce; j++) {
    c.vpaddd(x, r, step(c, j));
    // Bit 3, the carry, to all bits above it. The other words meet zeros of \`difference\`.
    c.vpslld(x, x, 28);
    c.vpsrad(x, x, 28);
    c.reverse_bytes(x, x);
    c.store(Xbyak::util::ptr[to + layout::kBlockBytes * j], x);
    c.cut(fmt::format("pattern {}", j));
  }
  return c.strip();
}

assembly::Strip first_counters() {
  Code c("counters");
  const Xbyak::Xmm counter = c.r.block(2), now = c.r.block(3), next = c.r.block(4);
  c.vpand(counter, c.r.counter, c.constant(multiple_of_8()));
  c.add(now, c.r.counter, counter);
  c.store(BatchFrame::start(), now);
  c.cut("8 i and r");
  whitened(c, now, counter);
  c.store(BatchFrame::now(), now);
  c.cut("now");
  c.vpaddd(counter, counter, step(c, kAtOnce));
  c.store(BatchFrame::counter(), counter);
  whitened(c, next, counter);
  c.store(BatchFrame::next(), next);
  c.cut("next");
  c.add(now, now, next);
  c.vpor(now, now, c.constant(below_8()));
  c.store(BatchFrame::difference(), now);
  return c.strip("difference");
}

void counter_blocks(Code& c) {
  const Xbyak::Xmm first = c.r.round_key, second = c.r.next_counters;
  c.load(first, BatchFrame::difference()), c.cut("counter blocks");
  c.load(second, BatchFrame::now()), c.cut("counter blocks");
  for (int j = 0; j < kAtOnce; j++) {
    c.vpand(c.r.block(j), first, Xbyak::util::ptr[c.r.counter_patterns + layout::kBlockBytes * j]);
    c.add(c.r.block(j), c.r.block(j), second);
    c.cut("counter blocks");
  }
  c.load(second, BatchFrame::counter());
  c.vpaddd(second, second, step(c, kAtOnce));
  c.store(BatchFrame::counter(), second);
  c.cut("the next counters");
  whitened(c, second, second);
  c.load(first, BatchFrame::next());
  c.cut("the next counters");
  c.store(BatchFrame::now(), first);
  c.store(BatchFrame::next(), second);
  c.cut("the next counters");
  c.add(first, first, second);
  c.vpor(first, first, c.constant(below_8()));
  c.store(BatchFrame::difference(), first);
  c.cut("the next counters");
}

assembly::Strip last_counter() {
  Code c("counters");
  const Xbyak::Xmm counter = c.r.counter, zero = c.r.block(1);
  // The frame's counter is that of `next`, one step ahead.
  c.load(counter, BatchFrame::counter());
  c.vpaddd(counter, counter, c.constant(counter_steps_back(), kCounterStepBytes * kAtOnce));
  c.vpaddd(counter, counter, BatchFrame::start());
  c.cut("8 i + r");
  c.clear(zero);
  for (const Xbyak::Address& a :
       {BatchFrame::now(), BatchFrame::next(), BatchFrame::difference(), BatchFrame::counter(), BatchFrame::start()}) {
    c.store(a, zero);
  }
  return c.strip("the frame's secrets are wiped");
}

}  // namespace stitchgcm::gcm
