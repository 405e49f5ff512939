// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The verifier's normal form: what machine code computes in parts, reflected and with lazy reduction, is the formula of
// the specification; and what differs from it in one place is not.
#include <doctest/doctest.h>

#include <vector>

#include "support/verify_lanes.hpp"
#include "verify/algebra/galois.hpp"
#include "verify/spec/aes.hpp"

namespace {

using namespace stitchgcm::verify;
using tests::hex;

// x^128 mod P with the bytes of blocks reversed, see the essay in gen/gcm/ghash.hpp; and its upper half, by which both
// folds of a reduction multiply.
constexpr Bits128 kReduction = bit(127) | bit(126) | bit(121) | bit(0);
constexpr std::uint64_t kFold = 0xc2ull << 56;

/// Machine code's GHASH, in lanes.
struct Code {
  LanePool& pool;
  std::uint64_t fold = kFold;

  Lane exchange_halves(Lane a) const { return pool.apply(pool.permute_bytes(moved_by(8)), a); }
  /// Up for n > 0, down for n < 0, in bytes; zeros come in.
  Lane shift(Lane a, int n) const {
    BytePermutation p;
    for (int i = 0; i < 16; i++) p[at(i)] = static_cast<std::int8_t>(i - n >= 0 && i - n < 16 ? i - n : -1);
    return pool.apply(pool.permute_bytes(p), a);
  }
  Lane reversed(Lane a) const { return pool.apply(pool.reverse_bytes(), a); }

  /// As the context keeps it: bytes reversed, times x.
  Lane stored(Lane power) const {
    const LinearMap times_x =
        pool.linear("times x", [](Bits128 v) { return (v << 1) ^ ((v >> 127) != 0 ? kReduction : 0); });
    return pool.apply(times_x, reversed(power));
  }
  Lane stored_power(int exponent) const { return stored(pool.power(exponent)); }

  struct Sums {
    Lane low, high, middle;
  };
  /// Karatsuba: three multiplications.
  void multiply_and_add(Sums& s, Lane block_reversed, Lane power) const {
    const Lane a = block_reversed;
    const auto add = [this](Lane& sum, Lane x) { sum = pool.exclusive_or(sum, x); };
    add(s.low, pool.carryless_multiply(a, power, 0x00));
    add(s.high, pool.carryless_multiply(a, power, 0x11));
    add(s.middle, pool.carryless_multiply(pool.exclusive_or(a, exchange_halves(a)),
                                          pool.exclusive_or(power, exchange_halves(power)), 0x00));
  }

  /// The reduced value, bytes reversed.
  Lane reduce(const Sums& s) const {
    const Lane middle = pool.exclusive_or(s.middle, pool.exclusive_or(s.low, s.high));
    Lane low = pool.exclusive_or(s.low, shift(middle, 8));
    const Lane high = pool.exclusive_or(s.high, shift(middle, -8));
    for (int n = 0; n < 2; n++) {
      low = pool.exclusive_or(exchange_halves(low), pool.carryless_multiply(low, pool.constant(fold), 0x00));
    }
    return pool.exclusive_or(low, high);
  }

