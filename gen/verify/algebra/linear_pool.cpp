// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/algebra/linear_pool.hpp"

#include <stdexcept>

#include "verify/algebra/galois.hpp"

namespace stitchgcm::verify {
namespace {

enum Operation : std::uint64_t { kSum, kCompose, kSumBilinear, kComposeBilinear, kOfOperands, kExchanged, kOfEqual };
constexpr std::uint64_t key(Operation o, std::uint64_t a) { return static_cast<std::uint64_t>(o) << 48 | a; }

template <class T>
std::uint64_t hash_of(const T& value) {
  static_assert(sizeof(T) % 8 == 0);
  Hash hash;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  for (std::size_t i = 0; i < sizeof(T); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    hash.add(word);
  }
  return hash.value();
}

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

LinearPool::LinearPool() {
  intern(BitMatrix{});
  BitMatrix identity;
  for (int i = 0; i < 128; i++) identity.row[at(i)] = bit(i);
  intern(identity);
  intern(std::make_unique<BilinearMap>());

  auto product = std::make_unique<BilinearMap>();
  for (int i = 0; i < 128; i++) {
    for (int j = 0; j < 128; j++) {
      for_each_bit(field_product(bit(i), bit(j)), [&](int o) { product->term[at(o)][at(i)] |= bit(j); });
    }
  }
  field_product_ = intern(std::move(product));
  for (const bool high_a : {false, true}) {
    for (const bool high_b : {false, true}) {
      auto t = std::make_unique<BilinearMap>();
      for (int i = 0; i < 64; i++) {
        for (int j = 0; j < 64; j++) t->term[at(i + j)][at(i + (high_a ? 64 : 0))] |= bit(j + (high_b ? 64 : 0));
      }
      carryless_[carryless_index(high_a, high_b)] = intern(std::move(t));
    }
  }
  // The 127th power of squaring is its inverse.
  const MatrixId square = of_function([](Bits128 a) { return field_product(a, a); });
  square_root_ = square;
  for (int i = 1; i < 127; i++) square_root_ = compose(square, square_root_);
  if (compose(square, square_root_) != 1) throw std::logic_error("the square root of GHASH's field");
}

MatrixId LinearPool::intern(const BitMatrix& m) {
  const std::uint64_t hash = hash_of(m);
  if (const auto known = matrix_index_.find(hash, [&](MatrixId id) { return matrix(id) == m; })) return *known;
  matrices_.push_back(m);
  const auto id = static_cast<MatrixId>(matrices_.size() - 1);
  matrix_index_.add(hash, id);
  return id;
}

MatrixId LinearPool::sum(MatrixId a, MatrixId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a == b) return 0;
  if (a > b) std::swap(a, b);
  if (const auto known = memo_.find(key(kSum, a), b)) return *known;
  BitMatrix m;
  for (std::size_t i = 0; i < 128; i++) m.row[i] = matrix(a).row[i] ^ matrix(b).row[i];
  return memo_.put(key(kSum, a), b, intern(m));
}

MatrixId LinearPool::compose(MatrixId outer, MatrixId inner) {
  if (outer == 0 || inner == 0) return 0;
  if (outer == 1) return inner;
  if (inner == 1) return outer;
  if (const auto known = memo_.find(key(kCompose, outer), inner)) return *known;
  BitMatrix m;
  for (std::size_t o = 0; o < 128; o++) {
    Bits128 row = 0;
    for_each_bit(matrix(outer).row[o], [&](int k) { row ^= matrix(inner).row[at(k)]; });
    m.row[o] = row;
  }
  return memo_.put(key(kCompose, outer), inner, intern(m));
}

MatrixId LinearPool::diagonal(Bits128 kept) {
  if (const auto known = diagonals_.find(low_half(kept), high_half(kept))) return *known;
  BitMatrix m;
  for_each_bit(kept, [&](int i) { m.row[at(i)] = bit(i); });
  return diagonals_.put(low_half(kept), high_half(kept), intern(m));
}

MatrixId LinearPool::of_function(const std::function<Bits128(Bits128)>& f) {
  if (f(0) != 0) throw std::logic_error("a function that is not linear");
  BitMatrix m;
  for (int i = 0; i < 128; i++) for_each_bit(f(bit(i)), [&](int o) { m.row[at(o)] |= bit(i); });
  return intern(m);
}

Bits128 LinearPool::apply(MatrixId id, Bits128 v) const {
  if (id == 0 || v == 0) return 0;
  if (id == 1) return v;
  Bits128 out = 0;
  for (int o = 0; o < 128; o++) {
    if (parity(matrix(id).row[at(o)] & v)) out |= bit(o);
  }
  return out;
}

MatrixId LinearPool::times(Bits128 c) {
  return of_function([c](Bits128 v) { return field_product(c, v); });
}

BilinearId LinearPool::intern(std::unique_ptr<BilinearMap> t) {
  const std::uint64_t hash = hash_of(*t);
  if (const auto known = bilinear_index_.find(hash, [&](BilinearId id) { return bilinear(id) == *t; })) return *known;
  bilinears_.push_back(std::move(t));
  const auto id = static_cast<BilinearId>(bilinears_.size() - 1);
  bilinear_index_.add(hash, id);
  return id;
}

BilinearId LinearPool::sum_bilinear(BilinearId a, BilinearId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a == b) return 0;
  if (a > b) std::swap(a, b);
  if (const auto known = memo_.find(key(kSumBilinear, a), b)) return *known;
  auto t = std::make_unique<BilinearMap>(bilinear(a));
  const BilinearMap& other = bilinear(b);
  for (std::size_t o = 0; o < 128; o++) {
    for (std::size_t i = 0; i < 128; i++) t->term[o][i] ^= other.term[o][i];
  }
  return memo_.put(key(kSumBilinear, a), b, intern(std::move(t)));
}

