// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's formulas: each operation on formulas is the operation on their values, whatever the unknowns are; and
// what has no formula is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "support/verify_lanes.hpp"
#include "verify/algebra/galois.hpp"

namespace {

using namespace stitchgcm::verify;
using tests::hex;
using tests::random_values;
using tests::RandomLanes;

constexpr int kTrials = 60;

/// A pool with a few unknowns.
struct Unknowns {
  LanePool pool;
  Name name = pool.name("x", Secrecy::secret);
  CounterName start = pool.counter_name("start", 3);
  Variable n = pool.variables().add("n");
  Lane x(std::int64_t i) { return pool.input(name, i); }
};

std::uint32_t dword(Bits128 v, int d) { return static_cast<std::uint32_t>(v >> (32 * d)); }
Bits128 dwords(std::uint32_t d0, std::uint32_t d1, std::uint32_t d2, std::uint32_t d3) {
  return bits128(std::uint64_t{d1} << 32 | d0, std::uint64_t{d3} << 32 | d2);
}
Bits128 sum_of_dwords(Bits128 a, Bits128 b) {
  const auto at = [&](int d) { return dword(a, d) + dword(b, d); };
  return dwords(at(0), at(1), at(2), at(3));
}

std::uint64_t half(Bits128 v, bool high) { return high ? high_half(v) : low_half(v); }

/// Draws operands, and compares the value of the result with what `expected` makes of the values of the operands.
template <class Operation, class Expected>
void compare(std::uint64_t seed, Operation operation, Expected expected) {
  LanePool pool;
  RandomLanes lanes(pool, seed);
  for (int trial = 0; trial < kTrials; trial++) {
    const Lane a = lanes.lane(), b = lanes.lane();
    const Lane result = operation(pool, a, b);
    for (std::uint64_t values_seed = 0; values_seed < 2; values_seed++) {
      const Assignment values = random_values(seed * 1000 + values_seed);
      const Bits128 want = expected(pool.evaluate(a, values), pool.evaluate(b, values));
      REQUIRE_MESSAGE(hex(pool.evaluate(result, values)) == hex(want), "a = ", pool.describe(a),
                      "\n  b = ", pool.describe(b), "\n  result = ", pool.describe(result));
      REQUIRE_MESSAGE((want & ~pool.support(result)) == 0, "a bit is set outside of support() of ",
                      pool.describe(result));
    }
  }
}

}  // namespace

TEST_CASE("lanes: a sum is the sum of the values") {
  compare(
      1, [](LanePool& p, Lane a, Lane b) { return p.exclusive_or(a, b); }, [](Bits128 a, Bits128 b) { return a ^ b; });
}

TEST_CASE("lanes: equal formulas are one number, however they were made") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane a = u.x(1), b = u.x(2), c = p.constant(99);
  CHECK(p.exclusive_or(p.exclusive_or(a, b), c) == p.exclusive_or(a, p.exclusive_or(c, b)));
  CHECK(p.exclusive_or(p.exclusive_or(a, b), a) == b);
  CHECK(p.exclusive_or(p.mask(a, low_bits(40)), p.mask(a, ~low_bits(40))) == a);
  CHECK(p.apply(p.reverse_bytes(), p.apply(p.reverse_bytes(), a)) == a);
  CHECK(p.input(u.name, Affine(u.n) + 1) == p.input(u.name, Affine(1) + u.n));
  CHECK(p.exclusive_or(a, a) == p.constant(0));
}

TEST_CASE("lanes: inputs are one unknown only where name, index, count and start are equal") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane a = p.input(u.name, 1, 2, u.x(0));
  CHECK(a == p.input(u.name, 1, 2, u.x(0)));
  CHECK(a != p.input(u.name, 1, 2, u.x(3)));
  CHECK(a != p.input(u.name, 1, 3, u.x(0)));
  CHECK(a != p.input(u.name, 2, 2, u.x(0)));
  CHECK(a != p.input(p.name("y", Secrecy::secret), 1, 2, u.x(0)));
}

