// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The cache of proofs: it never takes one proof for another's, and what is wrong with a file is as if it were not
// there.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "support/verify_objects.hpp"
#include "verify/report/cache.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;
namespace fs = std::filesystem;

const std::string kKey(64, 'a'), kOtherKey(64, 'b');

Verdict proof_of(const std::string& symbol) {
  Verdict v;
  v.symbol = symbol;
  v.proved = true;
  v.cases = {"only one"};
  v.seconds = 1.5;
  return v;
}

TEST_CASE("verify cache: a proof is found under its key and for its symbol, and under no other") {
  const TemporaryFolder folder;
  const ProofCache cache(folder / "proofs");
  CHECK(!cache.find(kKey, "f"));
  cache.keep(kKey, proof_of("f"));
  const auto found = cache.find(kKey, "f");
  REQUIRE(found);
  CHECK(found->proved);
  CHECK(found->seconds == 1.5);
  CHECK_MESSAGE(!cache.find(kOtherKey, "f"), "another key");
  CHECK_MESSAGE(!cache.find(kKey, "g"), "another symbol");
}

TEST_CASE("verify cache: a failure is not kept") {
  const TemporaryFolder folder;
  const ProofCache cache(folder.path());
  Verdict failed = proof_of("f");
  failed.proved = false;
  CHECK_THROWS_AS(cache.keep(kKey, failed), std::logic_error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("verify cache: a file that is cut off, changed or of another key is as if it were not there") {
  const TemporaryFolder folder;
  const ProofCache cache(folder.path());
  cache.keep(kKey, proof_of("f"));
  const fs::path file = folder / (kKey + ".json");
  const std::string whole = contents(file);
  for (std::size_t size = 0; size + 2 < whole.size(); size++) {
    write_file(file, whole.substr(0, size));
    CHECK_MESSAGE(!cache.find(kKey, "f"), "the first " << size << " bytes of the file count as a proof");
  }
  write_file(file, whole);
  CHECK(cache.find(kKey, "f"));
  fs::copy(file, folder / (kOtherKey + ".json"));
  CHECK_MESSAGE(!cache.find(kOtherKey, "f"), "a file that was renamed counts as a proof of other code");
  std::string changed = whole;
  changed.replace(changed.find("\"proved\": true"), 14, "\"proved\": 1   ");
  write_file(file, changed);
  CHECK(!cache.find(kKey, "f"));
}

TEST_CASE("verify cache: nothing is left of a proof that cannot be written") {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  CHECK_THROWS_AS(ProofCache(folder / "file" / "proofs").keep(kKey, proof_of("f")), std::runtime_error);
  const ProofCache cache(folder / "proofs");
  cache.keep(kKey, proof_of("f"));
  CHECK_MESSAGE(files_below(folder / "proofs").size() == 1, "a temporary file is left");
}

TEST_CASE("verify cache: only old proofs are forgotten, and files of others never") {
  const TemporaryFolder folder;
  const ProofCache cache(folder.path());
  cache.keep(kKey, proof_of("f"));
  cache.keep(kOtherKey, proof_of("f"));
  write_file(folder / "mine.json", "{}");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
  for (const char* name : {kKey.c_str(), "mine"}) fs::last_write_time(folder / (std::string(name) + ".json"), long_ago);
  cache.forget_older_than(30);
  CHECK(!cache.find(kKey, "f"));
  CHECK(cache.find(kOtherKey, "f"));
  CHECK(fs::exists(folder / "mine.json"));
}

TEST_CASE("verify cache: a proof that is found counts as new") {
  const TemporaryFolder folder;
  const ProofCache cache(folder.path());
  cache.keep(kKey, proof_of("f"));
  fs::last_write_time(folder / (kKey + ".json"), fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
  REQUIRE(cache.find(kKey, "f"));
  cache.forget_older_than(30);
  CHECK(cache.find(kKey, "f"));
}

std::string key_of_f(const std::vector<std::string>& sources, const std::string& verifier = "1") {
  const SmallObjects objects(sources);
  const Image image = objects.image();
  return proof_key(image, decode(image, *image.find("f")), verifier);
}

TEST_CASE("verify cache: a key is that of the code, the data, the callee and the verifier, wherever the code is") {
  const auto with = [](const std::string& instruction, const std::string& callee, const std::string& data) {
    return "  .section .rodata, \"a\", @progbits\n  .p2align 4\ntable:\n  .quad " + data + "\n" +
           function_text("f", "  vmovdqu xmm0, [rip + table]\n  " + instruction + "\n  call " + callee + "\n  ret") +
           function_text("g", "  ret") + function_text("h", "  ret");
  };
  const std::string f = with("nop", "g", "1, 2");
  const std::string key = key_of_f({f});
  CHECK(key.size() == 64);
  CHECK_MESSAGE(key_of_f({function_text("before", "  nop\n  ret"), f}) == key, "the place in the image is in the key");
  std::set<std::string> others{key};
  const std::vector<std::string> different{with("mov eax, eax", "g", "1, 2"), with("nop", "h", "1, 2"),
                                           with("nop", "g", "1, 3"), with("nop", "g", "1, 2, 0")};
  for (const std::string& source : different) others.insert(key_of_f({source}));
  others.insert(key_of_f({f}, "2"));
  CHECK_MESSAGE(others.size() == 6, "two that differ have one key");
}

TEST_CASE("verify cache: its folder is where the environment says") {
  const auto old_cache = std::getenv("XDG_CACHE_HOME"), old_home = std::getenv("HOME");
  const std::string cache = old_cache ? old_cache : "", home = old_home ? old_home : "";
  setenv("XDG_CACHE_HOME", "/c", 1);
  setenv("HOME", "/h", 1);
  CHECK(ProofCache::usual_folder() == fs::path("/c/stitchgcm/proofs"));
  unsetenv("XDG_CACHE_HOME");
  CHECK(ProofCache::usual_folder() == fs::path("/h/.cache/stitchgcm/proofs"));
  unsetenv("HOME");
  CHECK(!ProofCache::usual_folder());
  if (old_cache) setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  if (old_home) setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace tests
