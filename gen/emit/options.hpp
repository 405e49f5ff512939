// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What an emission depends on besides the routines.
#include <string>

#include "asm/instruction.hpp"

namespace stitchgcm::emit {

struct Options {
  std::string prefix = "stitchgcm";                   // of every global symbol
  assembly::Syntax syntax = assembly::Syntax::intel;  // of the instructions
  std::string command = "stitchgcm emit";             // that makes the same files, for their headers
};

}  // namespace stitchgcm::emit
