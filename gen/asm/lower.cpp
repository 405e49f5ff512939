// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/lower.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace stitchgcm::assembly {
namespace {

/// Flattens the tree of one routine.
class Flattener {
 public:
  explicit Flattener(const Routine& r) : routine_(r) {}

  std::vector<Item> run() {
    put(Directive{".cfi_startproc"});
    put(endbr64());
    put_frame(enter(routine_.frame));
    put_program(routine_.program, routine_.symbol);
    put(Banner{"return"});
    put_frame(leave(routine_.frame));
    put(Directive{".cfi_endproc"});
    return std::move(items_);
  }

 private:
  template <class T>
  void put(T value) {
    items_.push_back({std::move(value), 0, {}, 0});
  }

  static Instruction endbr64() {
    Instruction i = decode(std::vector<uint8_t>{0xf3, 0x0f, 0x1e, 0xfa});
    i.stage = "frame";
    return i;
  }

  void put_frame(const std::vector<FrameStep>& steps) {
    for (const FrameStep& s : steps) {
      put(s.instruction);
      for (const std::string& d : s.cfi) put(Directive{d});
    }
  }

  /// "blocks 0-3" and "blocks 4-7" are one family of strips.
  static std::string family(const Instruction& i) { return i.stage.substr(0, i.stage.find(' ')); }

  /// A strip is stitched if a family of stages comes again after another.
  static bool is_stitched(const Strip& s) {
    std::set<std::string> ended;
    std::string current;
    for (const Piece& p : s.pieces) {
      for (const Instruction& i : p.code) {
        if (family(i) == current) continue;
        if (ended.contains(family(i))) return true;
        ended.insert(current);
        current = family(i);
      }
    }
    return false;
  }

  void put_strip(const Strip& s) {
    const bool stitched = is_stitched(s);
    std::string first;
    for (const Piece& p : s.pieces) {
      for (const Instruction& i : p.code) {
        if (first.empty()) first = family(i);
        put(i);
        items_.back().strip = !stitched ? 0 : family(i) == first ? 1 : 2;
      }
    }
  }

  void put_program(const Program& p, const std::string& path) {
    for (const Node& n : p.nodes) {
      std::visit([&](const auto& node) { put_node(node, path); }, n.value);
    }
  }

  void put_node(const Straight& n, const std::string&) {
    if (!n.banner.empty()) put(Banner{n.banner});
    put_strip(n.strip);
  }

  void put_node(const When& n, const std::string& path) {
    const std::string name = path + "_" + n.name;
    put_strip(n.test);
    if (n.otherwise.nodes.empty()) {
      put(Jump{opposite(n.condition), name + "_end"});
      put_program(n.then, name);
      put(Label{name + "_end"});
      return;
    }
    put(Jump{opposite(n.condition), name + "_else"});
    put_program(n.then, name);
    put(Jump{std::nullopt, name + "_end"});
    put(Label{name + "_else"});
    put_program(n.otherwise, name + "_else");
    put(Label{name + "_end"});
  }

  void put_node(const Loop& n, const std::string& path) {
    const std::string name = path + "_" + n.name;
    if (n.aligned) put(Padding{});
    put(Label{name});
    put_program(n.body, name);
    put_strip(n.step);
    put(Jump{n.again, name});
  }

  void put_node(const Ladder& n, const std::string& path) {
    const std::string name = path + "_" + n.name;
    const size_t rungs = n.rungs.size();
    put_entry(n, name, n.least, rungs);
    for (size_t k = 0; k < rungs; k++) {
      put(Label{name + "_" + std::to_string(rungs - k)});
      put_program(n.rungs[k], name + "_" + std::to_string(rungs - k));
    }
    if (n.least == 0) put(Label{name + "_0"});
  }

