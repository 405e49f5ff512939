// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/message.hpp"

#include <fmt/format.h>

#include "gcm/layout.hpp"
#include "verify/spec/aes.hpp"
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

constexpr SumsRegisters kSums{};
constexpr int kHashRegister = 1;
/// Powers that sums can wait for: the last group of batches and the blocks after it.
constexpr int kMostBlocksAtOnce = layout::kPowerCount;

/// bytes = 16 blocks + part, as the contract writes a length.
struct Length {
  Affine bytes, blocks, part;
};

/// How far a path has come. The order is that of the computation.
enum Stage : std::int64_t { kStart, kCounterKnown, kAadHashed, kBatchesDone, kTextDone };

class Message final : public Contract {
 public:
  Message(std::string symbol, Direction direction) : Contract(std::move(symbol)), direction_(direction) {}

  std::vector<std::string> statement() const override {
    std::vector<std::string> s;
    if (encrypt()) {
      s.push_back("out = in ^ keystream, tag = first tag_bytes bytes of T (SP 800-38D, algorithm 4)");
    } else {
      s.push_back(
          "returns 1 and out = in ^ keystream if tag is the first tag_bytes bytes of T, else 0 and out = zeros "
          "(SP 800-38D, algorithm 5)");
      s.push_back("whether the tag is right is public, and nothing else of it");
    }
    return s;
  }
  std::string lengths() const override {
    return "IV of 1..2^61 - 1 bytes, AAD of 0..2^61 - 1 bytes, text of 0..2^36 - 32 bytes, tag of 4..16 bytes, keys of "
           "128, 192 and 256 bits";
  }
  std::vector<std::string> cases() const override { return {"out of place", "in place"}; }

  State entry(const Setting& setting, std::size_t which) const override {
    LanePool& pool = setting.pool;
    State s = routine_entry(setting);
    s.ghost_numbers.own()["rounds"] = any_rounds(setting, s);
    const Length iv = iv_length(setting, s), aad = aad_length(setting, s), text = text_length(setting, s);
    const Affine tag_bytes = add_length(setting, s, "tag bytes", 4, 16);
    s.ghost_numbers.own()["tag bytes"] = tag_bytes;
    s.ghost_numbers.own()["stage"] = kStart;

    const bool in_place = which == 1;
    const RegionId context = add_context(setting, s, s.ghost_numbers.own()["rounds"]);
    const auto ciphertext = unknown_text(pool, "ciphertext", Secrecy::is_public);
    // What a plaintext is, as a function of its ciphertext, is known when the first counter block is.
    const RegionId in =
        add_buffer(s, in_place ? "the text" : "in", 0, text.bytes, in_place, encrypt() ? nullptr : ciphertext);
    const RegionId out = in_place ? in : add_buffer(s, "out", 0, text.bytes, true, nullptr);
    const RegionId tag =
        add_buffer(s, "tag", 0, tag_bytes, encrypt(), encrypt() ? nullptr : unknown_text(pool, "tag", Secrecy::secret));
    const RegionId message =
        add_buffer(s, "the message", 0, static_cast<std::int64_t>(sizeof(stitchgcm_message)), false, nullptr);
    auto& fields = s.memory.edit(message).windows[Affine(0)].slots;
    fields[layout::kIv] =
        Scalar::pointer(add_buffer(s, "IV", 0, iv.bytes, false, unknown_text(pool, "IV", Secrecy::secret)));
    fields[layout::kIvBytes] = Scalar::number(iv.bytes);
    fields[layout::kAad] =
        Scalar::pointer(add_buffer(s, "AAD", 0, aad.bytes, false, unknown_text(pool, "AAD", Secrecy::secret)));
    fields[layout::kAadBytes] = Scalar::number(aad.bytes);
    fields[layout::kIn] = Scalar::pointer(in);
    fields[layout::kOut] = Scalar::pointer(out);
    fields[layout::kTextBytes] = Scalar::number(text.bytes);
    fields[layout::kTag] = Scalar::pointer(tag);
    fields[layout::kTagBytes] = Scalar::number(tag_bytes);
    general(s, rdi) = Scalar::pointer(context);
    general(s, rsi) = Scalar::pointer(message);
    s.ghost_numbers.own()["in"] = static_cast<std::int64_t>(in);
    s.ghost_numbers.own()["out"] = static_cast<std::int64_t>(out);
    s.ghost_numbers.own()["tag"] = static_cast<std::int64_t>(tag);
    return s;
  }

