// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The command line of the generator: what it prints, what it exits with, and that it writes all or nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/commands.hpp"
#include "support/verify_objects.hpp"

namespace tests {
namespace {

namespace fs = std::filesystem;

CommandResult stitchgcm(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), STITCHGCM_GENERATOR);
  return run_command(arguments);
}

/// Path below the folder -> contents, of all files.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const fs::path& file : files_below(folder)) files[file.lexically_relative(folder).string()] = contents(file);
  return files;
}

/// What `stitchgcm emit` writes, made once for all tests.
const fs::path& emission() {
  static const TemporaryFolder folder;
  static const fs::path path = [] {
    const CommandResult r = stitchgcm({"emit", "--output", (folder / "emitted").string()});
    if (r.code != 0) throw std::runtime_error("stitchgcm emit: " + r.error);
    return folder / "emitted";
  }();
  return path;
}

constexpr const char* kFastSymbol = "stitchgcm_powers_aesni_avx";

/// `stitchgcm verify` on emitted/, its cache in this folder.
CommandResult verify(const fs::path& cache, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"verify", "--cache", cache.string()});
  arguments.push_back("--object");  // takes all that follows
  for (const fs::path& object : emitted_objects()) arguments.push_back(object.string());
  return stitchgcm(arguments);
}

/// A copy of the emission, to be spoilt.
class Copy : public TemporaryFolder {
 public:
  Copy() { fs::copy(emission(), path(), fs::copy_options::recursive); }
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("command line: emit writes the files, the header and MANIFEST, and check finds them as they should be") {
  const auto files = tree(emission());
  CHECK(files.contains("MANIFEST"));
  CHECK(files.contains("stitchgcm_routines.h"));
  CHECK(files.contains("aesni_avx/seal.S"));
  const CommandResult r = stitchgcm({"check", "--output", emission().string()});
  CHECK(r.code == 0);
  CHECK(r.error == "");
  CHECK_MESSAGE(has(r.out, fmt::format("({} files)", files.size())), r.out);
}

TEST_CASE("command line: to emit again writes nothing, and removes what was emitted of old") {
  const Copy folder;
  write_file(folder / "aesni_avx" / "long_gone.S", "// of an earlier version\n");
  const auto before = fs::last_write_time(folder / "aesni_avx" / "seal.S");
  const CommandResult r = stitchgcm({"emit", "--output", folder.path().string()});
  CHECK(r.code == 0);
  CHECK(fs::last_write_time(folder / "aesni_avx" / "seal.S") == before);
  CHECK(tree(folder.path()) == tree(emission()));
}

TEST_CASE("command line: list prints each symbol of MANIFEST with its size and what it computes") {
  const CommandResult r = stitchgcm({"list"});
  CHECK(r.code == 0);
  CHECK(r.error == "");
  std::vector<std::string> listed, manifest;
  for (const std::string& line : lines(r.out)) {
    std::string symbol, bytes, word, summary;
    std::istringstream words(line);
    words >> symbol >> bytes >> word;
    std::getline(words, summary);
    listed.push_back(symbol + " " + bytes);
    CHECK_MESSAGE(word == "bytes", line);
    CHECK_MESSAGE(summary.size() > 10, line);
  }
  for (const std::string& line : lines(contents(emission() / "MANIFEST"))) {
    std::string symbol, bytes;
    std::istringstream words(line);
    words >> symbol >> bytes;
    if (line.starts_with("  stitchgcm_")) manifest.push_back(symbol + " " + bytes);
  }
  CHECK(!manifest.empty());
  CHECK(listed == manifest);
}

TEST_CASE("command line: check fails with the name, the difference and the repair command when a file was changed") {
  const Copy folder;
  const fs::path file = folder / "aesni_avx" / "ghash.S";
  std::string text = contents(file);
  text.replace(text.find("  endbr64\n"), 10, "  nop\n");
  write_file(file, text);
  const CommandResult r = stitchgcm({"check", "--output", folder.path().string()});
  CHECK(r.code == 1);
  for (const std::string& part :
       {"differs: " + file.string() + "\n", std::string("\n-  nop\n"), std::string("\n+  endbr64\n"),
        std::string("1 of "), std::string("./scripts/regen")}) {
    CHECK_MESSAGE(has(r.out, part), "no \"" << part << "\" in: " << r.out);
  }
  CHECK_MESSAGE(contents(file) == text, "check must not write");
}

TEST_CASE("command line: check names files that are missing, and files that are not generated, in any folder") {
  const TemporaryFolder parent;
  const fs::path folder = parent / "it's $(here)";
  fs::copy(emission(), folder, fs::copy_options::recursive);
  fs::remove(folder / "aesni_avx" / "init.S");
  write_file(folder / "aesni_avx" / "extra.S", "");
  write_file(folder / "MANIFEST", "");
  const CommandResult r = stitchgcm({"check", "--output", folder.string()});
  CHECK(r.code == 1);
  for (const std::string& part :
       {"missing: " + (folder / "aesni_avx" / "init.S").string(),
        "not generated: " + (folder / "aesni_avx" / "extra.S").string(), "differs: " + (folder / "MANIFEST").string(),
        std::string("\n+# Generated by `stitchgcm emit`"), std::string("3 of "), std::string("./scripts/regen")}) {
    CHECK_MESSAGE(has(r.out, part), "no \"" << part << "\" in: " << r.out);
  }
}

TEST_CASE("command line: check of a folder that is not there fails") {
  const TemporaryFolder parent;
  const CommandResult r = stitchgcm({"check", "--output", (parent / "nowhere").string()});
  CHECK(r.code == 1);
  CHECK(has(r.out, "missing: "));
}

TEST_CASE("command line: a wrong argument gets one line on standard error and exit code 2, and nothing is written") {
  const TemporaryFolder parent;
  const std::string folder = (parent / "out").string();
  const std::vector<std::vector<std::string>> all{
      {},
      {"frobnicate"},
      {"--frobnicate"},
      {"emit", "--frobnicate", "--output", folder},
      {"emit", "surplus", "--output", folder},
      {"emit", "--output"},
      {"list", "--output", folder},
      {"emit", "check", "--output", folder},
      {"emit", "--output", folder, "--choice"},
      {"emit", "--output", folder, "--choice", "end"},
      {"emit", "--output", folder, "--choice", "nothing=1"},
      {"emit", "--output", folder, "--choice", "end=nowhere"},
      {"emit", "--output", folder, "--choice", "encrypt.nothing=1"},
      {"emit", "--output", folder, "--choice", "encrypt.hash_time=soon"},
      {"emit", "--output", folder, "--choice", "encrypt.hash_time=10x"},
      {"emit", "--output", folder, "--choice", "decrypt.multiply_group=0"},
      {"emit", "--output", folder, "--choice", "decrypt.multiply_group=99999999999999999999"},
      {"emit", "--output", folder, "--prefix", ""},
      {"emit", "--output", folder, "--prefix", "1st"},
      {"emit", "--output", folder, "--prefix", "a-b"},
      {"emit", "--output", folder, "--prefix", "a b"},
      {"verify"},
      {"verify", "--all", kFastSymbol},
      {"verify", "--frobnicate"},
      {"verify", "no_such_symbol"},
      {"verify", kFastSymbol, "--prefix", "acme"},
      {"verify", kFastSymbol, "--proofs", folder},
      {"verify", kFastSymbol, "--emitted", folder},
      {"verify", kFastSymbol, "--object", folder},
      {"verify", kFastSymbol, "--jobs", "0"},
      {"verify", kFastSymbol, "--jobs", "many"},
      {"verify", kFastSymbol, "--json"},
      {"verify", "--all", "--prefix", "1st"},
  };
  for (const std::vector<std::string>& arguments : all) {
    const CommandResult r = stitchgcm(arguments);
    const std::string text = fmt::format("stitchgcm {}: ", fmt::join(arguments, " "));
    CHECK_MESSAGE(r.code == 2, text << "exit code " << r.code);
    CHECK_MESSAGE(r.out == "", text << r.out);
    CHECK_MESSAGE(std::ranges::count(r.error, '\n') == 1, text << r.error);
    CHECK_MESSAGE(r.error.starts_with("stitchgcm: "), text << r.error);
    CHECK_MESSAGE(!fs::exists(folder), text << "it wrote something");
  }
}

TEST_CASE("command line: what is wrong is named, with what there is instead") {
  CHECK(has(stitchgcm({"list", "--choice", "end=nowhere"}).error, "end is calls or inline, not \"nowhere\""));
  CHECK(has(stitchgcm({"list", "--choice", "nothing=1"}).error, "no choice is named \"nothing\"; there are "));
  CHECK(has(stitchgcm({"list", "--choice", "encrypt.nothing=1"}).error, "of a schedule there are "));
  CHECK(has(stitchgcm({"list", "--prefix", "a-b"}).error, "\"a-b\" is no C identifier"));
  CHECK(has(stitchgcm({"list", "--frobnicate"}).error, "--frobnicate"));
}

TEST_CASE("command line: a schedule that does not compute the same is refused in one line, and nothing is written") {
  const TemporaryFolder parent;
  const fs::path folder = parent / "out";
  // GHASH of a batch before its ciphertext is there.
  const CommandResult r = stitchgcm({"emit", "--output", folder.string(), "--choice", "encrypt.hash_start=-8000"});
  CHECK(r.code == 1);
  CHECK(std::ranges::count(r.error, '\n') == 1);
  CHECK_MESSAGE(has(r.error, "encrypt batches: "), r.error);
  CHECK_MESSAGE(has(r.error, "in order but from"), r.error);
  CHECK(!fs::exists(folder));
}

TEST_CASE("command line: emit into a folder with files of others is refused, and writes nothing") {
  const Copy folder;
  write_file(folder / "aesni_avx" / "notes.txt", "mine\n");
  write_file(folder / "MANIFEST", "old\n");
  const auto before = tree(folder.path());
  const CommandResult r = stitchgcm({"emit", "--output", folder.path().string()});
  CHECK(r.code == 1);
  CHECK(r.out == "");
  CHECK_MESSAGE(has(r.error, "notes.txt"), r.error);
  CHECK(tree(folder.path()) == before);
}

TEST_CASE("command line: emit to what is a file is refused, and the file stays") {
  const TemporaryFolder parent;
  write_file(parent / "file", "mine\n");
  const CommandResult r = stitchgcm({"emit", "--output", (parent / "file").string()});
  CHECK(r.code == 1);
  CHECK_MESSAGE(has(r.error, "is not a folder"), r.error);
  CHECK(contents(parent / "file") == "mine\n");
}

TEST_CASE("command line: when an assembler fails, nothing is left half written, also no temporary file") {
  const TemporaryFolder parent;
  const fs::path temporary = parent / "temporary";
  fs::create_directories(temporary);
  for (const std::string option : {"--gnu", "--clang"}) {
    for (const std::string assembler : {"/bin/false", "/no/such/assembler"}) {
      const Copy folder;
      write_file(folder / "MANIFEST", "old\n");
      const auto before = tree(folder.path());
      const CommandResult r = run_command({"env", "TMPDIR=" + temporary.string(), STITCHGCM_GENERATOR, "emit",
                                           "--output", folder.path().string(), option, assembler});
      CHECK(r.code == 1);
      CHECK(r.out == "");
      CHECK_MESSAGE(has(r.error, assembler), r.error);
      CHECK(tree(folder.path()) == before);
      CHECK(fs::is_empty(temporary));
    }
  }
}

TEST_CASE("command line: verify of a symbol that there is not names those that are near") {
  const CommandResult part = stitchgcm({"verify", "powers"});
  CHECK_MESSAGE(has(part.error, "no contract for \"powers\"; near to it: stitchgcm_powers_aesni_avx\n"), part.error);
  const CommandResult misspelt = stitchgcm({"verify", "stitchgcm_chasg_aesni_avx"});
  CHECK_MESSAGE(has(misspelt.error, "near to it: stitchgcm_ghash_aesni_avx"), misspelt.error);
}

TEST_CASE("command line: verify proves a symbol, says in a line what, and then what that rests on") {
  const TemporaryFolder folder;
  const CommandResult r = verify(folder.path(), {kFastSymbol});
  CHECK(r.code == 0);
  CHECK(r.error == "");
  CHECK_MESSAGE(r.out.starts_with("proved stitchgcm_powers_aesni_avx: 1 case, "), r.out);
  CHECK_MESSAGE(has(r.out, "1 of 1 symbol proved"), r.out);
  CHECK_MESSAGE(has(r.out, "SP 800-38D"), r.out);
}

TEST_CASE("command line: verify keeps a proof, finds it again, and proves it anew with --force") {
  const TemporaryFolder folder;
  const auto cached = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kFastSymbol, "--json", "-"});
    const CommandResult r = verify(folder / "proofs", arguments);
    CHECK(r.code == 0);
    return nlohmann::json::parse(r.out)["symbols"][0]["cached"].get<bool>();
  };
  CHECK(!cached({}));
  CHECK(cached({}));
  CHECK(!cached({"--force"}));
  CHECK(cached({}));
  const auto files = files_below(folder / "proofs");
  REQUIRE(files.size() == 1);
  const std::string whole = contents(files[0]);
  write_file(files[0], whole.substr(0, whole.size() / 2));
  CHECK_MESSAGE(!cached({}), "half a file counts as a proof");
  CHECK_MESSAGE(cached({}), "half a file was not replaced");
  CHECK(files_below(folder / "proofs").size() == 1);
}

