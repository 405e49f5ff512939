// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/routines.hpp"

#include <fmt/format.h>

#include <array>

#include "gcm/batch.hpp"
#include "gcm/blocks.hpp"
#include "gcm/control.hpp"
#include "gcm/counter_patterns.hpp"
#include "gcm/ghash.hpp"
#include "gcm/key_expand.hpp"
#include "gcm/message_end.hpp"
#include "gcm/message_start.hpp"
#include "gcm/power_table.hpp"
#include "gcm/prototypes.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Routine;
using assembly::SourceFile;
using assembly::Strip;
using namespace Xbyak::util;

constexpr std::array kKeyLengths{KeyLength::aes128, KeyLength::aes192, KeyLength::aes256};

std::string key_name(KeyLength k) { return fmt::format("aes{}", key_bits(k)); }

std::string direction_name(Direction d) { return d == Direction::encrypt ? "encrypt" : "decrypt"; }

const Target kTarget{"aesni_avx"};

std::string symbol(const std::string& routine) { return kTarget.symbol(routine); }

std::string batches_symbol(Direction d, KeyLength k) { return symbol(direction_name(d) + "_batches_" + key_name(k)); }

const BatchSchedule& schedule(const Choices& c, Direction d) { return d == Direction::encrypt ? c.encrypt : c.decrypt; }

Routine init(KeyLength k) {
  Code begin("enter");
  begin.lea(begin.r.context, ptr[rdi + Roles::context_bias]);
  begin.cut("context");
  Routine r = init_prototype(k);
  r.symbol = symbol("init_" + key_name(k));
  r.frame = {0, {Roles{}.context}};
  r.program = Program(begin.strip(), "enter") + Program(key_expand(k, rsi), "key schedule, and H") +
              assembly::call(symbol("powers")) + Program(wipe_vectors(), "wipe");
  return r;
}

Routine powers() {
  Routine r = powers_prototype();
  r.symbol = symbol("powers");
  r.program = power_table();
  return r;
}

/// A call of the batches for the context's key length, which is public.
Program call_batches(Direction d) {
  const auto rounds_are = [](int n) {
    return compare(dword[Roles{}.context + (layout::kRounds - Roles::context_bias)], n);
  };
  return when(
      "aes128", rounds_are(rounds(KeyLength::aes128)), Condition::equal,
      assembly::call(batches_symbol(d, KeyLength::aes128)),
      when("aes192", rounds_are(rounds(KeyLength::aes192)), Condition::equal,
           assembly::call(batches_symbol(d, KeyLength::aes192)), assembly::call(batches_symbol(d, KeyLength::aes256))));
}

/// sums := Y H^(8 batches + blocks after them), if the batches are the last group too. A group that is not the last
/// takes Y in by itself, the last one goes on from the sums. Expects end_power and cleared sums.
Program y_before_batches() {
  const Roles roles;
  Code c("Y");
  c.mov(roles.scratch, roles.batches);
  c.shl(roles.scratch, 7);
  c.mov(roles.power, roles.end_power);
  c.sub(roles.power, roles.scratch);
  c.move(c.r.product[0], roles.hash);
  c.cut("Y");
  multiply_block_and_add(c, {roles.power, -Roles::power_bias});
  return when("one_group", compare(roles.batches, kLastGroupBatches), Condition::below_or_equal,
              Program(c.strip(), "Y on its own"));
}

/// seal or open.
Routine message(Direction d, const Choices& choices) {
  const Roles roles;
  const bool calls = choices.end == EndOfText::calls;

  Code begin("enter");
  begin.lea(roles.context, ptr[rdi + Roles::context_bias]);
  begin.mov(roles.message, rsi);
  begin.cut("context and message");

  Code counter("text");
  counter.load(roles.counter, MessageFrame::at(MessageFrame::kJ0));
  counter.vpaddd(roles.counter, roles.counter, counter.constant(counter_steps(), kCounterStepBytes));
  counter.cut("J0 + 1");

  Code clear_scalars("wipe");
  if (d == Direction::encrypt) clear_scalars.clear(roles.scratch);
  clear_scalars.clear(roles.shift);
  clear_scalars.clear(roles.group);
  clear_scalars.cut("no text in integer registers");

  Program text = call_batches(d);
  Code no_tail("text");
  if (calls) {
    no_tail.lea(roles.end_power, ptr[roles.context + (layout::power(0) - Roles::context_bias + Roles::power_bias)]);
    no_tail.cut("the batches are hashed on their own");
    Code reduced("text");
    reduce(reduced);
    reduced.move(roles.hash, roles.high);
    reduced.cut("Y");
    text = y_before_batches() + text + reduced.strip();
  }

  Routine r = d == Direction::encrypt ? seal_prototype() : open_prototype();
  r.symbol = symbol(d == Direction::encrypt ? "seal" : "open");
  r.frame = {MessageFrame::kBytes, {roles.context, roles.message, roles.counter_patterns}};
  if (calls) {
    for (const Xbyak::Reg64& saved : saved_by_finish_by_calls()) r.frame.saved.push_back(saved);
  }
  r.program = Program(begin.strip(), "enter") + make_j0(kTarget, choices.first_counters) + hash_aad(kTarget, !calls) +
              text_pointers() + no_tail.strip() + Program(counter.strip(), "text") +
              when("batches", is_zero(roles.batches), Condition::not_equal, text) +
              (calls ? finish_by_calls(kTarget, d) : finish(d)) +
              (d == Direction::encrypt ? store_tag() : check_tag()) + Program(Strip{}, "wipe") +
              wipe_message_frame(choices) + wipe_vectors() + clear_scalars.strip();
  return r;
}

