// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/batches.hpp"

#include <fmt/format.h>

#include "gcm/layout.hpp"
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

constexpr int kContextBias = 112, kPowerBias = 128;
constexpr int kLastGroup = 3;        // batches that are hashed together with the blocks after them
constexpr int kMostBlocksAfter = 9;  // seven whole blocks, a partial one, the lengths
constexpr Wide kMostBatches = Wide{1} << 56;
constexpr SumsRegisters kSums{};
/// The last four bytes of a block, which count.
constexpr Bits128 kCounterBytes = ~low_bits(96);

/// Where the pointer of H^exponent points.
Affine power_place(const Affine& exponent) {
  return Affine(layout::kPowers + layout::kPowerBytes * layout::kPowerCount + kPowerBias) -
         exponent * layout::kPowerBytes;
}

/// Block j of a batch has the counter 8 i + r + j: either 8 i with low bits (r + j) mod 8, or 8 (i + 1) with them. The
/// pattern, XORed in where `now` and `next` differ and in the low bits, has the low bits of r + j, and the carry in all
/// bits above: (now ^ next | 7) & pattern ^ now. In the byte order of a counter block.
Lane counter_pattern(LanePool& pool, Lane number, int j) {
  std::array<Lane, LanePool::kResidues> patterns;
  for (int which = 0; which < LanePool::kResidues; which++) {
    const Lane low = pool.mask(pool.with_residue(number, which), 7);
    if (!pool.is_constant(low)) throw Refused("the low bits of the counter are not known");
    const auto sum = static_cast<std::uint32_t>(low_half(pool.constant_value(low))) + static_cast<std::uint32_t>(j);
    const std::uint32_t pattern = (sum & 7) | ((sum & 8) != 0 ? ~std::uint32_t{7} : 0);
    patterns[static_cast<std::size_t>(which)] = pool.apply(pool.reverse_bytes(), pool.constant(pattern));
  }
  return pool.by_residue(patterns);
}

/// The routine's own counter is lane's dword 0.
Lane number_of(LanePool& pool, Lane reversed_counter) { return pool.mask(reversed_counter, low_bits(32)); }

class Batches final : public Contract {
 public:
  Batches(std::string symbol, Direction direction, int rounds)
      : Contract(std::move(symbol)), direction_(direction), rounds_(rounds) {}

  std::vector<std::string> statement() const override {
    return {"out[i] = in[i] ^ AES(key, counter + i), 0 <= i < 8 batches; the sums stand for GHASH, times H^e",
            "internal: arguments as its callers pass them"};
  }
  std::string lengths() const override { return "1..2^56 batches, e = 0..9, any counter, in any place of a text"; }

  std::vector<std::string> cases() const override {
    std::vector<std::string> cases;
    for (const char* overlap : {"out of place", "in place"}) {
      for (int n = 1; n <= kLastGroup; n++) {
        for (int e = 0; e <= kMostBlocksAfter; e++) {
          cases.push_back(fmt::format("{}, {} batch{}, {} blocks after them", overlap, n, n == 1 ? "" : "es", e));
        }
      }
      cases.push_back(fmt::format("{}, more than {} batches", overlap, kLastGroup));
    }
    return cases;
  }

