// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/machine/machine.hpp"

#include "verify/machine/semantics.hpp"

namespace stitchgcm::verify {
namespace {

Semantics semantics_of(const Instruction& i) {
  const Semantics general = general_semantics(i.mnemonic);
  return general != nullptr ? general : vector_semantics(i.mnemonic);
}

}  // namespace

bool has_semantics(const Instruction& instruction) { return semantics_of(instruction) != nullptr; }

void execute(const Machine& machine, const Instruction& instruction, State& state) {
  const Semantics semantics = semantics_of(instruction);
  if (semantics == nullptr) throw Refused("an instruction without semantics: " + instruction.form);
  semantics({machine, instruction, state});
  state.ip = instruction.next();
}

}  // namespace stitchgcm::verify