TEST_CASE("command line: verify proves without a cache, too, and says so") {
  const TemporaryFolder folder;
  write_file(folder / "file", "mine\n");
  const CommandResult r = verify(folder / "file", {kFastSymbol});
  CHECK(r.code == 0);
  CHECK_MESSAGE(has(r.error, "stitchgcm: proofs are not kept: "), r.error);
  CHECK(std::ranges::count(r.error, '\n') == 1);
  CHECK(contents(folder / "file") == "mine\n");
}

TEST_CASE("command line: verify's JSON goes to a file or alone to standard output") {
  const TemporaryFolder folder;
  const fs::path file = folder / "report.json";
  const CommandResult with_file = verify(folder / "proofs", {kFastSymbol, "--json", file.string()});
  CHECK(with_file.code == 0);
  CHECK(has(with_file.out, "proved stitchgcm_powers_aesni_avx"));
  const CommandResult alone = verify(folder / "proofs", {kFastSymbol, "--json", "-"});
  CHECK(has(alone.error, "proved stitchgcm_powers_aesni_avx"));
  auto from_file = nlohmann::json::parse(contents(file)), from_output = nlohmann::json::parse(alone.out);
  const auto& symbol = from_output["symbols"][0];
  CHECK(from_output["proved"] == true);
  CHECK(from_output["faults"].empty());
  CHECK(symbol["symbol"] == kFastSymbol);
  CHECK(symbol["sha256"].get<std::string>().size() == 32);
  CHECK(symbol["instructions"].get<int>() > 100);
  CHECK(symbol["followed"]["paths"] == 1);
  CHECK(symbol["stack_bytes"] == 8);
  CHECK(!symbol.contains("failure"));
  for (auto* json : {&from_file, &from_output}) (*json)["symbols"][0].erase("cached");
  CHECK(from_file == from_output);
}

