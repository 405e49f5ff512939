// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
#include <memory>
#include <utility>

namespace stitchgcm::verify {

/// A value that copies share until one of them changes it: paths fork far more often than they change what they carry.
template <class T>
class CopyOnWrite {
 public:
  CopyOnWrite() : value_(std::make_shared<T>()) {}
  CopyOnWrite(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: a value is a shared value

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  /// For a change: the value becomes this copy's own.
  T& own() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }
  bool shares_with(const CopyOnWrite& other) const { return value_ == other.value_; }
  friend bool operator==(const CopyOnWrite& a, const CopyOnWrite& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace stitchgcm::verify
