// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// A file of routines as text for GNU as and for clang, ELF and Mach-O from the same text.
#include "asm/lower.hpp"
#include "emit/options.hpp"

namespace stitchgcm::emit {

/// The whole .S file. It assembles to the bytes of `file` (see assembler.hpp), and to nothing on other CPUs.
std::string gas(const assembly::LoweredFile& file, const Options& options);

/// Some of a routine's items as lines of the body, for samples: those from `first` on, `count` of them.
std::string gas_lines(const assembly::LoweredRoutine& routine, const Options& options, size_t first, size_t count);

}  // namespace stitchgcm::emit
