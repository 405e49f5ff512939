// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Loops for any number of turns: what is guessed of them from two arrivals, what counts as proof of it, and small loops
// that are right, or wrong in one thing.
#include <doctest/doctest.h>

#include <functional>

#include "support/verify_objects.hpp"
#include "verify/contract/gcm_parts.hpp"
#include "verify/proof/explorer.hpp"
#include "verify/proof/induction.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

constexpr Wide kMost = Wide{1} << 32;

std::shared_ptr<const Content> zeros() {
  return std::make_shared<Content>(Content{"zeros", [](const Facts&, const Affine&) { return Lane{}; }});
}

/// rdi: n blocks, which become zero; rsi: n; rdx: m, whatever it is; rax = m + 3 n if `adds`.
class Turns final : public Contract {
 public:
  explicit Turns(bool adds) : Contract("f"), adds_(adds) {}
  std::vector<std::string> statement() const override { return {}; }
  std::string lengths() const override { return {}; }
  std::vector<std::string> cases() const override { return {"all"}; }
  State entry(const Setting& setting, std::size_t) const override {
    State s = routine_entry(setting);
    const Affine n = add_length(setting, s, "n", 1, kMost), m = add_length(setting, s, "m", 0, kMost);
    general(s, rdi) = Scalar::pointer(add_buffer(s, "out", 0, n * 16, true, nullptr));
    general(s, rsi) = Scalar::number(n);
    general(s, rdx) = Scalar::number(m);
    s.outputs = {{general(s, rdi).region, zeros()}};
    return s;
  }
  void check_exit(const Setting& setting, const State& entry, State exit) const override {
    const Affine n = general(entry, rsi).value, m = general(entry, rdx).value;
    if (adds_) {
      if (!exit.facts.equal(require_number(exit, rax, "the sum"), m + n * 3)) throw Refused("the sum is another");
    } else {
      require_content(setting, exit, general(entry, rdi).region, 0, n * 16, zeros(), "the output");
    }
    check_routine_exit(setting, entry, exit, {.preserved = {rbx}, .vectors = 16, .vectors_zero = false});
  }

 private:
  bool adds_;
};

/// Two arrivals at a loop that zeroes 8 blocks a turn, hashes and moves along a text, and the hypothesis of them.
struct Arrivals {
  LanePool pool;
  Image image{std::vector<Section>{}, {}};
  Setting setting{pool, image};
  Turns contract{false};
  std::shared_ptr<const Content> text = unknown_text(pool, "text", Secrecy::secret);
  Variable n{}, position{};
  RegionId in{}, out{};
  State before, now;

