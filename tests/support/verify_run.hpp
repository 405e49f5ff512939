// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Whole routines in the verifier's model, with all their inputs known.
#pragma once

#include <map>
#include <string>

#include "bytes.hpp"
#include "verify/machine/machine.hpp"

namespace tests {

class ModelRun {
 public:
  using Scalar = stitchgcm::verify::Scalar;

  /// Registers, flags and the stack hold what the seed says.
  ModelRun(const stitchgcm::verify::Image& image, std::uint64_t seed);

  /// A buffer that holds `content`, and a pointer to it.
  Scalar add(const std::string& name, View content, bool writable);
  /// 8 bytes of a buffer: a number, or a pointer to another buffer.
  void put(const Scalar& buffer, std::int64_t place, const Scalar& value);
  Bytes content(const Scalar& buffer, std::size_t bytes);

  /// Calls a function with arguments in registers, and follows it to its return; rax. Throws as the model does, and
  /// std::logic_error where a register that calls preserve is not as it was.
  std::int64_t call(const std::string& symbol, const std::vector<Scalar>& arguments);

  std::size_t instructions() const { return instructions_; }

 private:
  void step();
  const stitchgcm::verify::Instruction& instruction_at(std::uint64_t address);

  const stitchgcm::verify::Image& image_;
  stitchgcm::verify::LanePool pool_;
  stitchgcm::verify::Machine machine_;
  stitchgcm::verify::State state_;
  stitchgcm::verify::RegionId code_{};  // addresses of code: what calls put on the stack
  std::map<std::uint64_t, stitchgcm::verify::Instruction> decoded_;
  std::size_t instructions_ = 0;
};

}  // namespace tests
