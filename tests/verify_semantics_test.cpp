// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What the verifier takes each instruction to do is what this CPU does: every form that the table has, and every
// instruction of the emitted routines, from random states.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "support/tally.hpp"
#include "support/verify_forms.hpp"
#include "support/verify_objects.hpp"
#include "support/verify_trials.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

/// Trials that an instruction must pass, of each kind, and attempts to find states in which it is not refused.
constexpr int kPasses = 3, kMostAttempts = 400;

const char* text_of(Operands o) { return o == Operands::known ? "known operands" : "formulas"; }

/// Runs `next()` in trials until it was followed often enough, or disagreed.
template <class Next>
void expect_same(Tally& tally, Trials& trials, Random& random, const std::string& name, int passes, Next next) {
  for (const Operands operands : {Operands::known, Operands::symbolic}) {
    int passed = 0;
    std::string refusal;
    for (int attempt = 0; attempt < kMostAttempts && passed < passes; attempt++) {
      const Bytes code = next();
      const std::uint64_t seed = random.word();
      const TrialResult result = trials.run(code, seed, operands);
      refusal = result.refusal;
      if (!refusal.empty()) continue;
      passed++;
      const bool same = tally.expect(result.difference.empty(), [&] {
        return fmt::format("{}, {}, seed {:#x}: {}: {}", name, text_of(operands), seed, decode_one(code, 0).text,
                           result.difference);
      });
      if (!same) return;
    }
    if (passed == passes) continue;
    tally.expect(false, [&] {
      return fmt::format("{}, {}: followed {} times of {} in {} attempts, refused: {}", name, text_of(operands), passed,
                         passes, kMostAttempts, refusal);
    });
  }
}

bool is_control_flow(const Instruction& i) {
  if (i.mnemonic == ZYDIS_MNEMONIC_RET || i.mnemonic == ZYDIS_MNEMONIC_CALL) return true;
  return i.operands.size() == 1 && i.operands[0].kind == Operand::Kind::immediate;
}

/// Each instruction of the emitted routines once, by its bytes; jumps, calls and returns left out.
std::vector<std::pair<Instruction, Bytes>> emitted_instructions() {
  const Image image(emitted_objects());
  std::set<std::string> seen;
  std::vector<std::pair<Instruction, Bytes>> all;
  for (const Symbol& s : image.symbols()) {
    const auto code = image.code(s);
    for (const Instruction& i : decode(image, s).instructions) {
      if (is_control_flow(i)) continue;
      const View bytes = View(code).subspan(i.address - s.address, static_cast<std::size_t>(i.length));
      if (seen.insert(hex(bytes)).second) all.emplace_back(i, Bytes(bytes.begin(), bytes.end()));
    }
  }
  return all;
}

TEST_CASE("semantics: every instruction of the emitted routines is in the table") {
  const auto all = emitted_instructions();
  REQUIRE(all.size() > 100);
  std::set<std::string> missing;
  for (const auto& [i, bytes] : all) {
    if (!has_semantics(i)) missing.insert(i.form);
  }
  for (const std::string& form : missing) FAIL_CHECK("no row of the table takes ", form);
}

TEST_CASE("semantics: every row of the table takes an instruction that exists") {
  std::size_t rows = 0;
  for (const auto part : table()) {
    for (const Row& row : part) {
      rows++;
      CHECK_MESSAGE(!forms_of(row).empty(), "nothing can be encoded for a row of ",
                    ZydisMnemonicGetString(row.mnemonic));
    }
  }
  CHECK(rows > 100);
}

TEST_CASE("semantics: each form of the table does what the CPU does") {
  Tally tally("semantics of forms", "model and CPU");
  Trials trials;
  std::map<std::string, std::set<std::string>> skipped;
  for (const auto part : table()) {
    for (const Row& row : part) {
      for (const RowForm& form : forms_of(row)) {
        const std::string name = *form.name();
        Random random(std::hash<std::string>{}(name));
        const auto next = [&] {
          while (true) {
            if (const auto code = form.encode(random)) return *code;
          }
        };
        if (const auto missing = missing_feature(next())) {
          skipped[*missing].insert(ZydisMnemonicGetString(row.mnemonic));
        }
        expect_same(tally, trials, random, name, kPasses, next);
      }
    }
  }
  tally.report();
  for (const auto& [feature, mnemonics] : skipped) {
    std::string names;
    for (const std::string& m : mnemonics) names += " " + m;
    announce("SKIPPED on the CPU, which has no " + feature +
             "; only held against themselves with known operands:" + names);
  }
}

TEST_CASE(
    "semantics: each instruction of the emitted routines, with its own registers and numbers, does what the CPU does") {
  Tally tally("semantics of emitted instructions", "model and CPU");
  Trials trials;
  std::map<std::string, int> skipped;
  Random random(0xe417);
  for (const auto& [i, bytes] : emitted_instructions()) {
    if (const auto missing = missing_feature(bytes)) skipped[*missing]++;
    expect_same(tally, trials, random, i.text, 1, [&bytes = bytes] { return bytes; });
  }
  tally.report();
  for (const auto& [feature, count] : skipped) {
    announce(fmt::format("SKIPPED on the CPU, which has no {}: {} emitted instructions", feature, count));
  }
}