  std::optional<std::string> generalise(const Setting& setting, State& s) const override {
    if (s.ghost_numbers->at("stage") == Affine(kStart)) find_counter(setting, s);
    if (s.ghost_numbers->at("stage") == Affine(kCounterKnown)) find_hash_of_aad(setting, s);
    if (s.ghost_numbers->at("stage") == Affine(kAadHashed)) find_end_of_batches(setting, s);
    if (s.ghost_numbers->at("stage") == Affine(kBatchesDone)) find_end_of_text(setting, s);
    const std::int64_t stage = s.ghost_numbers->at("stage").constant();
    if (stage == kStart) return std::nullopt;
    static constexpr const char* kNames[] = {"", "J0 is known", "the AAD is hashed", "the batches are done",
                                             "the text is done"};
    const auto residue = s.ghost_numbers->find("residue");
    return fmt::format("{}{}{}", kNames[stage], residue == s.ghost_numbers->end() ? "" : ", IV of 12 bytes",
                       power_note(setting, s));
  }

  bool may_reveal_whether_zero(const Setting& setting, const State& s, Lane lane) const override {
    if (encrypt() || s.ghost_numbers->at("stage") != Affine(kTextDone)) return false;
    LanePool& pool = setting.pool;
    const std::int64_t bytes = s.facts.constant(s.ghost_numbers->at("tag bytes"), "the tag's length");
    const Lane given = pool.input(pool.name("tag", Secrecy::secret), 0);
    const Lane difference =
        spec::first_bytes(pool, pool.exclusive_or(s.ghosts->at("T"), given), static_cast<int>(bytes));
    return resolve(pool, s.facts, lane) == resolve(pool, s.facts, difference);
  }

  /// Where the tag is wrong, the output is to be zeros, whatever it was.
  void revealed(const Setting& setting, State& s) const override {
    if (*s.verdict) return;
    s.memory.forget(region(s, "out"));
    s.outputs = {{region(s, "out"), zero_content(setting.pool)}};
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    LanePool& pool = setting.pool;
    if (exit.ghost_numbers->at("stage") != Affine(kTextDone))
      throw Refused("what is hashed is not GHASH of the text, or not of all of it");
    const RegionId out = region(exit, "out");
    const Length text = text_length_of(exit);
    if (encrypt()) {
      check_text_untouched(exit);
      const std::int64_t bytes = exit.facts.constant(exit.ghost_numbers->at("tag bytes"), "the tag's length");
      require_equal(pool, exit.facts,
                    exit.memory.load(pool, exit.facts, region(exit, "tag"), 0, static_cast<int>(bytes)),
                    spec::first_bytes(pool, exit.ghosts->at("T"), static_cast<int>(bytes)), "the tag");
    } else {
      if (!exit.verdict) throw Refused("the tags are not compared");
      const Scalar& result = general(exit, rax);
      // int: the low half of rax.
      if (!result.is_number() || !exit.facts.equal(result.value, *exit.verdict ? 1 : 0)) {
        throw Refused(fmt::format("the result is not {} where the tag is {}", *exit.verdict ? 1 : 0,
                                  *exit.verdict ? "right" : "wrong"));
      }
      if (*exit.verdict) {
        check_text_untouched(exit);
      } else {
        check_zeros(setting, exit, out, text.bytes);
      }
    }
    check_routine_exit(setting, entry, exit, {});
  }

 private:
  bool encrypt() const { return direction_ == Direction::encrypt; }

  static RegionId region(const State& s, const char* name) {
    return static_cast<RegionId>(s.ghost_numbers->at(name).constant());
  }

