// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/gas.hpp"

#include <fmt/format.h>

#include <cstring>

#include "emit/features.hpp"
#include "emit/prose.hpp"

namespace stitchgcm::emit {
namespace {

using namespace assembly;

constexpr size_t kNoteColumn = 60;

/// Two object formats from one text. Mach-O has other local labels, an underscore before symbols, and other directives.
constexpr const char* kPreamble = R"(#if defined(__x86_64__) && !defined(__ILP32__)

#if defined(__APPLE__)
#define L(name) L##name
#define SYMBOL(name) _##name
#define FUNCTION(name) .private_extern _##name; .globl _##name; .p2align 6, 0xcc; _##name:
#define END_FUNCTION(name)
#define READ_ONLY_DATA .section __TEXT,__const
#else
#define L(name) .L##name
#define SYMBOL(name) name
#define FUNCTION(name) .globl name; .hidden name; .type name, @function; .p2align 6, 0xcc; name:
#define END_FUNCTION(name) .size name, . - name
#define READ_ONLY_DATA .section .rodata, "a", @progbits
#endif
)";

/// Not executable stack; indirect branch tracking and shadow stack are supported.
constexpr const char* kPostamble = R"(
#if !defined(__APPLE__)
.section .note.GNU-stack, "", @progbits
.section .note.gnu.property, "a", @note
.p2align 3
.long 4, 16, 5 // sizes of name and descriptor, NT_GNU_PROPERTY_TYPE_0
.asciz "GNU"
.long 0xc0000002, 4, 3, 0 // GNU_PROPERTY_X86_FEATURE_1_AND: IBT and SHSTK
#endif

#endif
)";

const char* jump_mnemonic(const std::optional<Condition>& c) {
  if (!c) return "jmp";
  switch (*c) {
    case Condition::equal: return "je";
    case Condition::not_equal: return "jne";
    case Condition::below: return "jb";
    case Condition::below_or_equal: return "jbe";
    case Condition::above: return "ja";
    case Condition::above_or_equal: return "jae";
  }
  return "";
}

/// A long jump that would do as a short one, were it not that there would be more no-ops then before a loop on its way.
/// Assemblers have the no-ops as bytes, so they have to be told.
bool seems_too_long(const Item& jump) {
  if (jump.bytes.size() == 2) return false;
  int32_t distance = 0;
  std::memcpy(&distance, jump.bytes.data() + jump.bytes.size() - sizeof distance, sizeof distance);
  if (distance < 0) distance += static_cast<int32_t>(jump.bytes.size()) - 2;
  return distance >= -128 && distance <= 127;
}

/// Turns of a loop: those ahead of the one whose text the pointers stand at.
std::string turn_name(int turn) { return turn == 0 ? "" : turn == 1 ? "next " : fmt::format("next+{} ", turn - 1); }

class Body {
 public:
  Body(const Options& o, std::string& out) : options_(o), out_(out) {}

  void put(const Item& item) {
    std::visit([&](const auto& v) { put(v, item); }, item.value);
  }

 private:
  void put(const Label& l, const Item&) {
    out_ += fmt::format("L({}):\n", l.name);
    last_note_.clear();
  }
  void put(const Banner& b, const Item&) {
    out_ += fmt::format("\n  // ---- {} ----\n", b.text);
    last_note_.clear();
  }
  void put(const Directive& d, const Item&) { out_ += "  " + d.text + "\n"; }
  void put(const Jump& j, const Item& item) {
    out_ +=
        fmt::format("  {}{} L({})\n", seems_too_long(item) ? "{disp32} " : "", jump_mnemonic(j.condition), j.target);
  }
  void put(const FunctionCall& c, const Item&) {
    out_ += fmt::format("  call SYMBOL({}_{})\n", options_.prefix, c.symbol);
  }
  /// As bytes: assemblers do not agree on the encoding of long no-ops.
  void put(const Padding&, const Item& item) {
    for (size_t k = 0; k < item.bytes.size(); k += 16) {
      std::string bytes;
      for (size_t n = k; n < std::min(k + 16, item.bytes.size()); n++) {
        bytes += fmt::format("{}0x{:02x}", n == k ? "" : ", ", item.bytes[n]);
      }
      out_ += "  .byte " + bytes + (k == 0 ? " // no-ops: the loop begins on a cache line" : "") + "\n";
    }
  }
  void put(const Instruction& i, const Item& item) {
    std::string line = (item.strip == 2 ? "    " : "  ") + i.text(options_.syntax);
    const std::string note = describe(i, item.strip != 0);
    // A note holds until the next one.
    if (!note.empty() && note != last_note_) line = fmt::format("{:<{}} // {}", line, kNoteColumn, note);
    last_note_ = note;
    out_ += line + "\n";
  }

  /// In straight code the banner names the stage.
  static std::string describe(const Instruction& i, bool stitched) {
    if (!stitched) return i.note;
    return turn_name(i.turn) + i.stage + (i.note.empty() ? "" : ": " + i.note);
  }

  const Options& options_;
  std::string& out_;
  std::string last_note_;
};

std::string constants(const LoweredFile& file) {
  if (file.constants.empty()) return {};
  std::string out = "\nREAD_ONLY_DATA\n";
  for (const PlacedConstant& p : file.constants) {
    out += fmt::format(".p2align 4\nL(constant_{}): // {}\n", p.constant.name, p.constant.meaning);
    for (size_t k = 0; k < p.constant.bytes.size(); k += 16) {
      out += "  .byte ";
      for (size_t n = k; n < std::min(k + 16, p.constant.bytes.size()); n++) {
        out += fmt::format("{}0x{:02x}", n == k ? "" : ", ", p.constant.bytes[n]);
      }
      out += "\n";
    }
  }
  return out;
}

}  // namespace

std::string gas_lines(const LoweredRoutine& routine, const Options& options, size_t first, size_t count) {
  std::string out;
  Body body(options, out);
  for (size_t k = first; k < std::min(first + count, routine.items.size()); k++) body.put(routine.items[k]);
  return out;
}

std::string gas(const LoweredFile& file, const Options& options) {
  std::set<std::string> needed;
  for (const LoweredRoutine& r : file.routines) needed.merge(features(r));
  std::string out = fmt::format(
      "// Generated by `{}`. Do not edit: change the builders and run it again.\n"
      "// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause\n"
      "// Backend {}; CPU features: {}.\n\n",
      options.command, file.source->backend, joined(needed));
  out += kPreamble;
  out += options.syntax == Syntax::intel ? "\n.text\n.intel_syntax noprefix\n" : "\n.text\n";
  for (const LoweredRoutine& r : file.routines) {
    const std::string symbol = options.prefix + "_" + r.routine->symbol;
    out += "\n" + routine_comment(r, options) + fmt::format("FUNCTION({})\n", symbol);
    Body body(options, out);
    for (const Item& item : r.items) body.put(item);
    out += fmt::format("END_FUNCTION({})\n", symbol);
  }
  if (options.syntax == Syntax::intel) out += "\n.att_syntax prefix\n";
  return out + constants(file) + kPostamble;
}

}  // namespace stitchgcm::emit
