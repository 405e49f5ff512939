// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What the verifier tells: places in the emitted source, lines of text, JSON, the page of proofs and its hashes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "emit/manifest.hpp"
#include "support/verify_objects.hpp"
#include "verify/code/fingerprint.hpp"
#include "verify/report/json.hpp"
#include "verify/report/proofs_page.hpp"
#include "verify/report/text.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;
namespace fs = std::filesystem;

const fs::path& emitted() {
  static const fs::path folder = fs::path(STITCHGCM_SOURCE_FOLDER) / "emitted";
  return folder;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The first word of a line of code, with one name for those that have more than one.
std::string operation(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "{disp32}") words >> word;
  static const std::map<std::string, std::string> kNames = {
      {"je", "jz"}, {"jne", "jnz"}, {"jae", "jnb"}, {"ja", "jnbe"}, {".byte", "nop"}};
  const auto found = kNames.find(word);
  return found == kNames.end() ? word : found->second;
}

TEST_CASE("verify report: every instruction of emitted code is found in its line") {
  const Image image(emitted_objects());
  const auto sources = files_below(emitted(), ".S");
  std::map<std::string, std::vector<std::string>> lines;
  for (const fs::path& source : sources) {
    std::ifstream in(source);
    for (std::string line; std::getline(in, line);) lines[source.string()].push_back(line);
  }
  for (const Symbol& symbol : image.symbols()) {
    const Function function = decode(image, symbol);
    // Not each of them: the file is read again for each.
    for (std::size_t n = 0; n < function.instructions.size(); n += n + 41 < function.instructions.size() ? 41 : 1) {
      const Instruction& i = function.instructions[n];
      const auto place = place_in_sources(function, i.address, sources);
      REQUIRE_MESSAGE(place, symbol.name << ": " << i.text << " has no line");
      const std::string& line = lines[place->file].at(place->line - 1);
      CHECK_MESSAGE(operation(line) == operation(i.text), symbol.name << ": " << i.text << " is in the line " << line);
      if (n > 0) CHECK_MESSAGE(place->stage != "", symbol.name << ": " << i.text << " has no stage");
    }
  }
}

/// A function of four instructions, two of them no-ops that are written as bytes in two lines.
struct SmallSource {
  SmallObjects objects{{function_text("f",
                                      "  mov eax, 1\n  .byte 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f\n"
                                      "  .byte 0x1f, 0x44, 0x00, 0x00\n  ret")}};
  Function function = objects.functions().at(0);
  std::string text =
      "FUNCTION(other)\n  ret\nEND_FUNCTION(other)\nFUNCTION(f)\n  .cfi_startproc\n  mov eax, 1\n\n  // ---- turn "
      "----\n"
      "  .byte 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f // no-ops\n  .byte 0x1f, 0x44, 0x00, 0x00\n"
      "L(end):\n  ret // restore\nEND_FUNCTION(f)\n";

  std::optional<SourcePlace> place(std::size_t n) const {
    return place_in_source(function, function.instructions.at(n).address, "f.S", text);
  }
};

TEST_CASE("verify report: a stage and a note hold until the next, and bytes are as many instructions as they are") {
  const SmallSource s;
  REQUIRE(s.function.instructions.size() == 4);
  const auto check = [&](std::size_t n, std::size_t line, const std::string& stage, const std::string& note) {
    const auto place = s.place(n);
    REQUIRE_MESSAGE(place, "instruction " << n << " has no line");
    CHECK(place->file == "f.S");
    CHECK_MESSAGE(place->line == line, "instruction " << n);
    CHECK_MESSAGE(place->stage == stage, "instruction " << n);
    CHECK_MESSAGE(place->note == note, "instruction " << n);
  };
  check(0, 6, "", "");
  check(1, 9, "turn", "no-ops");
  check(2, 9, "turn", "no-ops");
  check(3, 12, "turn", "restore");
}

TEST_CASE("verify report: a source that is not the function's gives no place") {
  SmallSource s;
  const std::string text = s.text;
  s.text.replace(text.find("  ret // restore"), 5, "  nop\n  ret");
  CHECK_MESSAGE(!s.place(0), "an instruction more");
  s.text = text;
  s.text.erase(text.find("  mov eax, 1\n"), 13);
  CHECK_MESSAGE(!s.place(3), "an instruction less");
  s.text = text;
  s.text.replace(text.find("FUNCTION(f)"), 11, "FUNCTION(g)");
  CHECK_MESSAGE(!s.place(0), "another symbol");
  CHECK_MESSAGE(!place_in_sources(s.function, s.function.symbol.address, {"/no/such/file.S"}), "no file");
}