TEST_CASE("lanes: linear maps are applied, composed and added as functions") {
  compare(
      2,
      [](LanePool& p, Lane a, Lane b) {
        const LinearMap m = p.compose(p.mix_columns(), p.sum(p.reverse_bytes(), p.keep_bits(low_bits(77))));
        return p.exclusive_or(p.apply(m, a), p.mask(b, ~low_bits(9)));
      },
      [](Bits128 a, Bits128 b) {
        auto bytes = bytes_of(a);
        std::reverse(bytes.begin(), bytes.end());
        return mix_columns(from_bytes(bytes) ^ (a & low_bits(77))) ^ (b & ~low_bits(9));
      });
}

TEST_CASE("lanes: AND and OR with a constant") {
  const Bits128 c = bits128(0x0123456789abcdef, 0xff00ff00f0f01234);
  compare(
      3, [&](LanePool& p, Lane a, Lane b) { return p.exclusive_or(p.bitwise_and(a, p.constant(c)), b); },
      [&](Bits128 a, Bits128 b) { return (a & c) ^ b; });
  compare(
      4, [&](LanePool& p, Lane a, Lane b) { return p.exclusive_or(p.bitwise_or(p.constant(c), a), b); },
      [&](Bits128 a, Bits128 b) { return (a | c) ^ b; });
}

TEST_CASE("lanes: OR of parts that do not meet, or are the same where they do") {
  const Bits128 low = low_bits(50), high = ~low_bits(30);
  compare(
      5,
      [&](LanePool& p, Lane a, Lane b) {
        return p.bitwise_or(p.mask(p.exclusive_or(a, b), low), p.mask(p.exclusive_or(a, b), high));
      },
      [](Bits128 a, Bits128 b) { return a ^ b; });
}

TEST_CASE("lanes: a byte shuffle takes bytes by the low 4 bits of the control, and zeros where bit 7 is set") {
  const auto control = tests::block_value("0f80f1020a1180ff0304050607430809");
  compare(
      6, [&](LanePool& p, Lane a, Lane b) { return p.exclusive_or(p.shuffle_bytes(a, p.constant(control)), b); },
      [&](Bits128 a, Bits128 b) {
        const auto from = bytes_of(a), by = bytes_of(control);
        std::array<std::uint8_t, 16> shuffled{};
        for (std::size_t i = 0; i < 16; i++) shuffled[i] = (by[i] & 0x80) != 0 ? 0 : from[by[i] % 16];
        return from_bytes(shuffled) ^ b;
      });
}

TEST_CASE("lanes: PCLMULQDQ multiplies the halves that its immediate names") {
  for (const int halves : {0x00, 0x01, 0x10, 0x11}) {
    CAPTURE(halves);
    compare(
        7, [halves](LanePool& p, Lane a, Lane b) { return p.carryless_multiply(a, b, halves); },
        [halves](Bits128 a, Bits128 b) {
          return carryless_product(half(a, (halves & 1) != 0), half(b, (halves & 16) != 0));
        });
  }
}

TEST_CASE("lanes: the product of a lane with itself, and linear maps of products") {
  compare(
      8,
      [](LanePool& p, Lane a, Lane b) {
        const Lane product = p.exclusive_or(p.carryless_multiply(a, a, 0x10), p.carryless_multiply(a, b, 0x00));
        return p.exclusive_or(p.apply(p.reverse_bytes(), product), b);
      },
      [](Bits128 a, Bits128 b) {
        auto bytes =
            bytes_of(carryless_product(low_half(a), high_half(a)) ^ carryless_product(low_half(a), low_half(b)));
        std::reverse(bytes.begin(), bytes.end());
        return from_bytes(bytes) ^ b;
      });
}

TEST_CASE("lanes: products of sums multiply out, and what comes twice is gone") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane sum = p.exclusive_or(u.x(1), u.x(2));
  CHECK(p.carryless_multiply(sum, sum, 0x11) ==
        p.exclusive_or(p.carryless_multiply(u.x(1), u.x(1), 0x11), p.carryless_multiply(u.x(2), u.x(2), 0x11)));
  CHECK(p.carryless_multiply(sum, u.x(3), 0x10) ==
        p.exclusive_or(p.carryless_multiply(u.x(3), u.x(1), 0x01), p.carryless_multiply(u.x(2), u.x(3), 0x10)));
}

