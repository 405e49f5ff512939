// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/contract/key.hpp"

#include <fmt/format.h>

#include "gcm/layout.hpp"
#include "verify/spec/aes.hpp"
#include "verify/spec/gcm.hpp"

namespace stitchgcm::verify {
namespace {

class Init final : public Contract {
 public:
  Init(std::string symbol, int rounds) : Contract(std::move(symbol)), rounds_(rounds) {}

  std::vector<std::string> statement() const override {
    return {
        fmt::format("round_key[0..{}] = KeyExpansion(key); hash_key = AES(key, 0^128); rounds = {}", rounds_, rounds_),
        "power[i] = H^(40 - i), in the stored form"};
  }
  std::string lengths() const override { return fmt::format("any key of {} bits", 8 * key_bytes()); }
  std::vector<std::string> cases() const override { return {"key outside of the context"}; }

  State entry(const Setting& setting, std::size_t) const override {
    State s = routine_entry(setting);
    const auto key = unknown_text(setting.pool, "key", Secrecy::secret);
    const RegionId context = add_buffer(s, "the context", 0, layout::kContextBytes, true, nullptr);
    general(s, rdi) = Scalar::pointer(context);
    general(s, rsi) = Scalar::pointer(add_buffer(s, "key", 0, key_bytes(), false, key));
    s.ghosts.own()["H"] = spec::aes_encrypt(setting.pool, keys(setting.pool), setting.pool.constant(0));
    s.outputs = {{context, powers_content(setting.pool)}};
    return s;
  }

  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    LanePool& pool = setting.pool;
    const RegionId context = general(entry, rdi).region;
    const std::vector<Lane> wanted = keys(pool);
    for (std::size_t i = 0; i < wanted.size(); i++) {
      require_equal(pool, exit.facts,
                    exit.memory.load(pool, exit.facts, context, static_cast<std::int64_t>(16 * i), 16), wanted[i],
                    fmt::format("round key {}", i));
    }
    require_equal(pool, exit.facts, exit.memory.load(pool, exit.facts, context, layout::kHashKey, 16),
                  entry.ghosts->at("H"), "H");
    const Lane rounds = exit.memory.load(pool, exit.facts, context, layout::kRounds, 4);
    require_equal(pool, exit.facts, rounds, pool.constant(static_cast<Bits128>(rounds_)), "the number of rounds");
    require_content(setting, exit, context, layout::kPowers, layout::kContextBytes, exit.outputs[0].content,
                    "the powers");
    check_nothing_else_written(exit, context);
    check_routine_exit(setting, entry, exit, {});
  }

 private:
  std::int64_t key_bytes() const { return 4 * (rounds_ - 6); }

  std::vector<Lane> keys(LanePool& pool) const {
    const Name key = pool.name("key", Secrecy::secret);
    return spec::aes_key_expansion(pool, pool.input(key, 0), pool.input(key, 1), rounds_);
  }

  /// The contract leaves the rest of the context alone.
  void check_nothing_else_written(const State& exit, RegionId context) const {
    for (const auto& [symbolic, window] : exit.memory.region(context).windows) {
      for (const auto& [place, piece] : window.pieces) {
        const bool round_key = place + piece.bytes <= 16 * (rounds_ + 1);
        const bool other =
            (place == layout::kHashKey && piece.bytes == 16) || (place == layout::kRounds && piece.bytes == 4);
        if (!symbolic.is_constant() || !(round_key || other)) {
          throw Refused(fmt::format("byte {} of the context is written", place));
        }
      }
    }
  }

  int rounds_;
};

}  // namespace

std::unique_ptr<Contract> init_contract(const std::string& symbol, int rounds) {
  return std::make_unique<Init>(symbol, rounds);
}

}  // namespace stitchgcm::verify