TEST_CASE("command line: verify of wrong code fails, with the instruction, its line, its stage and the reason") {
  const Copy folder;
  const fs::path file = folder / "aesni_avx" / "init.S";
  std::string text = contents(file);
  // The last instruction of the routine's first stage of products: another half of the operands.
  const std::size_t at = text.find("0x11", text.find("FUNCTION(stitchgcm_powers_aesni_avx)"));
  REQUIRE(at != std::string::npos);
  text.replace(at, 4, "0x10");
  write_file(file, text);
  const CommandResult r = stitchgcm({"verify", kFastSymbol, "--emitted", folder.path().string(), "--cache",
                                     (folder / "proofs").string(), "--json", (folder / "report.json").string()});
  CHECK(r.code == 1);
  for (const std::string& part :
       {std::string("FAILED stitchgcm_powers_aesni_avx: "), std::string("instruction: "),
        "source:      " + file.string() + ":", std::string("stage: "), std::string("reason: "),
        std::string("execution: "), std::string("0 of 1 symbol proved")}) {
    CHECK_MESSAGE(has(r.out, part), "no \"" << part << "\" in: " << r.out);
  }
  const auto json = nlohmann::json::parse(contents(folder / "report.json"));
  CHECK(json["proved"] == false);
  CHECK(json["symbols"][0]["failure"]["source"]["file"] == file.string());
  CHECK_MESSAGE(!fs::exists(folder / "proofs"), "a failure is kept as a proof");
}

