// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/algebra/linear_pool.hpp"

#include <stdexcept>

#include "verify/algebra/galois.hpp"

namespace stitchgcm::verify {
namespace {

enum Operation : std::uint64_t { kSum, kCompose, kSumBilinear, kComposeBilinear, kCarryless, kFieldProduct };
constexpr std::uint64_t key(Operation o, std::uint64_t a) { return static_cast<std::uint64_t>(o) << 48 | a; }

template <class T>
std::uint64_t hash_of(const T& value) {
  static_assert(sizeof(T) % 8 == 0);
  std::uint64_t h = 0x243f6a8885a308d3u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  for (std::size_t i = 0; i < sizeof(T); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
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
  // The 127th power of squaring is its inverse.
  const MatrixId square = of_function([](Bits128 a) { return field_product(a, a); });
  square_root_ = square;
  for (int i = 1; i < 127; i++) square_root_ = compose(square, square_root_);
  if (compose(square, square_root_) != 1) throw std::logic_error("the square root of GHASH's field");
}

MatrixId LinearPool::intern(const BitMatrix& m) {
  const std::uint64_t h = hash_of(m);
  const auto [first, last] = matrix_index_.equal_range(h);
  for (auto i = first; i != last; ++i) {
    if (*matrices_[i->second] == m) return i->second;
  }
  matrices_.push_back(std::make_unique<BitMatrix>(m));
  const auto id = static_cast<MatrixId>(matrices_.size() - 1);
  matrix_index_.emplace(h, id);
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
  BitMatrix m;
  for_each_bit(kept, [&](int i) { m.row[at(i)] = bit(i); });
  return intern(m);
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
  const std::uint64_t h = hash_of(*t);
  const auto [first, last] = bilinear_index_.equal_range(h);
  for (auto i = first; i != last; ++i) {
    if (*bilinears_[i->second] == *t) return i->second;
  }
  bilinears_.push_back(std::move(t));
  const auto id = static_cast<BilinearId>(bilinears_.size() - 1);
  bilinear_index_.emplace(h, id);
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

BilinearId LinearPool::carryless(MatrixId a, MatrixId b, bool high_a, bool high_b, bool same) {
  const std::uint64_t k = static_cast<std::uint64_t>(b) << 3 | (high_a ? 4 : 0) | (high_b ? 2 : 0) | (same ? 1 : 0);
  if (const auto known = memo_.find(key(kCarryless, a), k)) return *known;
  auto t = std::make_unique<BilinearMap>();
  for (int p = 0; p < 64; p++) {
    const Bits128 row_a = matrix(a).row[at(p + (high_a ? 64 : 0))];
    if (row_a == 0) continue;
    for (int q = 0; q < 64; q++) {
      const Bits128 row_b = matrix(b).row[at(q + (high_b ? 64 : 0))];
      if (row_b == 0) continue;
      for_each_bit(row_a, [&](int i) { t->term[at(p + q)][at(i)] ^= row_b; });
    }
  }
  if (same) {
    for (auto& output : t->term) {
      for (int i = 0; i < 128; i++) {
        for_each_bit(output[at(i)] & low_bits(i), [&](int j) {
          output[at(i)] ^= bit(j);
          output[at(j)] ^= bit(i);
        });
      }
    }
  }
  return memo_.put(key(kCarryless, a), k, intern(std::move(t)));
}

BilinearId LinearPool::field_product_of(MatrixId a) {
  if (a == 1) return field_product_;
  if (const auto known = memo_.find(key(kFieldProduct, a), 0)) return *known;
  auto t = std::make_unique<BilinearMap>();
  const BilinearMap& product = bilinear(field_product_);
  for (std::size_t o = 0; o < 128; o++) {
    for (int k = 0; k < 128; k++) {
      const Bits128 row = product.term[o][at(k)];
      if (row != 0) for_each_bit(matrix(a).row[at(k)], [&](int i) { t->term[o][at(i)] ^= row; });
    }
  }
  return memo_.put(key(kFieldProduct, a), 0, intern(std::move(t)));
}

const std::optional<LinearPool::Product>& LinearPool::as_product(BilinearId id, bool h_first) {
  const std::uint64_t k = static_cast<std::uint64_t>(id) << 1 | (h_first ? 1 : 0);
  if (const auto known = products_.find(k); known != products_.end()) return known->second;
  const BilinearMap& t = bilinear(id);
  Bits128 kept = 0;
  for (const auto& output : t.term) {
    for (int i = 0; i < 128; i++) {
      if (h_first) {
        kept |= output[at(i)];
      } else if (output[at(i)] != 0) {
        kept |= bit(i);
      }
    }
  }
  // For one bit e of a that matters, T(e, h) = outer(e h) is a map of h, from which the outer map is read off: e = 1 where
  // it can be, else divide by e.
  const int e =
      (kept & kFieldOne) != 0 || kept == 0
          ? 7
          : std::countr_zero(low_half(kept) != 0 ? low_half(kept) : high_half(kept)) + (low_half(kept) != 0 ? 0 : 64);
  BitMatrix of_h;
  for (std::size_t o = 0; o < 128; o++) {
    if (h_first) {
      for (int j = 0; j < 128; j++) {
        if ((t.term[o][at(j)] >> e & 1) != 0) of_h.row[o] |= bit(j);
      }
    } else {
      of_h.row[o] = t.term[o][at(e)];
    }
  }
  MatrixId outer = intern(of_h);
  if (e != 7) outer = compose(outer, times(field_inverse(bit(e))));
  // Read off, not yet believed: the whole map must be that.
  const BilinearMap& whole = bilinear(compose_bilinear(outer, field_product_));
  const BilinearMap& given = bilinear(id);
  bool equal = true;
  for (std::size_t o = 0; o < 128 && equal; o++) {
    for (int i = 0; i < 128 && equal; i++) {
      const Bits128 kept_row = (kept >> i & 1) != 0 ? ~Bits128{0} : 0;
      // The field product is symmetric in its operands.
      const Bits128 wanted = h_first ? whole.term[o][at(i)] & kept : whole.term[o][at(i)] & kept_row;
      equal = wanted == given.term[o][at(i)];
    }
  }
  std::optional<Product>& entry = products_[k];
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
