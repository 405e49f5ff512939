// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "asm/program.hpp"

#include <stdexcept>

namespace stitchgcm::assembly {

Condition opposite(Condition c) {
  switch (c) {
    case Condition::equal: return Condition::not_equal;
    case Condition::not_equal: return Condition::equal;
    case Condition::below: return Condition::above_or_equal;
    case Condition::below_or_equal: return Condition::above;
    case Condition::above: return Condition::below_or_equal;
    case Condition::above_or_equal: return Condition::below;
  }
  throw std::logic_error("no such condition");
}

Program::Program(Strip s, std::string banner) { nodes.push_back({Straight{std::move(s), std::move(banner)}}); }

Program& Program::operator+=(const Program& p) {
  nodes.insert(nodes.end(), p.nodes.begin(), p.nodes.end());
  return *this;
}

namespace {
template <class T>
Program single(T node) {
  Program p;
  p.nodes.push_back({std::move(node)});
  return p;
}
}  // namespace

Program when(std::string name, Strip test, Condition condition, Program then, Program otherwise) {
  return single(When{std::move(name), std::move(test), condition, std::move(then), std::move(otherwise)});
}

Program repeat(std::string name, Program body, Strip step, Condition again, bool aligned) {
  return single(Loop{std::move(name), std::move(body), std::move(step), again, aligned});
}

Program ladder(std::string name, Xbyak::Reg64 count, std::vector<Program> rungs, size_t least) {
  return single(Ladder{std::move(name), count, std::move(rungs), least});
}

Program call(std::string symbol) { return single(Call{std::move(symbol)}); }

}  // namespace stitchgcm::assembly
