// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/partial.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Condition;
using assembly::Program;
using assembly::Strip;
using namespace Xbyak::util;

Strip compare(const Xbyak::Reg64& bytes, int value) {
  Code c("control");
  c.cmp(bytes, value);
  return c.strip();
}

}  // namespace

Program load_partial(const Xbyak::Xmm& x, const Xbyak::Reg64& from, const Xbyak::Reg64& bytes, int least) {
  const Roles r;
  const Xbyak::Reg64 a = r.scratch, s = r.shift;

  // 9..15 bytes: the first 8, and the last 8 less those that are there already.
  Code many("partial block");
  many.mov(s.cvt32(), 16);
  many.sub(s.cvt32(), bytes.cvt32());
  many.shl(s.cvt32(), 3);
  many.mov(a, ptr[from + bytes - 8]);
  many.shr(a, cl);
  many.vmovq(x, ptr[from]);
  many.vpinsrq(x, x, a, 1);
  many.cut("9..15 bytes: first 8, last 8 >> 8(16 - n)");

  // 4..8 bytes: the first 4, and the last 4 moved up over the bytes that both have.
  Code some("partial block");
  some.lea(s.cvt32(), ptr[bytes * 8 - 32]);
  some.mov(a.cvt32(), dword[from + bytes - 4]);
  some.shl(a, cl);
  some.mov(s.cvt32(), dword[from]);
  some.or_(a, s);
  some.vmovq(x, a);
  some.cut("4..8 bytes: first 4 | last 4 << 8(n - 4)");

  // 1..3 bytes: first, middle and last byte, which may be one.
  Code few("partial block");
  few.mov(s.cvt32(), bytes.cvt32());
  few.shr(s.cvt32(), 1);
  few.movzx(a.cvt32(), byte[from + s]);
  few.shl(s.cvt32(), 3);
  few.shl(a.cvt32(), cl);
  few.vmovd(x, a.cvt32());
  few.movzx(a.cvt32(), byte[from + bytes - 1]);
  few.lea(s.cvt32(), ptr[bytes * 8 - 8]);
  few.shl(a.cvt32(), cl);
  few.movzx(s.cvt32(), byte[from]);
  few.or_(a.cvt32(), s.cvt32());
  few.vmovd(s.cvt32(), x);
  few.or_(a.cvt32(), s.cvt32());
  few.vmovd(x, a.cvt32());
  few.cut("1..3 bytes: first | middle << 8(n / 2) | last << 8(n - 1)");

  const Program up_to_8 = least > 3 ? Program(some.strip())
                                    : when("over_3", compare(bytes, 3), Condition::above, some.strip(), few.strip());
  return when("over_8", compare(bytes, 8), Condition::above, many.strip(), up_to_8);
}

Program store_partial(const Xbyak::Reg64& to, const Xbyak::Xmm& x, const Xbyak::Reg64& bytes,
                      const Xbyak::Reg64& high_half, int least) {
  const Roles r;
  const Xbyak::Reg64 a = r.scratch, s = r.shift, h = high_half;

  Code low("partial block");
  low.vmovq(a, x);
  low.cut("the first 8 bytes");

  Code many("partial block");
  many.mov(ptr[to], a);
  many.vpextrq(h, x, 1);
  many.lea(s.cvt32(), ptr[bytes * 8 - 64]);
  many.shrd(a, h, cl);
  many.mov(ptr[to + bytes - 8], a);
  many.cut("8..15 bytes: bytes 0..7, then bytes n - 8 .. n - 1");
  many.clear(h);
  many.cut("no text stays behind");

  Code some("partial block");
  some.mov(dword[to], a.cvt32());
  some.lea(s.cvt32(), ptr[bytes * 8 - 32]);
  some.shr(a, cl);
  some.mov(dword[to + bytes - 4], a.cvt32());
  some.cut("4..7 bytes: bytes 0..3, then bytes n - 4 .. n - 1");

  Code tail("partial block");
  tail.mov(byte[to], a.cvt8());
  tail.cut("1..3 bytes: the first");
  Code second("partial block");
  second.shr(a.cvt32(), 8);
  second.mov(byte[to + 1], a.cvt8());
  second.cut("the second");
  Code third("partial block");
  third.shr(a.cvt32(), 8);
  third.mov(byte[to + 2], a.cvt8());
  third.cut("the third");

  const Program up_to_3 = Program(tail.strip()) + when("over_1", compare(bytes, 1), Condition::above,
                                                       Program(second.strip()) + when("over_2", compare(bytes, 2),
                                                                                      Condition::above, third.strip()));
  const Program up_to_7 =
      least > 3 ? Program(some.strip()) : when("over_3", compare(bytes, 3), Condition::above, some.strip(), up_to_3);
  return Program(low.strip()) + when("over_7", compare(bytes, 7), Condition::above, many.strip(), up_to_7);
}

Program keep_first_bytes(const Xbyak::Xmm& x, const Xbyak::Reg64& bytes) {
  Code c("partial block");
  c.lea(c.r.scratch, c.constant(keep_bytes(), 16));
  c.sub(c.r.scratch, bytes);
  c.vpand(x, x, ptr[c.r.scratch]);
  return c.strip("the first n bytes, then zeros");
}

}  // namespace stitchgcm::gcm
