// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Each routine of each backend's table against the model: whole blocks, any counter, any accumulator.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "support/gf128.hpp"
#include "support/messages.hpp"
#include "support/model.hpp"

namespace tests {
namespace {

stitchgcm_context made_context(const Backend& backend, View key) {
  stitchgcm_context context = blank_context(key.size(), backend.index);
  backend.routines(key.size()).init(&context, key.data());
  return context;
}

std::string which(const Backend& backend, std::size_t key_bytes, const char* routine) {
  return fmt::format("{} aes{} {}", backend.name, 8 * key_bytes, routine);
}

std::vector<std::size_t> block_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t n = 0; n <= 200; ++n) counts.push_back(n);
  for (const std::size_t more : {255, 256, 257, 319, 320, 321, 511, 1000}) counts.push_back(more);
  return counts;
}

TEST_CASE("routines: init writes the round keys, H and powers that the standards give, and nothing else") {
  for_each_routine_table("init", [](const Backend& backend, Tally& tally) {
    Random random(0x10);
    for (const std::size_t key_bytes : key_lengths) {
      std::vector<Bytes> keys{Bytes(key_bytes), Bytes(key_bytes, 0xff), counting_bytes(key_bytes)};
      while (keys.size() < 40) keys.push_back(random.bytes(key_bytes));
      for (const Bytes& key : keys) {
        stitchgcm_context want = Model(key).context();
        want.backend = static_cast<std::uint32_t>(backend.index);
        const stitchgcm_context got = made_context(backend, key);
        tally.expect_equal(bytes_of(got), bytes_of(want), "the context",
                           [&] { return which(backend, key_bytes, "init") + " of key " + hex(key); });
      }
    }
  });
}

TEST_CASE("routines: init makes the context that portable's init makes, bit for bit") {
  for_each_routine_table("init like portable's", [](const Backend& backend, Tally& tally) {
    Random random(0x11);
    for (const std::size_t key_bytes : key_lengths) {
      for (int i = 0; i < 40; ++i) {
        const Bytes key = random.bytes(key_bytes);
        stitchgcm_context want = made_context(portable_backend(), key);
        want.backend = static_cast<std::uint32_t>(backend.index);
        const stitchgcm_context got = made_context(backend, key);
        tally.expect_equal(bytes_of(got), bytes_of(want), "the context",
                           [&] { return which(backend, key_bytes, "init") + " of key " + hex(key); });
      }
    }
  });
}

// One call of ctr32, encrypt_blocks or decrypt_blocks, and what it left.
struct Text {
  Bytes out;
  Block counter;
  Block accumulator;
};

enum class Hashes { nothing, output, input };

struct TextRoutine {
  const char* name;
  Hashes hashes;
  std::function<void(const stitchgcm_routines&, const stitchgcm_context&, const std::uint8_t*, std::uint8_t*,
                     std::size_t, std::uint8_t*, std::uint8_t*)>
      call;
};

const std::array<TextRoutine, 3>& text_routines() {
  static const std::array<TextRoutine, 3> routines{{
      {"ctr32", Hashes::nothing,
       [](const stitchgcm_routines& r, const stitchgcm_context& context, const std::uint8_t* in, std::uint8_t* out,
          std::size_t blocks, std::uint8_t* counter, std::uint8_t*) { r.ctr32(&context, in, out, blocks, counter); }},
      {"encrypt_blocks", Hashes::output,
       [](const stitchgcm_routines& r, const stitchgcm_context& context, const std::uint8_t* in, std::uint8_t* out,
          std::size_t blocks, std::uint8_t* counter,
          std::uint8_t* accumulator) { r.encrypt_blocks(&context, in, out, blocks, counter, accumulator); }},
      {"decrypt_blocks", Hashes::input,
       [](const stitchgcm_routines& r, const stitchgcm_context& context, const std::uint8_t* in, std::uint8_t* out,
          std::size_t blocks, std::uint8_t* counter,
          std::uint8_t* accumulator) { r.decrypt_blocks(&context, in, out, blocks, counter, accumulator); }},
  }};
  return routines;
}

Text model_of(const TextRoutine& routine, const Model& model, View in, const Block& counter, const Block& accumulator) {
  Text text{model.ctr32(counter, in), counter_after(counter, in.size() / 16), accumulator};
  if (routine.hashes == Hashes::output) text.accumulator = model.ghash(accumulator, text.out);
  if (routine.hashes == Hashes::input) text.accumulator = model.ghash(accumulator, in);
  return text;
}

void expect_text(Tally& tally, const Backend& backend, const TextRoutine& routine, const stitchgcm_context& context,
                 std::size_t key_bytes, View in, const Block& counter, const Block& accumulator, const Text& want) {
  constexpr std::uint8_t canary = 0xc5;
  constexpr std::size_t canaries = 64;
  for (const Place place : places) {
    Bytes out = place == Place::in_place ? Bytes(in.begin(), in.end()) : Bytes(in.size(), canary);
    out.resize(in.size() + canaries, canary);
    Block counter_left = counter;
    Block accumulator_left = accumulator;
    routine.call(backend.routines(key_bytes), context, place == Place::in_place ? out.data() : in.data(), out.data(),
                 in.size() / 16, counter_left.data(), accumulator_left.data());
    const auto describe = [&] {
      return fmt::format("{}, {} blocks {}, counter {}, accumulator {}", which(backend, key_bytes, routine.name),
                         in.size() / 16, place == Place::in_place ? "in place" : "to another buffer", hex(counter),
                         hex(accumulator));
    };
    tally.expect_equal(View(out).first(in.size()), want.out, "the output", describe);
    tally.expect_equal(View(out).subspan(in.size()), Bytes(canaries, canary), "memory behind the output", describe);
    tally.expect_equal(counter_left, want.counter, "the counter", describe);
    tally.expect_equal(accumulator_left, want.accumulator, "the accumulator", describe);
  }
}

