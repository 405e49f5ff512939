// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What is said of a routine, for the emitted file and for the header.
#include "asm/lower.hpp"
#include "emit/options.hpp"

namespace stitchgcm::emit {

/// "int stitchgcm_open_aes128_aesni_avx(const stitchgcm_context *context, ...)"; empty for an internal routine.
std::string c_prototype(const assembly::Routine& r, const Options& options);

/// The comment above a routine: what it computes, arguments, roles, stack, clobbers, promises. A line each, with //.
std::string routine_comment(const assembly::LoweredRoutine& r, const Options& options);

/// The same without roles and registers, as a C comment for the header.
std::string header_comment(const assembly::Routine& r);

/// Breaks text into lines of at most `width` characters, each after `prefix`; all but the first indented by two more.
std::string wrapped(const std::string& text, const std::string& prefix, size_t width = 118);

}  // namespace stitchgcm::emit
