// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/abi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "asm/recorder.hpp"

namespace stitchgcm::assembly {
namespace {

using namespace Xbyak::util;

/// One instruction recorded through Xbyak. ret is a branch to Zydis, so it is not a strip.
template <class F>
Instruction instruction(const std::string& note, F record) {
  detail::RecorderBuffer buffer;
  Xbyak::CodeGenerator code(detail::RecorderBuffer::kSize, buffer.bytes.get());
  record(code);
  Instruction i = decode({code.getCode(), code.getSize()});
  i.note = note;
  i.stage = "frame";
  return i;
}

}  // namespace

Xbyak::Reg64 argument(size_t index) {
  static const std::array<Xbyak::Reg64, 6> registers{rdi, rsi, rdx, rcx, r8, r9};
  return registers.at(index);
}

bool is_callee_saved(const Xbyak::Reg64& r) {
  static const std::array<Xbyak::Reg64, 6> kept{rbx, rbp, r12, r13, r14, r15};
  return std::find(kept.begin(), kept.end(), r) != kept.end();
}

int Frame::allocated() const {
  const int above = 8 + 8 * static_cast<int>(saved.size());  // the return address and the pushes
  return bytes + (16 - (above + bytes) % 16) % 16;
}

std::vector<FrameStep> enter(const Frame& f) {
  std::vector<FrameStep> steps;
  int cfa = 8;
  for (const Xbyak::Reg64& r : f.saved) {
    if (!is_callee_saved(r)) throw std::logic_error(std::string(r.toString()) + " need not be saved");
    cfa += 8;
    steps.push_back(
        {instruction("save", [&](Xbyak::CodeGenerator& c) { c.push(r); }),
         {fmt::format(".cfi_def_cfa_offset {}", cfa), fmt::format(".cfi_offset {}, -{}", r.toString(), cfa)}});
  }
  if (const int n = f.allocated(); n > 0) {
    cfa += n;
    steps.push_back({instruction("the frame", [&](Xbyak::CodeGenerator& c) { c.sub(rsp, n); }),
                     {fmt::format(".cfi_def_cfa_offset {}", cfa)}});
  }
  return steps;
}

std::vector<FrameStep> leave(const Frame& f) {
  std::vector<FrameStep> steps;
  int cfa = 8 + 8 * static_cast<int>(f.saved.size());
  if (const int n = f.allocated(); n > 0) {
    steps.push_back({instruction("the frame", [&](Xbyak::CodeGenerator& c) { c.add(rsp, n); }),
                     {fmt::format(".cfi_def_cfa_offset {}", cfa)}});
  }
  for (auto r = f.saved.rbegin(); r != f.saved.rend(); ++r) {
    cfa -= 8;
    steps.push_back({instruction("restore", [&](Xbyak::CodeGenerator& c) { c.pop(*r); }),
                     {fmt::format(".cfi_def_cfa_offset {}", cfa)}});
  }
  steps.push_back({instruction("", [](Xbyak::CodeGenerator& c) { c.ret(); }), {}});
  return steps;
}

}  // namespace stitchgcm::assembly
