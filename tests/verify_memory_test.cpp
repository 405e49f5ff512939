// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's memory: what it lets be read is what a plain array of bytes would hold, and all else it refuses.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/verify_lanes.hpp"
#include "support/verify_objects.hpp"
#include "verify/contract/gcm_parts.hpp"
#include "verify/machine/memory.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

constexpr const char* kNever = "that was never written";

std::shared_ptr<const Content> text(LanePool& pool, const std::string& name) {
  return unknown_text(pool, name, Secrecy::secret);
}

bool mentions(const std::string& message, const char* what) { return message.find(what) != std::string::npos; }

/// One region of bytes [0, 16 n + 256) for any n, i between 0 and n, and another region that pointers may lead to.
struct Buffer {
  LanePool pool;
  RandomLanes lanes;
  Variable n, i;
  Facts facts;
  Memory memory;
  RegionId id, other;

  explicit Buffer(std::uint64_t seed = 1, bool with_initial = false)
      : lanes(pool, seed), n(lanes.n()), i(lanes.i()), id{}, other{} {
    facts.declare(n, {0, Wide{1} << 40});
    facts.declare(i, {0, Wide{1} << 40});
    REQUIRE(facts.assume_nonnegative(Affine(n) - Affine(i)));
    Region r;
    r.name = "the buffer";
    r.from = 0;
    r.to = Affine(n) * 16 + 256;
    r.writable = true;
    if (with_initial) r.initial = text(pool, "initial");
    id = memory.add(r);
    other = memory.add(r);
  }
  Lane block(const char* name, const Affine& number = 0) {
    return pool.input(pool.name(name, Secrecy::secret), number);
  }
  void store(const Affine& place, Lane lane, int bytes = 16) { memory.store(facts, id, place, lane, 0, bytes); }
  Lane load(const Affine& place, int bytes = 16) { return memory.load(pool, facts, id, place, bytes); }
  std::string refused(const Affine& place, int bytes = 16) {
    return message_of([&] { load(place, bytes); });
  }
};

/// The buffer with values for all that is unknown in it, and the same bytes in an array.
struct Concrete {
  Buffer& buffer;
  Assignment values;
  Bytes bytes = Bytes(16 * 20 + 256);
  std::vector<bool> known = std::vector<bool>(bytes.size(), false);

  std::int64_t value(const Affine& a) const {
    return substitute(a, {{buffer.n, values.variable(buffer.n)}, {buffer.i, values.variable(buffer.i)}}).constant();
  }
  void write(const Affine& place, Bits128 block, int first, int count) {
    for (int k = 0; k < count; k++) {
      const auto at = static_cast<std::size_t>(value(place) + k);
      bytes.at(at) = bytes_of(block)[static_cast<std::size_t>(first + k)];
      known.at(at) = true;
    }
  }
  bool knows(const Affine& place, int count) const {
    const auto at = known.begin() + value(place);
    return std::all_of(at, at + count, [](bool k) { return k; });
  }
  Bits128 read(const Affine& place, int count) const {
    return from_bytes(block_of(View(bytes).subspan(static_cast<std::size_t>(value(place)), std::size_t(count))));
  }
  Bits128 of(const Scalar& s) const {
    return s.is_number() ? static_cast<std::uint64_t>(value(s.value)) : buffer.pool.evaluate(s.lane, values);
  }
};

}  // namespace

