// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What of an object file a function is, wherever it is linked, as a hash.
//
// Hashed are: the function's bytes, with zeros in the fields that the linker fills; for each of these fields a line
//   "\n<place in the function> <symbol of the function that it leads to, or nothing> <addend>"
// where the addend is as in ELF, from the symbol or from the begin of the section of data; and then, once and after
// "\n", each section of data that was referred to, without the zeros at its end.
#include <string>
#include <string_view>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

/// SHA-256 in 64 hexadecimal digits. Throws std::runtime_error if libcrypto has none.
std::string sha256(std::string_view data);

/// What is hashed; or with the zeros at the end of data, too, which assemblers may add, and which code may read.
enum class ZerosAtEnd : std::uint8_t { left_out, kept };
std::string bytes_in_any_program(const Image& image, const Function& function, ZerosAtEnd zeros);

/// The first 16 bytes of its SHA-256: what MANIFEST has.
std::string code_hash(const Image& image, const Function& function);

}  // namespace stitchgcm::verify