  Arrivals() : before(contract.entry(setting, 0)) {
    State& s = before;
    position = add_position(setting, s).terms()[0].variable;
    n = general(s, rsi).value.terms()[0].variable;
    const Affine from = Affine(position) * 128, to = from + Affine(n) * 128;
    out = general(s, rdi).region;
    s.memory.edit(out).from = from;
    s.memory.edit(out).to = to;
    in = add_buffer(s, "in", from, to, false, text);
    s.memory.edit(s.stack).from = -128;
    general(s, rdi) = Scalar::pointer(out, from + 128);
    general(s, rcx) = Scalar::pointer(in, from + 128);
    general(s, rsi) = Scalar::number(Affine(n) - 1);
    general(s, rbx) = Scalar::number(5);
    REQUIRE(s.facts.assume_nonnegative(Affine(n) - 2));
    s.memory.set_run(s.facts, out, {from, from + 128, zeros()});
    const Lane y = pool.input(pool.name("Y", Secrecy::secret));
    s.hash = HashProgress{text, y, Affine(position) * 8, y, Affine(position) * 8};
    s.ghosts.own()["J0"] = y;
    lanes(s, 0);
    now = after_turns(before, 1);
    REQUIRE(now.facts.assume_nonnegative(Affine(n) - 3));
  }
  /// xmm1 stays, xmm2 and a part of the stack move with the text, xmm3 is Y, xmm4 and another part follow nothing.
  void lanes(State& s, std::int64_t turn) {
    const Lane block = text->block(s.facts, Affine(position) * 8 + 8 * turn);
    const Lane other = pool.input(pool.name("follows nothing", Secrecy::secret), turn * turn);
    vector_lane(s, 1) = pool.constant(7);
    vector_lane(s, 2) = block;
    vector_lane(s, 3) = pool.apply(pool.reverse_bytes(), s.hash->y);
    vector_lane(s, 4) = other;
    s.memory.store(s.facts, s.stack, -32, pool.constant(9), 0, 16);
    s.memory.store(s.facts, s.stack, -48, block, 0, 16);
    s.memory.store(s.facts, s.stack, -64, other, 0, 16);
  }
  State after_turns(const State& first, std::int64_t turns) {
    State s = first;
    general(s, rdi).value += 128 * turns;
    general(s, rcx).value += 128 * turns;
    general(s, rsi).value += -turns;
    s.memory.edit(out).runs[0].to += 128 * turns;
    advance_hash(pool, s.facts, *s.hash, s.hash->at + 8 * turns);
    lanes(s, turns);
    return s;
  }
  std::shared_ptr<const Hypothesis> guessed() {
    return guess(setting, contract, 0, std::make_shared<const State>(before), now);
  }
  std::string step_of(const Hypothesis& h, int r) {
    const auto& step = h.general_step[static_cast<std::size_t>(r)];
    return step ? std::to_string(*step) : "anything";
  }
  Lane stack(const State& s, std::int64_t place) { return s.memory.load(pool, s.facts, s.stack, place, 16); }
  /// The state with the hypothesis's i = turn.
  State at_turn(const Hypothesis& h, const Affine& turn) {
    State s = state_of(setting, contract, h);
    const Substitution i{{h.turn, turn}};
    for (Scalar& g : s.general) g.value = substitute(g.value, i);
    for (auto& lanes_of : s.vector) {
      for (Lane& lane : lanes_of) lane = pool.substitute(lane, i);
    }
    for (auto& [place, piece] : s.memory.edit(s.stack).windows.begin()->second.pieces) {
      piece.lane = pool.substitute(piece.lane, i);
    }
    for (Run& run : s.memory.edit(out).runs) run.to = substitute(run.to, i);
    s.hash->y = pool.substitute(s.hash->y, i);
    s.hash->at = substitute(s.hash->at, i);
    return s;
  }
  /// What the hypothesis at any i comes to after a turn.
  State next(const Hypothesis& h) {
    State s = state_of(setting, contract, h);
    advance_hash(pool, s.facts, *s.hash, s.hash->at + 8);
    const Lane y = s.hash->y;
    const Affine at = s.hash->at;
    s = at_turn(h, Affine(h.turn) + 1);
    s.hash->y = y;
    s.hash->at = at;
    vector_lane(s, 3) = pool.apply(pool.reverse_bytes(), y);
    REQUIRE(s.facts.assume_nonnegative(general(s, rsi).value - 1));
    return s;
  }
};

/// Why the routine is refused; empty if it is proved. With how many hypotheses, if that is asked.
std::string refusal(const std::string& body, bool adds = false, std::uint64_t* hypotheses = nullptr) {
  const SmallObjects objects({function_text("f", body)});
  const Image image = objects.image();
  const Function f = decode(image, *image.find("f"));
  LanePool pool;
  const Turns contract(adds);
  Explorer explorer({pool, image}, f, contract, [](std::uint64_t) { return nullptr; });
  try {
    explorer.run(0);
  } catch (const Failure& failure) {
    return failure.reason;
  }
  if (hypotheses != nullptr) *hypotheses = explorer.statistics().hypotheses;
  return "";
}

std::string zeroing(const std::string& step, const std::string& count, const std::string& again = "jne 1b") {
  return "  vpxor xmm0, xmm0, xmm0\n1:\n  vmovdqu [rdi], xmm0\n  " + step + "\n  " + count + "\n  " + again +
         "\n  ret\n";
}
std::string adding(const std::string& step, const std::string& count) {
  return "  mov rax, rdx\n1:\n  " + step + "\n  " + count + "\n  jne 1b\n  ret\n";
}

