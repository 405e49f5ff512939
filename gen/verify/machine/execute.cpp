// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/machine/machine.hpp"

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {

bool has_semantics(const Instruction& instruction) { return row_of(instruction) != nullptr; }

void execute(const Machine& machine, const Instruction& instruction, State& state) {
  const Row* row = row_of(instruction);
  if (row == nullptr) throw Refused("an instruction without semantics: " + instruction.form);
  row->semantics({machine, instruction, *row, state});
  state.ip = instruction.next();
}

}  // namespace stitchgcm::verify
