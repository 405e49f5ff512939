// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "verify/machine/semantics.hpp"

namespace tests {

using namespace stitchgcm::verify;

namespace {

constexpr std::int64_t kStackBytes = 4096;
constexpr std::size_t kMostInstructions = 10'000'000;
constexpr GeneralRegister kArguments[] = {rdi, rsi, rdx, rcx, r8, r9};
constexpr GeneralRegister kPreserved[] = {rbx, rsp, rbp, r12, r13, r14, r15};

Scalar& general(State& s, int n) { return s.general[static_cast<std::size_t>(n)]; }

}  // namespace

ModelRun::ModelRun(const Image& image, std::uint64_t seed) : image_(image), machine_{pool_, image, nullptr} {
  Random random(seed);
  for (Scalar& s : state_.general) s = Scalar::number(static_cast<std::int64_t>(random.word()));
  for (auto& lanes : state_.vector) {
    for (Lane& lane : lanes) lane = pool_.constant(from_bytes(random.block()));
  }
  // Nothing that is in the stack may be read before it is written.
  Region stack;
  stack.name = "the stack";
  stack.from = -kStackBytes;
  stack.to = 8;
  stack.writable = true;
  state_.stack = state_.memory.add(stack);
  general(state_, rsp) = Scalar::pointer(state_.stack, 8);
  Region code;
  code.name = "code";
  code.readable = false;
  code_ = state_.memory.add(code);

  Region constants;
  constants.name = "read-only data";
  constants.alignment = image.constants_alignment();
  constants.exists = [&image](std::int64_t place, std::int64_t bytes) {
    return !image.constants(static_cast<std::uint64_t>(place), static_cast<std::size_t>(bytes)).empty();
  };
  const auto block = [this](const Facts&, const Affine& number) {
    Block bytes{};
    for (std::size_t i = 0; i < bytes.size(); i++) {
      const auto byte = image_.constants(static_cast<std::uint64_t>(16 * number.constant()) + i, 1);
      if (!byte.empty()) bytes[i] = byte[0];
    }
    return pool_.constant(from_bytes(bytes));
  };
  constants.initial = std::make_shared<Content>(Content{"read-only data", block});
  state_.constants = state_.memory.add(constants);
}

Scalar ModelRun::add(const std::string& name, View content, bool writable) {
  Region r;
  r.name = name;
  r.to = static_cast<std::int64_t>(content.size());
  r.writable = writable;
  const auto block = [this, bytes = Bytes(content.begin(), content.end())](const Facts&, const Affine& number) {
    const auto begin = static_cast<std::size_t>(16 * number.constant());
    return pool_.constant(from_bytes(block_of(View(bytes).subspan(std::min(begin, bytes.size())))));
  };
  r.initial = std::make_shared<Content>(Content{name, block});
  return Scalar::pointer(state_.memory.add(r));
}

void ModelRun::put(const Scalar& buffer, std::int64_t place, const Scalar& value) {
  const bool writable = std::exchange(state_.memory.edit(buffer.region).writable, true);
  state_.memory.store_scalar(state_.facts, buffer.region, place, value);
  state_.memory.edit(buffer.region).writable = writable;
}

Bytes ModelRun::content(const Scalar& buffer, std::size_t bytes) {
  Bytes all;
  for (std::size_t place = 0; place < bytes; place += 16) {
    const std::size_t part = std::min<std::size_t>(16, bytes - place);
    const Lane lane = state_.memory.load(pool_, state_.facts, buffer.region, static_cast<std::int64_t>(place),
                                         static_cast<int>(part));
    const auto block = stitchgcm::verify::bytes_of(pool_.constant_value(lane));
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(part));
  }
  return all;
}

const Instruction& ModelRun::instruction_at(std::uint64_t address) {
  const auto found = decoded_.find(address);
  if (found != decoded_.end()) return found->second;
  for (const Symbol& s : image_.symbols()) {
    if (address < s.address || address >= s.address + s.size) continue;
    for (const Instruction& i : decode(image_, s).instructions) decoded_.emplace(i.address, i);
  }
  return decoded_.at(address);
}

void ModelRun::step() {
  const Instruction& i = instruction_at(state_.ip);
  if (++instructions_ > kMostInstructions) throw std::logic_error("too many instructions");
  Scalar& top = general(state_, rsp);
  const auto target = [&i] { return i.operands.at(0).immediate; };
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
      top.value += -8;
      state_.memory.store_scalar(state_.facts, top.region, top.value,
                                 Scalar::pointer(code_, static_cast<std::int64_t>(i.next())));
      state_.ip = target();
      return;
    case ZYDIS_MNEMONIC_RET: {
      const Scalar back = state_.memory.load_scalar(pool_, state_.facts, top.region, top.value, 8);
      if (!back.is_pointer() || back.region != code_) throw std::logic_error("a return to something else");
      top.value += 8;
      state_.ip = static_cast<std::uint64_t>(back.value.constant());
      return;
    }
    case ZYDIS_MNEMONIC_JMP: state_.ip = target(); return;
    default: break;
  }
  if (i.operands.size() == 1 && i.operands[0].kind == Operand::Kind::immediate && !has_semantics(i)) {
    state_.ip = condition_holds(machine_, i.mnemonic, state_) ? target() : i.next();
    return;
  }
  execute(machine_, i, state_);
}

std::int64_t ModelRun::call(const std::string& symbol, const std::vector<Scalar>& arguments) {
  const Symbol* function = image_.find(symbol);
  if (function == nullptr) throw std::logic_error(symbol + " is not in the image");
  for (std::size_t n = 0; n < arguments.size(); n++) general(state_, kArguments[n]) = arguments[n];
  const auto before = state_.general;
  Scalar& top = general(state_, rsp);
  top.value += -8;
  state_.memory.store_scalar(state_.facts, top.region, top.value, Scalar::pointer(code_, 0));
  state_.ip = function->address;
  while (state_.ip != 0) step();
  for (const GeneralRegister r : kPreserved) {
    if (!(general(state_, r) == before[static_cast<std::size_t>(r)])) {
      throw std::logic_error(symbol + " does not preserve " + name_of_general(r));
    }
  }
  const auto result = known_constant(state_.facts, general(state_, rax));
  return result.value_or(0);
}

}  // namespace tests
