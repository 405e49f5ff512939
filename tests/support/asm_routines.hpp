// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Small routines for the tests of programs and of the emitted text, and their code where it can be called.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "asm/lower.hpp"
#include "asm_machine.hpp"

namespace tests {

/// A routine with nothing to say of itself but its program.
stitchgcm::assembly::Routine sample_routine(std::string symbol, stitchgcm::assembly::Program program,
                                            stitchgcm::assembly::Frame frame = {});

/// A file of routines with its lowered form, which refers to it.
class LoweredSample {
 public:
  explicit LoweredSample(std::vector<stitchgcm::assembly::Routine> routines);

  const stitchgcm::assembly::LoweredFile& file() const { return lowered_; }
  const stitchgcm::assembly::LoweredRoutine& routine(std::size_t n) const { return lowered_.routines.at(n); }

  /// Routine n, ready to be called. It may refer to no constant and call nothing.
  template <class Function>
  Function* function(std::size_t n = 0) {
    if (!executable_) make_executable();
    return executable_->function<Function>(routine(n).offset);
  }

 private:
  void make_executable();

  std::unique_ptr<stitchgcm::assembly::SourceFile> source_;
  stitchgcm::assembly::LoweredFile lowered_;
  std::unique_ptr<ExecutableMemory> executable_;
};

/// The names of a routine's labels, in order, with spaces between.
std::string labels(const stitchgcm::assembly::LoweredRoutine& routine);

/// Follows rsp through a routine: "" if its CFI directives say at every instruction where the caller's frame is, rsp
/// is a multiple of 16 at calls, and it returns with what it was called with; else the first place where not.
std::string wrong_frame(const stitchgcm::assembly::LoweredRoutine& routine);

/// "" if each callee-saved register that the routine writes is one of those that its frame saves; else its name.
std::string unsaved_register(const stitchgcm::assembly::LoweredRoutine& routine);

/// "" if no jump is longer than it must be.
std::string needlessly_long_jump(const stitchgcm::assembly::LoweredRoutine& routine);

}  // namespace tests