TEST_CASE("verify memory: parts of lanes and numbers are read back as from an array of bytes, at any place") {
  int compared = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    const bool with_initial = seed % 2 == 0;
    Buffer b(seed, with_initial);
    Concrete array{b, random_values(seed)};
    Random random(seed);
    for (int block = 0; with_initial && block < 36; block++) {
      array.write(16 * block, b.pool.evaluate(b.block("initial", block), array.values), 0, 16);
    }
    // Bytes [0, 128) and [16 n + 128, 16 n + 256): the two are apart for every n.
    const auto any_place = [&](int count) {
      const auto offset = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(49 - count)));
      return random.below(2) == 0 ? Affine(offset) : Affine(b.n) * 16 + 128 + offset;
    };
    const auto compare = [&](const Facts& facts, const Affine& place, int count) {
      CAPTURE(seed);
      CAPTURE(b.pool.variables().describe(place));
      CAPTURE(count);
      if (!array.knows(place, count)) {
        const std::string why = message_of([&] { b.memory.load(b.pool, facts, b.id, place, count); });
        REQUIRE_MESSAGE(mentions(why, kNever),
                        "bytes that nobody wrote are read, or refused for another reason: ", why);
        refused++;
        return;
      }
      const Lane lane = b.memory.load(b.pool, facts, b.id, place, count);
      REQUIRE(hex(b.pool.evaluate(lane, array.values)) == hex(array.read(place, count)));
      if (count == 8) {
        const Scalar s = b.memory.load_scalar(b.pool, facts, b.id, place, 8);
        REQUIRE(hex(array.of(s)) == hex(array.read(place, 8)));
      }
      compared++;
    };
    for (int step = 0; step < 60; step++) {
      const int count = 1 + static_cast<int>(random.below(16));
      const Affine place = any_place(count), number_place = any_place(8);
      switch (random.below(4)) {
        case 0: {
          const Affine number = b.lanes.affine();
          b.memory.split_numbers(b.pool, b.facts, b.id, number_place, 8);
          b.memory.store_scalar(b.facts, b.id, number_place, Scalar::number(number));
          array.write(number_place, static_cast<std::uint64_t>(array.value(number)), 0, 8);
          break;
        }
        case 1: {
          const Lane lane = b.lanes.lane();
          const int first = static_cast<int>(random.below(static_cast<std::size_t>(17 - count)));
          b.memory.split_numbers(b.pool, b.facts, b.id, place, count);
          b.memory.store(b.facts, b.id, place, lane, first, count);
          array.write(place, b.pool.evaluate(lane, array.values), first, count);
          break;
        }
        case 2: compare(b.facts, place, count); break;
        default: compare(b.facts, number_place, 8); break;
      }
    }
    // Once n is known, places that were symbolic are numbers.
    Facts facts;
    for (const Variable v : {b.n, b.i}) facts.declare(v, {array.values.variable(v), array.values.variable(v)});
    for (std::int64_t place = 0; place < array.value(Affine(b.n) * 16) + 256; place++) compare(facts, place, 1);
  }
  CHECK_MESSAGE(compared > 5000, "hardly anything was compared");
  CHECK_MESSAGE(refused > 2000, "hardly anything was unwritten");
}

TEST_CASE("verify memory: the last byte may be accessed and the next one not, for every length") {
  LanePool pool;
  const Variable length = pool.variables().add("length");
  Facts facts;
  facts.declare(length, {1, Wide{1} << 32});
  Memory memory;
  Region r;
  r.name = "text";
  r.from = 16;
  r.to = Affine(length) + 16;
  r.writable = true;
  const RegionId id = memory.add(r);
  const auto refusal = [&](const Affine& place, const Affine& bytes) {
    const std::string read = message_of([&] { memory.check_access(facts, id, place, bytes, false); });
    const std::string write = message_of([&] { memory.check_access(facts, id, place, bytes, true); });
    CHECK_MESSAGE(mentions(read, "a read of text") == mentions(write, "a write of text"), read, " but ", write);
    return read.substr(read.find(": ") == std::string::npos ? 0 : read.find(": ") + 2);
  };
  CHECK(refusal(Affine(length) + 15, 1) == "nothing is wrong");
  CHECK(refusal(16, length) == "nothing is wrong");
  CHECK(refusal(Affine(length) + 15, 2) == "past the end");
  CHECK(refusal(Affine(length) + 16, 1) == "past the end");
  CHECK(refusal(16, Affine(length) + 1) == "past the end");
  CHECK(refusal(17, length) == "past the end");
  CHECK(refusal(17, 1) == "past the end");
  CHECK(refusal(15, 1) == "before the start");
  CHECK(refusal(-16, 1) == "before the start");
  CHECK(refusal(Affine(length) * -1, 1) == "before the start");

  facts.declare(length, {1, 4});
  CHECK_THROWS_AS(memory.check_access(facts, id, 17, 1, false), Undecided);
  CHECK_THROWS_AS(memory.check_access(facts, id, 20, 1, false), Refused);
}

TEST_CASE("verify memory: what must not be read or written is not, and a refused store leaves all as it was") {
  Buffer b;
  b.store(0, b.block("before"));
  b.memory.edit(b.id).writable = false;
  CHECK(message_of([&] { b.store(0, b.block("after")); }) == "the buffer must not be written");
  CHECK(message_of([&] { b.memory.store_scalar(b.facts, b.id, 0, Scalar::number(1)); }) ==
        "the buffer must not be written");
  CHECK(b.load(0) == b.block("before"));
  b.memory.edit(b.id).writable = true;
  CHECK(mentions(message_of([&] { b.store(Affine(b.n) * 16 + 241, b.block("after")); }), "past the end"));
  CHECK(b.load(0) == b.block("before"));
  b.memory.edit(b.id).readable = false;
  CHECK(b.refused(0) == "the buffer must not be read");
  b.memory.edit(b.id).readable = true;
  b.memory.edit(b.id).exists = [](std::int64_t place, std::int64_t bytes) { return place == 32 && bytes == 4; };
  CHECK(mentions(b.refused(0), "where there is none"));
  CHECK(mentions(b.refused(Affine(b.n)), "where there is none"));
  CHECK(mentions(b.refused(32, 4), kNever));
}