  State entry(const Setting& setting, std::size_t which) const override {
    LanePool& pool = setting.pool;
    constexpr std::size_t few_cases = kLastGroup * (kMostBlocksAfter + 1);
    const bool in_place = which > few_cases;
    const std::size_t within = which % (few_cases + 1);
    const bool few = within < few_cases;

    State s = routine_entry(setting);
    const Affine first = add_position(setting, s) * 8;
    const Affine batches = few ? Affine(static_cast<std::int64_t>(within) / (kMostBlocksAfter + 1) + 1)
                               : add_length(setting, s, "n", kLastGroup + 1, kMostBatches);
    const Affine after = few ? Affine(static_cast<std::int64_t>(within) % (kMostBlocksAfter + 1))
                             : add_length(setting, s, "e", 0, kMostBlocksAfter);
    const CounterBlocks counter = any_counter(pool, "counter", std::nullopt);
    const auto ciphertext = unknown_text(pool, "ciphertext", Secrecy::is_public);
    const auto plaintext = xor_keystream(pool, "plaintext", ciphertext, rounds_, counter);
    const bool encrypt = direction_ == Direction::encrypt;
    const RegionId in = add_buffer(s, in_place ? "the text" : "in", first * 16, (first + batches * 8) * 16, in_place,
                                   encrypt ? plaintext : ciphertext);
    const RegionId out = in_place ? in : add_buffer(s, "out", first * 16, (first + batches * 8) * 16, true, nullptr);
    const Lane number = counter.number(pool, first);
    const auto patterns = [&pool, number](const Facts&, const Affine& block) {
      // The other twelve bytes meet zeros: they may be anything.
      const Lane other = pool.input(pool.name("counter patterns", Secrecy::secret), block);
      return pool.exclusive_or(counter_pattern(pool, number, static_cast<int>(block.constant())),
                               pool.mask(other, ~kCounterBytes));
    };
    const RegionId table = add_buffer(s, "the counter patterns", 0, 128, false,
                                      std::make_shared<Content>(Content{"counter patterns", patterns}));
    const Lane y = pool.input(pool.name("Y", Secrecy::secret));

    general(s, rbx) = Scalar::pointer(add_context(setting, s, rounds_), kContextBias);
    general(s, rsi) = Scalar::pointer(in, first * 16);
    general(s, rdi) = Scalar::pointer(out, first * 16);
    general(s, rdx) = Scalar::number(batches);
    general(s, rcx) = Scalar::pointer(general(s, rbx).region, power_place(after));
    general(s, r14) = Scalar::pointer(table);
    vector_lane(s, 0) = counter.reversed(pool, first);
    if (few) {
      set_any_sums(pool, s, kSums, y, batches.constant() * 8 + after.constant());
    } else {
      vector_lane(s, 1) = pool.apply(pool.reverse_bytes(), y);
    }
    s.outputs = {{out, encrypt ? ciphertext : plaintext}};
    s.hash = HashProgress{ciphertext, y, first, y, first};
    s.ghost_numbers.own()["first block"] = first;
    s.ghost_numbers.own()["batches"] = batches;
    s.ghost_numbers.own()["after"] = after;
    return s;
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    LanePool& pool = setting.pool;
    const Affine first = entry.ghost_numbers->at("first block");
    const Affine end = first + entry.ghost_numbers->at("batches") * 8;
    const CounterBlocks counter = any_counter(pool, "counter", std::nullopt);
    require_content(setting, exit, exit.outputs[0].region, first * 16, end * 16, exit.outputs[0].content, "the output");
    for (const int r : {rsi, rdi}) {
      if (!exit.facts.equal(require_pointer(exit, r, general(entry, r).region, "a text pointer"), end * 16)) {
        throw Refused("rsi or rdi does not stand after the batches");
      }
    }
    require_equal(pool, exit.facts, vector_lane(exit, 0), counter.reversed(pool, exit.facts.resolve(end)),
                  "the counter block in xmm0");
    advance_hash(pool, exit.facts, *exit.hash, end);
    const std::int64_t after = exit.facts.constant(entry.ghost_numbers->at("after"), "the number of blocks after");
    if (!sums_stand_for(pool, exit, kSums, exit.hash->y, after)) {
      throw Refused(
          fmt::format("the sums do not stand for the hash of the batches, times H^{}\n  stand for {}\n  must be "
                      "{}",
                      after, pool.describe(resolve(pool, exit.facts, value_of_sums(pool, sums_in(exit, kSums)))),
                      pool.describe(exit.hash->y)));
    }
    check_routine_exit(setting, entry, exit,
                       {.preserved = {rbx, rbp, rcx, r10, r11, r12, r13, r14, r15}, .vectors_zero = false});
  }

