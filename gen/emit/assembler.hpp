// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The proof that text and code agree: the emitted text goes through GNU as and through clang, and what they make of it
// is compared with Xbyak's bytes.
#include <filesystem>

#include "asm/lower.hpp"
#include "emit/options.hpp"

namespace stitchgcm::emit {

/// Compiler drivers that preprocess and assemble a .S file.
struct Assemblers {
  std::string gnu = "gcc";
  std::string clang = "clang";
};

/// Assembles `text` with both and compares code, data, relocations and symbols with `file`. Throws std::runtime_error
/// that says which assembler differs, in which symbol, at which instruction.
void require_same_bytes(const assembly::LoweredFile& file, const std::string& text, const Options& options,
                        const Assemblers& assemblers);

}  // namespace stitchgcm::emit