TEST_CASE("verify report: the hash of a symbol's code is MANIFEST's, from the object files in any order") {
  const auto manifest = stitchgcm::emit::code_hashes(contents(emitted() / "MANIFEST"));
  for (const bool reversed : {false, true}) {
    std::vector<fs::path> objects = emitted_objects();
    if (reversed) objects = {objects.rbegin(), objects.rend()};
    const Image image(objects);
    CHECK(image.symbols().size() == manifest.size());
    for (const Symbol& s : image.symbols()) {
      const auto listed = manifest.find(s.name);
      REQUIRE_MESSAGE(listed != manifest.end(), s.name);
      CHECK_MESSAGE(code_hash(image, decode(image, s)) == listed->second, s.name);
    }
  }
}

/// The hash of f, in an object with this text.
std::string hash_of_f(const std::string& source) {
  const SmallObjects objects({source});
  const Image image = objects.image();
  return code_hash(image, decode(image, *image.find("f")));
}

TEST_CASE("verify report: the hash of code changes with an instruction, the data, the place in it, and the callee") {
  const auto source = [](const std::string& place, const std::string& callee, const std::string& data) {
    return "  .section .rodata, \"a\", @progbits\ntable:\n  .quad " + data + "\n" +
           function_text("f", "  vmovdqu xmm0, [rip + " + place + "]\n  call " + callee + "\n  ret") +
           function_text("g", "  ret") + function_text("h", "  ret");
  };
  const std::string hash = hash_of_f(source("table", "g", "1, 2, 3"));
  CHECK(hash.size() == 32);
  CHECK(hash_of_f(source("table", "g", "1, 2, 3")) == hash);
  CHECK_MESSAGE(hash_of_f(source("table", "g", "1, 2, 4")) != hash, "the data is not hashed");
  CHECK_MESSAGE(hash_of_f(source("table + 8", "g", "1, 2, 3")) != hash, "the place in the data is not hashed");
  CHECK_MESSAGE(hash_of_f(source("table", "h", "1, 2, 3")) != hash, "the callee is not hashed");
  CHECK(hash_of_f(function_text("f", "  ret")) != hash_of_f(function_text("f", "  nop\n  ret")));
}

Finding proof_of(const std::string& symbol) {
  Finding f;
  f.verdict.symbol = symbol;
  f.verdict.proved = true;
  f.verdict.statement = {"out = in"};
  f.verdict.lengths = "any length";
  f.verdict.cases = {"out of place", "in place"};
  f.verdict.invariants = {"each turn 8 blocks"};
  f.verdict.instructions = 12;
  f.verdict.code_bytes = 34;
  f.verdict.statistics = {
      .instructions = 56, .paths = 7, .forks = 8, .joins = 9, .hypotheses = 10, .most_paths = 3, .deepest_stack = 24};
  f.verdict.formulas = {1, 2, 3, 4};
  f.verdict.seconds = 0.5;
  f.code_hash = "00112233445566778899aabbccddeeff";
  return f;
}

Finding failure_of(const std::string& symbol) {
  Finding f = proof_of(symbol);
  f.verdict.proved = false;
  f.verdict.failed_case = "in place";
  f.verdict.failure.emplace();
  f.verdict.failure->reason = "the output is wrong\n  is 1";
  f.verdict.failure->instruction = "vpxor xmm1, xmm2, xmm3";
  f.verdict.failure->path = "batches = 3";
  f.offset = 99;
  f.place = SourcePlace{"seal.S", 17, "the tag", "last round"};
  f.execution = "confirmed by execution: seal";
  return f;
}

TEST_CASE("verify report: the line of a symbol says what was proved, for which lengths, and what it took") {
  CHECK(line_of(proof_of("f")) == "proved f: 2 cases, 7 paths, 56 instructions, 0.5 s; any length");
  CHECK(line_of(failure_of("f")) == "FAILED f: 2 cases, 7 paths, 56 instructions, 0.5 s; any length");
  Finding cached = proof_of("f");
  cached.from_cache = true;
  CHECK(has(line_of(cached), "0.5 s when it was proved"));
}

TEST_CASE("verify report: a failure is told with all that is known of it") {
  const std::string text = failure_text(failure_of("f"));
  for (const char* part :
       {"in place", "vpxor xmm1, xmm2, xmm3", "99 bytes", "seal.S:17", "stage: the tag", "note: last round",
        "batches = 3", "the output is wrong", "is 1", "confirmed by execution: seal"}) {
    CHECK_MESSAGE(has(text, part), "no \"" << part << "\" in: " << text);
  }
  CHECK(failure_text(proof_of("f")) == "");
}

