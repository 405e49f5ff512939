// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What a proof is worth: how many damaged routines it refuses, and why those that it does not refuse are none.
#include <functional>
#include <string>
#include <vector>

#include "verify/mutate/mutants.hpp"
#include "verify/proof/prove.hpp"

namespace stitchgcm::verify {

enum class Fate : std::uint8_t {
  refused,
  same_instruction,  // the changed instruction makes the same state from any state: `vpxor a, b, c` and `vpxor a, c, b`
  same_where_read,   // wherever the proof comes to it, it leaves the same in all that is read afterwards
  never_relied_on,   // the proof holds with anything in the bits that the changed instruction leaves otherwise
  other_number,      // proved, and the change is in a public number only: how many blocks are reduced at once, ..
  survived           // proved, and not explained
};
const char* name_of(Fate fate);

struct Result {
  Mutant mutant;
  Fate fate{};
  std::string reason;  // of a refusal
};

/// The fate of each mutant, in their order. They are proved like the routine itself, each from the place on where it
/// first differs. `progress` is told how many are done. Throws Failure if the routine itself is not proved.
std::vector<Result> kill(const Image& image, const Function& function, const Contract& contract,
                         const ContractTable& callees, const std::vector<Mutant>& mutants,
                         const std::function<void(std::size_t)>& progress = {});

}  // namespace stitchgcm::verify