TEST_CASE("routines: ctr32, encrypt_blocks and decrypt_blocks equal the model for each number of blocks") {
  for (const TextRoutine& routine : text_routines()) {
    for_each_routine_table(routine.name, [&](const Backend& backend, Tally& tally) {
      Random random(0x12);
      const std::vector<std::size_t> counts = block_counts();
      for (const std::size_t key_bytes : key_lengths) {
        const Bytes key = random.bytes(key_bytes);
        const Model model(key);
        const stitchgcm_context context = made_context(backend, key);
        for (const std::size_t blocks : counts) {
          const Bytes in = random.bytes(16 * blocks);
          const Block counter = random.block();
          const Block accumulator = random.block();
          expect_text(tally, backend, routine, context, key_bytes, in, counter, accumulator,
                      model_of(routine, model, in, counter, accumulator));
        }
      }
    });
  }
}

TEST_CASE("routines: the counter wraps modulo 2^32 after k blocks for every k of 0..40") {
  for (const TextRoutine& routine : text_routines()) {
    for_each_routine_table(std::string(routine.name) + " counter wrap", [&](const Backend& backend, Tally& tally) {
      Random random(0x13);
      for (const std::size_t key_bytes : key_lengths) {
        const Bytes key = random.bytes(key_bytes);
        const Model model(key);
        const stitchgcm_context context = made_context(backend, key);
        for (std::size_t k = 0; k <= 40; ++k) {
          Block counter{};
          counter.fill(0xff);
          // All ones is 2^32 - 1; going on 2^32 + 1 - k blocks from there gives 2^32 - k.
          counter = counter_after(counter, (std::size_t{1} << 32) + 1 - k);
          const Bytes in = random.bytes(16 * 50);
          const Block accumulator = random.block();
          expect_text(tally, backend, routine, context, key_bytes, in, counter, accumulator,
                      model_of(routine, model, in, counter, accumulator));
        }
      }
    });
  }
}

TEST_CASE("routines: ghash equals the model for each number of blocks and any accumulator") {
  for_each_routine_table("ghash", [](const Backend& backend, Tally& tally) {
    Random random(0x14);
    const std::vector<std::size_t> counts = block_counts();
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key = random.bytes(key_bytes);
      const Model model(key);
      const stitchgcm_context context = made_context(backend, key);
      Block ones{};
      ones.fill(0xff);
      for (const std::size_t blocks : counts) {
        const Bytes data = random.bytes(16 * blocks);
        for (const Block& accumulator : {Block{}, ones, random.block()}) {
          Block got = accumulator;
          backend.routines(key_bytes).ghash(&context, got.data(), data.data(), blocks);
          tally.expect_equal(got, model.ghash(accumulator, data), "the accumulator", [&] {
            return fmt::format("{}, {} blocks, accumulator {}", which(backend, key_bytes, "ghash"), blocks,
                               hex(accumulator));
          });
        }
      }
    }
  });
}

TEST_CASE("routines: ghash is right for sparse inputs, where a lost carry or a wrong fold shows") {
  for_each_routine_table("ghash of single bits", [](const Backend& backend, Tally& tally) {
    Random random(0x15);
    const Bytes key = random.bytes(16);
    const Model model(key);
    const stitchgcm_context context = made_context(backend, key);
    for (std::size_t bit = 0; bit < 128; ++bit) {
      for (const std::size_t blocks : {1, 8, 9}) {
        Bytes data(16 * blocks);
        data[16 * (bit % blocks) + bit / 8] = static_cast<std::uint8_t>(0x80 >> (bit % 8));
        Block got{};
        backend.routines(16).ghash(&context, got.data(), data.data(), blocks);
        tally.expect_equal(got, model.ghash(Block{}, data), "the accumulator",
                           [&] { return fmt::format("{}, bit {} of {} blocks", backend.name, bit, blocks); });
      }
    }
  });
}

TEST_CASE("routines: the model itself gives OpenSSL's tag and ciphertext") {
  Random random(0x16);
  Tally tally("model", "no backend");
  for (const std::size_t key_bytes : key_lengths) {
    const Bytes key = random.bytes(key_bytes);
    const Model model(key);
    const OpenSslGcm openssl(key);
    for (const std::size_t iv_bytes : {12, 16, 7, 60}) {
      const Bytes iv = random.bytes(iv_bytes);
      const Bytes text = random.bytes(64);
      const Sealed want = openssl.seal(iv, {}, text);
      const Bytes sealed = model.ctr32(counter_after(gf128::j0(model.hash_key(), iv), 1), text);
      Block lengths{};
      lengths[14] = 2;  // 64 bytes are 0x200 bits
      const Block tag = gf128::add(model.ghash(model.ghash(Block{}, sealed), lengths), model.tag_mask(iv));
      const auto describe = [&] { return fmt::format("model, aes{}, iv {}", 8 * key_bytes, hex(iv)); };
      tally.expect_equal(sealed, want.text, "the ciphertext", describe);
      tally.expect_equal(tag, want.tag, "the tag", describe);
      const Bytes equivalent = gf128::iv_for_j0(model.hash_key(), gf128::j0(model.hash_key(), iv));
      tally.expect_equal(openssl.seal(equivalent, {}, text).tag, want.tag, "the tag of the solved IV", describe);
    }
  }
  tally.report();
}

}  // namespace
}  // namespace tests