TEST_CASE("lanes: the normal form has the value of the formula, also where powers of H meet") {
  LanePool pool;
  RandomLanes lanes(pool, 18);
  for (int trial = 0; trial < kTrials; trial++) {
    const auto power = [&] {
      return pool.apply(lanes.map(), pool.power(1 + static_cast<int>(lanes.random().below(2))));
    };
    const Lane products = pool.exclusive_or(pool.carryless_multiply(power(), power(), trial % 2 == 0 ? 0x01 : 0x00),
                                            pool.carryless_multiply(lanes.lane(), power(), 0x11));
    const Lane lifted = pool.lift(products);
    REQUIRE(pool.lift(lifted) == lifted);
    const Assignment values = random_values(static_cast<std::uint64_t>(trial));
    REQUIRE_MESSAGE(hex(pool.evaluate(lifted, values)) == hex(pool.evaluate(products, values)), pool.describe(products),
                    "\n  became ", pool.describe(lifted));
  }
}

TEST_CASE("lanes: AESENC and AESENCLAST") {
  compare(
      10, [](LanePool& p, Lane a, Lane b) { return p.aes_round(a, b); },
      [](Bits128 a, Bits128 b) { return mix_columns(shift_rows(sub_bytes(a))) ^ b; });
  compare(
      11, [](LanePool& p, Lane a, Lane b) { return p.aes_last_round(a, b); },
      [](Bits128 a, Bits128 b) { return shift_rows(sub_bytes(a)) ^ b; });
}

TEST_CASE("lanes: multiply_by_power is the product in GHASH's field") {
  LanePool pool;
  RandomLanes lanes(pool, 12);
  for (int trial = 0; trial < kTrials; trial++) {
    const Lane a = lanes.sum_of_masked();
    const int exponent = 1 + static_cast<int>(lanes.random().below(5));
    const Lane product = pool.multiply_by_power(a, exponent);
    const Assignment values = random_values(static_cast<std::uint64_t>(trial));
    Bits128 expected = pool.evaluate(a, values);
    for (int i = 0; i < exponent; i++) expected = field_product(expected, values.hash_key);
    REQUIRE_MESSAGE(hex(pool.evaluate(product, values)) == hex(expected), pool.describe(a), " times H^", exponent);
  }
}

TEST_CASE("lanes: four sums of 32 bits, of counters and of known numbers") {
  LanePool pool;
  const CounterName start = pool.counter_name("start", 3);
  const Affine n = pool.variables().add("n");
  tests::Random random(13);
  for (int trial = 0; trial < 200; trial++) {
    Lane a = pool.constant(0);
    std::uint32_t addend[4] = {};
    for (int d = 0; d < 4; d++) {
      const bool counts = random.below(2) == 0;
      const auto any = static_cast<std::int64_t>(random.below(40)) - 20;
      addend[d] =
          static_cast<std::uint32_t>(random.below(3) == 0 ? 0 : static_cast<std::int64_t>(random.below(20)) - 10);
      const Lane number = counts ? pool.counter(start, n * 8 + any) : pool.constant(static_cast<std::uint32_t>(any));
      const LinearMap up = pool.linear("up " + std::to_string(d), [d](Bits128 v) { return v << (32 * d); });
      a = pool.exclusive_or(a, pool.apply(up, number));
    }
    const Bits128 b = dwords(addend[0], addend[1], addend[2], addend[3]);
    const Lane sum = trial % 2 == 0 ? pool.add32(a, pool.constant(b)) : pool.add32(pool.constant(b), a);
    for (std::uint64_t seed = 0; seed < 2; seed++) {
      const Assignment values = random_values(seed + static_cast<std::uint64_t>(trial));
      REQUIRE_MESSAGE(hex(pool.evaluate(sum, values)) == hex(sum_of_dwords(pool.evaluate(a, values), b)),
                      pool.describe(a), "\n  plus ", hex(b), "\n  is ", pool.describe(sum));
    }
  }
}