  static Length iv_length(Setting setting, State& s) {
    const Affine blocks = add_length(setting, s, "IV blocks", 0, (Wide{1} << 57) - 1);
    const Affine part = add_length(setting, s, "IV bytes after them", 0, 15);
    if (!s.facts.assume_nonnegative(blocks * 16 + part - 1)) throw std::logic_error("an IV has bytes");
    return note(s, "IV", {blocks * 16 + part, blocks, part});
  }
  static Length aad_length(Setting setting, State& s) {
    const Affine fours = add_length(setting, s, "AAD four blocks", 0, (Wide{1} << 55) - 1);
    const Affine blocks = add_length(setting, s, "AAD blocks after them", 0, 3);
    const Affine part = add_length(setting, s, "AAD bytes after them", 0, 15);
    return note(s, "AAD", {fours * 64 + blocks * 16 + part, fours * 4 + blocks, part});
  }
  static Length text_length(Setting setting, State& s) {
    // The length is split where the code's 32-bit instructions split it.
    const Affine high = add_length(setting, s, "text 2^32 bytes", 0, 15);
    const Affine batches = add_length(setting, s, "batches", 0, (Wide{1} << 25) - 1);
    const Affine blocks = add_length(setting, s, "blocks after them", 0, 7);
    const Affine part = add_length(setting, s, "bytes after them", 0, 15);
    const Affine all_batches = high * (std::int64_t{1} << 25) + batches;
    const Length text{all_batches * 128 + blocks * 16 + part, all_batches * 8 + blocks, part};
    if (!s.facts.assume_nonnegative(Affine((std::int64_t{1} << 36) - 32) - text.bytes)) throw std::logic_error("text");
    s.ghost_numbers.own()["text blocks in batches"] = all_batches * 8;
    return note(s, "text", text);
  }
  static Length note(State& s, const std::string& name, const Length& length) {
    s.ghost_numbers.own()[name + " bytes"] = length.bytes;
    s.ghost_numbers.own()[name + " blocks"] = length.blocks;
    s.ghost_numbers.own()[name + " part"] = length.part;
    return length;
  }
  static Length length_of(const State& s, const std::string& name) {
    return {s.ghost_numbers->at(name + " bytes"), s.ghost_numbers->at(name + " blocks"),
            s.ghost_numbers->at(name + " part")};
  }
  static Length text_length_of(const State& s) { return length_of(s, "text"); }

  /// Y after the rest of a string of which GHASH has done the blocks that `s.hash` says (none, if it is of another),
  /// the last block filled up with zeros. Nothing while the rest may have different numbers of blocks.
  static std::optional<Lane> hash_of_string(const Setting& setting, const State& s, const std::string& name) {
    LanePool& pool = setting.pool;
    const Length length = length_of(s, name);
    HashProgress hash{unknown_text(pool, name, Secrecy::secret), pool.constant(0), 0, pool.constant(0), 0};
    if (s.hash && s.hash->data->text == name) hash = *s.hash;
    const Affine blocks = s.facts.resolve(length.blocks - hash.at), part = s.facts.resolve(length.part);
    if (!blocks.is_constant() || !part.is_constant()) return std::nullopt;
    advance_hash(pool, s.facts, hash, length.blocks);
    if (part.constant() == 0) return hash.y;
    const Lane last =
        spec::first_bytes(pool, hash.data->block(s.facts, length.blocks), static_cast<int>(part.constant()));
    return spec::ghash_step(pool, hash.y, last);
  }

