// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/symbolic_state.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <stdexcept>

#include "asm/effects.hpp"

namespace stitchgcm::assembly {
namespace {

/// What the simple 64-bit pointer instructions compute: one input plus a constant.
std::optional<TermRef> pointer_arithmetic(const Instruction& i, const std::vector<TermRef>& in) {
  if (i.decoded.operand_width != 64 || i.operands.size() < 2 || i.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER) {
    return {};
  }
  const bool immediate = i.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (i.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
      if (immediate) return TermRef{in[0].node, in[0].plus + i.operands[1].imm.value.s};
      return {};
    case ZYDIS_MNEMONIC_SUB:
      if (immediate) return TermRef{in[0].node, in[0].plus - i.operands[1].imm.value.s};
      return {};
    case ZYDIS_MNEMONIC_LEA:
      if (!i.reference && i.operands[1].mem.index == ZYDIS_REGISTER_NONE) return in[0];
      return {};
    case ZYDIS_MNEMONIC_MOV:
      if (i.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) return in[0];
      return {};
    default: return {};
  }
}

const ZydisAccessedFlags& flags(const Instruction& i) {
  static const ZydisAccessedFlags none{};
  return i.decoded.cpu_flags ? *i.decoded.cpu_flags : none;
}

uint32_t written_flags(const Instruction& i) {
  return flags(i).modified | flags(i).set_0 | flags(i).set_1 | flags(i).undefined;
}

std::string describe(const Terms& terms, TermRef r) {
  const Term& t = terms.at(r.node);
  if (!t.by) return t.operation + (r.plus ? fmt::format(" + {}", r.plus) : "");
  return fmt::format("`{}` ({}, {}, turn {})", t.by->text(), t.by->stage, t.by->note, t.turn);
}

/// Follows two different terms down to the first pair that is not the same stage of the same turn: that is where the
/// order went wrong.
std::string first_cause(const Terms& terms, TermRef a, TermRef b, const std::string& where,
                        std::set<std::pair<int, int>>& seen) {
  const Term &x = terms.at(a.node), &y = terms.at(b.node);
  const bool same_place = x.by && y.by ? x.by->stage == y.by->stage && x.turn == y.turn : x.by == y.by;
  const bool both_loads = x.operation.starts_with("load") && y.operation.starts_with("load");
  const bool comparable = both_loads || (x.operation == y.operation && x.inputs.size() == y.inputs.size());
  if (same_place && a.node != b.node && comparable && seen.insert({a.node, b.node}).second) {
    for (size_t k = 0; k < std::min(x.inputs.size(), y.inputs.size()); k++) {
      if (x.inputs[k] != y.inputs[k]) {
        return first_cause(terms, x.inputs[k], y.inputs[k], "an input of " + describe(terms, a), seen);
      }
    }
  }
  return fmt::format("{} comes from {} in order but from {} when stitched", where, describe(terms, a),
                     describe(terms, b));
}

}  // namespace

TermRef SymbolicState::initial(Register r) const {
  const std::string name = r >= kFlagBase ? fmt::format("flag {}", r - kFlagBase)
                                          : std::string(ZydisRegisterGetString(static_cast<ZydisRegister>(r)));
  return terms_->make("the initial " + name, {}, nullptr);
}

TermRef SymbolicState::value(Register r) {
  auto it = registers_.find(r);
  if (it == registers_.end()) it = registers_.emplace(r, initial(r)).first;
  return it->second;
}

SymbolicState::Address SymbolicState::address(const ZydisDecodedOperand& o, const Instruction& i) {
  if (i.reference) return {"constant " + i.reference->constant->name, i.reference->offset};
  if (o.mem.index != ZYDIS_REGISTER_NONE) {
    throw std::runtime_error("an indexed address, which the order check does not follow: " + i.text());
  }
  const TermRef base = value(whole(o.mem.base));
  for (const auto& [pointer, region] : *regions_) {
    if (initial(pointer).node == base.node) return {region, base.plus + o.mem.disp.value};
  }
  throw std::runtime_error("an address in no declared region: " + i.text());
}

SymbolicState::Byte SymbolicState::byte(const Address& a) {
  const auto it = memory_.find(a);
  if (it != memory_.end()) return it->second;
  return {terms_->make("the initial contents of " + a.first, {}, nullptr).node, a.second};
}

TermRef SymbolicState::load(const Address& a, int bytes, const Instruction& by) {
  std::vector<Byte> b;
  for (int k = 0; k < bytes; k++) b.push_back(byte({a.first, a.second + k}));
  const auto run_end = [&](size_t begin) {
    size_t end = begin + 1;
    while (end < b.size() && b[end] == Byte{b[begin].node, b[begin].index + static_cast<int64_t>(end - begin)}) end++;
    return end;
  };
  std::vector<TermRef> in;
  std::string operation = "load";
  for (size_t k = 0, end = 0; k < b.size(); k = end) {
    end = run_end(k);
    in.push_back({b[k].node, 0});
    operation += fmt::format(" [{} +{}]", b[k].index, end - k);
  }
  return terms_->make(operation, in, &by, turn_);
}

std::vector<TermRef> SymbolicState::inputs(const Instruction& i, std::string& operation) {
  operation = fmt::format("{}/{}", ZydisMnemonicGetString(i.decoded.mnemonic), int{i.decoded.avx.vector_length});
  const bool zero = is_zero_idiom(i);
  std::vector<TermRef> in;
  for (const ZydisDecodedOperand& o : i.operands) {
    operation += fmt::format(" {}{}", "?rmpi"[o.type], o.size);
    switch (o.type) {
      case ZYDIS_OPERAND_TYPE_IMMEDIATE: operation += fmt::format("={}", o.imm.value.s); break;
      case ZYDIS_OPERAND_TYPE_REGISTER:
        if (is_flags_or_ip(o.reg.value) || zero) break;
        if (is_high_byte(o.reg.value)) operation += "h";
        if (reads(o) || (writes(o) && keeps_old_part(i, o))) {
          in.push_back(value(whole(o.reg.value)));
        } else {
          operation += "-";
        }
        break;
      case ZYDIS_OPERAND_TYPE_MEMORY:
        if (o.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
          if (o.mem.base == ZYDIS_REGISTER_RIP) {
            operation += fmt::format(" {} + {}", i.reference.value().constant->name, i.reference->offset);
            break;
          }
          in.push_back(value(whole(o.mem.base)));
          in.back().plus += o.mem.disp.value;
          if (o.mem.index != ZYDIS_REGISTER_NONE) {
            in.push_back(value(whole(o.mem.index)));
            operation += fmt::format("*{}", o.mem.scale);
          }
        } else if (reads(o) || (writes(o) && keeps_old_part(i, o))) {
          in.push_back(load(address(o, i), o.size / 8, i));
        }
        break;
      default: break;
    }
  }
  for (int bit = 0; bit < 32; bit++) {
    const uint32_t used = flags(i).tested | (may_keep_flags(i) ? written_flags(i) : 0);
    if ((used >> bit & 1) != 0) in.push_back(value(kFlagBase + bit));
  }
  return in;
}

void SymbolicState::write(const Instruction& i, const std::string& operation, const std::vector<TermRef>& in) {
  const std::optional<TermRef> pointer = pointer_arithmetic(i, in);
  std::vector<std::pair<Address, Byte>> stores;
  std::vector<std::pair<Register, TermRef>> results;
  int number = 0;
  for (const ZydisDecodedOperand& o : i.operands) {
    if (!writes(o)) continue;
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER && is_flags_or_ip(o.reg.value)) continue;
    TermRef v = pointer ? *pointer : terms_->make(fmt::format("{} #{}", operation, number++), in, &i, turn_);
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      results.push_back({whole(o.reg.value), v});
      continue;
    }
    if (is_plain_move(i)) v = in.back();
    if (v.plus != 0) v = terms_->make("sum", {v}, &i, turn_);
    const Address a = address(o, i);
    for (int k = 0; k < o.size / 8; k++) stores.push_back({{a.first, a.second + k}, {v.node, k}});
  }
  for (int bit = 0; bit < 32; bit++) {
    if ((written_flags(i) >> bit & 1) != 0) {
      results.push_back({kFlagBase + bit, terms_->make(fmt::format("{} flag {}", operation, bit), in, &i, turn_)});
    }
  }
  for (const auto& [r, v] : results) registers_[r] = v;
  for (const auto& [a, b] : stores) memory_[a] = b;
}

