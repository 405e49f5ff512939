// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/finding.hpp"

namespace stitchgcm::verify {

const std::vector<std::string>& assumptions() {
  static const std::vector<std::string> kAssumptions = {
      "Zydis decodes what the CPU executes. Only encodings of a short list are let in, and every byte of a function is "
      "accounted for.",
      "The table of semantics says what each form of instruction does. It is tested form by form against CPUs, on "
      "random data.",
      "The algebra is right: equal formulas are one number, and a finished product in GHASH's field is recognised by a "
      "comparison bit by bit. Formulas are tested by their values.",
      "SP 800-38D and FIPS 197 are transcribed as they are, and each contract asks for what a caller relies on: "
      "results, what may be read and written, what may be left behind.",
      "The argument for loops of any number of turns, and that of calls: a routine's contract is proved once, and "
      "stands for it wherever it is called.",
      "Callers keep to the contracts: buffers do not wrap around the end of the address space, overlap only as the "
      "contract says, and a context is as init has left it.",
      "AES and carry-less multiplication take the same time for all data, as makers of CPUs say; so do the other "
      "instructions used. What is proved is that no address and no branch depends on a secret.",
      "The linker and the loader place and relocate the code as the ELF format says.",
  };
  return kAssumptions;
}

}  // namespace stitchgcm::verify