TEST_CASE(
    "lanes: where the low bits of a counter are known, adding within them is XOR, and a carry moves the counter") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane at_8n = p.counter(u.start, Affine(u.n) * 8);
  CHECK(p.exclusive_or(at_8n, p.constant(5)) == p.add32(at_8n, p.constant(5)));
  CHECK(p.exclusive_or(at_8n, p.constant(5)) == p.counter(u.start, Affine(u.n) * 8 + 5));
  CHECK(p.add32(p.add32(at_8n, p.constant(5)), p.constant(3)) == p.counter(u.start, Affine(u.n) * 8 + 8));
  CHECK(p.add32(p.counter(u.start, 9), p.constant(0xffffffff)) == p.counter(u.start, 8));
  CHECK(p.add32(p.counter(u.start, 0), p.constant(0xffffffff)) == p.counter(u.start, -1));
  CHECK(p.counter(u.start, std::int64_t{1} << 32) == p.counter(u.start, 0));
  CHECK(p.counter(u.start, 0) != p.counter(u.start, 8));
  CHECK(p.counter(u.start, 0) != p.counter(p.counter_name("another start", 3), 0));
}

TEST_CASE("lanes: an addition leaves dwords alone to which it adds 0, whatever they hold") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane above = p.mask(u.x(1), ~low_bits(32));
  CHECK(p.add32(p.exclusive_or(above, p.constant(7)), p.constant(1)) == p.exclusive_or(above, p.constant(8)));
}

TEST_CASE("lanes: what depends on a residue is each operation on each of the eight") {
  LanePool pool;
  RandomLanes lanes(pool, 14);
  for (int trial = 0; trial < 20; trial++) {
    std::array<Lane, LanePool::kResidues> of_r, masks;
    for (Lane& l : of_r) l = lanes.lane();
    for (Lane& l : masks) l = pool.constant(lanes.bits());
    const Lane table = pool.by_residue(of_r), mask = pool.by_residue(masks), other = lanes.lane();
    REQUIRE(pool.depends_on_residue(table));
    const auto operate = [&](Lane a, Lane m, Lane b) {
      const Lane product = pool.carryless_multiply(pool.bitwise_and(a, m), pool.bitwise_or(b, m), 0x10);
      return pool.exclusive_or(pool.aes_round(a, b), pool.apply(pool.mix_columns(), pool.lift(product)));
    };
    const Lane result = operate(table, mask, other);
    for (int r = 0; r < LanePool::kResidues; r++) {
      const std::size_t at = static_cast<std::size_t>(r);
      REQUIRE_MESSAGE(pool.with_residue(result, r) == operate(of_r[at], masks[at], other), "residue ", r);
      Assignment values = random_values(static_cast<std::uint64_t>(trial));
      values.residue = r;
      REQUIRE(hex(pool.evaluate(result, values)) == hex(pool.evaluate(pool.with_residue(result, r), values)));
    }
    REQUIRE(pool.mentions_secret(table));
  }
}

TEST_CASE("lanes: a table whose eight values are one is that value") {
  Unknowns u;
  LanePool& p = u.pool;
  std::array<Lane, LanePool::kResidues> all, low_bits_differ;
  for (std::size_t r = 0; r < all.size(); r++) {
    all[r] = u.x(1);
    low_bits_differ[r] = p.exclusive_or(u.x(1), p.constant(r));
  }
  CHECK(p.by_residue(all) == u.x(1));
  CHECK(p.mask(p.by_residue(low_bits_differ), ~low_bits(3)) == p.mask(u.x(1), ~low_bits(3)));
  CHECK(p.exclusive_or(p.by_residue(low_bits_differ), p.by_residue(low_bits_differ)) == p.constant(0));
  // Where two agree for one residue the sum is 0 for that one only.
  const Lane sum = p.exclusive_or(p.by_residue(low_bits_differ), u.x(1));
  for (int r = 0; r < LanePool::kResidues; r++) CHECK(p.with_residue(sum, r) == p.constant(static_cast<unsigned>(r)));
  CHECK(hex(p.support(sum)) == hex(low_bits(3)));
}