void SymbolicState::step(const Instruction& i) {
  require_understood(i);
  std::string operation;
  const std::vector<TermRef> in = inputs(i, operation);
  if (is_exchange(i)) {
    registers_[whole(i.operands[0].reg.value)] = in[1];
    registers_[whole(i.operands[1].reg.value)] = in[0];
    return;
  }
  write(i, operation, in);
}

void SymbolicState::run(const Strip& strip, int turn) {
  turn_ = turn;
  for (const Piece& p : strip.pieces) {
    for (const Instruction& i : p.code) step(i);
  }
}

std::string SymbolicState::difference(SymbolicState& in_order, SymbolicState& reordered) {
  std::set<Register> registers;
  std::set<Address> addresses;
  for (const SymbolicState* s : {&in_order, &reordered}) {
    for (const auto& [r, v] : s->registers_) registers.insert(r);
    for (const auto& [a, b] : s->memory_) addresses.insert(a);
  }
  std::set<std::pair<int, int>> seen;
  for (const Address& a : addresses) {
    const Byte x = in_order.byte(a), y = reordered.byte(a);
    if (x != y) {
      return first_cause(*in_order.terms_, {x.node, 0}, {y.node, 0}, fmt::format("{}[{}]", a.first, a.second), seen);
    }
  }
  for (const Register r : registers) {
    const TermRef x = in_order.value(r), y = reordered.value(r);
    if (x == y) continue;
    const std::string name = r >= kFlagBase ? "a flag" : ZydisRegisterGetString(static_cast<ZydisRegister>(r));
    return first_cause(*in_order.terms_, x, y, name, seen);
  }
  return {};
}

}  // namespace stitchgcm::assembly