  /// J0 (7.1, step 2) where it is in a register: from here on it may be any block, whose last three bits are 1 for an
  /// IV of 12 bytes.
  void find_counter(const Setting& setting, State& s) const {
    LanePool& pool = setting.pool;
    const Length iv = length_of(s, "IV");
    Lane j0;
    std::optional<int> residue_of_first;
    const bool twelve = s.facts.equal(iv.bytes, 12);
    if (twelve) {
      j0 = spec::j0_of_12_bytes(pool, pool.input(pool.name("IV", Secrecy::secret), 0));
      residue_of_first = 2;
    } else {
      if (!s.facts.implies_nonnegative(iv.bytes - 13) && !s.facts.implies_nonnegative(Affine(11) - iv.bytes)) return;
      const std::optional<Lane> y = hash_of_string(setting, s, "IV");
      if (!y) return;
      j0 = spec::ghash_step(pool, *y, spec::lengths_block(pool, 0, iv.bytes * 8));
    }
    const CounterBlocks counter = any_counter(pool, "counter", residue_of_first);
    // Text block i has the counter block J0 + 1 + i.
    if (!replace_everywhere(setting, s, pool.apply(pool.reverse_bytes(), j0), counter.reversed(pool, -1))) return;
    s.ghosts.own()["J0"] = counter.block(pool, -1);
    if (residue_of_first) s.ghost_numbers.own()["residue"] = *residue_of_first;
    const auto ciphertext = unknown_text(pool, "ciphertext", Secrecy::is_public);
    const auto plaintext = xor_keystream(pool, "plaintext", ciphertext, s.ghost_numbers->at("rounds"), counter);
    if (encrypt()) s.memory.edit(region(s, "in")).initial = plaintext;
    s.outputs = {{region(s, "out"), encrypt() ? ciphertext : plaintext}};
    s.hash.reset();
    s.ghost_numbers.own()["stage"] = kCounterKnown;
  }

  /// Every register and place of the stack that holds `known` holds `general` from now on. False if none did.
  static bool replace_everywhere(const Setting& setting, State& s, Lane known, Lane general_form) {
    LanePool& pool = setting.pool;
    known = resolve(pool, s.facts, known);
    bool found = false;
    const auto replace = [&](Lane& lane) {
      if (resolve(pool, s.facts, lane) != known) return;
      lane = general_form;
      found = true;
    };
    for (auto& lanes : s.vector) replace(lanes[0]);
    for (auto& [place, window] : s.memory.edit(s.stack).windows) {
      for (auto& [offset, piece] : window.pieces) replace(piece.lane);
    }
    return found;
  }

  void find_hash_of_aad(const Setting& setting, State& s) const {
    LanePool& pool = setting.pool;
    const bool none = s.facts.equal(length_of(s, "AAD").bytes, 0);
    std::optional<Lane> y = hash_of_string(setting, s, "AAD");
    if (!y) return;
    y = resolve(pool, s.facts, *y);
    const Lane sums = resolve(pool, s.facts, value_of_sums(pool, sums_in(s, kSums)));
    const auto ciphertext = unknown_text(pool, "ciphertext", Secrecy::is_public);
    const Lane any_y = pool.input(pool.name("Y after the AAD", Secrecy::secret));
    if (none) {
      // Without AAD, Y is 0 in both of the places where the text may look for it.
      if (sums != pool.constant(0) || vector_lane(s, kHashRegister) != pool.constant(0)) return;
      s.hash = HashProgress{ciphertext, *y, 0, *y, 0};
    } else if (sums == pool.constant(0) &&
               pool.equal(vector_lane(s, kHashRegister), pool.apply(pool.reverse_bytes(), *y))) {
      vector_lane(s, kHashRegister) = pool.apply(pool.reverse_bytes(), any_y);
      s.hash = HashProgress{ciphertext, any_y, 0, any_y, 0};
    } else {
      const std::optional<int> exponent = exponent_of(pool, sums, *y);
      if (!exponent) return;
      set_any_sums(pool, s, kSums, any_y, *exponent, "after the AAD");
      s.hash = HashProgress{ciphertext, any_y, 0, any_y, 0};
      s.ghost_numbers.own()["power of Y"] = *exponent;
    }
    s.ghost_numbers.own()["stage"] = kAadHashed;
  }