TEST_CASE("command line: verify --all is not content with code without a contract, nor with a contract without code") {
  const TemporaryFolder folder;
  const SmallObjects objects({function_text("stitchgcm_extra_aesni_avx", "  ret")});
  const CommandResult r = stitchgcm({"verify", "--all", "--object", objects.paths()[0].string(), "--cache",
                                     (folder / "proofs").string(), "--proofs", (folder / "page").string()});
  CHECK(r.code == 1);
  CHECK_MESSAGE(has(r.out, "NO CONTRACT for stitchgcm_extra_aesni_avx, in "), r.out);
  CHECK_MESSAGE(has(r.out, "NO CODE for stitchgcm_seal_aesni_avx"), r.out);
  CHECK_MESSAGE(has(r.out, "page is not written"), r.out);
  CHECK(!fs::exists(folder / "page"));
}

TEST_CASE("command line: verify of objects that it cannot read fails in one line") {
  const TemporaryFolder folder;
  write_file(folder / "a.o", "no object\n");
  const CommandResult r = stitchgcm({"verify", kFastSymbol, "--object", (folder / "a.o").string()});
  CHECK(r.code == 1);
  CHECK(r.out == "");
  CHECK(std::ranges::count(r.error, '\n') == 1);
  CHECK_MESSAGE(has(r.error, "a.o"), r.error);
}