/// Empty if the reason is the wanted one; else what it is.
std::string unlike(const std::string& reason, const std::string& wanted) {
  if (reason.find(wanted) != std::string::npos) return "";
  return reason.empty() ? "the routine is proved, with the fault" : "refused, but for: " + reason;
}

}  // namespace

TEST_CASE("verify induction: counts, pointers, blocks and the hash are seen to move with the turns") {
  Arrivals a;
  const auto h = a.guessed();
  REQUIRE(h);
  CHECK(a.step_of(*h, rdi) == "128");
  CHECK(a.step_of(*h, rcx) == "128");
  CHECK(a.step_of(*h, rsi) == "-1");
  CHECK(a.step_of(*h, rbx) == "0");
  CHECK(a.step_of(*h, rsp) == "0");
  CHECK(h->position_step == 1);
  CHECK(h->run_step.at({a.out, 0}) == 128);
  using Role = Hypothesis::Role;
  const Role roles[] = {Role::same, Role::same, Role::moves, Role::reversed_hash, Role::anything};
  for (std::size_t r = 0; r < 5; r++) CHECK_MESSAGE(h->vector_role[r][0] == roles[r], "xmm", r);
  CHECK(h->stack_role == std::map<std::int64_t, Role>{{-64, Role::anything}, {-48, Role::moves}, {-32, Role::same}});

  general(a.before, rdx) = Scalar::pointer(a.in);
  CHECK(a.step_of(*a.guessed(), rdx) == "anything");
}

TEST_CASE("verify induction: at i = 0 and i = 1 the hypothesis is the two arrivals, where it says anything") {
  Arrivals a;
  const auto h = a.guessed();
  REQUIRE(h);
  const State* const arrivals[] = {&a.before, &a.now};
  for (std::int64_t turn : {0, 1}) {
    CAPTURE(turn);
    const State s = a.at_turn(*h, turn), &arrival = *arrivals[turn];
    CHECK(s.general == arrival.general);
    for (int r : {0, 1, 2, 15}) CHECK_MESSAGE(vector_lane(s, r) == vector_lane(arrival, r), "xmm", r);
    CHECK(s.memory.region(a.out).runs == arrival.memory.region(a.out).runs);
    CHECK(a.stack(s, -32) == a.stack(arrival, -32));
    CHECK(a.stack(s, -48) == a.stack(arrival, -48));
    CHECK(s.hash->at == arrival.hash->at);
    CHECK(vector_lane(s, 3) == a.pool.apply(a.pool.reverse_bytes(), s.hash->y));
    for (const Lane any : {vector_lane(s, 4), a.stack(s, -64)}) {
      CHECK(a.pool.mentions_secret(any));
      CHECK(any != vector_lane(arrival, 4));
    }
    CHECK(s.flags.kind == Flags::Kind::undefined);
  }
  CHECK(a.stack(a.at_turn(*h, 0), -64) != vector_lane(a.at_turn(*h, 0), 4));
}