  void find_end_of_batches(const Setting& setting, State& s) const {
    LanePool& pool = setting.pool;
    const Affine in_batches = s.ghost_numbers->at("text blocks in batches");
    if (!s.facts.equal(s.hash->at, in_batches)) return;
    // Y waits for the blocks after the batches and for the lengths.
    const Length text = text_length_of(s);
    const std::int64_t whole = s.facts.constant(text.blocks - in_batches, "the number of blocks after the batches");
    const std::int64_t exponent = whole + (s.facts.nonnegative(text.part - 1) ? 1 : 0) + 1;
    if (!sums_stand_for(pool, s, kSums, s.hash->y, exponent)) return;
    const Lane any_y = pool.input(pool.name("Y after the batches", Secrecy::secret));
    set_any_sums(pool, s, kSums, any_y, exponent, "after the batches");
    s.hash = HashProgress{s.hash->data, any_y, in_batches, any_y, in_batches};
    forget_residue(setting, s, in_batches);
    s.ghost_numbers.own()["power of Y"] = exponent;
    s.ghost_numbers.own()["stage"] = kBatchesDone;
  }

  /// After the batches nothing depends on the counter's low bits any more: it may be any counter, and the eight cases
  /// of its low bits become one.
  void forget_residue(const Setting& setting, State& s, const Affine& in_batches) const {
    LanePool& pool = setting.pool;
    const auto residue = s.ghost_numbers->find("residue");
    const bool known = residue != s.ghost_numbers->end();
    const CounterBlocks before = any_counter(
        pool, "counter", known ? std::optional<int>(static_cast<int>(residue->second.constant())) : std::nullopt);
    CounterBlocks after = any_counter(pool, "counter after the batches", std::nullopt);
    after.known_low_bits = 0;
    for (const Affine& block : {Affine(-1), in_batches}) {
      replace_everywhere(setting, s, before.reversed(pool, block), after.reversed(pool, block));
    }
    s.ghosts.own()["J0"] = after.block(pool, -1);
    const auto ciphertext = s.hash->data;
    const auto plaintext = xor_keystream(pool, "plaintext", ciphertext, s.ghost_numbers->at("rounds"), after);
    if (encrypt()) {
      s.memory.edit(region(s, "in")).initial = plaintext;
    } else {
      s.outputs[0].content = plaintext;
    }
  }

  /// k with sums = y H^k.
  static std::optional<int> exponent_of(LanePool& pool, Lane sums, Lane y) {
    for (int k = 1; k <= kMostBlocksAtOnce; k++) {
      if (pool.multiply_by_power(y, k) == sums) return k;
    }
    return std::nullopt;
  }

  /// Where sums wait for a certain number of blocks, paths with other numbers are other paths.
  static std::string power_note(const Setting& setting, const State& s) {
    const auto power = s.ghost_numbers->find("power of Y");
    if (power == s.ghost_numbers->end() || s.ghost_numbers->at("stage") == Affine(kTextDone)) return "";
    const Length text = text_length_of(s);
    const bool batches_done = s.ghost_numbers->at("stage") == Affine(kBatchesDone);
    const Affine left = batches_done ? text.blocks - s.ghost_numbers->at("text blocks in batches") : text.blocks;
    return fmt::format(", times H^{}, {} blocks left{}", power->second.constant(),
                       setting.pool.variables().describe(s.facts.resolve(left)),
                       s.facts.implies_nonnegative(text.part - 1) ? " and a part" : "");
  }

  /// GHASH of everything (algorithm 4, step 5), where the batches are done and the rest of the lengths is known.
  Lane whole_hash(const Setting& setting, const State& s) const {
    LanePool& pool = setting.pool;
    const Length text = text_length_of(s), aad = length_of(s, "AAD");
    HashProgress hash = *s.hash;
    advance_hash(pool, s.facts, hash, text.blocks);
    const std::int64_t part = s.facts.constant(text.part, "the last block's length");
    if (part > 0) {
      const Lane last = spec::first_bytes(pool, hash.data->block(s.facts, hash.at), static_cast<int>(part));
      hash.y = spec::ghash_step(pool, hash.y, last);
    }
    return spec::ghash_step(pool, hash.y, spec::lengths_block(pool, aad.bytes * 8, text.bytes * 8));
  }

