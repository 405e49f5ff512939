// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/counterexample/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <random>

#include "verify/counterexample/native.hpp"
#include "verify/counterexample/reference.hpp"

namespace stitchgcm::verify {
namespace {

using reference::Block;
using reference::Bytes;

constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;  // of all buffers of a call
constexpr std::size_t kMostLengths = 12;
constexpr std::uint64_t kSeeds = 6;

/// The CPU does not have an instruction of the routine.
struct Lacking {};

/// One call: its buffers, what they must hold afterwards, and what must be returned.
class Trial {
 public:
  Trial(const Call& call, const Image& image, std::uint64_t seed)
      : call_(call),
        random_(seed),
        end_(seed % 2 == 0 ? GuardedBuffer::End::end : GuardedBuffer::End::begin),
        odd_(seed / 2 % 2 != 0),
        key_(random_bytes(4 * (call.rounds - 6))),
        native_(image) {
    const Symbol* symbol = image.find(call.symbol);
    if (symbol == nullptr) throw std::runtime_error("no object has " + call.symbol);
    symbol_ = *symbol;
  }

  std::string run() {
    switch (call_.routine) {
      case Routine::init: return init();
      case Routine::seal:
      case Routine::open: return message();
      case Routine::ghash: return ghash();
      default: return blocks();
    }
  }

 private:
  struct Expected {
    const GuardedBuffer* buffer;
    Bytes bytes;
  };

  Bytes random_bytes(std::int64_t n) {
    Bytes bytes(static_cast<std::size_t>(n));
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random_());
    return bytes;
  }
  Block random_block() {
    Block b;
    const Bytes bytes = random_bytes(static_cast<std::int64_t>(b.size()));
    std::copy(bytes.begin(), bytes.end(), b.begin());
    return b;
  }

  GuardedBuffer& buffer(const char* name, std::span<const std::uint8_t> content) {
    return buffers_.emplace_back(name, content, end_);
  }
  std::uint8_t* input(const char* name, std::span<const std::uint8_t> content) {
    GuardedBuffer& b = buffer(name, content);
    b.make_read_only();
    return b.data();
  }
  /// A buffer that holds `before` at the call, and is to hold `after`.
  std::uint8_t* output(const char* name, std::span<const std::uint8_t> before, Bytes after) {
    GuardedBuffer& b = buffer(name, before);
    expected_.push_back({&b, std::move(after)});
    return b.data();
  }
  const stitchgcm_context* context() {
    stitchgcm_context c;
    const Bytes before = random_bytes(sizeof c);
    std::memcpy(&c, before.data(), sizeof c);
    key_.write_into(c);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&c);
    return reinterpret_cast<const stitchgcm_context*>(input("the context", {bytes, sizeof c}));
  }

  std::string init() {
    const Bytes before = random_bytes(sizeof(stitchgcm_context));
    stitchgcm_context c;
    std::memcpy(&c, before.data(), sizeof c);
    key_.write_into(c);
    const auto* after = reinterpret_cast<const std::uint8_t*>(&c);
    auto* context = reinterpret_cast<stitchgcm_context*>(output("the context", before, Bytes(after, after + sizeof c)));
    const std::uint8_t* key = input("the key", key_.bytes());
    return compare([=, this] {
      native_.function<void(stitchgcm_context*, const std::uint8_t*)>(symbol_)(context, key);
      return std::uint64_t{0};
    });
  }

