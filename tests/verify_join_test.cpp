// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Two paths that meet: the state that they go on with covers both, or they go on by themselves.
#include <doctest/doctest.h>

#include <functional>

#include "verify/contract/system_v.hpp"
#include "verify/proof/join.hpp"

namespace {

using namespace stitchgcm::verify;

/// Two states that are equal at first, n between 0 and 9 in both.
struct Meeting {
  LanePool pool;
  Image image{std::vector<Section>{}, {}};
  Setting setting{pool, image};
  Variable n = pool.variables().add("n");
  std::unordered_set<std::uint32_t> unknowns;
  State a, b;

  Meeting() : a(routine_entry(setting)) {
    a.facts.declare(n, {0, 9});
    a.memory.edit(a.stack).from = -128;
    b = a;
  }
  Lane secret(const char* name) { return pool.input(pool.name(name, Secrecy::secret)); }
  Lane open(const char* name) { return pool.input(pool.name(name, Secrecy::is_public)); }
  bool join(Registers live = 0, int lanes = 4) { return stitchgcm::verify::join(setting, a, b, live, lanes, unknowns); }
  /// True if they do not join, and a is as it was.
  bool apart(Registers live = 0, int lanes = 4) {
    const State before = a;
    if (join(live, lanes)) return false;
    CHECK(a.general == before.general);
    CHECK(a.vector == before.vector);
    CHECK(a.mask == before.mask);
    CHECK(a.flags == before.flags);
    CHECK(a.facts.ranges() == before.facts.ranges());
    for (std::size_t i = 0; i < a.memory.size(); i++) {
      CHECK(a.memory.shares_region(before.memory, static_cast<RegionId>(i)));
    }
    return true;
  }
  void in_stack(State& s, std::int64_t place, Lane lane, int bytes = 16) {
    s.memory.store(s.facts, s.stack, place, lane, 0, bytes);
  }
  Lane stack(std::int64_t place, int bytes = 16) { return a.memory.load(pool, a.facts, a.stack, place, bytes); }
  /// A lane that is neither of the two, and secret as it is told.
  bool is_unknown(Lane lane, Lane left, Lane right, bool secret) {
    return lane != left && lane != right && pool.mentions_secret(lane) == secret && pool.support(lane) != 0;
  }
};

}  // namespace

TEST_CASE("verify join: two states that are one stay as they are") {
  Meeting m;
  m.a.general[rax] = m.b.general[rax] = Scalar::number(Affine(m.n) * 2);
  m.a.vector[7][2] = m.b.vector[7][2] = m.secret("text");
  m.a.mask[1] = m.b.mask[1] = 0xff;
  m.a.flags = m.b.flags = {Flags::Kind::result, Scalar::number(m.n), {}, 64, {}};
  m.in_stack(m.a, -32, m.secret("text"));
  m.in_stack(m.b, -32, m.secret("text"));
  const State before = m.a;
  REQUIRE(m.join(kAllRegisters | kFlagsBit));
  CHECK(m.a.general == before.general);
  CHECK(m.a.vector == before.vector);
  CHECK(m.a.mask == before.mask);
  CHECK(m.a.flags == before.flags);
  CHECK(m.stack(-32) == m.secret("text"));
  CHECK(m.unknowns.empty());
}

TEST_CASE("verify join: a vector in which they differ becomes unknown, unless it is read afterwards") {
  Meeting m;
  m.a.vector[3][0] = m.open("left"), m.b.vector[3][0] = m.open("right");
  m.a.vector[4][1] = m.open("left"), m.b.vector[4][1] = m.secret("key");
  CHECK(m.apart(vector_bit(3)));
  CHECK(m.apart(vector_bit(4), 2));
  REQUIRE_MESSAGE(m.join(vector_bit(4), 1), "lanes that no instruction reads do not keep them apart");
  CHECK(m.is_unknown(m.a.vector[3][0], m.open("left"), m.open("right"), false));
  CHECK(m.is_unknown(m.a.vector[4][1], m.open("left"), m.secret("key"), true));
  CHECK_MESSAGE(m.a.vector[3][0] != m.a.vector[4][1], "two places hold one unknown");
}