constexpr int kPatternBytes = 16 * kBatchBlocks;

assembly::Strip wipe_patterns() {
  Code c("wipe");
  c.clear(c.r.product[0]);
  for (int j = 0; j < kBatchBlocks; j++) c.store(ptr[rsp + 16 * j], c.r.product[0]);
  return c.strip("the counter's low bits");
}

/// encrypt_blocks or decrypt_blocks.
Routine blocks(Direction d) {
  const Roles roles;
  Code begin("enter");
  begin.lea(roles.context, ptr[rdi + Roles::context_bias]);
  begin.mov(roles.out, rdx);
  begin.mov(roles.batches, rcx);
  begin.mov(roles.whole, rcx);
  begin.mov(roles.counter_pointer, r8);
  begin.mov(roles.accumulator_pointer, r9);
  begin.shr(roles.batches, 3);
  begin.and_(roles.whole.cvt32(), 7);
  begin.cut("blocks = 8 batches + whole");
  begin.mov(roles.end_power, roles.whole);
  begin.neg(roles.end_power);
  begin.shl(roles.end_power, 4);
  begin.lea(roles.end_power,
            ptr[roles.context + roles.end_power + (layout::power(0) - Roles::context_bias + Roles::power_bias)]);
  begin.cut("H^whole");
  begin.load(roles.counter, ptr[roles.counter_pointer]);
  begin.reverse_bytes(roles.counter, roles.counter);
  begin.load(roles.hash, ptr[roles.accumulator_pointer]);
  begin.reverse_bytes(roles.hash, roles.hash);
  begin.cut("counter and Y");
  clear_sums(begin);

  Code patterns("counters");
  patterns.lea(roles.counter_patterns, ptr[rsp]);
  patterns.cut("patterns");

  Code end("leave");
  reduce(end);
  end.reverse_bytes(roles.high, roles.high);
  end.store(ptr[roles.accumulator_pointer], roles.high);
  end.cut("Y");

  Code any("control");
  any.mov(roles.scratch, roles.batches);
  any.or_(roles.scratch, roles.whole);
  any.cut("any block?");

  Routine r = blocks_prototype(d);
  r.symbol = symbol(direction_name(d) + "_blocks");
  r.frame = {kPatternBytes, {roles.context, roles.counter_pointer, roles.accumulator_pointer, roles.counter_patterns}};
  r.program = Program(begin.strip(), "enter") +
              when("any", any.strip(), Condition::not_equal,
                   y_before_batches() +
                       when("batches", is_zero(roles.batches), Condition::not_equal,
                            Program(make_counter_patterns(rsp), "batches") + patterns.strip() + call_batches(d) +
                                wipe_patterns()) +
                       end_of_blocks(d) + Program(end.strip(), "leave")) +
              Program(wipe_vectors(), "wipe");
  return r;
}

Routine batch_routine(Direction d, KeyLength k, const Choices& choices) {
  Routine r = batches_prototype(d, k);
  r.symbol = batches_symbol(d, k);
  r.frame = {BatchFrame::kBytes, {}};
  r.program = batches(d, k, schedule(choices, d));
  return r;
}

Routine ctr32_routine() {
  Routine r = ctr32_prototype();
  r.symbol = symbol("ctr32");
  r.frame = {0, {Roles{}.context, Roles{}.counter_pointer}};
  r.program = ctr32();
  return r;
}

Routine ghash_routine() {
  Routine r = ghash_prototype();
  r.symbol = symbol("ghash");
  r.frame = {0, {Roles{}.context, Roles{}.accumulator_pointer}};
  r.program = ghash();
  return r;
}

template <class F>
SourceFile for_each_key_length(const std::string& name, F routine) {
  SourceFile f{kTarget.name, name, {}};
  for (KeyLength k : kKeyLengths) f.routines.push_back(routine(k));
  return f;
}

}  // namespace

std::vector<SourceFile> aesni_avx(const Choices& choices) {
  std::vector<SourceFile> files;
  files.push_back(for_each_key_length("init", init));
  files.back().routines.push_back(powers());
  for (Direction d : {Direction::encrypt, Direction::decrypt}) {
    files.push_back({kTarget.name, d == Direction::encrypt ? "seal" : "open", {message(d, choices)}});
  }
  for (Direction d : {Direction::encrypt, Direction::decrypt}) {
    files.push_back({kTarget.name, direction_name(d) + "_blocks", {blocks(d)}});
  }
  for (Direction d : {Direction::encrypt, Direction::decrypt}) {
    files.push_back(
        for_each_key_length(direction_name(d) + "_batches", [&](KeyLength k) { return batch_routine(d, k, choices); }));
  }
  files.push_back({kTarget.name, "ctr32", {ctr32_routine()}});
  files.push_back({kTarget.name, "ghash", {ghash_routine()}});
  return files;
}

}  // namespace stitchgcm::gcm