  std::optional<std::array<int, 3>> sums_registers() const override {
    return std::array{kSums.low, kSums.high, kSums.middle};
  }

  void call(const Setting& setting, State& caller) const override {
    LanePool& pool = setting.pool;
    State s = caller;
    const bool encrypt = direction_ == Direction::encrypt;
    const RegionId context = require_any_pointer(s, rbx, "rbx").region;
    if (!s.memory.region(context).initial || s.memory.region(context).initial->text != "the context" ||
        !s.facts.equal(general(s, rbx).value, kContextBias)) {
      throw Refused("rbx is not the context + 112 at a call of " + symbol());
    }
    if (!s.facts.equal(s.ghost_numbers->at("rounds"), rounds_)) {
      throw Refused("a call of " + symbol() + " with a key of another length");
    }
    const Affine batches = require_number(s, rdx, "the number of batches");
    if (!s.facts.implies_nonnegative(batches - 1) ||
        !s.facts.implies_nonnegative(Affine(static_cast<std::int64_t>(kMostBatches)) - batches)) {
      throw Refused("a call of " + symbol() + " with a number of batches that may be 0 or too large");
    }
    const Affine place = require_pointer(s, rcx, context, "rcx");
    const std::int64_t after =
        s.facts.constant((power_place(0) - place).divided_by(layout::kPowerBytes), "the number of blocks after");
    if (after < 0 || after > kMostBlocksAfter)
      throw Refused("rcx points to no power that " + symbol() + " can work with");

    if (!s.hash || s.hash->data->text != "ciphertext" || s.outputs.empty()) {
      throw Refused("a call of " + symbol() + " before what comes first is hashed");
    }
    // The texts: `in` as the caller's specification has it, `out` writable, the same place or another buffer.
    const Scalar in = require_any_pointer(s, rsi, "rsi"), out = require_any_pointer(s, rdi, "rdi");
    const auto& ciphertext = s.hash->data;
    const auto& plaintext = encrypt ? s.memory.region(in.region).initial : s.outputs.at(0).content;
    const Affine bytes = batches * 128;
    s.memory.check_access(s.facts, in.region, in.value, bytes, false);
    s.memory.check_access(s.facts, out.region, out.value, bytes, true);
    if (in.region == out.region && !s.facts.equal(in.value, out.value)) {
      throw Refused("in and out of a call of " + symbol() + " overlap");
    }
    const auto& taken = encrypt ? plaintext : ciphertext;
    const auto& left = encrypt ? ciphertext : plaintext;
    require_content(setting, s, in.region, in.value, in.value + bytes, taken, "in at a call of " + symbol());
    if (!in.value.divisible_by(128) || !out.value.divisible_by(128)) {
      throw Refused("a call of " + symbol() + " at a place of the text that is no multiple of eight blocks");
    }
    const Affine first = in.value.divided_by(16);
    if (out.value != in.value || s.outputs.at(0).region != out.region || !(*s.outputs[0].content == *left)) {
      throw Refused("out of a call of " + symbol() + " is not where the text's blocks belong");
    }

    // The counter, and the patterns that go with it.
    const CounterBlocks counter = counter_of(setting, s);
    require_equal(pool, s.facts, vector_lane(s, 0), counter.reversed(pool, first), "the counter block in xmm0");
    const Scalar table = require_any_pointer(s, r14, "r14");
    for (int j = 0; j < 8; j++) {
      const Lane pattern = s.memory.load(pool, s.facts, table.region, table.value + 16 * j, 16);
      require_equal(pool, s.facts, pool.mask(pattern, kCounterBytes),
                    counter_pattern(pool, number_of(pool, vector_lane(s, 0)), j), fmt::format("counter pattern {}", j));
    }

    // The hash so far.
    if (!s.facts.equal(s.hash->at, first)) throw Refused("the text before a call of " + symbol() + " is not hashed");
    if (s.facts.nonnegative(batches - (kLastGroup + 1))) {
      require_equal(pool, s.facts, vector_lane(s, 1), pool.apply(pool.reverse_bytes(), s.hash->y), "Y in xmm1");
    } else {
      const std::int64_t exponent = s.facts.constant(batches * 8 + after, "the power of the first block");
      if (!sums_stand_for(pool, s, kSums, s.hash->y, exponent)) {
        throw Refused(fmt::format("the sums do not stand for Y H^{} at a call of {}", exponent, symbol()));
      }
    }

    s.memory.set_run(s.facts, out.region, {out.value, out.value + bytes, left});
    s.hash->y = spec::ghash_of_many(pool, ciphertext->text, s.hash->y, first, batches * 8);
    s.hash->at = first + batches * 8;
    after_call(setting, s, {rax, rdx, r8, r9});
    general(s, rsi).value += bytes;
    general(s, rdi).value += bytes;
    vector_lane(s, 0) = counter.reversed(pool, s.hash->at);
    set_any_sums(pool, s, kSums, s.hash->y, after);
    caller = std::move(s);
  }