TEST_CASE("verify join: an unknown of an earlier join serves again, if it is as secret as it must be") {
  Meeting m;
  m.a.vector[3][0] = m.open("left"), m.b.vector[3][0] = m.open("right");
  REQUIRE(m.join());
  const Lane unknown = m.a.vector[3][0];
  m.b.vector[3][0] = m.open("another");
  REQUIRE(m.join());
  CHECK(m.a.vector[3][0] == unknown);
  m.b.vector[3][0] = m.secret("key");
  REQUIRE(m.join());
  CHECK(m.is_unknown(m.a.vector[3][0], unknown, m.secret("key"), true));
}

TEST_CASE("verify join: an expression that is right on both paths stays") {
  Meeting m;
  REQUIRE(m.b.facts.assume_zero(Affine(m.n) - 3));
  m.a.general[rax] = Scalar::number(m.n), m.b.general[rax] = Scalar::number(3);
  m.a.general[rcx] = Scalar::pointer(m.a.stack, Affine(m.n) - 8), m.b.general[rcx] = Scalar::pointer(m.a.stack, -5);
  m.a.general[rbx] = Scalar::number(Affine(m.n) + 1), m.b.general[rbx] = Scalar::number(4);
  m.a.vector[0][0] = m.pool.integer(m.n), m.b.vector[0][0] = m.pool.integer(3);
  m.a.ghost_numbers.own()["length"] = m.n, m.b.ghost_numbers.own()["length"] = 3;
  const Lane y = m.secret("Y");
  const auto data = std::make_shared<Content>(Content{"data", {}});
  m.a.hash = HashProgress{data, y, 0, y, m.n}, m.b.hash = HashProgress{data, y, 0, y, 3};
  REQUIRE(m.join(kAllRegisters));
  CHECK(m.a.general[rax] == Scalar::number(m.n));
  CHECK(m.a.general[rcx] == Scalar::pointer(m.a.stack, Affine(m.n) - 8));
  CHECK(m.a.general[rbx] == Scalar::number(Affine(m.n) + 1));
  CHECK(m.a.vector[0][0] == m.pool.integer(m.n));
  CHECK(m.a.ghost_numbers->at("length") == Affine(m.n));
  CHECK(m.a.hash->at == Affine(m.n));
}

TEST_CASE("verify join: a common expression is one's under its facts, the other's under the other's") {
  Variables names;
  const Variable n = names.add("n");
  Facts any, three;
  any.declare(n, {0, 9});
  three.declare(n, {3, 3});
  CHECK(common_expression(any, n, three, 3) == Affine(n));
  CHECK(common_expression(three, 3, any, n) == Affine(n));
  CHECK(common_expression(any, Affine(n) * 2, three, 6) == Affine(n) * 2);
  CHECK(common_expression(any, 5, three, 5) == Affine(5));
  CHECK_FALSE(common_expression(any, n, three, 4));
  CHECK_MESSAGE(common_expression(any, 3, three, n) == Affine(3), "n is more than 3 on the other path");
  CHECK_FALSE(common_expression(any, n, any, 3));
}

TEST_CASE("verify join: lengths may be those of either") {
  Meeting m;
  REQUIRE(m.a.facts.assume_nonnegative(Affine(m.n) - 2));
  REQUIRE(m.a.facts.assume_nonnegative(Affine(4) - Affine(m.n)));
  REQUIRE(m.b.facts.assume_nonnegative(Affine(m.n) - 3));
  REQUIRE(m.join());
  CHECK(m.a.facts.range(m.n) == Range{2, 9});
}

