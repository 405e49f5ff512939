// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/whole_blocks.hpp"

#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

// Any number of blocks that a buffer in a 64-bit address space can have, and more.
constexpr Wide kMostBatches = Wide{1} << 56;

/// 8 batches + rest blocks from block 8 position on.
struct Span {
  Affine first_block, blocks;
  Affine from() const { return first_block * 16; }
  Affine to() const { return (first_block + blocks) * 16; }
};
Span any_span(Setting setting, State& state) {
  const Affine position = add_position(setting, state);
  const Affine batches = add_length(setting, state, "batches", 0, kMostBatches);
  return {position * 8, batches * 8 + add_length(setting, state, "rest", 0, 7)};
}

/// What is known of the entry again at the exit, where only the state is at hand.
const Content& initial(const State& s, RegionId region) { return *s.memory.region(region).initial; }

class Blocks final : public Contract {
 public:
  Blocks(std::string symbol, Direction direction, bool hashes)
      : Contract(std::move(symbol)), direction_(direction), hashes_(hashes) {}

  std::vector<std::string> statement() const override {
    std::vector<std::string> s{
        "out[i] = in[i] ^ AES(key, counter + i) for all i; counter + blocks in the counter block"};
    if (hashes_) s.push_back("accumulator = GHASH of the ciphertext, continued from any accumulator");
    return s;
  }
  std::string lengths() const override { return "0..2^59 blocks, any counter, keys of 128, 192 and 256 bits"; }
  std::vector<std::string> cases() const override { return {"out of place", "in place"}; }

  State entry(const Setting& setting, std::size_t which) const override {
    LanePool& pool = setting.pool;
    State s = routine_entry(setting);
    const Affine rounds = any_rounds(setting, s);
    const Span span = any_span(setting, s);
    const CounterBlocks counter = any_counter(pool, kCounter, std::nullopt);
    // ctr32 does not say which of its texts is the secret one.
    const auto ciphertext = unknown_text(pool, "ciphertext", hashes_ ? Secrecy::is_public : Secrecy::secret);
    const auto plaintext = xor_keystream(pool, "plaintext", ciphertext, rounds, counter);
    const bool encrypt = direction_ == Direction::encrypt;
    const bool in_place = which == 1;
    const RegionId context = add_context(setting, s, rounds);
    const RegionId in =
        add_buffer(s, in_place ? "the text" : "in", span.from(), span.to(), in_place, encrypt ? plaintext : ciphertext);
    const RegionId out = in_place ? in : add_buffer(s, "out", span.from(), span.to(), true, nullptr);
    const RegionId counter_block = add_block(pool, s, "the counter block", counter.block(pool, span.first_block), true);
    general(s, rdi) = Scalar::pointer(context);
    general(s, rsi) = Scalar::pointer(in, span.from());
    general(s, rdx) = Scalar::pointer(out, span.from());
    general(s, rcx) = Scalar::number(span.blocks);
    general(s, r8) = Scalar::pointer(counter_block);
    s.outputs = {{out, encrypt ? ciphertext : plaintext}};
    if (hashes_) {
      const Lane y = pool.input(pool.name("Y", Secrecy::secret));
      general(s, r9) = Scalar::pointer(add_block(pool, s, "the accumulator", y, true));
      s.hash = HashProgress{ciphertext, y, span.first_block, y, span.first_block};
    }
    s.ghost_numbers.own()["rounds"] = rounds;
    s.ghost_numbers.own()["first block"] = span.first_block;
    s.ghost_numbers.own()["blocks"] = span.blocks;
    return s;
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    LanePool& pool = setting.pool;
    const Span span{entry.ghost_numbers->at("first block"), entry.ghost_numbers->at("blocks")};
    const Affine end = span.first_block + span.blocks;
    const CounterBlocks counter = any_counter(pool, kCounter, std::nullopt);
    require_content(setting, exit, exit.outputs[0].region, span.from(), span.to(), exit.outputs[0].content,
                    "the output");
    // The counter's rest is added to its known low bits, so it must be a number here.
    exit.facts.constant(span.blocks - blocks_of_batches(entry), "the blocks after the batches");
    require_equal(pool, exit.facts, exit.memory.load(pool, exit.facts, general(entry, r8).region, 0, 16),
                  counter.block(pool, exit.facts.resolve(end)), "the next counter block");
    if (hashes_) {
      advance_hash(pool, exit.facts, *exit.hash, end);
      require_equal(pool, exit.facts, exit.memory.load(pool, exit.facts, general(entry, r9).region, 0, 16),
                    exit.hash->y, "the accumulator");
    }
    check_routine_exit(setting, entry, exit, {});
  }

