// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// One emitted symbol: what it computes, how it is called, and its program.
#include "asm/abi.hpp"
#include "asm/program.hpp"

namespace stitchgcm::assembly {

struct Parameter {
  std::string type;  // as C writes it before the name
  std::string name;
  std::string contract;  // unit, direction, legal lengths, overlap
};

struct Prototype {
  std::string result;           // "void", "int"
  std::string result_contract;  // empty for void
  std::vector<Parameter> parameters;
};

/// A register and what it holds. Two roles may share a register at different times; the sentence says when.
struct Role {
  std::string register_name;
  std::string meaning;
};

struct Routine {
  std::string symbol;               // without a prefix: "seal_aes128_aesni_avx"
  std::string summary;              // one line: "AES-128-GCM authenticated encryption of one message"
  std::vector<std::string> effect;  // formulas, a line each
  Prototype prototype;
  std::vector<Role> roles;
  std::vector<std::string> promises;  // timing, leftovers, a line each
  Frame frame;
  Program program;
};

/// The routines of one emitted file.
struct SourceFile {
  std::string backend;  // "aesni_avx"
  std::string name;     // "seal"
  std::vector<Routine> routines;
};

}  // namespace stitchgcm::assembly