TEST_CASE("verify join: general registers that nothing reads become unknown, never less secret") {
  Meeting m;
  const auto data = [&m](Lane lane) { return Scalar::data(m.pool.mask(lane, low_bits(64))); };
  m.a.general[rax] = Scalar::number(1), m.b.general[rax] = Scalar::number(2);
  m.a.general[rcx] = Scalar::number(1), m.b.general[rcx] = Scalar::pointer(m.a.stack);
  m.a.general[rdx] = Scalar::number(1), m.b.general[rdx] = data(m.secret("key"));
  m.a.general[rsi] = data(m.secret("key")), m.b.general[rsi] = data(m.open("text"));
  m.a.general[rdi] = data(m.open("text")), m.b.general[rdi] = data(m.open("another"));
  for (const int r : {rax, rcx, rdx, rsi, rdi}) CHECK_MESSAGE(m.apart(general_bit(r)), r);
  REQUIRE(m.join());
  CHECK(m.a.general[rax] == Scalar::unknown());
  CHECK(m.a.general[rcx] == Scalar::unknown());
  for (const int r : {rdx, rsi, rdi}) {
    const Scalar& g = m.a.general[static_cast<std::size_t>(r)];
    REQUIRE_MESSAGE(g.is_data(), r);
    CHECK_MESSAGE(m.pool.mentions_secret(g.lane) == (r != rdi), r);
    CHECK_MESSAGE(m.pool.support(g.lane) == low_bits(64), r);
  }
}

TEST_CASE("verify join: flags and masks in which they differ are not known any more") {
  Meeting m;
  m.a.mask[1] = 0xff, m.b.mask[1] = 0xf;
  m.a.mask[2] = 3;
  m.a.mask[3] = m.b.mask[3] = 7;
  m.a.flags = {Flags::Kind::result, Scalar::number(1), {}, 64, {}};
  REQUIRE(m.join());
  CHECK_FALSE(m.a.mask[1]);
  CHECK_FALSE(m.a.mask[2]);
  CHECK(m.a.mask[3] == 7);
  CHECK(m.a.flags.kind == Flags::Kind::undefined);
}

TEST_CASE("verify join: what says where things are, or how far the specification is, keeps them apart") {
  Meeting m;
  const Lane y = m.secret("Y");
  const auto data = std::make_shared<Content>(Content{"data", {}}), other = std::make_shared<Content>(*data);
  Region r;
  r.name = "out";
  r.to = 64;
  r.writable = true;
  const RegionId out = m.a.memory.add(r);
  m.a.hash = HashProgress{data, y, 0, y, 0};
  m.b = m.a;
  const auto differs = [&](const std::string& what, const std::function<void(State&)>& change) {
    m.b = m.a;
    change(m.b);
    CHECK_MESSAGE(m.apart(), what, " was forgotten");
  };
  for (const int lasting : {rbx, rsp, rbp, r12, r13, r14, r15}) {
    differs("a lasting register", [&](State& s) { s.general[static_cast<std::size_t>(lasting)] = Scalar::number(1); });
  }
  differs("a ghost", [&](State& s) { s.ghosts.own()["J0"] = y; });
  differs("a number of the specification", [&](State& s) { s.ghost_numbers.own()["length"] = 1; });
  differs("the verdict", [](State& s) { s.verdict = true; });
  differs("the position", [&](State& s) { s.position = m.n; });
  differs("that there is a hash", [](State& s) { s.hash.reset(); });
  differs("the hash", [&](State& s) { s.hash->y = m.secret("another"); });
  differs("where the hash is", [](State& s) { s.hash->at = 1; });
  differs("where the hash begins", [](State& s) { s.hash->from = 1; });
  differs("what is hashed", [](State& s) { s.hash->data = std::make_shared<Content>(Content{"other", {}}); });
  differs("a block of a buffer", [&](State& s) { s.memory.store(s.facts, out, 0, y, 0, 16); });
  differs("a run of a buffer", [&](State& s) { s.memory.set_run(s.facts, out, {0, 32, data}); });
  differs("that a buffer is forgotten", [&](State& s) { s.memory.forget(out); });
  differs("how deep the stack is", [](State& s) { s.memory.edit(s.stack).from = -136; });
  m.b = m.a;
  m.b.hash->data = other;
  CHECK_MESSAGE(m.join(), "the same text is the same content");
}

