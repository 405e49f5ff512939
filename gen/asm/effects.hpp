// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// What an instruction does beyond what Zydis lists of its operands; and which instructions the order check understands.
#include "asm/instruction.hpp"

namespace stitchgcm::assembly {

/// Throws std::runtime_error for an instruction that may do more than its operands say: stack and string instructions,
/// other segments and address sizes, system registers, and all kinds of instructions that nobody has looked at.
void require_understood(const Instruction& i);

inline bool reads(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0; }
inline bool writes(const ZydisDecodedOperand& o) { return (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }

/// The register of which `r` is a part, zmm0 for xmm0.
ZydisRegister whole(ZydisRegister r);

/// Flags are handled bit by bit through cpu_flags, the instruction pointer not at all.
bool is_flags_or_ip(ZydisRegister r);

/// Bits 8..15 of a general register, which Zydis' sizes do not tell from bits 0..7.
bool is_high_byte(ZydisRegister r);

/// A write that leaves part of the old register or memory in place, always or under a condition. Zydis reports many of
/// these as plain writes.
bool keeps_old_part(const Instruction& i, const ZydisDecodedOperand& o);

/// A shift or rotation whose count may be 0: then the flags stay as they were.
bool may_keep_flags(const Instruction& i);

/// x ^ x in a whole register: neither result nor flags depend on x.
bool is_zero_idiom(const Instruction& i);

/// A whole-register store, whose value comes back unchanged from a load of the same width.
bool is_plain_move(const Instruction& i);

/// Both operands are whole 64-bit registers, which are exchanged.
bool is_exchange(const Instruction& i);

}  // namespace stitchgcm::assembly