  Lane multiply(Lane block_reversed, Lane power) const {
    Sums s;
    multiply_and_add(s, block_reversed, power);
    return reduce(s);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static BytePermutation moved_by(int n) {
    BytePermutation p;
    for (int i = 0; i < 16; i++) p[at(i)] = static_cast<std::int8_t>((i + n) % 16);
    return p;
  }
};

struct Blocks {
  LanePool pool;
  Code code{pool};
  Name name = pool.name("x", Secrecy::secret);
  Variable n = pool.variables().add("n");
  Lane x(std::int64_t i) { return pool.input(name, i); }
};

void check_same(LanePool& pool, Lane got, Lane want) {
  CHECK_MESSAGE(pool.equal(got, want), "the code has\n  ", pool.describe(pool.lift(got)), "\nthe specification\n  ",
                pool.describe(pool.lift(want)));
}

}  // namespace

TEST_CASE("products: one block times a stored power, by Karatsuba and two folds, is the product in GHASH's field") {
  Blocks b;
  for (int exponent = 1; exponent <= 3; exponent++) {
    check_same(b.pool, b.code.reversed(b.code.multiply(b.code.reversed(b.x(0)), b.code.stored_power(exponent))),
               b.pool.multiply_by_power(b.x(0), exponent));
  }
}

TEST_CASE("products: the order in which atoms were met makes no difference") {
  for (const bool power_first : {false, true}) {
    Blocks b;
    if (power_first) b.pool.power(1);
    const Lane x = b.x(0);
    check_same(b.pool, b.code.reversed(b.code.multiply(b.code.stored_power(1), b.code.reversed(x))),
               b.pool.multiply_by_power(x, 1));
  }
}

TEST_CASE("products: eight blocks with one reduction are eight steps of GHASH") {
  Blocks b;
  LanePool& p = b.pool;
  const Lane y = p.input(p.name("Y", Secrecy::secret));
  Code::Sums sums;
  Lane spec = y;
  for (int i = 0; i < 8; i++) {
    const Lane block = i == 0 ? p.exclusive_or(y, b.x(0)) : b.x(i);
    b.code.multiply_and_add(sums, b.code.reversed(block), b.code.stored_power(8 - i));
    spec = p.multiply_by_power(p.exclusive_or(spec, b.x(i)), 1);
  }
  check_same(p, b.code.reversed(b.code.reduce(sums)), spec);
}

TEST_CASE("products: an accumulator that is a sum of products is multiplied again") {
  Blocks b;
  LanePool& p = b.pool;
  Lane code = p.constant(0), spec = p.constant(0);
  for (int i = 0; i < 4; i++) {
    code = b.code.multiply(p.exclusive_or(code, b.code.reversed(b.x(i))), b.code.stored_power(2));
    spec = p.multiply_by_power(p.exclusive_or(spec, b.x(i)), 2);
  }
  check_same(p, b.code.reversed(code), spec);
}

TEST_CASE("products: a partial block's mask goes into the product") {
  Blocks b;
  for (int bytes = 1; bytes < 16; bytes++) {
    const Lane part = b.pool.mask(b.x(0), low_bits(8 * bytes));
    CAPTURE(bytes);
    check_same(b.pool, b.code.reversed(b.code.multiply(b.code.reversed(part), b.code.stored_power(1))),
               b.pool.multiply_by_power(part, 1));
  }
}

TEST_CASE("products: a part that has not the field's 1 is recognised, too") {
  Blocks b;
  LanePool& p = b.pool;
  const Lane lengths = b.code.reversed(p.integer(Affine(b.n) * 8));
  check_same(p, b.code.reversed(b.code.multiply(b.code.reversed(lengths), b.code.stored_power(1))),
             p.multiply_by_power(lengths, 1));
  const Lane last_byte = p.mask(b.x(0), ~low_bits(120));
  check_same(p, b.code.reversed(b.code.multiply(b.code.reversed(last_byte), b.code.stored_power(3))),
             p.multiply_by_power(last_byte, 3));
}

TEST_CASE("products: a counter and a keystream block as the data") {
  Blocks b;
  LanePool& p = b.pool;
  const CounterName start = p.counter_name("start", 3);
  for (const Lane data :
       {p.counter(start, 11), p.aes_last_round(b.x(0), b.x(1)), p.exclusive_or(b.x(2), p.constant(77))}) {
    check_same(p, b.code.reversed(b.code.multiply(b.code.reversed(data), b.code.stored_power(2))),
               p.multiply_by_power(data, 2));
  }
}

TEST_CASE("products: stored powers times stored powers are the powers of the sum, equal ones as well") {
  Blocks b;
  Lane power = b.code.stored_power(1);
  for (int exponent = 2; exponent <= 9; exponent++) {
    power = b.code.multiply(power, b.code.stored_power(1));
    CAPTURE(exponent);
    CHECK(b.pool.lift(power) == b.code.stored_power(exponent));
  }
  CHECK(b.pool.lift(b.code.multiply(power, power)) == b.code.stored_power(18));
  CHECK(b.pool.multiply_by_power(b.pool.power(3), 3) == b.pool.power(6));
  CHECK(b.pool.multiply_by_power(b.pool.power(3), 4) == b.pool.power(7));
}

TEST_CASE("products: a known block times a power of H, times the same power") {
  Blocks b;
  LanePool& p = b.pool;
  const Lane known = p.constant(tests::block_value("0123456789abcdef0011223344556677"));
  check_same(p, p.multiply_by_power(p.multiply_by_power(known, 1), 1), p.multiply_by_power(known, 2));
  check_same(p, p.multiply_by_power(p.multiply_by_power(known, 1), 3), p.multiply_by_power(known, 4));
  check_same(p, b.code.reversed(b.code.multiply(b.code.reversed(known), b.code.stored_power(5))),
             p.multiply_by_power(known, 5));
}

TEST_CASE("products: a product by the field's 1 is no change, and powers add up") {
  Blocks b;
  LanePool& p = b.pool;
  CHECK(p.multiply_by_power(p.constant(kFieldOne), 4) == p.power(4));
  CHECK(p.multiply_by_power(p.multiply_by_power(b.x(0), 2), 3) == p.multiply_by_power(b.x(0), 5));
}

TEST_CASE("products: a reduction by another polynomial is not GHASH's") {
  for (int wrong = 0; wrong < 64; wrong += 7) {
    Blocks b;
    b.code.fold = kFold ^ (1ull << wrong);
    CAPTURE(wrong);
    CHECK_FALSE(b.pool.equal(b.code.reversed(b.code.multiply(b.code.reversed(b.x(0)), b.code.stored_power(1))),
                             b.pool.multiply_by_power(b.x(0), 1)));
  }
}

TEST_CASE("products: one product less, one more, or another power is not GHASH") {
  Blocks b;
  LanePool& p = b.pool;
  const Lane spec = p.exclusive_or(p.multiply_by_power(b.x(0), 2), p.multiply_by_power(b.x(1), 1));
  const auto code = [&](Lane first, Lane second, int first_power, Lane extra) {
    Code::Sums s;
    b.code.multiply_and_add(s, b.code.reversed(first), b.code.stored_power(first_power));
    b.code.multiply_and_add(s, b.code.reversed(second), b.code.stored_power(1));
    s.middle = p.exclusive_or(s.middle, extra);
    return b.code.reversed(b.code.reduce(s));
  };
  const Lane none = p.constant(0);
  REQUIRE_MESSAGE(p.equal(code(b.x(0), b.x(1), 2, none), spec), "the code without a fault");
  CHECK_FALSE(p.equal(code(b.x(1), b.x(0), 2, none), spec));
  CHECK_FALSE(p.equal(code(b.x(0), b.x(1), 3, none), spec));
  CHECK_FALSE(p.equal(code(b.x(0), none, 2, none), spec));
  CHECK_FALSE(p.equal(code(b.x(0), p.exclusive_or(b.x(1), p.constant(bit(100))), 2, none), spec));
  CHECK_FALSE(p.equal(code(b.x(0), b.x(1), 2, p.carryless_multiply(b.x(1), b.code.stored_power(1), 0x01)), spec));
  CHECK_FALSE(p.equal(code(b.x(0), p.mask(b.x(1), ~bit(64)), 2, none), spec));
}

TEST_CASE("products: sums that are not reduced move with the text, and reduce to the specification there") {
  Blocks b;
  LanePool& p = b.pool;
  Code::Sums s;
  Lane spec = p.constant(0);
  for (int i = 0; i < 3; i++) {
    const Lane block = p.input(b.name, Affine(b.n) + i);
    b.code.multiply_and_add(s, b.code.reversed(block), b.code.stored_power(3 - i));
    spec = p.multiply_by_power(p.exclusive_or(spec, p.input(b.name, Affine(b.n) + (i + 5))), 1);
  }
  const Substitution moved{{b.n, Affine(b.n) + 5}};
  s = {p.substitute(s.low, moved), p.substitute(s.high, moved), p.substitute(s.middle, moved)};
  check_same(p, b.code.reversed(b.code.reduce(s)), spec);
}

TEST_CASE("products: two blocks of a sum that is not reduced may become one") {
  Blocks b;
  LanePool& p = b.pool;
  const Lane x_n = p.input(b.name, b.n);
  const Lane product = p.carryless_multiply(x_n, p.exclusive_or(b.x(3), b.x(4)), 0x10);
  CHECK(p.substitute(product, {{b.n, 3}}) == p.carryless_multiply(b.x(3), p.exclusive_or(b.x(3), b.x(4)), 0x10));
}

TEST_CASE("S-box: FIPS 197's key expansion is what AESENCLAST and shuffles make of it") {
  LanePool pool;
  const Code code{pool};
  const Lane key = pool.input(pool.name("key", Secrecy::secret), 0);
  // RotWord of the last word in all four columns; in such a state AESENCLAST is SubWord in each.
  BytePermutation rotated;
  for (int i = 0; i < 16; i++) rotated[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(12 + (i + 1) % 4);
  const std::vector<Lane> spec = spec::aes_key_expansion(pool, key, pool.constant(0), 10);
  Lane round_key = key;
  std::uint32_t round_constant = 1;
  for (std::size_t round = 1; round <= 10; round++) {
    const Bits128 in_all_columns = Bits128{round_constant} * (bit(0) | bit(32) | bit(64) | bit(96));
    const Lane word =
        pool.aes_last_round(pool.apply(pool.permute_bytes(rotated), round_key), pool.constant(in_all_columns));
    round_key = pool.exclusive_or(round_key, code.shift(round_key, 4));
    round_key = pool.exclusive_or(round_key, code.shift(round_key, 8));
    round_key = pool.exclusive_or(round_key, word);
    CAPTURE(round);
    CHECK(round_key == spec[round]);
    round_constant = round_constant == 0x80 ? 0x1b : round_constant << 1;
  }
}

TEST_CASE("S-box: only of four equal columns are all columns of the result equal") {
  Blocks b;
  LanePool& p = b.pool;
  BytePermutation first_column, second_column;
  for (int i = 0; i < 16; i++) {
    first_column[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i % 4);
    second_column[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(4 + i % 4);
  }
  const auto columns_are_equal = [&](Lane state) {
    return p.apply(p.permute_bytes(first_column), state) == p.apply(p.permute_bytes(second_column), state);
  };
  const Lane same = p.apply(p.permute_bytes(first_column), b.x(0));
  CHECK(columns_are_equal(p.substitute_bytes(same)));
  CHECK_FALSE(columns_are_equal(p.substitute_bytes(b.x(0))));
  CHECK_FALSE(columns_are_equal(p.substitute_bytes(p.exclusive_or(same, p.constant(bit(40))))));
}