TEST_CASE("lanes: replacing variables is looking at the same formula under other values") {
  LanePool pool;
  RandomLanes lanes(pool, 15);
  for (int trial = 0; trial < kTrials; trial++) {
    Lane a = lanes.lane(3);
    // With products that are not reduced, too.
    if (trial % 3 == 0) a = pool.exclusive_or(a, pool.carryless_multiply(lanes.lane(), lanes.lane(), 0x01));
    const Substitution s{{lanes.n(), lanes.affine()}, {lanes.i(), Affine(lanes.i()) + 1}};
    const Lane replaced = pool.substitute(a, s);
    Assignment values = random_values(static_cast<std::uint64_t>(trial));
    const auto of_variable = values.variable;
    const Bits128 got = pool.evaluate(replaced, values);
    values.variable = [&](Variable v) {
      const Affine& e = s.at(v);
      std::int64_t sum = e.constant();
      for (const Affine::Term& t : e.terms()) sum += t.coefficient * of_variable(t.variable);
      return sum;
    };
    REQUIRE_MESSAGE(hex(got) == hex(pool.evaluate(a, values)), pool.describe(a), "\n  became ",
                    pool.describe(replaced));
  }
}

TEST_CASE("lanes: replacing variables there and back gives the same formula") {
  LanePool pool;
  RandomLanes lanes(pool, 16);
  for (int trial = 0; trial < kTrials; trial++) {
    const Lane a =
        pool.lift(pool.exclusive_or(lanes.lane(3), pool.carryless_multiply(lanes.lane(), lanes.lane(), 0x10)));
    const Affine i = lanes.i();
    const Lane moved = pool.substitute(a, {{lanes.i(), i + 3}});
    REQUIRE_MESSAGE(pool.equal(pool.substitute(moved, {{lanes.i(), i - 3}}), a), pool.describe(a));
  }
}

TEST_CASE("lanes: with numbers for all variables no formula mentions one") {
  LanePool pool;
  RandomLanes lanes(pool, 17);
  int with_variables = 0;
  for (int trial = 0; trial < kTrials; trial++) {
    const Lane a = lanes.lane(3);
    with_variables += pool.variables_of(a).empty() ? 0 : 1;
    REQUIRE(pool.variables_of(pool.substitute(a, {{lanes.n(), 3}, {lanes.i(), 5}})).empty());
  }
  CHECK(with_variables > kTrials / 4);
}

TEST_CASE("lanes: all variables are found, also inside S-boxes, products and starts") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane of_n = p.input(u.name, u.n);
  const std::vector<Variable> only_n{u.n};
  CHECK(p.variables_of(p.substitute_bytes(p.aes_round(of_n, u.x(0)))) == only_n);
  CHECK(p.variables_of(p.multiply_by_power(of_n, 2)) == only_n);
  CHECK(p.variables_of(p.carryless_multiply(of_n, u.x(0), 0)) == only_n);
  CHECK(p.variables_of(p.input(u.name, 0, 0, of_n)) == only_n);
  CHECK(p.variables_of(p.input(u.name, 0, u.n)) == only_n);
  CHECK(p.variables_of(p.counter(u.start, Affine(u.n) * 8)) == only_n);
  CHECK(p.variables_of(p.integer(u.n)) == only_n);
  CHECK(p.variables_of(u.x(7)).empty());
}

TEST_CASE("lanes: what may tell a secret") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane seen = p.input(p.name("ciphertext", Secrecy::is_public), 1);
  CHECK_FALSE(p.mentions_secret(p.exclusive_or(seen, p.constant(3))));
  CHECK_FALSE(p.mentions_secret(p.integer(u.n)));
  CHECK_FALSE(p.mentions_secret(p.substitute_bytes(seen)));
  CHECK(p.mentions_secret(u.x(1)));
  CHECK(p.mentions_secret(p.exclusive_or(seen, u.x(1))));
  CHECK_FALSE(p.mentions_secret(p.exclusive_or(p.exclusive_or(seen, u.x(1)), u.x(1))));
  CHECK(p.mentions_secret(p.substitute_bytes(u.x(1))));
  CHECK(p.mentions_secret(p.power(1)));
  CHECK(p.mentions_secret(p.multiply_by_power(seen, 1)));
  CHECK(p.mentions_secret(p.counter(u.start, 0)));
  CHECK(p.mentions_secret(p.carryless_multiply(seen, p.power(1), 0)));
}

