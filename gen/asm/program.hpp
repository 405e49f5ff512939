// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Structured control flow around strips. There is no goto: labels appear when a program is lowered, and are named from
// the path in this tree.
#include "asm/strip.hpp"

#include <xbyak/xbyak.h>

#include <variant>

namespace stitchgcm::assembly {

/// Of an unsigned comparison, or of the flags that the test strip left.
enum class Condition { equal, not_equal, below, below_or_equal, above, above_or_equal };
Condition opposite(Condition c);

struct Node;

/// A sequence of nodes.
struct Program {
  std::vector<Node> nodes;

  Program() = default;
  Program(Strip s, std::string banner = {});  // NOLINT: a strip is a program
  Program& operator+=(const Program& p);
  friend Program operator+(Program a, const Program& b);
};

/// Straight-line code. `banner` heads it in the emitted file; empty: it goes on with what was before.
struct Straight {
  Strip strip;
  std::string banner;
};

/// `test` sets the flags; `then` runs if `condition` holds, else `otherwise`.
struct When {
  std::string name;
  Strip test;
  Condition condition;
  Program then, otherwise;
};

/// do { body; step } while (again): `step` sets the flags that `again` looks at. Its head is aligned to 64 bytes if
/// asked.
struct Loop {
  std::string name;
  Program body;
  Strip step;
  Condition again;
  bool aligned;
};

/// rungs[0] runs if count >= rungs.size(), rungs[1] if count >= rungs.size() - 1, ..., the last if count >= 1: one
/// entry chosen by a tree of comparisons, from there to the end. least <= count <= rungs.size().
struct Ladder {
  std::string name;
  Xbyak::Reg64 count;
  std::vector<Program> rungs;
  size_t least;
};

/// A call of another emitted routine by its symbol, under the System V convention.
struct Call {
  std::string symbol;
};

struct Node {
  std::variant<Straight, When, Loop, Ladder, Call> value;
};

// Here, and not in the class: to copy a program is to copy nodes, which are complete only now.
inline Program operator+(Program a, const Program& b) {
  a += b;
  return a;
}

/// `condition` after `test`: then this, else that.
Program when(std::string name, Strip test, Condition condition, Program then, Program otherwise = {});
/// do { body; step } while (again).
Program repeat(std::string name, Program body, Strip step, Condition again, bool aligned = true);
Program ladder(std::string name, Xbyak::Reg64 count, std::vector<Program> rungs, size_t least = 0);
Program call(std::string symbol);

}  // namespace stitchgcm::assembly
