// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// 128 x 128 bit matrices and bilinear maps of two 128-bit vectors, each kept once and known by its number.
#include <functional>
#include <memory>
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
  const BitMatrix& matrix(MatrixId id) const { return *matrices_[id]; }
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
  /// (a, b) -> carry-less product of 64-bit halves of A a and B b. With `same`, b is a: terms a_i a_j with i > j are
  /// written as a_j a_i.
  BilinearId carryless(MatrixId a, MatrixId b, bool high_a, bool high_b, bool same);
  /// (a, b) -> (A a) (b) in GHASH's field.
  BilinearId field_product_of(MatrixId a);

  /// T(a, h) = outer((a & kept) h), field product: what a finished multiplication by h looks like; h is the second operand,
  /// or the first if `h_first`. Nothing if T is no such map.
  struct Product {
    MatrixId outer;
    Bits128 kept;
  };
  const std::optional<Product>& as_product(BilinearId t, bool h_first);
  /// T(a, a) without mixed terms is linear in a: as a map of a^2. Nothing if there are mixed terms.
  std::optional<MatrixId> as_map_of_square(BilinearId t);

  std::size_t matrices() const { return matrices_.size(); }
  std::size_t bilinears() const { return bilinears_.size(); }

 private:
  std::vector<std::unique_ptr<BitMatrix>> matrices_;
  std::unordered_multimap<std::uint64_t, MatrixId> matrix_index_;
  std::vector<std::unique_ptr<BilinearMap>> bilinears_;
  std::unordered_multimap<std::uint64_t, BilinearId> bilinear_index_;
  std::unordered_map<std::uint64_t, std::optional<Product>> products_;
  Memo memo_;
  BilinearId field_product_ = 0;
  MatrixId square_root_ = 0;  // a^2 -> a
};

}  // namespace stitchgcm::verify
