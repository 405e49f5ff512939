// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Every buffer of every routine against an inaccessible page, after it and before it, and what a call may only read on
// read-only pages: a byte read or written beyond a buffer stops the call.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "support/guard_pages.hpp"
#include "support/messages.hpp"
#include "support/model.hpp"

namespace tests {
namespace {

constexpr std::uint8_t canary = 0xc5;
constexpr std::size_t room = 8192;

const char* flush_text(Flush flush) {
  return flush == Flush::before_the_end ? "each buffer ends at a guard page" : "each buffer starts at a guard page";
}

// Random bytes that nobody may write: any part of them is the input of a case.
class Input {
 public:
  Input(const char* name, std::uint64_t seed) : buffer_(name, room) {
    const Bytes random = Random(seed).bytes(buffer_.all().size());
    std::copy(random.begin(), random.end(), buffer_.all().begin());
    buffer_.make_read_only();
  }
  View place(Flush flush, std::size_t bytes, std::size_t offset = 0) const {
    return buffer_.place(flush, bytes, offset);
  }

 private:
  GuardedBuffer buffer_;
};

// A buffer that is written: canaries all around, of which those next to it are checked.
class Output {
 public:
  explicit Output(const char* name) : buffer_(name, room) {}

  std::span<std::uint8_t> place(Flush flush, View contents, std::size_t bytes, std::size_t offset = 0) {
    placed_ = buffer_.place(flush, bytes, offset);
    const auto around = neighbourhood();
    std::fill(around.begin(), around.end(), canary);
    std::copy(contents.begin(), contents.end(), placed_.begin());
    return placed_;
  }

  bool canaries_intact() const {
    const auto around = neighbourhood();
    for (const std::uint8_t& byte : around) {
      const bool inside = &byte >= placed_.data() && &byte < placed_.data() + placed_.size();
      if (!inside && byte != canary) return false;
    }
    return true;
  }

 private:
  std::span<std::uint8_t> neighbourhood() const {
    constexpr std::size_t reach = 80;
    const auto all = buffer_.all();
    const auto at = static_cast<std::size_t>(placed_.data() - all.data());
    const std::size_t first = at < reach ? 0 : at - reach;
    return all.subspan(first, std::min(all.size(), at + placed_.size() + reach) - first);
  }

  GuardedBuffer buffer_;
  std::span<std::uint8_t> placed_;
};

struct Shape {
  std::size_t text;
  std::size_t aad = 20;
  std::size_t iv = 12;
  std::size_t tag = 16;
  std::size_t in_offset = 0;  // distance of in and of out from their guard pages
  std::size_t out_offset = 0;
};

// The buffers of one message, made once for all the cases of a test.
class Bench {
 public:
  Bench(const Backend& backend, std::size_t key_bytes)
      : key_value_(Random(key_bytes).bytes(key_bytes)),
        key_(backend, key_value_),
        openssl_(key_value_),
        key_page_("the key", room) {}

  /// Counts four cases or eight: seal, open, and open of a forgery, apart and in place.
  void run(Tally& tally, Flush flush, const Shape& shape) {
    const View iv = iv_.place(flush, shape.iv);
    const View aad = aad_.place(flush, shape.aad);
    const View text = text_.place(flush, shape.text, shape.in_offset);
    const Sealed sealed = openssl_.seal(iv, aad, text);
    const View tag = View(sealed.tag).first(shape.tag);
    Bytes forged(tag.begin(), tag.end());
    forged.back() ^= 1;
    const Bytes zeros(shape.text);
    for (const Place place : places) {
      call(tally, flush, shape, place, "seal", iv, aad, text, {}, sealed.text, tag, STITCHGCM_OK);
      call(tally, flush, shape, place, "open", iv, aad, sealed.text, tag, text, tag, STITCHGCM_OK);
      call(tally, flush, shape, place, "open, forged", iv, aad, sealed.text, forged, zeros, forged,
           STITCHGCM_ERROR_TAG);
    }
  }

