// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_lanes.hpp"

namespace tests {

using namespace stitchgcm::verify;

Bits128 block_value(std::string_view hex_digits) { return from_bytes(block_of(unhex(hex_digits))); }
std::string hex(Bits128 block) { return hex(View(bytes_of(block))); }

Assignment random_values(std::uint64_t seed) {
  Assignment values;
  values.input = [seed](Name name, std::int64_t index, std::int64_t count, Bits128 start) {
    std::uint64_t state = seed;
    for (const std::uint64_t key : {static_cast<std::uint64_t>(name), static_cast<std::uint64_t>(index),
                                    static_cast<std::uint64_t>(count), low_half(start), high_half(start)}) {
      state = Random(state ^ key).word();
    }
    return from_bytes(Random(state).block());
  };
  values.counter = [seed](CounterName name) {
    const std::uint64_t any = Random(seed + static_cast<std::uint64_t>(name)).word();
    return static_cast<std::uint32_t>(seed % 2 == 0 ? any : 0xffffffc0 | any) & ~7u;
  };
  values.variable = [seed](Variable v) {
    return static_cast<std::int64_t>(Random(seed * 3 + static_cast<std::uint64_t>(v)).below(20));
  };
  values.hash_key = from_bytes(Random(~seed).block());
  values.residue = static_cast<int>(seed % LanePool::kResidues);
  return values;
}

RandomLanes::RandomLanes(LanePool& pool, std::uint64_t seed)
    : pool_(pool),
      random_(seed),
      n_(pool.variables().add("n")),
      i_(pool.variables().add("i")),
      counter_(pool.counter_name("counter", 3)) {}

Bits128 RandomLanes::bits() { return from_bytes(random_.block()); }

Affine RandomLanes::affine() {
  const auto number = [this](std::size_t range) { return static_cast<std::int64_t>(random_.below(range)); };
  return Affine(n_) * (number(3) - 1) + Affine(i_) * (8 * number(2)) + number(5);
}

LinearMap RandomLanes::map() {
  switch (random_.below(5)) {
    case 0: return pool_.identity();
    case 1: return pool_.reverse_bytes();
    case 2: return pool_.mix_columns();
    case 3: return pool_.keep_bits(bits());
    default: {
      // Few, so that the same ones meet.
      const std::uint64_t number = random_.below(6);
      return pool_.linear("random map " + std::to_string(number), [number](Bits128 v) {
        Bits128 image = 0;
        for_each_bit(
            v, [&](int i) { image ^= from_bytes(Random(1000 * number + static_cast<std::uint64_t>(i)).block()); });
        return image;
      });
    }
  }
}

Lane RandomLanes::unknown(int depth) {
  const auto exponent = [this] { return 1 + static_cast<int>(random_.below(3)); };
  switch (random_.below(depth > 0 ? 8 : 5)) {
    case 0: return pool_.power(exponent());
    case 1: return pool_.counter(counter_, Affine(i_) * 8 + static_cast<std::int64_t>(random_.below(20)));
    case 2: return pool_.apply(pool_.reverse_bytes(), pool_.integer(affine()));  // as in a block of lengths
    case 3:
    case 4: return pool_.input(pool_.name("input", Secrecy::secret), affine());
    case 5: return pool_.substitute_bytes(lane(depth - 1));
    case 6: return pool_.multiply_by_power(sum_of_masked(depth - 1), exponent());
    default: return pool_.input(pool_.name("hash", Secrecy::secret), affine(), affine(), lane(depth - 1));
  }
}

Lane RandomLanes::sum_of_masked(int depth) {
  Lane sum = pool_.constant(random_.below(2) == 0 ? 0 : bits());
  for (std::size_t terms = random_.below(3) + 1; terms > 0; terms--) {
    // A part of a map of a product is no multiple of it any more.
    const Lane whole = pool_.input(pool_.name("input", Secrecy::secret), affine());
    const Lane part = random_.below(2) == 0 ? pool_.mask(whole, bits()) : unknown(depth);
    sum = pool_.exclusive_or(sum, part);
  }
  return sum;
}

Lane RandomLanes::lane(int depth) {
  Lane sum = pool_.constant(random_.below(2) == 0 ? 0 : bits());
  for (std::size_t terms = random_.below(3); terms > 0; terms--) {
    sum = pool_.exclusive_or(sum, pool_.apply(map(), unknown(depth)));
  }
  return sum;
}

}  // namespace tests