  /// Where the sums stand for GHASH of everything, AES(key, J0) waits in a register and the output is as it must be:
  /// both halves of T may be anything from here on, and nothing may touch the output any more (but to wipe it).
  void find_end_of_text(const Setting& setting, State& s) const {
    LanePool& pool = setting.pool;
    const Length text = text_length_of(s);
    const Affine rounds = s.ghost_numbers->at("rounds");
    const Affine left = text.blocks - s.ghost_numbers->at("text blocks in batches");
    for (const Affine& length : {left, text.part, rounds}) {
      if (!s.facts.resolve(length).is_constant()) return;
    }
    if (!sums_stand_for(pool, s, kSums, whole_hash(setting, s), 0)) return;
    const Lane j0 = spec::aes_encrypt(pool, round_keys(pool, s.facts, rounds), s.ghosts->at("J0"));
    const Lane any_hash = pool.input(pool.name("GHASH", Secrecy::secret));
    const Lane any_j0 = pool.input(pool.name("AES of J0", Secrecy::secret));
    State done = s;
    if (!replace_everywhere(setting, done, j0, any_j0)) return;
    check_text(setting, done);
    set_any_sums(pool, done, kSums, any_hash, 0, "at the end");
    done.ghosts.own()["T"] = pool.exclusive_or(any_hash, any_j0);
    done.hash.reset();
    done.ghost_numbers.own()["power of Y"] = 0;
    done.memory.forget(region(done, "out"));
    done.ghost_numbers.own()["stage"] = kTextDone;
    s = std::move(done);
  }

  /// The output is as it was where the text was done: it has not been written since.
  static void check_text_untouched(const State& exit) {
    const Region& out = exit.memory.region(region(exit, "out"));
    if (!out.windows.empty() || !out.runs.empty()) throw Refused("the output is written again after the text is done");
  }

  void check_text(const Setting& setting, State& exit) const {
    const Length text = text_length_of(exit);
    const Output& out = exit.outputs.at(0);
    require_content(setting, exit, out.region, 0, text.blocks * 16, out.content, "the output");
    const std::int64_t part = exit.facts.constant(text.part, "the last block's length");
    if (part == 0) return;
    LanePool& pool = setting.pool;
    const Lane wanted = out.content->block(exit.facts, exit.facts.resolve(text.blocks));
    require_equal(pool, exit.facts,
                  exit.memory.load(pool, exit.facts, out.region, text.blocks * 16, static_cast<int>(part)),
                  spec::first_bytes(pool, wanted, static_cast<int>(part)), "the last block of the output");
  }

  void check_zeros(const Setting& setting, State& exit, RegionId out, const Affine& bytes) const {
    LanePool& pool = setting.pool;
    const auto zeros = zero_content(pool);
    exit.memory.gather_runs(pool, exit.facts, out, zeros);
    // One run of zeros from the start, then single bytes.
    Affine at = 0;
    for (const Run& run : exit.memory.region(out).runs) {
      if (*run.content == *zeros && exit.facts.equal(run.from, 0)) at = run.to;
    }
    const std::int64_t rest = exit.facts.constant(bytes - at, "what is left after the zeros");
    for (std::int64_t i = 0; i < rest; i++) {
      require_equal(pool, exit.facts, exit.memory.load(pool, exit.facts, out, at + i, 1), pool.constant(0),
                    "a byte of the output where the tag is wrong");
    }
    if (rest < 0) throw Refused("more zeros than text");
  }

  static std::shared_ptr<const Content> zero_content(LanePool& pool) {
    return std::make_shared<Content>(
        Content{"zeros", [&pool](const Facts&, const Affine&) { return pool.constant(0); }});
  }

  Direction direction_;
};

}  // namespace

std::unique_ptr<Contract> message_contract(const std::string& symbol, Direction direction) {
  return std::make_unique<Message>(symbol, direction);
}

}  // namespace stitchgcm::verify
