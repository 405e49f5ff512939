// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Instructions in the verifier's model and on this CPU, from the same random state: with all operands known, or with
// formulas in registers, flags and memory, of which the CPU gets the values.
#pragma once

#include <map>
#include <memory>

#include "verify/machine/machine.hpp"
#include "verify_lanes.hpp"
#include "verify_native.hpp"

namespace tests {

enum class Operands { known, symbolic };

/// What one trial came to.
struct TrialResult {
  std::string refusal;     // the model's; empty if it followed the instructions
  std::string difference;  // what model and CPU disagree on; empty if on nothing
};

/// A random state of the model, and the same as a CPU has it.
class TrialState {
 public:
  using Affine = stitchgcm::verify::Affine;
  using Instruction = stitchgcm::verify::Instruction;
  using Lane = stitchgcm::verify::Lane;
  using Scalar = stitchgcm::verify::Scalar;
  using State = stitchgcm::verify::State;

  /// `data` is the CPU's memory, of which the state has a region. Operands of the instructions that are registers are
  /// formulas if so asked; their operands in memory are where memory is.
  TrialState(stitchgcm::verify::LanePool& pool, std::span<std::uint8_t> data, std::uint64_t seed, Operands operands,
             const std::vector<Instruction>& instructions);

  State& model() { return state_; }
  /// The state with the value of each formula in its place.
  State model_of_values() const;
  CpuState cpu() const;
  /// Fills the CPU's memory.
  void fill_memory() const;

  /// The truth about a question of the model; tells the facts of `state`.
  void answer(State& state, const stitchgcm::verify::Undecided& question) const;

  /// What differs between the model's end and the CPU's (memory as it is now); empty if nothing. Registers of which the
  /// model knows nothing are left out, and so are vector registers that a CPU of this level does not have.
  std::string differences(const State& end, const CpuState& cpu, VectorLevel level) const;
  /// The first condition of a jump that the model decides and that the CPU's flags decide otherwise; empty if none.
  std::string wrong_conditions(const stitchgcm::verify::Machine& machine, const State& end, std::uint64_t flags) const;
  /// The model's end as a CPU's, by value.
  CpuState cpu_of(const State& end) const;
  void fill_memory_from(const State& end) const;

 private:
  void add_variables();
  void add_memory();
  void add_registers(const std::vector<Instruction>& instructions);
  void add_flags();
  void aim(const Instruction& i);
  std::uint64_t random_number();
  Affine random_affine();
  Scalar random_scalar(bool symbolic);
  Lane random_lane(bool symbolic);

  std::uint64_t value_of(const Affine& a) const;
  std::uint64_t value_of(const Scalar& s) const;
  stitchgcm::verify::Bits128 value_of(Lane lane) const { return pool_.evaluate(lane, values_); }
  /// What the model has in memory; what it does not know is as the CPU has it.
  Bytes memory_of_model(const State& end) const;
  std::string wrong_memory(const State& end) const;

  stitchgcm::verify::LanePool& pool_;
  std::span<std::uint8_t> data_;
  Random random_;
  RandomLanes lanes_;
  bool symbolic_;
  /// What formulas in general registers and memory are of: operations of data with lengths are mostly refused.
  enum class Flavour { numbers, data, mixed } flavour_;
  bool rip_relative_ = false;
  stitchgcm::verify::Assignment values_;
  std::map<stitchgcm::verify::Variable, std::int64_t> numbers_;
  State state_;
  stitchgcm::verify::RegionId buffer_{};
  std::int64_t middle_ = 0;  // place around which all accesses are
  std::shared_ptr<std::map<std::int64_t, Lane>> blocks_;
  std::uint64_t flags_ = 0;
};

class Trials {
 public:
  Trials();
  /// Runs the instructions, one after the other. Where this CPU lacks one, the model with formulas is compared with the
  /// model with their values instead.
  TrialResult run(View code, std::uint64_t seed, Operands operands) { return run(code, code, seed, operands); }
  /// The same with other code for the CPU: for controls.
  TrialResult run(View model_code, View cpu_code, std::uint64_t seed, Operands operands);

 private:
  std::vector<stitchgcm::verify::Instruction> decode(Bytes& code, Random& random) const;

  NativeCode native_;
  std::unique_ptr<stitchgcm::verify::LanePool> pool_;
};

}  // namespace tests
