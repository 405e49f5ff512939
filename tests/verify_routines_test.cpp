// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Whole emitted routines in the verifier's model, from start to end with known inputs: they compute what the routines
// in C compute.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "portable.h"
#include "support/backends.hpp"
#include "support/model.hpp"
#include "support/verify_objects.hpp"
#include "support/verify_run.hpp"

namespace tests {
namespace {

using stitchgcm::verify::Image;
using stitchgcm::verify::Scalar;

const Image& image() {
  static const Image kImage(emitted_objects());
  return kImage;
}

/// Backends of which there are emitted files: the last part of the name of each ghash.
std::vector<std::string> emitted_backends() {
  static const std::string kStart = "stitchgcm_ghash_";
  std::vector<std::string> names;
  for (const auto& s : image().symbols()) {
    if (s.name.rfind(kStart, 0) == 0) names.push_back(s.name.substr(kStart.size()));
  }
  return names;
}

template <class Body>
void for_each_emitted_backend(const char* title, Body body) {
  const std::vector<std::string> names = emitted_backends();
  REQUIRE_MESSAGE(!names.empty(), "emitted/ has no ghash");
  for (const std::string& name : names) {
    Tally tally(title, name);
    body(name, tally);
    tally.report();
  }
}

std::string symbol(const char* routine, const std::string& backend) {
  return fmt::format("stitchgcm_{}_{}", routine, backend);
}

Scalar count(std::size_t n) { return Scalar::number(static_cast<std::int64_t>(n)); }

TEST_CASE("model: init computes the key schedule and the powers of H") {
  for_each_emitted_backend("model of init", [](const std::string& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key = Random(key_bytes).bytes(key_bytes);
      const stitchgcm_context blank = blank_context(key_bytes, 0);
      ModelRun run(image(), key_bytes);
      const Scalar context = run.add("context", bytes_of(blank), true), from = run.add("key", key, false);
      run.call(symbol(fmt::format("init_aes{}", 8 * key_bytes).c_str(), backend), {context, from});
      stitchgcm_context want = Model(key).context();
      want.backend = blank.backend;
      tally.expect_equal(run.content(context, sizeof want), bytes_of(want), "the context",
                         [&] { return fmt::format("{} bytes of key", key_bytes); });
    }
  });
}

TEST_CASE("model: ghash computes what the C routine does") {
  for_each_emitted_backend("model of ghash", [](const std::string& backend, Tally& tally) {
    const stitchgcm_context context = Model(Random(1).bytes(16)).context();
    for (const std::size_t blocks : {0, 1, 2, 7, 8, 9, 17, 33, 70}) {
      Random random(blocks);
      const Bytes data = random.bytes(16 * blocks);
      Block y = random.block();
      ModelRun run(image(), blocks);
      const Scalar from = run.add("context", bytes_of(context), false), accumulator = run.add("accumulator", y, true);
      run.call(symbol("ghash", backend), {from, accumulator, run.add("data", data, false), count(blocks)});
      stitchgcm_ghash_portable(&context, y.data(), data.data(), blocks);
      tally.expect_equal(run.content(accumulator, 16), y, "the accumulator",
                         [&] { return fmt::format("{} blocks", blocks); });
    }
  });
}

TEST_CASE("model: ctr32 computes what the C routine does, also where the counter wraps around") {
  for_each_emitted_backend("model of ctr32", [](const std::string& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const stitchgcm_context context = Model(Random(key_bytes).bytes(key_bytes)).context();
      for (const std::size_t blocks : {0, 1, 5, 8, 9, 31}) {
        for (const bool wraps : {false, true}) {
          Random random(blocks);
          const Bytes in = random.bytes(16 * blocks);
          Block counter = random.block();
          if (wraps) std::fill(counter.begin() + 12, counter.end(), std::uint8_t{0xff});
          ModelRun run(image(), blocks);
          const Scalar from = run.add("context", bytes_of(context), false), next = run.add("counter", counter, true);
          const Scalar out = run.add("out", Bytes(in.size()), true);
          run.call(symbol("ctr32", backend), {from, run.add("in", in, false), out, count(blocks), next});
          Bytes want(in.size());
          stitchgcm_ctr32_portable(&context, in.data(), want.data(), blocks, counter.data());
          const auto which = [&] {
            return fmt::format("{} bytes of key, {} blocks{}", key_bytes, blocks, wraps ? ", wraps" : "");
          };
          tally.expect_equal(run.content(out, in.size()), want, "out", which);
          tally.expect_equal(run.content(next, 16), counter, "the counter", which);
        }
      }
    }
  });
}

TEST_CASE("model: seal and open compute what the C routines do") {
  struct Shape {
    std::size_t iv, aad, text;
  };
  for_each_emitted_backend("model of seal and open", [](const std::string& backend, Tally& tally) {
    const stitchgcm_context context = Model(Random(3).bytes(32)).context();
    for (const Shape& shape : {Shape{12, 0, 0}, {12, 20, 1}, {12, 13, 16}, {8, 5, 100}, {60, 3, 33}, {12, 200, 700}}) {
      Random random(shape.text);
      const Bytes iv = random.bytes(shape.iv), aad = random.bytes(shape.aad), text = random.bytes(shape.text);
      Bytes sealed(shape.text), tag(16);
      const stitchgcm_message message{iv.data(),     iv.size(),   aad.data(), aad.size(), text.data(),
                                      sealed.data(), text.size(), tag.data(), tag.size()};
      stitchgcm_seal_portable(&context, &message);
      for (const bool opens : {false, true}) {
        ModelRun run(image(), shape.text);
        const Scalar out = run.add("out", Bytes(shape.text), true);
        const Scalar tag_buffer = run.add("tag", opens ? tag : Bytes(16), !opens);
        const Scalar fields = run.add("message", Bytes(sizeof(stitchgcm_message)), false);
        const Scalar values[] = {run.add("iv", iv, false),
                                 count(shape.iv),
                                 run.add("aad", aad, false),
                                 count(shape.aad),
                                 run.add("in", opens ? sealed : text, false),
                                 out,
                                 count(shape.text),
                                 tag_buffer,
                                 count(tag.size())};
        for (std::size_t n = 0; n < std::size(values); n++)
          run.put(fields, static_cast<std::int64_t>(8 * n), values[n]);
        const auto verdict =
            run.call(symbol(opens ? "open" : "seal", backend), {run.add("context", bytes_of(context), false), fields});
        const auto which = [&] {
          return fmt::format("{} of {} bytes, IV {}, AAD {}", opens ? "open" : "seal", shape.text, shape.iv, shape.aad);
        };
        tally.expect_equal(run.content(out, shape.text), opens ? text : sealed, "out", which);
        if (opens) {
          tally.expect((verdict & 0xffffffff) == 1, [&] { return which() + ": not authentic"; });
        } else {
          tally.expect_equal(run.content(tag_buffer, 16), tag, "the tag", which);
        }
      }
    }
  });
}

}  // namespace
}  // namespace tests
