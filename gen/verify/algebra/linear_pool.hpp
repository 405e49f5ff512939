// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// 128 x 128 bit matrices and bilinear maps of two 128-bit vectors, each kept once and known by its number.
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "verify/algebra/bits128.hpp"
#include "verify/algebra/memo.hpp"

namespace stitchgcm::verify {

struct BitMatrix {
  std::array<Bits128, 128> row{};  // row[o]: which input bits are summed into output bit o
  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;
};

/// out_o = sum of a_i b_j over the pairs with bit j of term[o][i].
struct BilinearMap {
  std::array<std::array<Bits128, 128>, 128> term{};
  friend bool operator==(const BilinearMap&, const BilinearMap&) = default;
};

using MatrixId = std::uint32_t;    // 0: all zero; 1: identity
using BilinearId = std::uint32_t;  // 0: all zero

class LinearPool {
 public:
  LinearPool();

  MatrixId intern(const BitMatrix& m);
  const BitMatrix& matrix(MatrixId id) const { return matrices_[id]; }
  MatrixId sum(MatrixId a, MatrixId b);
  MatrixId compose(MatrixId outer, MatrixId inner);
  MatrixId diagonal(Bits128 kept);
  /// The linear map f; f(0) must be 0.
  MatrixId of_function(const std::function<Bits128(Bits128)>& f);
  Bits128 apply(MatrixId m, Bits128 v) const;
  /// v -> c v in GHASH's field.
  MatrixId times(Bits128 c);

  BilinearId intern(std::unique_ptr<BilinearMap> t);
  const BilinearMap& bilinear(BilinearId id) const { return *bilinears_[id]; }
  BilinearId sum_bilinear(BilinearId a, BilinearId b);
  BilinearId compose_bilinear(MatrixId outer, BilinearId inner);
  /// (a, b) -> the carry-less product of their low or high halves.
  BilinearId carryless_map(bool high_a, bool high_b) const { return carryless_[carryless_index(high_a, high_b)]; }
  /// (a, b) -> a b in GHASH's field.
  BilinearId field_product_map() const { return field_product_; }
  /// (a, b) -> T(A a, B b).
  BilinearId of_operands(BilinearId t, MatrixId a, MatrixId b);
  /// (a, b) -> T(b, a).
  BilinearId exchanged(BilinearId t);
  /// T where both operands are one: terms a_i a_j with i > j are written as a_j a_i.
  BilinearId of_equal_operands(BilinearId t);
  /// b -> T(a, b) for a known a.
  MatrixId with_first(BilinearId t, Bits128 a);
  Bits128 value(BilinearId t, Bits128 a, Bits128 b) const;

  /// T(a, h) = outer((a & kept) h), field product: what a finished multiplication by h looks like. Nothing if T is no
  /// such map.
  struct Product {
    MatrixId outer;
    Bits128 kept;
  };
  const std::optional<Product>& as_product(BilinearId t);
  /// T(a, a) without mixed terms is linear in a: as a map of a^2. Nothing if there are mixed terms.
  std::optional<MatrixId> as_map_of_square(BilinearId t);

  std::size_t matrices() const { return matrices_.size(); }
  std::size_t bilinears() const { return bilinears_.size(); }

 private:
  static constexpr std::size_t carryless_index(bool high_a, bool high_b) {
    return static_cast<std::size_t>(high_a) + 2 * static_cast<std::size_t>(high_b);
  }

  std::deque<BitMatrix> matrices_;
  InternIndex matrix_index_;
  std::vector<std::unique_ptr<BilinearMap>> bilinears_;
  InternIndex bilinear_index_;
  std::unordered_map<BilinearId, std::optional<Product>> products_;
  Memo memo_, diagonals_;
  BilinearId field_product_ = 0;
  std::array<BilinearId, 4> carryless_{};
  MatrixId square_root_ = 0;  // a^2 -> a
};

}  // namespace stitchgcm::verify