TEST_CASE("verify memory: places that may be the same are not told apart") {
  const auto stored_twice = [](bool known_apart) {
    auto b = std::make_unique<Buffer>(1, true);
    if (known_apart) REQUIRE(b->facts.assume_nonnegative(Affine(b->n) - Affine(b->i) - 1));
    b->store(Affine(b->i) * 16, b->block("first"));
    CHECK(known_apart == (b->refused(Affine(b->n) * 16) == "nothing is wrong"));
    b->store(Affine(b->n) * 16, b->block("second"));
    return b;
  };
  const auto apart = stored_twice(true);
  CHECK(apart->load(Affine(apart->i) * 16) == apart->block("first"));
  CHECK(apart->load(Affine(apart->n) * 16) == apart->block("second"));
  CHECK(apart->load(Affine(apart->n) * 16 + 16) == apart->block("initial", Affine(apart->n) + 1));

  const auto mixed = stored_twice(false);
  CHECK(mixed->memory.region(mixed->id).forgotten);
  CHECK(mixed->load(Affine(mixed->n) * 16) == mixed->block("second"));
  CHECK(mentions(mixed->refused(Affine(mixed->i) * 16), "may have been written at another"));
  CHECK(mentions(mixed->refused(Affine(mixed->n) * 16 + 16), kNever));
  CHECK(mixed->memory.load(mixed->pool, mixed->facts, mixed->other, 0, 16) == mixed->block("initial"));
}

TEST_CASE("verify memory: numbers and pointers come back as stored, and only as a whole") {
  Buffer b;
  const Scalar number = Scalar::number(Affine(b.n) * 3 + 7), pointer = Scalar::pointer(b.other, Affine(b.n) * 16);
  const Scalar data = Scalar::data(b.pool.mask(b.block("data"), low_bits(64)));
  const Scalar* const all[] = {&number, &pointer, &data};
  for (std::int64_t k = 0; k < 3; k++) b.memory.store_scalar(b.facts, b.id, 8 * k, *all[k]);
  const auto scalar = [&](std::int64_t place, int bytes) {
    return b.memory.load_scalar(b.pool, b.facts, b.id, place, bytes);
  };
  for (std::int64_t k = 0; k < 3; k++) CHECK(scalar(8 * k, 8) == *all[k]);
  CHECK_MESSAGE(scalar(0, 4) == number, "whoever reads 4 bytes takes the low half of it");
  CHECK(b.load(0, 8) == b.pool.integer(number.value));
  for (const auto& [place, bytes] : {std::pair{8, 4}, {8, 1}, {9, 8}, {1, 8}, {15, 1}}) {
    CHECK(message_of([&, p = place, n = bytes] { scalar(p, n); }) == "part of a pointer is read from the buffer");
  }
  for (const std::int64_t place : {-7, 1, 7, 9, 15}) {
    const Memory before = b.memory;
    b.memory.edit(b.id).from = -64;
    const std::string why = message_of([&] { b.store(place, b.block("over"), 8); });
    CHECK_MESSAGE(mentions(why, "a write over part of a public number or a pointer"), place, ": ", why);
    b.memory = before;
  }
  b.store(0, b.block("over"), 16);
  CHECK(b.load(0) == b.block("over"));
  CHECK(scalar(16, 8) == data);
}

TEST_CASE("verify memory: a number that is split keeps its value, and may then be written over in part") {
  Buffer b;
  const Affine value = Affine(b.n) * 3 + 0x1234;
  b.memory.store_scalar(b.facts, b.id, 0, Scalar::number(value));
  b.memory.store_scalar(b.facts, b.id, 8, Scalar::number(5));
  b.memory.store_scalar(b.facts, b.id, 16, Scalar::pointer(b.other));
  b.memory.split_numbers(b.pool, b.facts, b.id, 6, 11);
  CHECK(b.load(0, 8) == b.pool.integer(value));
  CHECK_MESSAGE(b.memory.load_scalar(b.pool, b.facts, b.id, 8, 8) == Scalar::number(5), "all of it is covered");
  CHECK_MESSAGE(b.memory.region(b.id).windows.at(0).slots.contains(8), "a number was split without need");
  CHECK(b.memory.load_scalar(b.pool, b.facts, b.id, 16, 8) == Scalar::pointer(b.other));
  b.store(6, b.block("over"), 2);
  const Assignment values = random_values(3);
  const Bits128 low = static_cast<std::uint64_t>(values.variable(b.n) * 3 + 0x1234) & low_bits(48);
  const Bits128 high = b.pool.evaluate(b.block("over"), values) & low_bits(16);
  CHECK(hex(b.pool.evaluate(b.load(0, 8), values)) == hex(low | high << 48));
}

