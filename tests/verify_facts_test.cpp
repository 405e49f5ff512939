// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What the verifier concludes about lengths: never more than follows, held against all values of small ranges.
#include <doctest/doctest.h>

#include <random>

#include "verify/algebra/lane_pool.hpp"
#include "verify/machine/facts.hpp"

namespace {

using namespace stitchgcm::verify;

struct Lengths {
  Variables names;
  Variable a = names.add("a"), b = names.add("b"), c = names.add("c");
  Facts facts() const {
    Facts f;
    f.declare(a, {0, 6});
    f.declare(b, {-3, 4});
    f.declare(c, {1, 5});
    return f;
  }
  /// Calls f with a substitution for each triple of values in the ranges that `facts` declares.
  template <class F>
  void for_each_value(F f) const {
    for (int x = 0; x <= 6; x++) {
      for (int y = -3; y <= 4; y++) {
        for (int z = 1; z <= 5; z++) f(Substitution{{a, x}, {b, y}, {c, z}});
      }
    }
  }
};

std::int64_t value(const Affine& e, const Substitution& s) { return substitute(e, s).constant(); }

}  // namespace

TEST_CASE("facts: what is concluded from random inequalities holds for every value that satisfies them") {
  const Lengths l;
  std::mt19937 random(7);
  const auto expression = [&] {
    const auto number = [&](int range) { return static_cast<std::int64_t>(random() % (2 * range + 1)) - range; };
    return Affine(l.a) * number(3) + Affine(l.b) * number(3) + Affine(l.c) * number(2) + number(12);
  };
  int impossible = 0, decided = 0, constants = 0;
  for (int trial = 0; trial < 3000; trial++) {
    Facts facts = l.facts();
    std::vector<Affine> assumed;
    bool possible = true;
    for (int n = 0; n < 3 && possible; n++) {
      assumed.push_back(expression());
      possible = trial % 3 == 0 ? facts.assume_zero(assumed.back()) : facts.assume_nonnegative(assumed.back());
    }
    const auto satisfied = [&](const Substitution& s) {
      return std::all_of(assumed.begin(), assumed.end(),
                         [&](const Affine& e) { return trial % 3 == 0 ? value(e, s) == 0 : value(e, s) >= 0; });
    };
    const Affine asked = expression();
    const std::optional<bool> verdict = possible ? facts.decide_nonnegative(asked) : std::nullopt;
    const Affine resolved = possible ? facts.resolve(asked) : asked;
    const Range range = possible ? facts.range(asked) : Range{0, 0};
    impossible += possible ? 0 : 1;
    decided += verdict ? 1 : 0;
    constants += resolved.is_constant() && !asked.is_constant() ? 1 : 0;
    l.for_each_value([&](const Substitution& s) {
      if (!satisfied(s)) return;
      CAPTURE(trial);
      CAPTURE(l.names.describe(asked));
      REQUIRE_MESSAGE(possible, "the facts were called contradictory, and a value satisfies them");
      if (verdict) REQUIRE_MESSAGE(*verdict == (value(asked, s) >= 0), "a sign was decided that a value has not");
      REQUIRE_MESSAGE(value(resolved, s) == value(asked, s), "an expression was resolved to one of another value");
      REQUIRE_MESSAGE((range.low <= value(asked, s) && value(asked, s) <= range.high), "a value is out of the range");
    });
  }
  // Else the loop above looked at nothing.
  CHECK(impossible > 50);
  CHECK(decided > 300);
  CHECK(constants > 50);
}

