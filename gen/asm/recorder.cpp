// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/recorder.hpp"

#include <algorithm>
#include <stdexcept>

namespace stitchgcm::assembly {
namespace {

/// A rip displacement that no routine of ours could have: reference number n is written as kPlaceholder + n.
constexpr int kPlaceholder = 0x4000'0000;

void resolve(Instruction& i, const std::vector<ConstantReference>& references) {
  for (ZydisDecodedOperand& o : i.operands) {
    if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || o.mem.base != ZYDIS_REGISTER_RIP) continue;
    i.reference = references.at(static_cast<size_t>(o.mem.disp.value - kPlaceholder));
    std::fill_n(i.bytes.begin() + i.decoded.raw.disp.offset, 4, uint8_t{0});
    o.mem.disp.value = 0;
    i.decoded.raw.disp.value = 0;
  }
}

}  // namespace

Recorder::Recorder(std::string stage)
    : Xbyak::CodeGenerator(kSize, detail::RecorderBuffer::bytes.get()), stage_(std::move(stage)) {}

void Recorder::cut(std::string note) {
  const size_t begin = cuts_.empty() ? 0 : cuts_.back().end;
  if (getSize() > begin) cuts_.push_back({getSize(), std::move(note)});
}

Xbyak::Address Recorder::constant(const Constant& c, int offset) {
  references_.push_back({std::make_shared<const Constant>(c), offset});
  return ptr[Xbyak::util::rip + (kPlaceholder + static_cast<int>(references_.size()) - 1)];
}

Strip Recorder::strip(std::string last_note) {
  cut(std::move(last_note));
  Strip s;
  size_t at = 0;
  for (const Cut& c : cuts_) {
    Piece p{c.note, {}};
    while (at < c.end) {
      Instruction i = decode({getCode() + at, c.end - at});
      at += i.bytes.size();
      if (i.decoded.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
        throw std::logic_error("a branch in the strip \"" + stage_ + "\": " + i.text());
      }
      i.note = c.note;
      i.stage = stage_;
      resolve(i, references_);
      p.code.push_back(std::move(i));
    }
    s.pieces.push_back(std::move(p));
  }
  return s;
}

}  // namespace stitchgcm::assembly