TEST_CASE("lanes: public numbers are found again") {
  Unknowns u;
  LanePool& p = u.pool;
  const Affine e = Affine(u.n) * 8 + 3;
  CHECK(p.as_integer(p.integer(e)) == e);
  CHECK(p.as_integer(p.apply(p.reverse_bytes(), p.apply(p.reverse_bytes(), p.integer(e)))) == e);
  CHECK_FALSE(p.as_integer(p.apply(p.reverse_bytes(), p.integer(e))));
  CHECK_FALSE(p.as_integer(p.exclusive_or(p.integer(e), p.constant(1))));
  CHECK_FALSE(p.as_integer(p.exclusive_or(p.integer(e), u.x(1))));
  CHECK_FALSE(p.as_integer(u.x(1)));
  CHECK(p.integer(77) == p.constant(77));
}

TEST_CASE("lanes: what has no formula is refused") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane x = u.x(1), y = u.x(2), product = p.carryless_multiply(x, y, 0), number = p.integer(u.n);
  CHECK_THROWS_AS(p.bitwise_and(x, y), Refused);
  CHECK_THROWS_AS(p.bitwise_or(x, y), Refused);
  CHECK_THROWS_AS(p.bitwise_or(x, p.mask(p.exclusive_or(x, y), low_bits(1))), Refused);
  CHECK_THROWS_AS(p.shuffle_bytes(x, y), Refused);
  CHECK_THROWS_AS(p.substitute_bytes(product), Refused);
  CHECK_THROWS_AS(p.carryless_multiply(product, y, 0), Refused);
  CHECK_THROWS_AS(p.carryless_multiply(y, product, 0), Refused);
  CHECK_THROWS_AS(p.multiply_by_power(product, 1), Refused);
  CHECK_THROWS_AS(p.multiply_by_power(p.apply(p.reverse_bytes(), x), 1), Refused);
  CHECK_THROWS_AS(p.counter(u.start, u.n), Refused);
  CHECK_THROWS_AS(p.add32(x, p.constant(1)), Refused);
  CHECK_THROWS_AS(p.add32(number, p.constant(1)), Refused);
  CHECK_THROWS_AS(p.add32(x, y), Refused);
}

TEST_CASE("lanes: an addition to anything but the counter itself is refused") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane counter = p.counter(u.start, 0), one = p.constant(1);
  CHECK_THROWS_AS(p.add32(p.apply(p.reverse_bytes(), counter), p.constant(bit(96))), Refused);  // big-endian
  CHECK_THROWS_AS(p.add32(p.mask(counter, low_bits(31)), one), Refused);
  CHECK_THROWS_AS(p.add32(p.exclusive_or(counter, p.constant(8)), one), Refused);  // the constant may carry
  CHECK_THROWS_AS(p.add32(p.exclusive_or(counter, p.mask(u.x(1), low_bits(32))), one), Refused);
  CHECK_THROWS_AS(p.add32(p.exclusive_or(counter, p.counter(u.start, 8)), one), Refused);
  CHECK_THROWS_AS(p.add32(counter, counter), Refused);
}

TEST_CASE("lanes: descriptions are one readable line") {
  Unknowns u;
  LanePool& p = u.pool;
  const Lane c = p.input(p.name("ciphertext", Secrecy::is_public), Affine(u.n) * 8 + 3);
  CHECK(p.describe(c) == "ciphertext[8 n + 3]");
  CHECK(p.describe(p.multiply_by_power(c, 5)) == "ciphertext[8 n + 3] * H^5");
  CHECK(p.describe(p.exclusive_or(p.power(1), p.constant(0x80))) == "H ^ 80000000000000000000000000000000");
  CHECK(p.describe(p.substitute_bytes(c)) == "S(ciphertext[8 n + 3])");
  CHECK(p.describe(p.counter(u.start, 9)) == "start + 8 ^ 01000000000000000000000000000000");
  CHECK(p.describe(p.apply(p.reverse_bytes(), c)) == "reversed(ciphertext[8 n + 3])");
  CHECK(p.describe(p.mask(c, low_bits(64))) == "bytes 0..7 of ciphertext[8 n + 3]");
  CHECK(p.describe(p.constant(0)) == "0");
  Lane state = c;
  for (int round = 0; round < 14; round++) {
    state = p.exclusive_or(p.aes_round(state, u.x(round)), p.apply(p.reverse_bytes(), state));
  }
  const std::string text = p.describe(state);
  CHECK(text.size() <= 310);
  CHECK(text.find('\n') == std::string::npos);
}