TEST_CASE("facts: what holds for either of two paths holds for every value of each") {
  const Lengths l;
  std::mt19937 random(11);
  int told_apart = 0;
  for (int trial = 0; trial < 1000; trial++) {
    Facts one = l.facts(), other = l.facts();
    const auto number = [&](int range) { return static_cast<std::int64_t>(random() % (2 * range + 1)) - range; };
    const Affine e = Affine(l.a) * number(3) + Affine(l.b) * number(3) + number(6);
    const Affine f = Affine(l.b) * number(3) + Affine(l.c) * number(3) + number(6);
    if (!one.assume_nonnegative(e) || !other.assume_nonnegative(f)) continue;
    const Facts either = Facts::either(one, other);
    const Affine asked = Affine(l.a) * number(2) + Affine(l.b) * number(2) + Affine(l.c) * number(2) + number(9);
    const bool implied = either.implies_nonnegative(asked);
    told_apart += implied ? 1 : 0;
    l.for_each_value([&](const Substitution& s) {
      if (value(e, s) < 0 && value(f, s) < 0) return;
      CAPTURE(l.names.describe(asked));
      if (implied) REQUIRE_MESSAGE(value(asked, s) >= 0, "a conclusion from both paths is wrong on one");
    });
  }
  CHECK(told_apart > 50);
}

TEST_CASE("facts: a question that is open forks into two that are not") {
  const Lengths l;
  const Facts facts = l.facts();
  const Affine e = Affine(l.a) * 2 - Affine(l.c);
  try {
    facts.nonnegative(e);
    FAIL("2 a - c has both signs");
  } catch (const Undecided& question) {
    Facts yes = facts, no = facts;
    REQUIRE(yes.assume_nonnegative(question.nonnegative));
    REQUIRE(no.assume_nonnegative(question.nonnegative * -1 - 1));
    CHECK(yes.nonnegative(e));
    CHECK_FALSE(no.nonnegative(e));
  }
}

TEST_CASE("facts: an expression of few values comes to a number after some forks, one of many is refused") {
  Variables names;
  const Variable many = names.add("many"), turn = names.add("turn");
  Facts facts;
  facts.declare(many, {0, Wide{1} << 56});
  facts.declare(turn, {0, Wide{1} << 56});
  CHECK_THROWS_AS(facts.constant(many, "an address"), Refused);
  // many - 5 turn is one of 9..13, whatever the two are.
  const Affine left = Affine(many) - Affine(turn) * 5;
  REQUIRE(facts.assume_nonnegative(left - 9));
  REQUIRE(facts.assume_nonnegative(Affine(13) - left));
  for (int forks = 0; forks < 4; forks++) {
    try {
      const std::int64_t n = facts.constant(left * 256, "an address");
      CHECK(n % 256 == 0);
      CHECK(n / 256 >= 9);
      CHECK(n / 256 <= 13);
      return;
    } catch (const Undecided& question) {
      REQUIRE(facts.assume_nonnegative(question.nonnegative));
    }
  }
  FAIL("more forks than five values need");
}

TEST_CASE("facts: numbers are judged as integers, not modulo 2^64") {
  Variables names;
  const Variable n = names.add("n");
  Facts facts;
  facts.declare(n, {0, Wide{1} << 60});
  // 16 n may pass 2^63, where a 64-bit comparison would see a negative number.
  CHECK(facts.implies_nonnegative(Affine(n) * 16));
  CHECK(facts.range(Affine(n) * 16).high == Wide{1} << 64);
}

TEST_CASE("facts: a question about lengths that do not exist ends, and either answer ends the path") {
  const Lengths l;
  Facts facts;
  for (const Variable v : {l.a, l.b}) facts.declare(v, {0, std::int64_t{1} << 40});
  // 2 (a - b) = 5: that no integer has this half is seen only where a - b itself is asked for.
  REQUIRE(facts.assume_nonnegative((Affine(l.a) - l.b) * 2 - 5));
  REQUIRE(facts.assume_nonnegative((Affine(l.b) - l.a) * 2 + 5));
  const Affine asked = Affine(l.a) - l.b;
  REQUIRE_MESSAGE(facts.range(asked).low > facts.range(asked).high,
                  "the facts have become wiser: choose others whose contradiction is not seen");
  try {
    facts.constant(asked, "a - b");
    FAIL("an empty range was taken for a value");
  } catch (const Undecided& question) {
    for (const Affine& answer : {question.nonnegative, question.nonnegative * -1 - 1}) {
      Facts either = facts;
      CHECK_MESSAGE(!either.assume_nonnegative(answer),
                    "a path goes on with lengths that do not exist: ", l.names.describe(answer));
    }
  }
}
