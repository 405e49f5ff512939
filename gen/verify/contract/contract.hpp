// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a routine promises, in a form that its own proof establishes and that proofs of its callers use.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/code/image.hpp"
#include "verify/machine/state.hpp"

namespace stitchgcm::verify {

struct Setting {
  LanePool& pool;
  const Image& image;
};

class Contract {
 public:
  explicit Contract(std::string symbol) : symbol_(std::move(symbol)) {}
  virtual ~Contract() = default;
  Contract(const Contract&) = delete;
  Contract& operator=(const Contract&) = delete;

  const std::string& symbol() const { return symbol_; }
  /// What is proved, in words: results, and what is assumed. For reports.
  virtual std::vector<std::string> statement() const = 0;
  /// For which lengths and keys, in words.
  virtual std::string lengths() const = 0;
  /// The cases that are proved one by one: how buffers overlap, ..
  virtual std::vector<std::string> cases() const = 0;
  /// The most general state in which the routine may be entered, in that case.
  virtual State entry(const Setting& setting, std::size_t which) const = 0;
  /// Throws Refused, with what is wrong, unless the promise holds where the routine returns to its caller. Throws
  /// Undecided as the machine does.
  virtual void check_exit(const Setting& setting, const State& entry, State exit) const = 0;
  /// Where a caller stands at a call of the routine: checks what the routine expects, and makes the state that it
  /// leaves. `caller` is changed only if nothing is thrown. By default a routine is not called.
  virtual void call(const Setting& setting, State& caller) const;

  /// Where paths of this routine join, tries to say the state with less, so that they can go on as one: "the AAD is
  /// hashed", .. Returns the name of what it could say; nothing if it could not. Throws Undecided as the machine does.
  virtual std::optional<std::string> generalise(const Setting& setting, State& state) const;
  /// The vector registers in which GHASH's sums stand, low, high and middle, where loops of the routine keep them.
  virtual std::optional<std::array<int, 3>> sums_registers() const { return std::nullopt; }
  /// Whether a branch may tell if `lane` is zero.
  virtual bool may_reveal_whether_zero(const Setting& setting, const State& state, Lane lane) const;
  /// Told when it was revealed: state.verdict is set.
  virtual void revealed(const Setting& setting, State& state) const;

 private:
  std::string symbol_;
};

/// The contracts of all routines of a backend, by symbol. `prefix` is that of all symbols.
std::vector<std::unique_ptr<Contract>> contracts(const std::string& prefix, const std::string& backend);

}  // namespace stitchgcm::verify
