// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Registers, flags and memory as terms, and what each instruction does to them.
#include "asm/strip.hpp"
#include "asm/terms.hpp"

#include <map>
#include <string>

namespace stitchgcm::assembly {

/// The memory region that each pointer register points into at the start. Pointers of one region are taken as equal;
/// those of different regions never meet.
using Regions = std::map<ZydisRegister, std::string>;

class SymbolicState {
 public:
  SymbolicState(Terms& terms, const Regions& regions) : terms_(&terms), regions_(&regions) {}

  /// Runs a strip. `turn` is added to the turns of its instructions in messages.
  /// Throws std::runtime_error for an address that is not a declared pointer + constant.
  void run(const Strip& strip, int turn = 0);

  /// Empty if both states hold the same terms everywhere; else where they first differ and the two instructions from
  /// which the difference comes.
  static std::string difference(SymbolicState& in_order, SymbolicState& reordered);

 private:
  using Address = std::pair<std::string, int64_t>;  // region, offset
  struct Byte {                                     // byte `index` of a term; of initial memory: its offset
    int node;
    int64_t index;
    auto operator<=>(const Byte&) const = default;
  };
  using Register = int;  // Zydis' number, or that of a flag above them, which is no value of Zydis' enumeration
  static constexpr Register kFlagBase = ZYDIS_REGISTER_MAX_VALUE + 1;

  void step(const Instruction& i);
  TermRef initial(Register r) const;
  TermRef value(Register r);
  Address address(const ZydisDecodedOperand& o, const Instruction& i);
  Byte byte(const Address& a);
  TermRef load(const Address& a, int bytes, const Instruction& by);
  std::vector<TermRef> inputs(const Instruction& i, std::string& operation);
  void write(const Instruction& i, const std::string& operation, const std::vector<TermRef>& in);

  Terms* terms_;
  const Regions* regions_;
  int turn_ = 0;
  std::map<Register, TermRef> registers_;
  std::map<Address, Byte> memory_;
};

}  // namespace stitchgcm::assembly
