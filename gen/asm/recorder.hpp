// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Where strips come from: Xbyak's own functions write the bytes, cut() says where a piece ends.
#include "asm/strip.hpp"

#include <xbyak/xbyak.h>

namespace stitchgcm::assembly {

namespace detail {
/// A base class, so that it exists before Xbyak's constructor is given it. A buffer of its own keeps Xbyak from mapping
/// executable memory.
struct RecorderBuffer {
  std::unique_ptr<uint8_t[]> bytes{new uint8_t[kSize]};
  static constexpr size_t kSize = 1 << 16;
};
}  // namespace detail

/// Records one strip: call Xbyak's mnemonics on it, cut(note) after each piece, take strip() at the end.
/// No branches: control flow belongs to Program.
class Recorder : private detail::RecorderBuffer, public Xbyak::CodeGenerator {
 public:
  /// `stage` names the strip in messages and in the emitted file, e.g. "block 3" or "ghash".
  explicit Recorder(std::string stage);

  /// Ends a piece (if anything was recorded since the last cut). `note` says what it computes.
  void cut(std::string note);

  /// The operand [rip + constant + offset].
  Xbyak::Address constant(const Constant& c, int offset = 0);

  /// Everything recorded; `last_note` ends the last piece. Throws std::logic_error on a branch.
  Strip strip(std::string last_note = {});

 private:
  struct Cut {
    size_t end;
    std::string note;
  };
  std::string stage_;
  std::vector<Cut> cuts_;
  std::vector<ConstantReference> references_;
};

}  // namespace stitchgcm::assembly
