// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/prose.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "emit/features.hpp"

namespace stitchgcm::emit {
namespace {

using namespace assembly;

/// The registers that the routine itself writes, without those that it restores; named by the whole register.
std::string clobbers(const LoweredRoutine& r) {
  std::set<ZydisRegister> general, vectors;
  bool calls = false;
  for (const Item& item : r.items) {
    calls = calls || std::holds_alternative<FunctionCall>(item.value);
    const auto* i = std::get_if<Instruction>(&item.value);
    if (!i) continue;
    for (const ZydisDecodedOperand& o : i->operands) {
      if (o.type != ZYDIS_OPERAND_TYPE_REGISTER || (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
      const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o.reg.value);
      const auto c = ZydisRegisterGetClass(whole);
      if (c == ZYDIS_REGCLASS_GPR64 && whole != ZYDIS_REGISTER_RSP) general.insert(whole);
      if (c == ZYDIS_REGCLASS_ZMM) vectors.insert(whole);
    }
  }
  for (const Xbyak::Reg64& saved : r.routine->frame.saved) {
    general.erase(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + saved.getIdx()));
  }
  std::string names;
  for (ZydisRegister g : general) names += (names.empty() ? "" : " ") + std::string(ZydisRegisterGetString(g));
  if (!vectors.empty()) {
    names += fmt::format(" xmm0..{}", static_cast<int>(*vectors.rbegin()) - static_cast<int>(ZYDIS_REGISTER_ZMM0));
  }
  return names + " flags" + (calls ? ", and what the routines that it calls clobber" : "");
}

}  // namespace

std::string wrapped(const std::string& text, const std::string& prefix, size_t width) {
  std::istringstream words(text);
  std::string out, line = prefix, word;
  bool empty = true;
  while (words >> word) {
    if (!empty && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = prefix + "  ";
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

std::string c_prototype(const Routine& r, const Options& options) {
  if (r.prototype.result.empty()) return {};
  std::string parameters;
  for (const Parameter& p : r.prototype.parameters) {
    parameters += (parameters.empty() ? "" : ", ") + p.type + (p.type.back() == '*' ? "" : " ") + p.name;
  }
  return fmt::format("{} {}_{}({})", r.prototype.result, options.prefix, r.symbol, parameters);
}

std::string routine_comment(const LoweredRoutine& lowered, const Options& options) {
  const Routine& r = *lowered.routine;
  std::string out = "// ==== " + r.summary + " ====\n//\n";
  for (const std::string& e : r.effect) out += wrapped(e, "//   ");
  out += "//\n";
  if (const std::string c = c_prototype(r, options); !c.empty()) out += wrapped(c, "// ");
  for (const Parameter& p : r.prototype.parameters) out += wrapped(p.name + ": " + p.contract, "//   ");
  if (!r.prototype.result_contract.empty()) out += wrapped("returns " + r.prototype.result_contract, "//   ");
  for (const std::string& p : r.promises) out += wrapped(p, "// ");
  out += fmt::format("// Stack: {} bytes below the return address. CPU features: {}.\n", r.frame.total(),
                     joined(features(lowered)));
  out += wrapped("Clobbers: " + clobbers(lowered) + ".", "// ");
  out += "//\n// Roles:\n";
  for (const Role& role : r.roles) out += wrapped(fmt::format("{}: {}", role.register_name, role.meaning), "//   ");
  return out;
}

std::string header_comment(const Routine& r) {
  std::string out = "/*\n" + wrapped(r.summary, " * ");
  for (const std::string& e : r.effect) out += wrapped(e, " *   ");
  for (const Parameter& p : r.prototype.parameters) out += wrapped(p.name + ": " + p.contract, " * ");
  if (!r.prototype.result_contract.empty()) out += wrapped("Returns " + r.prototype.result_contract, " * ");
  for (const std::string& p : r.promises) out += wrapped(p, " * ");
  return out + " */\n";
}

}  // namespace stitchgcm::emit