TEST_CASE("verify induction: nothing is guessed of a loop that does not end, or that changes what loops do not") {
  const auto refused = [](const std::string& what, const std::function<void(Arrivals&)>& change) {
    Arrivals a;
    change(a);
    CHECK_FALSE_MESSAGE(a.guessed(), what);
  };
  refused("nothing counts", [](Arrivals& a) { general(a.now, rsi) = general(a.before, rsi); });
  refused("the count goes up", [](Arrivals& a) { general(a.now, rsi).value += 2; });
  refused("the count may pass zero",
          [](Arrivals& a) { general(a.before, rsi).value += -3, general(a.now, rsi).value += -3; });
  refused("a known number counts", [](Arrivals& a) { general(a.now, rbx) = Scalar::number(6); });
  refused("few turns are left", [](Arrivals& a) { REQUIRE(a.now.facts.assume_nonnegative(Affine(60) - Affine(a.n))); });
  refused("rsp has moved", [](Arrivals& a) { general(a.now, rsp).value += -8; });
  refused("a run begins elsewhere", [](Arrivals& a) { a.now.memory.edit(a.out).runs[0].from += 16; });
  refused("there is a run more", [](Arrivals& a) { a.now.memory.edit(a.out).runs.push_back({0, 16, zeros()}); });
  refused("a block of a buffer is written",
          [](Arrivals& a) { a.now.memory.store(a.now.facts, a.out, Affine(a.position) * 128, Lane{}, 0, 16); });
  refused("a buffer is forgotten", [](Arrivals& a) { a.now.memory.edit(a.out).forgotten = true; });
  refused("a part of the stack is new",
          [](Arrivals& a) { a.now.memory.store(a.now.facts, a.now.stack, -96, Lane{}, 0, 16); });
  refused("a slot of the stack is changed",
          [](Arrivals& a) { a.now.memory.store_scalar(a.now.facts, a.now.stack, 0, Scalar::number(1)); });
  refused("the hash is nowhere", [](Arrivals& a) { vector_lane(a.now, 3) = vector_lane(a.now, 2); });
  refused("a ghost has changed", [](Arrivals& a) { a.now.ghosts.own()["J0"] = Lane{}; });
  refused("the verdict has changed", [](Arrivals& a) { a.now.verdict = true; });
}

TEST_CASE("verify induction: the next state is the hypothesis's at i + 1, and nothing else is") {
  Arrivals a;
  // One turn leaves a pointer where another leaves a number.
  general(a.before, rdx) = Scalar::pointer(a.in);
  const auto h = a.guessed();
  REQUIRE(h);
  const auto is = [&](const State& s) { return is_next(a.setting, a.contract, *h, s); };
  const State next = a.next(*h);
  REQUIRE(is(next));
  const auto with = [&](const std::function<void(State&)>& change) {
    State s = next;
    change(s);
    return is(s);
  };
  CHECK_MESSAGE(with([&](State& s) { vector_lane(s, 4) = Lane{}; }), "what may be anything may be this");
  CHECK_MESSAGE(with([&](State& s) { general(s, rdx) = Scalar::number(1); }), "what is not read may be this");
  CHECK_MESSAGE(with([&](State& s) { s.memory.store(s.facts, s.stack, -64, Lane{}, 0, 16); }),
                "what may be anything may be this");
  const auto refused = [&](const std::string& what, const std::function<void(State&)>& change) {
    CHECK_FALSE_MESSAGE(with(change), "taken for the next state: ", what);
  };
  refused("this turn's", [&](State& s) { s = state_of(a.setting, a.contract, *h); });
  refused("a pointer a byte on", [&](State& s) { general(s, rdi).value += 1; });
  refused("a count that fell by two", [&](State& s) { general(s, rsi).value += -1; });
  refused("a pointer to another buffer", [&](State& s) { general(s, rdi).region = a.in; });
  refused("a number for a pointer", [&](State& s) { general(s, rdi).kind = Scalar::Kind::number; });
  refused("a preserved register changed", [&](State& s) { general(s, rbx) = Scalar::number(6); });
  refused("a caller's register changed", [&](State& s) { general(s, r12) = general(s, r13); });
  refused("data where none was", [&](State& s) { general(s, rdx) = general(s, r13); });
  refused("rsp moved", [&](State& s) { general(s, rsp).value += -8; });
  refused("a lane that stays changed", [&](State& s) { vector_lane(s, 1) = a.pool.constant(8); });
  refused("an upper lane that stays changed", [&](State& s) { s.vector[9][3] = a.pool.constant(8); });
  refused("a block that did not move", [&](State& s) { vector_lane(s, 2) = vector_lane(a.before, 2); });
  refused("another Y", [&](State& s) { vector_lane(s, 3) = vector_lane(a.now, 3); });
  refused("Y not hashed on",
          [&](State& s) { vector_lane(s, 3) = vector_lane(state_of(a.setting, a.contract, *h), 3); });
  refused("a piece of the stack changed", [&](State& s) { s.memory.store(s.facts, s.stack, -32, Lane{}, 0, 16); });
  refused("a byte of the stack changed", [&](State& s) { s.memory.store(s.facts, s.stack, -40, Lane{}, 0, 1); });
  refused("a piece more", [&](State& s) { s.memory.store(s.facts, s.stack, -96, Lane{}, 0, 16); });
  refused("another return address", [&](State& s) { s.memory.store_scalar(s.facts, s.stack, 0, Scalar::number(1)); });
  refused("a deeper stack", [&](State& s) { s.memory.edit(s.stack).from = -136; });
  refused("a shorter run", [&](State& s) { s.memory.edit(a.out).runs[0].to += -16; });
  refused("a run from elsewhere", [&](State& s) { s.memory.edit(a.out).runs[0].from += 16; });
  refused("a run of other content", [&](State& s) { s.memory.edit(a.out).runs[0].content = a.text; });
  refused("a block written over",
          [&](State& s) { s.memory.store(s.facts, a.out, Affine(a.position) * 128, Lane{}, 0, 16); });
  refused("a buffer forgotten", [&](State& s) { s.memory.edit(a.out).forgotten = true; });
  refused("another ghost", [&](State& s) { s.ghosts.own()["J0"] = Lane{}; });
  refused("another number of the specification", [&](State& s) { s.ghost_numbers.own()["blocks"] = 1; });
  refused("a verdict", [&](State& s) { s.verdict = false; });
  refused("a count that may be past its bound", [&](State& s) { s.facts = state_of(a.setting, a.contract, *h).facts; });
  refused("a length that may be more", [&](State& s) { s.facts.declare(a.n, {2, kMost + 1}); });
}