BilinearId LinearPool::compose_bilinear(MatrixId outer, BilinearId inner) {
  if (outer == 0 || inner == 0) return 0;
  if (outer == 1) return inner;
  if (const auto known = memo_.find(key(kComposeBilinear, outer), inner)) return *known;
  auto t = std::make_unique<BilinearMap>();
  const BilinearMap& from = bilinear(inner);
  for (std::size_t o = 0; o < 128; o++) {
    for_each_bit(matrix(outer).row[o], [&](int k) {
      for (std::size_t i = 0; i < 128; i++) t->term[o][i] ^= from.term[at(k)][i];
    });
  }
  return memo_.put(key(kComposeBilinear, outer), inner, intern(std::move(t)));
}

BilinearId LinearPool::of_operands(BilinearId id, MatrixId a, MatrixId b) {
  if (id == 0 || a == 0 || b == 0) return 0;
  if (a == 1 && b == 1) return id;
  const std::uint64_t operands = static_cast<std::uint64_t>(a) << 32 | b;
  if (const auto known = memo_.find(key(kOfOperands, id), operands)) return *known;
  auto t = std::make_unique<BilinearMap>();
  const BilinearMap& from = bilinear(id);
  for (std::size_t o = 0; o < 128; o++) {
    for (std::size_t k = 0; k < 128; k++) {
      Bits128 row = 0;
      for_each_bit(from.term[o][k], [&](int l) { row ^= matrix(b).row[at(l)]; });
      if (row != 0) for_each_bit(matrix(a).row[k], [&](int i) { t->term[o][at(i)] ^= row; });
    }
  }
  return memo_.put(key(kOfOperands, id), operands, intern(std::move(t)));
}

BilinearId LinearPool::exchanged(BilinearId id) {
  if (const auto known = memo_.find(key(kExchanged, id), 0)) return *known;
  auto t = std::make_unique<BilinearMap>();
  const BilinearMap& from = bilinear(id);
  for (std::size_t o = 0; o < 128; o++) {
    for (int i = 0; i < 128; i++) {
      for_each_bit(from.term[o][at(i)], [&](int j) { t->term[o][at(j)] |= bit(i); });
    }
  }
  const BilinearId result = intern(std::move(t));
  if (result != id) memo_.put(key(kExchanged, result), 0, id);
  return memo_.put(key(kExchanged, id), 0, result);
}

BilinearId LinearPool::of_equal_operands(BilinearId id) {
  if (const auto known = memo_.find(key(kOfEqual, id), 0)) return *known;
  auto t = std::make_unique<BilinearMap>(bilinear(id));
  for (auto& output : t->term) {
    for (int i = 0; i < 128; i++) {
      for_each_bit(output[at(i)] & low_bits(i), [&](int j) {
        output[at(i)] ^= bit(j);
        output[at(j)] ^= bit(i);
      });
    }
  }
  return memo_.put(key(kOfEqual, id), 0, intern(std::move(t)));
}

MatrixId LinearPool::with_first(BilinearId id, Bits128 a) {
  BitMatrix m;
  for (std::size_t o = 0; o < 128; o++) {
    for_each_bit(a, [&](int i) { m.row[o] ^= bilinear(id).term[o][at(i)]; });
  }
  return intern(m);
}

Bits128 LinearPool::value(BilinearId id, Bits128 a, Bits128 b) const {
  Bits128 out = 0;
  for (int o = 0; o < 128; o++) {
    Bits128 row = 0;
    for_each_bit(a, [&](int i) { row ^= bilinear(id).term[at(o)][at(i)]; });
    if (parity(row & b)) out |= bit(o);
  }
  return out;
}

const std::optional<LinearPool::Product>& LinearPool::as_product(BilinearId id) {
  if (const auto known = products_.find(id); known != products_.end()) return known->second;
  const BilinearMap& t = bilinear(id);
  Bits128 kept = 0;
  for (const auto& output : t.term) {
    for (int i = 0; i < 128; i++) {
      if (output[at(i)] != 0) kept |= bit(i);
    }
  }
  // For one bit e of a that matters, T(e, h) = outer(e h) is a map of h, from which the outer map is read off: e = 1
  // where it can be, else divide by e.
  const Bits128 e = (kept & kFieldOne) != 0 ? kFieldOne : kept & -kept;
  MatrixId outer = with_first(id, e);
  if (e != kFieldOne && e != 0) outer = compose(outer, times(field_inverse(e)));
  // Read off, not yet believed: the whole map must be that.
  const BilinearMap& whole = bilinear(compose_bilinear(outer, field_product_));
  bool equal = true;
  for (std::size_t o = 0; o < 128 && equal; o++) {
    for (int i = 0; i < 128 && equal; i++) {
      equal = t.term[o][at(i)] == ((kept >> i & 1) != 0 ? whole.term[o][at(i)] : 0);
    }
  }
  std::optional<Product>& entry = products_[id];
  if (equal) entry = Product{outer, kept};
  return entry;
}

std::optional<MatrixId> LinearPool::as_map_of_square(BilinearId id) {
  const BilinearMap& t = bilinear(id);
  BitMatrix linear;
  for (std::size_t o = 0; o < 128; o++) {
    for (int i = 0; i < 128; i++) {
      if ((t.term[o][at(i)] & ~bit(i)) != 0) return std::nullopt;
      linear.row[o] |= t.term[o][at(i)];
    }
  }
  return compose(intern(linear), square_root_);
}

}  // namespace stitchgcm::verify