  std::string message() {
    const bool seal = call_.routine == Routine::seal;
    const Bytes iv = random_bytes(call_.iv), aad = random_bytes(call_.aad), plaintext = random_bytes(call_.text);
    const Bytes ciphertext = key_.counter_mode(reference::add_to_counter(key_.first_counter(iv), 1), plaintext);
    const Block whole_tag = key_.tag(iv, aad, ciphertext);
    Bytes tag(whole_tag.begin(), whole_tag.begin() + call_.tag);
    const Bytes& in = seal ? plaintext : ciphertext;
    Bytes out = seal ? ciphertext : plaintext;
    const bool forged = !seal && odd_;
    stitchgcm_message m{};
    m.iv = input("the IV", iv);
    m.iv_bytes = iv.size();
    m.aad = input("the AAD", aad);
    m.aad_bytes = aad.size();
    if (forged) {
      tag.back() = static_cast<std::uint8_t>(tag.back() ^ 1);
      std::fill(out.begin(), out.end(), std::uint8_t{0});
    }
    place_text(in, out, m.in, m.out);
    m.bytes = in.size();
    m.tag = seal ? output("the tag", random_bytes(call_.tag), tag) : input("the tag", tag);
    m.tag_bytes = tag.size();
    const auto* fields = reinterpret_cast<const std::uint8_t*>(&m);
    const auto* message = reinterpret_cast<const stitchgcm_message*>(input("the message", {fields, sizeof m}));
    const stitchgcm_context* c = context();
    if (seal) {
      return compare([=, this] {
        native_.function<void(const stitchgcm_context*, const stitchgcm_message*)>(symbol_)(c, message);
        return std::uint64_t{0};
      });
    }
    returned_ = forged ? 0 : 1;
    return compare([=, this] {
      const int r = native_.function<int(const stitchgcm_context*, const stitchgcm_message*)>(symbol_)(c, message);
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(r));
    });
  }

  void place_text(const Bytes& in, const Bytes& out, const std::uint8_t*& in_pointer, std::uint8_t*& out_pointer) {
    if (call_.in_place) {
      in_pointer = out_pointer = output("the text", in, out);
    } else {
      in_pointer = input("in", in);
      out_pointer = output("out", random_bytes(static_cast<std::int64_t>(out.size())), out);
    }
  }

  std::string blocks() {
    const std::size_t n = static_cast<std::size_t>(call_.blocks);
    Block counter = random_block();
    // Every other time the 32 bits that count wrap around, if there are a few blocks.
    if (odd_) std::fill(counter.begin() + 12, counter.begin() + 15, std::uint8_t{0xff});
    const Bytes in = random_bytes(call_.blocks * layout::kBlockBytes), out = key_.counter_mode(counter, in);
    const std::uint8_t* from = nullptr;
    std::uint8_t* to = nullptr;
    place_text(in, out, from, to);
    const Block next = reference::add_to_counter(counter, n);
    std::uint8_t* c = output("the counter block", counter, Bytes(next.begin(), next.end()));
    const stitchgcm_context* k = context();
    if (call_.routine == Routine::ctr32) {
      return compare([=, this] {
        native_
            .function<void(const stitchgcm_context*, const std::uint8_t*, std::uint8_t*, std::size_t, std::uint8_t*)>(
                symbol_)(k, from, to, n, c);
        return std::uint64_t{0};
      });
    }
    std::uint8_t* y = accumulator(call_.routine == Routine::encrypt_blocks ? out : in);
    return compare([=, this] {
      native_.function<void(const stitchgcm_context*, const std::uint8_t*, std::uint8_t*, std::size_t, std::uint8_t*,
                            std::uint8_t*)>(symbol_)(k, from, to, n, c, y);
      return std::uint64_t{0};
    });
  }

  std::string ghash() {
    const std::size_t n = static_cast<std::size_t>(call_.blocks);
    const Bytes data = random_bytes(call_.blocks * layout::kBlockBytes);
    std::uint8_t* y = accumulator(data);
    const std::uint8_t* from = input("the data", data);
    const stitchgcm_context* k = context();
    return compare([=, this] {
      native_.function<void(const stitchgcm_context*, std::uint8_t*, const std::uint8_t*, std::size_t)>(symbol_)(
          k, y, from, n);
      return std::uint64_t{0};
    });
  }

  std::uint8_t* accumulator(const Bytes& hashed) {
    const Block before = random_block(), after = key_.ghash(before, hashed);
    return output("the accumulator", before, Bytes(after.begin(), after.end()));
  }

  template <class F>
  std::string compare(const F& f) {
    const Ended ended = call_in_child(f);
    if (ended.how == Ended::How::too_long) return "it does not come to an end";
    if (ended.how == Ended::How::signal) {
      if (ended.signal == SIGILL) throw Lacking{};
      for (const GuardedBuffer& b : buffers_) {
        const std::string place = b.describe(ended.address);
        if (!place.empty()) return "it crashes: it may not access " + place;
      }
      return fmt::format("it crashes: {}", strsignal(ended.signal));
    }
    for (const Expected& e : expected_) {
      const auto [is, must] = std::mismatch(e.buffer->bytes().begin(), e.buffer->bytes().end(), e.bytes.begin());
      if (is == e.buffer->bytes().end()) continue;
      return fmt::format("first differing byte {} of {}: is 0x{:02x}, must be 0x{:02x}", is - e.buffer->bytes().begin(),
                         e.buffer->name(), *is, *must);
    }
    for (const GuardedBuffer& b : buffers_) {
      const std::string damage = b.damage();
      if (!damage.empty()) return damage;
    }
    if (ended.value != returned_) return fmt::format("it returns {}, must return {}", ended.value, returned_);
    return "";
  }

  Call call_;
  std::mt19937_64 random_;
  GuardedBuffer::End end_;
  bool odd_;  // another kind of data, every other time
  reference::Key key_;
  NativeImage native_;
  Symbol symbol_;
  std::deque<GuardedBuffer> buffers_;
  std::vector<Expected> expected_;
  std::uint64_t returned_ = 0;
};

std::string execution(const Failure& failure, const std::string& failed_case, const Contract& contract,
                      const Image& image, const std::string& prefix) {
  const std::vector<std::string> cases = contract.cases();
  const auto which = std::find(cases.begin(), cases.end(), failed_case) - cases.begin();
  const auto all_lengths = lengths_on_path(failure.facts, failure.variables, kMostLengths);
  if (all_lengths.empty()) return "not run: no lengths were found that take this path";
  std::size_t runs = 0;
  std::string shortest;
  for (const Lengths& lengths : all_lengths) {
    for (const Call& call : calls_at(lengths, contract, static_cast<std::size_t>(which), image, prefix)) {
      if (shortest.empty()) shortest = call.text_of();
      if (call.bytes() < 0 || call.bytes() > kMostBytes) continue;
      for (std::uint64_t seed = 0; seed < kSeeds; seed++, runs++) {
        const std::string difference = difference_in(call, image, seed);
        if (!difference.empty()) return fmt::format("confirmed by execution: {}: {}", call.text_of(), difference);
      }
    }
  }
  if (shortest.empty()) return "not run: nothing is known of how the routine is called";
  if (runs == 0) return fmt::format("not run: too much memory for {}", shortest);
  return fmt::format("execution shows no difference in {} runs, the first: {}; the proof fails for another reason",
                     runs, shortest);
}

}  // namespace

std::string difference_in(const Call& call, const Image& image, std::uint64_t seed) {
  try {
    return Trial(call, image, seed).run();
  } catch (const Lacking&) {
    throw std::runtime_error("this CPU does not have an instruction of " + call.symbol);
  }
}

std::string execution_at(const Failure& failure, const std::string& failed_case, const Contract& contract,
                         const Image& image, const std::string& prefix) {
  try {
    return execution(failure, failed_case, contract, image, prefix);
  } catch (const std::exception& e) {
    return fmt::format("not run: {}", e.what());
  }
}

}  // namespace stitchgcm::verify