TEST_CASE("verify induction: small loops are proved for any number of turns") {
  std::uint64_t hypotheses = 0;
  CHECK_EQ("", refusal(zeroing("add rdi, 16", "sub rsi, 1"), false, &hypotheses));
  CHECK_MESSAGE(hypotheses > 0, "2^32 turns were followed one by one");
  CHECK_EQ("", refusal(zeroing("add rdi, 16", "dec rsi", "jnz 1b"), false));
  CHECK_EQ("", refusal(adding("add rax, 3", "sub rsi, 1"), true, &hypotheses));
  CHECK_MESSAGE(hypotheses > 0, "2^32 turns were followed one by one");
  CHECK_EQ("", refusal(adding("push rdx\n  add rax, 3\n  pop rcx", "sub rsi, 1"), true));
}

TEST_CASE("verify induction: small loops with one fault are refused for that") {
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 17", "sub rsi, 1")), "past the end"));
  CHECK_EQ("", unlike(refusal(zeroing("sub rdi, 16", "sub rsi, 1")), "before the start"));
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 16", "sub rsi, 1", "jae 1b")), "past the end"));
  CHECK_EQ("", unlike(refusal("  add rsi, 1\n" + zeroing("add rdi, 16", "sub rsi, 1")), "past the end"));
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 16", "sub rsi, 1", "jb 1b")), "does not hold zeros from byte 16 on"));
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 16", "sub rsi, 2")), "past the end"));
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 16\n  vpxor xmm0, xmm0, xmm1", "sub rsi, 1")), "does not hold zeros"));
  CHECK_EQ("", unlike(refusal(zeroing("add rdi, 16\n  mov rbx, rsi", "sub rsi, 1")), "rbx must be preserved"));
  CHECK_EQ("", unlike(refusal(adding("add rax, 4", "sub rsi, 1"), true), "the sum is another"));
  CHECK_EQ("", unlike(refusal(adding("add rax, 3", "test rsi, rsi"), true), "too many turns"));
  CHECK_EQ("", unlike(refusal(adding("add rax, 3", "sub rsi, 2"), true), "too many turns"));
  CHECK_EQ("", unlike(refusal(adding("add rax, 3\n  push rcx", "sub rsi, 1"), true), "the return goes somewhere else"));
}

}  // namespace tests