TEST_CASE("verify report: the summary says what proofs rest on only if all is proved") {
  CHECK(has(summary({{proof_of("f")}, {}}), "1 of 1 symbol proved"));
  CHECK(has(summary({{proof_of("f")}, {}}), "Zydis"));
  CHECK(has(summary({{proof_of("f"), failure_of("g")}, {}}), "1 of 2 symbols proved"));
  CHECK(!has(summary({{proof_of("f"), failure_of("g")}, {}}), "Zydis"));
  CHECK(!has(summary({{proof_of("f")}, {"NO CODE for g"}}), "Zydis"));
  CHECK(has(summary({{proof_of("f")}, {"NO CODE for g"}}), "NO CODE for g"));
}

TEST_CASE("verify report: a proof comes back from JSON as it was") {
  const Verdict v = proof_of("f").verdict;
  const auto json = verdict_json(v);
  CHECK(verdict_json(proof_from_json(json)) == json);
  CHECK(proof_from_json(nlohmann::ordered_json::parse(json.dump())).statistics.deepest_stack == 24);
}

TEST_CASE("verify report: JSON without a field, or of a failure, is no proof") {
  const auto json = verdict_json(proof_of("f").verdict);
  for (const auto& field : json.items()) {
    const std::string name = field.key();
    auto less = json;
    less.erase(name);
    CHECK_THROWS_AS_MESSAGE(proof_from_json(less), std::invalid_argument, "without " << name);
    auto other = json;
    other[name] = nullptr;
    CHECK_THROWS_AS_MESSAGE(proof_from_json(other), std::invalid_argument, name << " is null");
  }
  CHECK_THROWS_AS(proof_from_json(verdict_json(failure_of("f").verdict)), std::invalid_argument);
  auto not_proved = json;
  not_proved["proved"] = false;
  CHECK_THROWS_AS(proof_from_json(not_proved), std::invalid_argument);
}

TEST_CASE("verify report: JSON of a report has the verdict of all, and of each symbol the hash and the failure") {
  const auto json = report_json({{proof_of("f"), failure_of("g")}, {}});
  CHECK(json["proved"] == false);
  CHECK(json["symbols"][0]["sha256"] == "00112233445566778899aabbccddeeff");
  CHECK(!json["symbols"][0].contains("failure"));
  const auto& failure = json["symbols"][1]["failure"];
  CHECK(failure["case"] == "in place");
  CHECK(failure["offset"] == 99);
  CHECK(failure["source"]["line"] == 17);
  CHECK(failure["source"]["stage"] == "the tag");
  CHECK(failure["execution"] == "confirmed by execution: seal");
  CHECK(json["assumptions"].size() == assumptions().size());
  CHECK(report_json({{proof_of("f")}, {}})["proved"] == true);
  CHECK(report_json({{proof_of("f")}, {"NO CODE for g"}})["proved"] == false);
}

TEST_CASE("verify report: the page names each symbol with its hash, and what is read from it is that") {
  Report report{{proof_of("f"), proof_of("g")}, {}};
  report.findings[1].code_hash = "ffeeddccbbaa99887766554433221100";
  const std::string page = proofs_page(report, "stitchgcm verify --all");
  const std::map<std::string, std::string> wanted = {{"f", "00112233445566778899aabbccddeeff"},
                                                     {"g", "ffeeddccbbaa99887766554433221100"}};
  CHECK(hashes_in(page) == wanted);
  for (const char* part : {"`stitchgcm verify --all`", "out = in", "any length", "out of place; in place",
                           "each turn 8 blocks", "Zydis", "./scripts/regen"}) {
    CHECK_MESSAGE(has(page, part), "no \"" << part << "\" in: " << page);
  }
}

TEST_CASE("verify report: the page does not depend on how long a proof took and where it came from") {
  Report slow{{proof_of("f")}, {}};
  slow.findings[0].verdict.seconds = 1000;
  slow.findings[0].verdict.formulas.lanes = 77;
  slow.findings[0].from_cache = true;
  CHECK(proofs_page(slow, "command") == proofs_page({{proof_of("f")}, {}}, "command"));
}

TEST_CASE("verify report: there is no page unless all is proved") {
  CHECK_THROWS_AS(proofs_page({{proof_of("f"), failure_of("g")}, {}}, "command"), std::logic_error);
  CHECK_THROWS_AS(proofs_page({{proof_of("f")}, {"NO CODE for g"}}, "command"), std::logic_error);
}

}  // namespace
}  // namespace tests