  /// Jumps to the rung for a count that is known to lie in low..high, by bisection.
  void put_entry(const Ladder& n, const std::string& name, size_t low, size_t high) {
    if (low == high) {
      put(Jump{std::nullopt, name + "_" + std::to_string(low)});
      return;
    }
    const size_t middle = (low + high + 1) / 2;
    const std::string upper = name + "_from_" + std::to_string(middle);
    put(compare(n.count, static_cast<int>(middle)));
    if (middle == high) {
      put(Jump{Condition::above_or_equal, name + "_" + std::to_string(high)});
      put_entry(n, name, low, middle - 1);
      return;
    }
    put(Jump{Condition::above_or_equal, upper});
    put_entry(n, name, low, middle - 1);
    put(Label{upper});
    put_entry(n, name, middle, high);
  }

  static Instruction compare(const Xbyak::Reg64& r, int value) {
    detail_buffer buffer;
    Xbyak::CodeGenerator code(sizeof buffer.bytes, buffer.bytes);
    code.cmp(r, value);
    Instruction i = decode({code.getCode(), code.getSize()});
    i.stage = "ladder";
    return i;
  }
  struct detail_buffer {
    uint8_t bytes[64];
  };

  void put_node(const Call& n, const std::string&) { put(FunctionCall{n.symbol}); }

  const Routine& routine_;
  std::vector<Item> items_;
};

/// Drops jumps to the label that follows them at once.
std::vector<Item> without_idle_jumps(std::vector<Item> items) {
  std::vector<Item> kept;
  for (size_t k = 0; k < items.size(); k++) {
    if (const Jump* j = std::get_if<Jump>(&items[k].value)) {
      size_t next = k + 1;
      bool idle = false;
      while (next < items.size() && std::holds_alternative<Label>(items[next].value)) {
        idle = idle || std::get<Label>(items[next].value).name == j->target;
        next++;
      }
      if (idle) continue;
    }
    kept.push_back(std::move(items[k]));
  }
  return kept;
}

constexpr size_t kUnplaced = std::numeric_limits<size_t>::max();

/// Sizes and places of the items of one routine. Jumps start short, and while one does not reach, the first such grows:
/// then there are fewer no-ops before an aligned loop, and others may reach.
class Layout {
 public:
  Layout(std::vector<Item>& items, size_t start) : items_(items), start_(start), long_jump_(items.size(), false) {
    for (const Item& i : items) {
      if (const Label* l = std::get_if<Label>(&i.value); l && !labels_.try_emplace(l->name, kUnplaced).second) {
        throw std::logic_error("the label " + l->name + " is there twice");
      }
    }
  }

  size_t run() {
    do {
      place();
    } while (grow());
    write();
    return end_ - start_;
  }

 private:
  size_t size(size_t k, size_t offset) const {
    const auto& v = items_[k].value;
    if (const auto* i = std::get_if<Instruction>(&v)) return i->bytes.size();
    if (std::holds_alternative<FunctionCall>(v)) return 5;
    if (std::holds_alternative<Padding>(v)) return (kCodeAlignment - offset % kCodeAlignment) % kCodeAlignment;
    if (const auto* j = std::get_if<Jump>(&v)) return !long_jump_[k] ? 2 : j->condition ? 6 : 5;
    return 0;
  }

  void place() {
    size_t at = start_;
    for (size_t k = 0; k < items_.size(); k++) {
      items_[k].offset = at;
      if (const Label* l = std::get_if<Label>(&items_[k].value)) labels_[l->name] = at;
      at += size(k, at);
    }
    end_ = at;
  }

  int64_t distance(size_t k) const {
    const auto target = labels_.find(std::get<Jump>(items_[k].value).target);
    if (target == labels_.end()) throw std::logic_error("a jump to nowhere");
    return static_cast<int64_t>(target->second) - static_cast<int64_t>(items_[k].offset + size(k, items_[k].offset));
  }

  bool grow() {
    for (size_t k = 0; k < items_.size(); k++) {
      if (!std::holds_alternative<Jump>(items_[k].value) || long_jump_[k]) continue;
      if (const int64_t d = distance(k); d < -128 || d > 127) return long_jump_[k] = true;
    }
    return false;
  }