TEST_CASE("verify join: runs that end at a common expression are one") {
  Meeting m;
  Region r;
  r.to = 256;
  r.writable = true;
  const auto data = std::make_shared<Content>(Content{"data", {}});
  const RegionId out = m.a.memory.add(r);
  m.b.memory.add(r);
  REQUIRE(m.b.facts.assume_zero(Affine(m.n) - 3));
  m.a.memory.edit(out).runs = {{0, Affine(m.n) * 16, data}};
  m.b.memory.edit(out).runs = {{0, 48, data}};
  REQUIRE(m.join());
  CHECK(m.a.memory.region(out).runs == std::vector<Run>{{0, Affine(m.n) * 16, data}});
  m.b.memory.edit(out).runs = {{0, 64, data}};
  CHECK(m.apart());
}

TEST_CASE("verify join: bytes of the stack that one has written, or both with something else, become unknown") {
  Meeting m;
  const Lane key = m.secret("key"), text = m.open("text");
  m.in_stack(m.a, -32, text);
  m.in_stack(m.b, -48, key);
  m.in_stack(m.a, -64, text), m.in_stack(m.b, -64, key);
  m.a.memory.store(m.a.facts, m.a.stack, -80, key, 4, 8);
  m.in_stack(m.a, -96, text), m.in_stack(m.b, -96, text);
  REQUIRE(m.join());
  CHECK(m.is_unknown(m.stack(-32), text, key, false));
  CHECK(m.is_unknown(m.stack(-48), text, key, true));
  CHECK(m.is_unknown(m.stack(-64), text, key, true));
  CHECK(m.is_unknown(m.stack(-80, 8), m.pool.constant(0), key, true));
  CHECK_MESSAGE(m.pool.mentions_secret(m.stack(-80, 4)), "a part of a lane is as secret as the lane");
  CHECK(m.stack(-96) == text);
  CHECK_THROWS_AS(m.stack(-112), Refused);
}

TEST_CASE("verify join: numbers and pointers in the stack stay if both hold them there, else they are not to be read") {
  Meeting m;
  const auto put = [&](State& s, std::int64_t place, const Scalar& value) {
    s.memory.store_scalar(s.facts, s.stack, place, value);
  };
  for (State* s : {&m.a, &m.b}) put(*s, -8, Scalar::pointer(m.a.stack, 4));
  put(m.a, -16, Scalar::number(1));
  put(m.b, -24, Scalar::number(2));
  put(m.a, -32, Scalar::number(1)), m.in_stack(m.b, -32, m.secret("key"), 8);
  REQUIRE(m.join());
  const auto scalar = [&](std::int64_t place) {
    return m.a.memory.load_scalar(m.pool, m.a.facts, m.a.stack, place, 8);
  };
  CHECK(scalar(-8) == Scalar::pointer(m.a.stack, 4));
  CHECK_THROWS_AS(scalar(-16), Refused);
  CHECK_THROWS_AS(scalar(-24), Refused);
  CHECK(m.pool.mentions_secret(m.stack(-32, 8)));

  m.b = m.a;
  put(m.a, -16, Scalar::number(1)), put(m.b, -16, Scalar::number(2));
  CHECK_MESSAGE(m.apart(), "a public number in the stack must not be forgotten");
  m.b = m.a;
  m.in_stack(m.a, -64, m.open("text")), m.in_stack(m.b, -56, m.open("text"));
  CHECK_MESSAGE(m.apart(), "parts of lanes that overlap have no common shape");
}