TEST_CASE("command line: verify knows symbols with another prefix") {
  const TemporaryFolder folder;
  REQUIRE(stitchgcm({"emit", "--prefix", "acme", "--output", (folder / "emitted").string()}).code == 0);
  const CommandResult r = stitchgcm({"verify", "acme_powers_aesni_avx", "--prefix", "acme", "--emitted",
                                     (folder / "emitted").string(), "--cache", (folder / "proofs").string()});
  CHECK_MESSAGE(r.code == 0, r.out << r.error);
  CHECK(has(r.out, "proved acme_powers_aesni_avx"));
}

TEST_CASE("command line: help is there for every command, with examples whose choices exist") {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{}, {"list"}, {"emit"}, {"check"}, {"verify"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const CommandResult r = stitchgcm(arguments);
    CAPTURE(r.out);
    CHECK(r.code == 0);
    CHECK(r.error == "");
    CHECK(has(r.out, "Example"));
    CHECK(has(r.out, "stitchgcm " + (command.empty() ? "emit" : command[0])));
    std::istringstream words(r.out);
    for (std::string word, before; words >> word; before = word) {
      if (before != "--choice" || !has(word, "=")) continue;
      const CommandResult example = stitchgcm({"list", "--choice", word});
      CHECK_MESSAGE(example.code == 0, example.error);
    }
  }
}

}  // namespace
}  // namespace tests