 private:
  void call(Tally& tally, Flush flush, const Shape& shape, Place place, const char* what, View iv, View aad,
            View source, View tag_before, View want, View want_tag, stitchgcm_status want_status) {
    const bool seals = tag_before.empty();
    const auto in_memory = in_.place(flush, source, shape.text, shape.in_offset);
    const auto out = place == Place::in_place ? in_memory : out_.place(flush, {}, shape.text, shape.out_offset);
    const auto tag = tag_.place(flush, tag_before, shape.tag);
    // A tag that is sealed and a text that is read come from where they cannot be written.
    View in = in_memory;
    if (seals && place == Place::separate) in = source;
    const auto key_memory = key_page_.place(flush, sizeof(stitchgcm_key));
    std::memcpy(key_memory.data(), key_.get(), sizeof(stitchgcm_key));
    const stitchgcm_message message = message_of(Header{iv, aad, shape.tag}, in, out.data(), tag.data());
    const auto message_memory = message_page_.place(flush, sizeof message);
    std::memcpy(message_memory.data(), &message, sizeof message);
    const auto* key = reinterpret_cast<const stitchgcm_key*>(key_memory.data());
    const auto* placed_message = reinterpret_cast<const stitchgcm_message*>(message_memory.data());
    stitchgcm_status status = STITCHGCM_OK;
    const std::string fault =
        fault_of([&] { status = seals ? stitchgcm_seal(key, placed_message) : stitchgcm_open(key, placed_message); });
    const bool intact =
        in_.canaries_intact() && tag_.canaries_intact() && (place == Place::in_place || out_.canaries_intact());
    const bool right = fault.empty() && status == want_status && equal(out, want) && equal(tag, want_tag) && intact;
    tally.expect(right, [&] {
      return fmt::format("{}; {}; in and out {} and {} from it: {}; status \"{}\"; text differs {}; tag differs {}; {}",
                         case_text(key_, what, place, Header{iv, aad, shape.tag}, shape.text), flush_text(flush),
                         shape.in_offset, shape.out_offset, fault.empty() ? "no fault" : fault,
                         stitchgcm_status_text(status), difference_text(out, want), difference_text(tag, want_tag),
                         intact ? "canaries intact" : "canaries OVERWRITTEN");
    });
  }

  Bytes key_value_;
  Key key_;
  OpenSslGcm openssl_;
  GuardedBuffer key_page_;
  GuardedBuffer message_page_{"the message structure", room};
  Input iv_{"iv", 21};
  Input aad_{"aad", 22};
  Input text_{"in", 23};
  Output in_{"in"};
  Output out_{"out"};
  Output tag_{"tag"};
};

template <class Body>
void for_each_bench(std::string_view title, const Body& body) {
  for_each_backend(title, [&](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      Bench bench(backend, key_bytes);
      for (const Flush flush : flushes) body(bench, tally, flush);
    }
  });
}

TEST_CASE("guard pages: texts of 0..1100 bytes stay inside all buffers") {
  for_each_bench("guarded texts", [](Bench& bench, Tally& tally, Flush flush) {
    for (std::size_t n = 0; n <= 1100; ++n) bench.run(tally, flush, {.text = n, .aad = n % 50});
  });
}

TEST_CASE("guard pages: AAD of 0..1100 bytes stays inside its buffer") {
  for_each_bench("guarded AAD", [](Bench& bench, Tally& tally, Flush flush) {
    for (std::size_t n = 0; n <= 1100; ++n) bench.run(tally, flush, {.text = n % 37, .aad = n});
  });
}

TEST_CASE("guard pages: IVs of 1..300 bytes stay inside their buffer") {
  for_each_bench("guarded IVs", [](Bench& bench, Tally& tally, Flush flush) {
    for (std::size_t n = 1; n <= 300; ++n) bench.run(tally, flush, {.text = 17, .aad = 3, .iv = n});
  });
}

TEST_CASE("guard pages: tags of each length stay inside their buffer") {
  for_each_bench("guarded tags", [](Bench& bench, Tally& tally, Flush flush) {
    for (const std::size_t tag : {4, 8, 12, 13, 14, 15, 16}) {
      for (const std::size_t text : {0, 1, 16, 129, 300}) bench.run(tally, flush, {.text = text, .tag = tag});
    }
  });
}

TEST_CASE("guard pages: in and out may be 0..63 bytes from any alignment, each on its own") {
  for_each_bench("offsets of in and out", [](Bench& bench, Tally& tally, Flush flush) {
    for (std::size_t in = 0; in < 64; ++in) {
      for (std::size_t out = 0; out < 64; ++out) {
        // All pairs, with one length each, so that each offset meets many lengths.
        bench.run(tally, flush, {.text = (in * 67 + out * 5) % 500, .in_offset = in, .out_offset = out});
      }
    }
  });
}

// The routines of the table that take whole blocks, with counter and accumulator against a page too.
class BlockBench {
 public:
  BlockBench(const Backend& backend, std::size_t key_bytes)
      : backend_(backend), key_bytes_(key_bytes), key_value_(Random(key_bytes).bytes(key_bytes)), model_(key_value_) {}

  void run_init(Tally& tally, Flush flush) {
    const auto key = key_.place(flush, key_value_, key_bytes_);
    const stitchgcm_context blank = blank_context(key_bytes_, backend_.index);
    const auto context = context_.place(flush, bytes_of(blank), sizeof blank);
    const std::string fault = fault_of([&] { routines().init(as_context(context), key.data()); });
    stitchgcm_context want = model_.context();
    want.backend = static_cast<std::uint32_t>(backend_.index);
    expect(tally, flush, "init", 0, fault, equal(context, bytes_of(want)) && context_.canaries_intact());
  }

