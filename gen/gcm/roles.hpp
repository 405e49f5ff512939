// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Who lives in which register, and where the frame of a routine keeps what. The only place with raw register numbers.
#include "asm/dataflow.hpp"
#include "asm/routine.hpp"
#include "gcm/layout.hpp"

#include <array>

namespace stitchgcm::gcm {

/// 128-bit vectors, 16 registers, VEX encodings.
struct Roles {
  Xbyak::Xmm block(int n) const { return Xbyak::Xmm(n); }  // AES states, 0 <= n < kBlocks
  Xbyak::Xmm round_key{9};
  Xbyak::Xmm next_counters{8};               // in batches, while counter blocks are made
  Xbyak::Xmm j0_block{8};                    // at the end of a message: the state of J0, beside blocks 0..7
  Xbyak::Xmm low{10}, high{11}, middle{12};  // GHASH's sums, not reduced
  std::array<Xbyak::Xmm, 3> product{Xbyak::Xmm(13), Xbyak::Xmm(14), Xbyak::Xmm(15)};
  Xbyak::Xmm counter{0};  // handed to batches and back: the next counter block, bytes reversed
  Xbyak::Xmm hash{1};     // handed to batches and back: Y, bytes reversed

  Xbyak::Reg64 context{Xbyak::Operand::RBX};  // biased, see context_bias
  Xbyak::Reg64 message{Xbyak::Operand::RBP};
  Xbyak::Reg64 in{Xbyak::Operand::RSI};
  Xbyak::Reg64 out{Xbyak::Operand::RDI};
  Xbyak::Reg64 batches{Xbyak::Operand::RDX};    // whole batches that are left
  Xbyak::Reg64 end_power{Xbyak::Operand::RCX};  // where the power of the first block after the batches is
  Xbyak::Reg64 power{Xbyak::Operand::R8};       // where the power of the next block is; both are biased, see power_bias
  Xbyak::Reg64 group{Xbyak::Operand::R9};       // batches until the next reduction
  Xbyak::Reg64 whole{Xbyak::Operand::R10};      // whole blocks after the batches, 0..7
  Xbyak::Reg64 partial{Xbyak::Operand::R11};    // bytes of the last block if it is not whole, else 0
  Xbyak::Reg64 scratch{Xbyak::Operand::RAX};
  Xbyak::Reg64 shift{Xbyak::Operand::RCX};  // shares rcx with end_power: only where partial blocks are read or written
  Xbyak::Reg64 counter_pointer{Xbyak::Operand::R12};  // of the routines for whole blocks
  Xbyak::Reg64 accumulator_pointer{Xbyak::Operand::R13};
  Xbyak::Reg64 counter_patterns{Xbyak::Operand::R14};  // see counter_patterns.hpp
  Xbyak::Reg64 aad{Xbyak::Operand::RSI};               // while AAD is hashed, before in and out are there
  Xbyak::Reg64 aad_bytes{Xbyak::Operand::RDI};

  /// The context register points into the middle of the key schedule, so that all round keys have one-byte
  /// displacements.
  static constexpr int context_bias = 112;
  /// Power pointers stand at the end of a batch's eight powers, for the same reason: the next batch's begin there.
  static constexpr int power_bias = 128;
  static constexpr int kBlocks = 8;

  Xbyak::Address context_at(int offset) const { return Xbyak::util::ptr[context + (offset - context_bias)]; }
  Xbyak::Address round_key_at(int i) const { return context_at(layout::kRoundKeys + layout::kBlockBytes * i); }
  Xbyak::Address message_at(int offset) const { return Xbyak::util::ptr[message + offset]; }
};

/// The frame of the batches. The ring holds the ciphertext of one batch between AES and GHASH, in three parts: the low
/// and the high half of each block (bytes reversed), and their sum.
struct BatchFrame {
  static constexpr int kLow = 0, kHigh = 8, kMiddle = 128;  // block n at + 16 n, + 16 n, + 8 n
  static constexpr int kNow = 192, kNext = 208, kDifference = 224, kCounter = 240, kStart = 256, kBytes = 272;
  static Xbyak::Address at(int offset) { return Xbyak::util::ptr[Xbyak::util::rsp + offset]; }
  static Xbyak::Address low(int n) { return at(kLow + layout::kBlockBytes * n); }
  static Xbyak::Address high(int n) { return at(kHigh + layout::kBlockBytes * n); }
  static Xbyak::Address middle(int n) { return at(kMiddle + 8 * n); }
  static Xbyak::Address now() { return at(kNow); }
  static Xbyak::Address next() { return at(kNext); }
  static Xbyak::Address difference() { return at(kDifference); }
  static Xbyak::Address counter() { return at(kCounter); }
  static Xbyak::Address start() { return at(kStart); }
};

/// The frame of seal and open.
struct MessageFrame {
  static constexpr int kJ0 = 0, kHash = 16, kCounterBlock = 32, kText = 48, kPatterns = 64, kBytes = 192;
  static Xbyak::Address at(int offset) { return Xbyak::util::ptr[Xbyak::util::rsp + offset]; }
};

/// A backend, as far as stages that several of them share depend on it.
struct Target {
  std::string name;  // "aesni_avx"
  /// The symbol, without a prefix, of this backend's routine: "seal" -> "seal_aesni_avx".
  std::string symbol(const std::string& routine) const { return routine + "_" + name; }
};

/// How the pointers of stitched code may stand to each other: in and out may be one buffer.
assembly::PointerCases pointer_cases();

}  // namespace stitchgcm::gcm
