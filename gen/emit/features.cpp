// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/features.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace stitchgcm::emit {
namespace {

using assembly::Instruction;

/// What CPUID must say for the instructions of one of Zydis' sets (Intel SDM, volume 2: the column of feature flags).
struct Demand {
  ZydisISASet set;
  const char* features;  // with spaces between; "": every x86-64 CPU has them
};

/// In Zydis' sets of AVX-512, _128 and _256 are the forms that came with AVX512VL; _128N are those with one register of
/// 128 bits that did not (vmovd, vpextrb), and _KOP work on masks.
constexpr std::array demands{
    Demand{ZYDIS_ISA_SET_I86, ""},
    Demand{ZYDIS_ISA_SET_I186, ""},
    Demand{ZYDIS_ISA_SET_I386, ""},
    Demand{ZYDIS_ISA_SET_I486, ""},
    Demand{ZYDIS_ISA_SET_I486REAL, ""},
    Demand{ZYDIS_ISA_SET_LONGMODE, ""},
    Demand{ZYDIS_ISA_SET_CMOV, ""},
    Demand{ZYDIS_ISA_SET_CET, ""},  // endbr64 is a no-op where CET is not known
    Demand{ZYDIS_ISA_SET_SSE, ""},
    Demand{ZYDIS_ISA_SET_SSE2, ""},
    Demand{ZYDIS_ISA_SET_SSE_PREFETCH, ""},
    Demand{ZYDIS_ISA_SET_SSE3, "SSE3"},
    Demand{ZYDIS_ISA_SET_SSSE3, "SSSE3"},
    Demand{ZYDIS_ISA_SET_SSE4, "SSE4.1"},
    Demand{ZYDIS_ISA_SET_AES, "AES"},
    Demand{ZYDIS_ISA_SET_PCLMULQDQ, "PCLMULQDQ"},
    Demand{ZYDIS_ISA_SET_MOVBE, "MOVBE"},
    Demand{ZYDIS_ISA_SET_BMI1, "BMI1"},
    Demand{ZYDIS_ISA_SET_BMI2, "BMI2"},
    Demand{ZYDIS_ISA_SET_AVX, "AVX"},
    Demand{ZYDIS_ISA_SET_AVXAES, "AVX AES"},
    Demand{ZYDIS_ISA_SET_AVX2, "AVX2"},
    Demand{ZYDIS_ISA_SET_VAES, "VAES"},
    Demand{ZYDIS_ISA_SET_VPCLMULQDQ, "VPCLMULQDQ"},
    Demand{ZYDIS_ISA_SET_AVX512F_128, "AVX512F AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512F_128N, "AVX512F"},
    Demand{ZYDIS_ISA_SET_AVX512F_256, "AVX512F AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512F_512, "AVX512F"},
    Demand{ZYDIS_ISA_SET_AVX512F_KOP, "AVX512F"},
    Demand{ZYDIS_ISA_SET_AVX512BW_128, "AVX512F AVX512BW AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512BW_128N, "AVX512F AVX512BW"},
    Demand{ZYDIS_ISA_SET_AVX512BW_256, "AVX512F AVX512BW AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512BW_512, "AVX512F AVX512BW"},
    Demand{ZYDIS_ISA_SET_AVX512BW_KOP, "AVX512F AVX512BW"},
    Demand{ZYDIS_ISA_SET_AVX512DQ_128, "AVX512F AVX512DQ AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512DQ_128N, "AVX512F AVX512DQ"},
    Demand{ZYDIS_ISA_SET_AVX512DQ_256, "AVX512F AVX512DQ AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512DQ_512, "AVX512F AVX512DQ"},
    Demand{ZYDIS_ISA_SET_AVX512DQ_KOP, "AVX512F AVX512DQ"},
    Demand{ZYDIS_ISA_SET_AVX512_VBMI_128, "AVX512F AVX512VBMI AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512_VBMI_256, "AVX512F AVX512VBMI AVX512VL"},
    Demand{ZYDIS_ISA_SET_AVX512_VBMI_512, "AVX512F AVX512VBMI"},
    Demand{ZYDIS_ISA_SET_AVX512_VAES_128, "AVX512F AVX512VL VAES"},
    Demand{ZYDIS_ISA_SET_AVX512_VAES_256, "AVX512F AVX512VL VAES"},
    Demand{ZYDIS_ISA_SET_AVX512_VAES_512, "AVX512F VAES"},
    Demand{ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_128, "AVX512F AVX512VL VPCLMULQDQ"},
    Demand{ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_256, "AVX512F AVX512VL VPCLMULQDQ"},
    Demand{ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_512, "AVX512F VPCLMULQDQ"},
};

std::set<std::string> words(const std::string& text) {
  std::set<std::string> all;
  std::istringstream in(text);
  for (std::string word; in >> word;) all.insert(word);
  return all;
}

std::set<std::string> demanded_by(const Instruction& i) {
  const auto* found = std::ranges::find(demands, i.decoded.meta.isa_set, &Demand::set);
  if (found == demands.end()) {
    throw std::runtime_error("no CPU feature is known for " + i.text() + " (instruction set " +
                             ZydisISASetGetString(i.decoded.meta.isa_set) + ")");
  }
  std::set<std::string> names = words(found->features);
  // The 128-bit VEX form is counted as AVX, but has a CPUID bit of its own.
  if (found->set == ZYDIS_ISA_SET_AVX && i.decoded.mnemonic == ZYDIS_MNEMONIC_VPCLMULQDQ) names.insert("PCLMULQDQ");
  return names;
}

bool is_mask(const ZydisDecodedOperand& o) {
  return o.type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_MASK;
}

unsigned vector_bits(const ZydisDecodedOperand& o) {
  if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return 0;
  switch (ZydisRegisterGetClass(o.reg.value)) {
    case ZYDIS_REGCLASS_XMM: return 128;
    case ZYDIS_REGCLASS_YMM: return 256;
    case ZYDIS_REGCLASS_ZMM: return 512;
    default: return 0;
  }
}

unsigned vector_bits(const Instruction& i) {
  unsigned most = 0;
  for (const ZydisDecodedOperand& o : i.operands) most = std::max(most, vector_bits(o));
  return most;
}

/// The first editions of AVX10 had masks of 32 bits beside vectors of 256, so work on masks of 64 counts as 512. Zydis
/// gives all masks 64 bits; the last letter of the mnemonic says how many are meant: kmovd, kmovq.
std::string avx10_width(const Instruction& i) {
  const bool is_of_masks =
      i.decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && std::ranges::any_of(i.operands, is_mask);
  const bool is_of_64_bits = std::string(ZydisMnemonicGetString(i.decoded.mnemonic)).ends_with("q");
  return vector_bits(i) == 512 || (is_of_masks && is_of_64_bits) ? "AVX10_512" : "AVX10_256";
}

std::set<std::string> as_avx10(const std::set<std::string>& names, const Instruction& i) {
  std::set<std::string> renamed;
  for (const std::string& n : names) {
    if (n.starts_with("AVX512")) {
      renamed.insert({"AVX10.1", avx10_width(i)});
    } else {
      renamed.insert(n);
    }
  }
  return renamed;
}

constexpr uint64_t kVexState = 1 << 1 | 1 << 2;                        // xmm, the upper halves of ymm
constexpr uint64_t kEvexState = kVexState | 1 << 5 | 1 << 6 | 1 << 7;  // masks, the upper halves of zmm, zmm16-31

uint64_t register_state(const Instruction& i) {
  const bool has_masks = std::ranges::any_of(i.operands, is_mask);
  if (i.decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX || has_masks) return kEvexState;
  if (i.decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX) return 0;
  // These two clear vector registers and name none.
  const bool clears_all =
      i.decoded.mnemonic == ZYDIS_MNEMONIC_VZEROALL || i.decoded.mnemonic == ZYDIS_MNEMONIC_VZEROUPPER;
  return vector_bits(i) != 0 || clears_all ? kVexState : 0;
}

template <class Visit>
void each_instruction(const assembly::LoweredRoutine& routine, Visit visit) {
  for (const assembly::Item& item : routine.items) {
    if (const auto* i = std::get_if<Instruction>(&item.value)) visit(*i);
  }
}

}  // namespace

std::set<std::string> features(const assembly::LoweredRoutine& routine, Enumeration by) {
  std::set<std::string> names;
  each_instruction(routine, [&](const Instruction& i) {
    const std::set<std::string> demanded = demanded_by(i);
    const std::set<std::string> told = by == Enumeration::avx10 ? as_avx10(demanded, i) : demanded;
    names.insert(told.begin(), told.end());
  });
  return names;
}

std::string joined(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : " ") + n;
  return all;
}

unsigned vector_bits(const assembly::LoweredRoutine& routine) {
  unsigned most = 0;
  each_instruction(routine, [&](const Instruction& i) { most = std::max(most, vector_bits(i)); });
  return most;
}

uint64_t register_state(const assembly::LoweredRoutine& routine) {
  uint64_t state = 0;
  each_instruction(routine, [&](const Instruction& i) { state |= register_state(i); });
  return state;
}

}  // namespace stitchgcm::emit