  void run_text(Tally& tally, Flush flush, std::size_t blocks, bool encrypts, bool hashes, Place place) {
    const Bytes text = Random(blocks).bytes(16 * blocks);
    const Block start = Random(blocks + 1).block();
    const auto context = made_context(flush);
    const auto in = in_.place(flush, text, text.size());
    const auto out = place == Place::in_place ? in : out_.place(flush, {}, text.size());
    const auto counter = counter_.place(flush, start, 16);
    const auto accumulator = accumulator_.place(flush, start, 16);
    const std::string fault = fault_of([&] {
      if (!hashes) {
        routines().ctr32(as_context(context), in.data(), out.data(), blocks, counter.data());
      } else {
        (encrypts ? routines().encrypt_blocks : routines().decrypt_blocks)(as_context(context), in.data(), out.data(),
                                                                           blocks, counter.data(), accumulator.data());
      }
    });
    const Bytes want = model_.ctr32(start, text);
    const Block want_hash = hashes ? model_.ghash(start, encrypts ? View(want) : View(text)) : start;
    const bool right = equal(out, want) && equal(accumulator, want_hash) &&
                       equal(counter, counter_after(start, blocks)) && in_.canaries_intact() &&
                       (place == Place::in_place || out_.canaries_intact()) && counter_.canaries_intact() &&
                       accumulator_.canaries_intact();
    expect(tally, flush, !hashes ? "ctr32" : encrypts ? "encrypt_blocks" : "decrypt_blocks", blocks, fault, right);
  }

  void run_ghash(Tally& tally, Flush flush, std::size_t blocks) {
    const Bytes data = Random(blocks).bytes(16 * blocks);
    const Block start = Random(blocks + 1).block();
    const auto context = made_context(flush);
    const auto in = in_.place(flush, data, data.size());
    const auto accumulator = accumulator_.place(flush, start, 16);
    const std::string fault =
        fault_of([&] { routines().ghash(as_context(context), accumulator.data(), in.data(), blocks); });
    expect(tally, flush, "ghash", blocks, fault,
           equal(accumulator, model_.ghash(start, data)) && equal(in, data) && accumulator_.canaries_intact());
  }

 private:
  const stitchgcm_routines& routines() const { return backend_.routines(key_bytes_); }

  static stitchgcm_context* as_context(std::span<std::uint8_t> memory) {
    return reinterpret_cast<stitchgcm_context*>(memory.data());
  }

  std::span<std::uint8_t> made_context(Flush flush) {
    stitchgcm_context context = blank_context(key_bytes_, backend_.index);
    routines().init(&context, key_value_.data());
    return context_.place(flush, bytes_of(context), sizeof context);
  }

  void expect(Tally& tally, Flush flush, const char* routine, std::size_t blocks, const std::string& fault,
              bool right) {
    tally.expect(fault.empty() && right, [&] {
      return fmt::format("{} aes{} {} of {} blocks, {}: {}", backend_.name, 8 * key_bytes_, routine, blocks,
                         flush_text(flush), fault.empty() ? "wrong result or canaries overwritten" : fault);
    });
  }

  const Backend& backend_;
  std::size_t key_bytes_;
  Bytes key_value_;
  Model model_;
  Output key_{"the key's bytes"};
  Output context_{"the context"};
  Output in_{"in"};
  Output out_{"out"};
  Output counter_{"the counter"};
  Output accumulator_{"the accumulator"};
};

TEST_CASE("guard pages: the routines for whole blocks and init stay inside all buffers") {
  for_each_routine_table("guarded routines", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      BlockBench bench(backend, key_bytes);
      for (const Flush flush : flushes) {
        bench.run_init(tally, flush);
        for (std::size_t blocks = 0; blocks <= 70; ++blocks) {
          for (const Place place : places) {
            bench.run_text(tally, flush, blocks, true, false, place);
            bench.run_text(tally, flush, blocks, true, true, place);
            bench.run_text(tally, flush, blocks, false, true, place);
          }
          bench.run_ghash(tally, flush, blocks);
        }
      }
    }
  });
}

TEST_CASE("guard pages: control: one byte too many, read or written, before or after a buffer, is caught") {
  const GuardedBuffer buffer("the buffer", 100);
  for (const Flush flush : flushes) {
    const auto bytes = buffer.place(flush, 100);
    const bool at_the_end = flush == Flush::before_the_end;
    volatile std::uint8_t* const beyond = at_the_end ? bytes.data() + 100 : bytes.data() - 1;
    volatile std::uint8_t* const last = at_the_end ? beyond - 1 : beyond + 1;
    const std::string want =
        at_the_end ? "touched byte 0 past the end of the buffer" : "touched byte 1 before the start of the buffer";
    CHECK(fault_of([&] { *last = *last; }) == "");
    CHECK(fault_of([&] { static_cast<void>(*beyond); }) == want);
    CHECK(fault_of([&] { *beyond = 0; }) == want);
  }
  buffer.make_read_only();
  volatile std::uint8_t* const inside = buffer.all().data();
  CHECK(fault_of([&] { static_cast<void>(*inside); }) == "");
  CHECK(fault_of([&] { *inside = 0; }) == "touched read-only memory of the buffer");
}

}  // namespace
}  // namespace tests