 private:
  /// The caller's counter, by the name and the residue that its contract noted.
  static CounterBlocks counter_of(const Setting& setting, const State& s) {
    const auto residue = s.ghost_numbers->find("residue");
    return any_counter(setting.pool, "counter",
                       residue == s.ghost_numbers->end()
                           ? std::nullopt
                           : std::optional<int>(static_cast<int>(residue->second.constant())));
  }

  Direction direction_;
  int rounds_;
};

class Powers final : public Contract {
 public:
  using Contract::Contract;

  std::vector<std::string> statement() const override {
    return {"power[i] = H^(40 - i), in the stored form", "internal: called by init, H in xmm0"};
  }
  std::string lengths() const override { return "any H"; }
  std::vector<std::string> cases() const override { return {"any H"}; }

  State entry(const Setting& setting, std::size_t) const override {
    State s = routine_entry(setting);
    const RegionId context =
        add_buffer(s, "the context's powers", layout::kPowers, layout::kContextBytes, true, nullptr);
    general(s, rbx) = Scalar::pointer(context, kContextBias);
    vector_lane(s, 0) = setting.pool.power(1);
    s.outputs = {{context, powers_content(setting.pool)}};
    return s;
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    require_content(setting, exit, exit.outputs[0].region, layout::kPowers, layout::kContextBytes,
                    exit.outputs[0].content, "the powers");
    check_routine_exit(
        setting, entry, exit,
        {.preserved = {rbx, rbp, rcx, rdx, rsi, rdi, r9, r10, r11, r12, r13, r14, r15}, .vectors_zero = false});
  }

  void call(const Setting& setting, State& caller) const override {
    State s = caller;
    const Scalar context = require_any_pointer(s, rbx, "rbx");
    if (!s.facts.equal(context.value, kContextBias))
      throw Refused("rbx is not the context + 112 at a call of " + symbol());
    require_equal(setting.pool, s.facts, vector_lane(s, 0), s.ghosts->at("H"), "H in xmm0");
    s.memory.check_access(s.facts, context.region, layout::kPowers, layout::kContextBytes - layout::kPowers, true);
    s.memory.set_run(s.facts, context.region, {layout::kPowers, layout::kContextBytes, powers_content(setting.pool)});
    after_call(setting, s, {rax, r8});
    caller = std::move(s);
  }
};

}  // namespace

std::unique_ptr<Contract> batches_contract(const std::string& symbol, Direction direction, int rounds) {
  return std::make_unique<Batches>(symbol, direction, rounds);
}
std::unique_ptr<Contract> powers_contract(const std::string& symbol) { return std::make_unique<Powers>(symbol); }

}  // namespace stitchgcm::verify