 private:
  static constexpr const char* kCounter = "counter";
  static Affine blocks_of_batches(const State& entry) {
    Affine multiple_of_8 = 0;
    for (const Affine::Term& t : entry.ghost_numbers->at("blocks").terms()) {
      if (t.coefficient % 8 == 0) multiple_of_8 += Affine(t.variable) * t.coefficient;
    }
    return multiple_of_8;
  }

  Direction direction_;
  bool hashes_;
};

class Ghash final : public Contract {
 public:
  using Contract::Contract;

  std::vector<std::string> statement() const override {
    return {"accumulator = GHASH of data, continued from any accumulator"};
  }
  std::string lengths() const override { return "0..2^59 blocks, keys of 128, 192 and 256 bits"; }
  std::vector<std::string> cases() const override { return {"data apart from the accumulator"}; }

  State entry(const Setting& setting, std::size_t) const override {
    LanePool& pool = setting.pool;
    State s = routine_entry(setting);
    const Span span = any_span(setting, s);
    const auto text = unknown_text(pool, "data", Secrecy::secret);
    const Lane y = pool.input(pool.name("Y", Secrecy::secret));
    general(s, rdi) = Scalar::pointer(add_context(setting, s, any_rounds(setting, s)));
    general(s, rsi) = Scalar::pointer(add_block(pool, s, "the accumulator", y, true));
    general(s, rdx) = Scalar::pointer(add_buffer(s, "data", span.from(), span.to(), false, text), span.from());
    general(s, rcx) = Scalar::number(span.blocks);
    s.hash = HashProgress{text, y, span.first_block, y, span.first_block};
    s.ghost_numbers.own()["end"] = span.first_block + span.blocks;
    return s;
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    LanePool& pool = setting.pool;
    advance_hash(pool, exit.facts, *exit.hash, entry.ghost_numbers->at("end"));
    require_equal(pool, exit.facts, exit.memory.load(pool, exit.facts, general(entry, rsi).region, 0, 16), exit.hash->y,
                  "the accumulator");
    check_routine_exit(setting, entry, exit, {});
  }

  void call(const Setting& setting, State& caller) const override {
    LanePool& pool = setting.pool;
    State s = caller;
    const Scalar context = require_any_pointer(s, rdi, "the context");
    require_is_context(s, context);
    const Scalar accumulator = require_any_pointer(s, rsi, "the accumulator");
    const Scalar data = require_any_pointer(s, rdx, "data");
    const Affine blocks = require_number(s, rcx, "the number of blocks");
    if (!s.facts.implies_nonnegative(blocks) || !s.facts.implies_nonnegative(Affine(INT64_MAX >> 4) - blocks)) {
      throw Refused("a call of " + symbol() + " with a number of blocks that may be too large");
    }
    const Lane y = s.memory.load(pool, s.facts, accumulator.region, accumulator.value, 16);
    if (accumulator.region == data.region)
      throw Refused("data and accumulator of a call of " + symbol() + " may overlap");
    if (!s.facts.equal(blocks, 0)) s.memory.check_access(s.facts, data.region, data.value, blocks * 16, false);
    const Region& from = s.memory.region(data.region);
    if (!from.initial || from.forgotten || !from.runs.empty() || !from.windows.empty() ||
        !data.value.divisible_by(16)) {
      throw Refused("a call of " + symbol() + " on data that is not a buffer as it was at entry");
    }
    const Affine first = data.value.divided_by(16);
    const Lane result = spec::ghash_of_many(pool, from.initial->text, y, first, blocks);
    s.hash = HashProgress{from.initial, y, first, result, first + blocks};
    s.memory.store(s.facts, accumulator.region, accumulator.value, result, 0, 16);
    after_call(setting, s, kCallerSaved);
    // All 16 are zero, but nobody needs to know.
    caller = std::move(s);
  }

 private:
  static void require_is_context(const State& s, const Scalar& context) {
    const Region& r = s.memory.region(context.region);
    if (!r.initial || initial(s, context.region).text != "the context" || !(context.value == Affine(0))) {
      throw Refused("the first argument of a call is no key context");
    }
  }
};

}  // namespace

std::unique_ptr<Contract> ctr32_contract(const std::string& symbol) {
  return std::make_unique<Blocks>(symbol, Direction::encrypt, false);
}
std::unique_ptr<Contract> ghash_contract(const std::string& symbol) { return std::make_unique<Ghash>(symbol); }
std::unique_ptr<Contract> blocks_contract(const std::string& symbol, Direction direction) {
  return std::make_unique<Blocks>(symbol, direction, true);
}

}  // namespace stitchgcm::verify
