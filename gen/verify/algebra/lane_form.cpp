// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/algebra/lane_form.hpp"

#include <algorithm>

namespace stitchgcm::verify {

template <class IsIt>
Lane FormPool::intern(std::uint64_t hash, const Form& form, IsIt is_it) {
  if (const auto known = index_.find(hash, [&](std::uint32_t id) { return is_it(forms_[id]); })) return {*known};
  forms_.push_back({form.constant, terms_.keep(form.terms), tables_.keep(form.by_residue)});
  const auto id = static_cast<std::uint32_t>(forms_.size() - 1);
  index_.add(hash, id);
  return {id};
}

Lane FormPool::intern(Bits128 constant, std::span<const Term> terms) {
  Hash hash;
  hash.add(low_half(constant)).add(high_half(constant));
  for (const Term& t : terms) hash.add(t.key).add(t.coefficient);
  return intern(hash.value(), {constant, terms, {}}, [&](const Form& f) {
    return f.constant == constant && !f.is_table() &&
           std::equal(f.terms.begin(), f.terms.end(), terms.begin(), terms.end());
  });
}

Lane FormPool::intern_table(std::span<const Lane> values) {
  Hash hash;
  for (const Lane l : values) hash.add(l.id);
  return intern(hash.value(), {0, {}, values}, [&](const Form& f) {
    return std::equal(f.by_residue.begin(), f.by_residue.end(), values.begin(), values.end());
  });
}

AtomId AtomPool::intern(const Atom& a) {
  const std::uint64_t hash = Hash()
                                 .add(static_cast<std::uint64_t>(a.kind) << 32 | a.name)
                                 .add(static_cast<std::uint64_t>(a.index) << 32 | a.count)
                                 .add(static_cast<std::uint64_t>(a.lane.id) << 32 | a.base)
                                 .add(static_cast<std::uint64_t>(a.exponent))
                                 .add(low_half(a.kept))
                                 .add(high_half(a.kept))
                                 .value();
  if (const auto known = index_.find(hash, [&](AtomId id) { return atoms_[id] == a; })) return *known;
  atoms_.push_back(a);
  const auto id = static_cast<AtomId>(atoms_.size() - 1);
  index_.add(hash, id);
  return id;
}

AffineId AffinePool::intern(const Affine& a) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(a.constant()));
  for (const Affine::Term& t : a.terms()) {
    hash.add(static_cast<std::uint64_t>(t.variable)).add(static_cast<std::uint64_t>(t.coefficient));
  }
  if (const auto known = index_.find(hash.value(), [&](AffineId id) { return affines_[id] == a; })) return *known;
  affines_.push_back(a);
  const auto id = static_cast<AffineId>(affines_.size() - 1);
  index_.add(hash.value(), id);
  return id;
}

}  // namespace stitchgcm::verify
