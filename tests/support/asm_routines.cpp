// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm_routines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace tests {
namespace {

using namespace stitchgcm::assembly;

bool is_rsp(const ZydisDecodedOperand& o) {
  return o.type == ZYDIS_OPERAND_TYPE_REGISTER && o.reg.value == ZYDIS_REGISTER_RSP;
}

/// By how much an instruction lowers rsp.
int lowers_rsp(const Instruction& i) {
  switch (i.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: return 8;
    case ZYDIS_MNEMONIC_POP: return -8;
    case ZYDIS_MNEMONIC_SUB: return is_rsp(i.operands[0]) ? static_cast<int>(i.operands[1].imm.value.s) : 0;
    case ZYDIS_MNEMONIC_ADD: return is_rsp(i.operands[0]) ? -static_cast<int>(i.operands[1].imm.value.s) : 0;
    default: return 0;
  }
}

ZydisRegister whole_register(const ZydisDecodedOperand& o) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o.reg.value);
}

}  // namespace

Routine sample_routine(std::string symbol, Program program, Frame frame) {
  Routine r;
  r.symbol = std::move(symbol);
  r.summary = "A sample";
  r.effect = {"none"};
  r.prototype = {"void", "", {}};
  r.frame = std::move(frame);
  r.program = std::move(program);
  return r;
}

LoweredSample::LoweredSample(std::vector<Routine> routines)
    : source_(std::make_unique<SourceFile>(SourceFile{"sample", "sample", std::move(routines)})),
      lowered_(lower(*source_)) {}

void LoweredSample::make_executable() {
  if (!lowered_.relocations.empty()) throw std::logic_error("a sample with relocations cannot be called");
  executable_ = std::make_unique<ExecutableMemory>(lowered_.code.size(), 0);
  std::ranges::copy(lowered_.code, executable_->open_code().begin());
  executable_->close_code();
}

std::string labels(const LoweredRoutine& routine) {
  std::string names;
  for (const Item& item : routine.items) {
    if (const auto* label = std::get_if<Label>(&item.value)) names += (names.empty() ? "" : " ") + label->name;
  }
  return names;
}

std::string wrong_frame(const LoweredRoutine& routine) {
  int depth = 8, cfa = 8;  // below the caller's frame: the return address
  bool returned = false;
  for (const Item& item : routine.items) {
    const auto place = [&](const std::string& what) {
      return fmt::format("{} + {}: {}", routine.routine->symbol, item.offset - routine.offset, what);
    };
    if (const auto* d = std::get_if<Directive>(&item.value)) {
      if (d->text.starts_with(".cfi_def_cfa_offset ")) cfa = std::stoi(d->text.substr(20));
      if (d->text.starts_with(".cfi_offset ") && !d->text.ends_with(fmt::format(", -{}", depth))) {
        return place(fmt::format("`{}`, but the push went to -{}", d->text, depth));
      }
      continue;
    }
    if (item.bytes.empty()) continue;
    if (cfa != depth)
      return place(fmt::format("rsp is {} below the caller's frame, the directives say {}", depth, cfa));
    if (std::holds_alternative<FunctionCall>(item.value) && depth % 16 != 0) return place("rsp is not aligned to 16");
    const auto* i = std::get_if<Instruction>(&item.value);
    if (!i) continue;
    depth += lowers_rsp(*i);
    if (i->decoded.mnemonic == ZYDIS_MNEMONIC_RET) {
      if (depth != 8) return place(fmt::format("returns with rsp off by {}", depth - 8));
      returned = true;
    }
  }
  return returned ? "" : routine.routine->symbol + " does not return";
}

std::string unsaved_register(const LoweredRoutine& routine) {
  for (const Item& item : routine.items) {
    const auto* i = std::get_if<Instruction>(&item.value);
    if (!i || i->decoded.mnemonic == ZYDIS_MNEMONIC_POP) continue;
    for (const ZydisDecodedOperand& o : i->operands) {
      if (o.type != ZYDIS_OPERAND_TYPE_REGISTER || (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
      const ZydisRegister r = whole_register(o);
      if (ZydisRegisterGetClass(r) != ZYDIS_REGCLASS_GPR64 || r == ZYDIS_REGISTER_RSP) continue;
      const Xbyak::Reg64 reg(ZydisRegisterGetId(r));
      const auto& saved = routine.routine->frame.saved;
      if (is_callee_saved(reg) && std::find(saved.begin(), saved.end(), reg) == saved.end()) {
        return fmt::format("{} writes {}: {}", routine.routine->symbol, reg.toString(), i->text());
      }
    }
  }
  return {};
}

std::string needlessly_long_jump(const LoweredRoutine& routine) {
  std::map<std::string, std::int64_t> at;
  for (const Item& item : routine.items) {
    if (const auto* label = std::get_if<Label>(&item.value)) at[label->name] = static_cast<std::int64_t>(item.offset);
  }
  for (const Item& item : routine.items) {
    const auto* jump = std::get_if<Jump>(&item.value);
    if (!jump || item.bytes.size() == 2) continue;
    const std::int64_t start = static_cast<std::int64_t>(item.offset), target = at.at(jump->target);
    const std::int64_t distance =
        target > start ? target - start - static_cast<std::int64_t>(item.bytes.size()) : target - start - 2;
    if (distance >= -128 && distance <= 127) return fmt::format("to {}, over {} bytes", jump->target, distance);
  }
  return {};
}

}  // namespace tests