/// One random instruction of a row, of registers and numbers alone.
std::optional<Bytes> without_memory(const Row& row, Random& random) {
  std::vector<RowForm> forms;
  for (const RowForm& form : forms_of(row)) {
    const bool memory = std::any_of(form.kinds.begin(), form.kinds.end(), [](Kinds k) {
      return (k & (kind::m | kind::m8 | kind::m16 | kind::m32 | kind::m64 | kind::address)) != 0;
    });
    if (!memory) forms.push_back(form);
  }
  if (forms.empty()) return std::nullopt;
  while (true) {
    if (const auto code = forms[random.below(forms.size())].encode(random)) return code;
  }
}

std::vector<const Row*> rows_of(const std::vector<ZydisMnemonic>& mnemonics) {
  std::vector<const Row*> rows;
  for (const auto part : table()) {
    for (const Row& row : part) {
      if (std::find(mnemonics.begin(), mnemonics.end(), row.mnemonic) != mnemonics.end()) rows.push_back(&row);
    }
  }
  return rows;
}

TEST_CASE("semantics: flags that one instruction leaves decide what the next does as on the CPU") {
  Tally tally("semantics of flags", "model and CPU");
  Trials trials;
  Random random(0xf1a9);
  const auto setters =
      rows_of({ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_OR,
               ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_NEG, ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC,
               ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR, ZYDIS_MNEMONIC_BZHI, ZYDIS_MNEMONIC_ANDN});
  std::vector<ZydisMnemonic> readers = {ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB};
  for (const auto part : table()) {
    for (const Row& row : part) {
      if (condition_of_other(row.mnemonic)) readers.push_back(row.mnemonic);
    }
  }
  REQUIRE(readers.size() > 20);
  std::map<std::string, int> followed;
  for (const Row* reader : rows_of(readers)) {
    for (const Row* setter : setters) {
      for (int trial = 0; trial < 4; trial++) {
        const auto first = without_memory(*setter, random), second = without_memory(*reader, random);
        if (!first || !second) continue;
        if (missing_feature(*first)) continue;
        Bytes code = *first;
        code.insert(code.end(), second->begin(), second->end());
        const std::uint64_t seed = random.word();
        const TrialResult result = trials.run(code, seed, trial % 2 == 0 ? Operands::known : Operands::symbolic);
        if (!result.refusal.empty()) continue;
        followed[ZydisMnemonicGetString(reader->mnemonic)]++;
        tally.expect(result.difference.empty(), [&] {
          return fmt::format("{}; {}, seed {:#x}: {}", decode_one(*first, 0).text, decode_one(*second, 0).text, seed,
                             result.difference);
        });
      }
    }
  }
  for (const ZydisMnemonic m : readers) {
    const std::string name = ZydisMnemonicGetString(m);
    CHECK_MESSAGE(followed[name] > 0, name, " was refused after every other instruction");
  }
  tally.report();
}

/// What is seen when the model executes one instruction and the CPU another; empty if nothing, in many trials.
std::string seen(const std::string& model, const std::string& cpu) {
  const SmallObjects objects({".intel_syntax noprefix\n" + function_text("model", model) + function_text("cpu", cpu)});
  const Image image = objects.image();
  const auto code_of = [&image](const char* name) {
    const auto code = image.code(*image.find(name));
    return Bytes(code.begin(), code.end());
  };
  Trials trials;
  Random random(7);
  for (int trial = 0; trial < 40; trial++) {
    const TrialResult result = trials.run(code_of("model"), code_of("cpu"), random.word(), Operands::known);
    if (!result.difference.empty()) return result.difference;
  }
  return "";
}

TEST_CASE("semantics: control: one instruction taken for another is seen, in each kind of state") {
  const auto expect = [](const std::string& model, const std::string& cpu, const std::string& where) {
    const std::string difference = seen(model, cpu);
    CHECK_MESSAGE(difference.find(where) != std::string::npos, model, " for ", cpu, ": ",
                  difference.empty() ? "nothing is seen" : difference);
  };
  CHECK(seen("add rax, rcx", "add rax, rcx") == "");
  expect("add rax, rcx", "sub rax, rcx", "general register 0");
  expect("mov eax, ecx", "mov ax, cx", "general register 0");
  expect("cmp rax, rcx", "cmp rcx, rax", "on the CPU");
  expect("test rax, rax", "cmp rax, 1", "on the CPU");
  expect("mov rax, rax", "cmp rax, rax", "on the CPU");
  expect("pxor xmm3, xmm4", "pand xmm3, xmm4", "vector register 3, lane 0");
  expect("mov [rbx], rax", "mov [rbx], eax", "memory");
  expect("movdqu [rbx], xmm1", "movdqu [rbx+1], xmm1", "memory");
  expect("pop rax", "mov rax, [rsp]", "general register 4");
  if (vector_level() == VectorLevel::xmm) {
    announce("SKIPPED upper halves: this CPU has no AVX");
  } else {
    expect("movdqa xmm3, xmm4", "vmovdqa xmm3, xmm4", "vector register 3, lane 1");
  }
}

}  // namespace
}  // namespace tests