TEST_CASE("verify memory: a run of blocks is read by its formula, and not at an edge that is not known") {
  Buffer b(1, true);
  b.store(16, b.block("in the run's way"));
  b.memory.set_run(b.facts, b.id, {0, Affine(b.n) * 16 + 32, text(b.pool, "run")});
  CHECK(b.load(16) == b.block("run", 1));
  CHECK(b.load(Affine(b.i) * 16 + 16) == b.block("run", Affine(b.i) + 1));
  CHECK(b.load(Affine(b.n) * 16 + 32) == b.block("initial", Affine(b.n) + 2));
  CHECK(mentions(b.refused(32), "at the edge of what was written"));
  CHECK(mentions(b.refused(Affine(b.i) * 8, 1), "does not keep to blocks"));
  b.store(16, b.block("over the run"));
  CHECK(b.load(16) == b.block("over the run"));
  CHECK(b.load(0) == b.block("run"));

  SUBCASE("a store across the edge") { b.store(Affine(b.n) * 16 + 24, b.block("over the edge")); }
  SUBCASE("a store that may be across the edge") { b.store(128, b.block("over the edge")); }
  SUBCASE("another run across it") {
    b.memory.set_run(b.facts, b.id, {Affine(b.n) * 16, Affine(b.n) * 16 + 64, text(b.pool, "another")});
    CHECK(b.load(Affine(b.n) * 16) == b.block("another", b.n));
  }
  SUBCASE("another run across a block") {
    b.store(Affine(b.n) * 16 + 40, b.block("beyond the run"));
    b.memory.set_run(b.facts, b.id, {Affine(b.n) * 16 + 32, Affine(b.n) * 16 + 48, text(b.pool, "another")});
  }
  SUBCASE("what a contract forgets") { b.memory.forget(b.id); }
  CHECK_FALSE_MESSAGE(b.refused(0) == "nothing is wrong", "what may have been written over is still read");
}

TEST_CASE("verify memory: blocks that are stored one by one become part of a run of what they hold") {
  Buffer b;
  const auto content = text(b.pool, "text");
  const auto gather = [&] { b.memory.gather_runs(b.pool, b.facts, b.id, content); };
  const auto runs = [&] { return b.memory.region(b.id).runs; };
  for (std::int64_t k = 0; k < 3; k++) b.store(16 * k, b.block("text", k));
  b.store(48, b.block("something else"));
  b.store(64, b.block("text", 4), 15);
  b.store(88, b.block("text", 5));
  gather();
  CHECK(runs() == std::vector<Run>{{0, 48, content}});
  CHECK(b.load(32) == b.block("text", 2));
  CHECK(b.load(48) == b.block("something else"));
  CHECK(b.memory.region(b.id).windows.at(0).pieces.size() == 3);

  Buffer s;
  const auto moving = text(s.pool, "text");
  s.memory.set_run(s.facts, s.id, {0, Affine(s.n) * 16, moving});
  s.store(Affine(s.n) * 16, s.block("text", s.n));
  s.memory.gather_runs(s.pool, s.facts, s.id, moving);
  CHECK(s.memory.region(s.id).runs == std::vector<Run>{{0, Affine(s.n) * 16 + 16, moving}});
  CHECK(s.memory.region(s.id).windows.empty());
  CHECK(s.load(Affine(s.i) * 16) == s.block("text", s.i));
  // The same again, inside of the run, says nothing new.
  s.store(Affine(s.n) * 16, s.block("text", s.n));
  s.memory.gather_runs(s.pool, s.facts, s.id, moving);
  CHECK(s.memory.region(s.id).runs.size() == 1);
  CHECK(s.memory.region(s.id).windows.empty());
  // Block i where block n belongs: the text only if the facts say that they are one.
  s.store(Affine(s.n) * 16 + 16, s.block("text", Affine(s.i) + 1));
  s.memory.gather_runs(s.pool, s.facts, s.id, moving);
  CHECK(s.memory.region(s.id).windows.size() == 1);
  REQUIRE(s.facts.assume_zero(Affine(s.n) - Affine(s.i)));
  s.memory.gather_runs(s.pool, s.facts, s.id, moving);
  CHECK(s.memory.region(s.id).windows.empty());
  const Lane read = s.load(Affine(s.n) * 16 + 16);
  CHECK(resolve(s.pool, s.facts, read) == resolve(s.pool, s.facts, s.block("text", Affine(s.i) + 1)));
}

}  // namespace tests
