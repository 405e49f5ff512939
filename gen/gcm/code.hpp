// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The recorder that the stages write on: Xbyak, the roles, and a few operations under the field's names.
#include "asm/recorder.hpp"
#include "gcm/constants.hpp"
#include "gcm/roles.hpp"

namespace stitchgcm::gcm {

class Code : public assembly::Recorder {
 public:
  explicit Code(std::string stage) : Recorder(std::move(stage)) {}

  const Roles r;

  using Xmm = Xbyak::Xmm;
  using Address = Xbyak::Address;

  void load(const Xmm& to, const Address& from) { vmovdqu(to, from); }
  void store(const Address& to, const Xmm& from) { vmovdqu(to, from); }
  /// to := from, in the shorter of its two encodings, which assemblers choose too: Xbyak knows the load form alone.
  void move(const Xmm& to, const Xmm& from) {
    if (to.getIdx() < 8 && from.getIdx() >= 8) {
      db(0xc5), db(0x79), db(0x7f), db(static_cast<uint8_t>(0xc0 | (from.getIdx() - 8) << 3 | to.getIdx()));
    } else {
      vmovdqa(to, from);
    }
  }
  /// Addition in GF(2^128), and in GF(2)[x]. A high register goes where its number costs no third prefix byte.
  void add(const Xmm& to, const Xmm& a, const Xbyak::Operand& b) {
    if (b.isXMM() && b.getIdx() >= 8 && a.getIdx() < 8) {
      vpxor(to, Xmm(b.getIdx()), a);
    } else {
      vpxor(to, a, b);
    }
  }
  void reverse_bytes(const Xmm& to, const Xmm& from) { vpshufb(to, from, constant(byte_reverse())); }
  void clear(const Xmm& x) { vpxor(x, x, x); }
  void clear(const Xbyak::Reg64& x) { xor_(x.cvt32(), x.cvt32()); }
  using Recorder::add;
};

}  // namespace stitchgcm::gcm
