// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Whoever is timed: one of our backends, a variant of one, or somebody else's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cell.hpp"
#include "job.hpp"

namespace stitchgcm::bench {

/// What was asked for cannot be had: a peer that is not installed, a backend that this CPU cannot run.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Contender {
 public:
  Contender(std::string name, std::string about) : name_(std::move(name)), about_(std::move(about)) {}
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  /// Short, for the head of a column.
  const std::string& name() const { return name_; }
  /// Version, and which code path it takes on this CPU.
  const std::string& about() const { return about_; }

  virtual bool supports(Operation operation) const { return !is_routine(operation); }

  /// Makes ready to seal and to open with this key (16, 24 or 32 bytes) and IVs of this length. Throws
  /// std::runtime_error if the library refuses.
  virtual void set_key(std::span<const std::uint8_t> key, std::size_t iv_bytes) = 0;

  /// Carries out the job's next `count` messages, or sets up as many keys, with nothing around that a user would not
  /// do. Returns how many were refused: of messages to open, those that were not authentic. After key_setup, seal
  /// uses the last key.
  virtual std::size_t run(Operation operation, Job& job, std::size_t count) = 0;

 private:
  std::string name_;
  std::string about_;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

}  // namespace stitchgcm::bench