  void write() {
    for (size_t k = 0; k < items_.size(); k++) {
      Item& item = items_[k];
      if (const auto* i = std::get_if<Instruction>(&item.value)) item.bytes = i->bytes;
      if (std::holds_alternative<FunctionCall>(item.value)) item.bytes = {0xe8, 0, 0, 0, 0};
      if (std::holds_alternative<Padding>(item.value)) item.bytes = no_ops(size(k, item.offset));
      if (std::holds_alternative<Jump>(item.value)) item.bytes = jump(k);
    }
  }

  std::vector<uint8_t> jump(size_t k) const {
    const int64_t offset = distance(k);
    const size_t length = size(k, items_[k].offset), reach = static_cast<size_t>(std::abs(offset));
    std::vector<uint8_t> buffer(reach + 64);
    Xbyak::CodeGenerator code(buffer.size(), buffer.data());
    // The target is put into Xbyak's buffer at its distance, with nothing in between.
    Xbyak::Label target;
    const size_t at = offset < 0 ? reach - length : 0;
    if (offset < 0) code.L(target);
    code.setSize(at);
    const auto type = long_jump_[k] ? Xbyak::CodeGenerator::T_NEAR : Xbyak::CodeGenerator::T_SHORT;
    const std::optional<Condition> c = std::get<Jump>(items_[k].value).condition;
    if (!c) {
      code.jmp(target, type);
    } else {
      switch (*c) {
        case Condition::equal: code.je(target, type); break;
        case Condition::not_equal: code.jne(target, type); break;
        case Condition::below: code.jb(target, type); break;
        case Condition::below_or_equal: code.jbe(target, type); break;
        case Condition::above: code.ja(target, type); break;
        case Condition::above_or_equal: code.jae(target, type); break;
      }
    }
    if (offset >= 0) {
      code.setSize(length + reach);
      code.L(target);
    }
    return {buffer.begin() + static_cast<std::ptrdiff_t>(at),
            buffer.begin() + static_cast<std::ptrdiff_t>(at + length)};
  }

  static std::vector<uint8_t> no_ops(size_t bytes) {
    std::vector<uint8_t> buffer(bytes + 16);
    Xbyak::CodeGenerator code(buffer.size(), buffer.data());
    code.nop(bytes);
    buffer.resize(bytes);
    return buffer;
  }

  std::vector<Item>& items_;
  size_t start_, end_ = 0;
  std::vector<bool> long_jump_;
  std::map<std::string, size_t> labels_;
};

void place_constant(LoweredFile& file, const Constant& c) {
  for (const PlacedConstant& p : file.constants) {
    if (p.constant.name != c.name) continue;
    if (p.constant.bytes != c.bytes) throw std::logic_error("two constants are named " + c.name);
    return;
  }
  file.data.resize((file.data.size() + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
  file.constants.push_back({c, file.data.size()});
  file.data.insert(file.data.end(), c.bytes.begin(), c.bytes.end());
}

void append(LoweredFile& file, const Item& item) {
  if (const auto* i = std::get_if<Instruction>(&item.value); i && i->reference) {
    const ConstantReference& r = *i->reference;
    place_constant(file, *r.constant);
    const size_t position = i->reference_position();
    file.relocations.push_back(
        {item.offset + position, r.constant->name, {}, r.offset - static_cast<int64_t>(i->bytes.size() - position)});
  }
  if (const auto* call = std::get_if<FunctionCall>(&item.value)) {
    file.relocations.push_back({item.offset + 1, {}, call->symbol, -4});
  }
  file.code.insert(file.code.end(), item.bytes.begin(), item.bytes.end());
}

}  // namespace

LoweredFile lower(const SourceFile& source) {
  LoweredFile file{&source, {}, {}, {}, {}, {}};
  for (const Routine& r : source.routines) {
    file.code.resize((file.code.size() + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment, kFiller);
    LoweredRoutine l{&r, without_idle_jumps(Flattener(r).run()), file.code.size(), 0};
    l.bytes = Layout(l.items, l.offset).run();
    for (const Item& item : l.items) append(file, item);
    file.routines.push_back(std::move(l));
  }
  return file;
}

}  // namespace stitchgcm::assembly
