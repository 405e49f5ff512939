// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Damaged routines: each is refused or explained, and what is said of it is what its own proof says.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "verify/code/assemble.hpp"
#include "verify/mutate/kill.hpp"

namespace {

using namespace stitchgcm::verify;

/// The emitted routines, and one of them with its contract.
class Routine {
 public:
  explicit Routine(const std::string& name)
      : image_(assemble(sources(), folder_.path(), "gcc")),
        contracts_(contracts("stitchgcm", "aesni_avx")),
        table_(image_, contracts_) {
    const Symbol* symbol = image_.find("stitchgcm_" + name + "_aesni_avx");
    REQUIRE(symbol != nullptr);
    function_ = decode(image_, *symbol);
    contract_ = table_.at(symbol->address);
    REQUIRE(contract_ != nullptr);
  }

  std::vector<Mutant> mutants() const { return stitchgcm::verify::mutants(image_, function_); }
  std::vector<Result> kill(const std::vector<Mutant>& some) const {
    return stitchgcm::verify::kill(image_, function_, *contract_, table_, some);
  }
  bool proved(const Mutant& m) const { return prove(image_, m.applied_to(function_), *contract_, table_).proved; }

 private:
  static std::vector<std::filesystem::path> sources() {
    std::vector<std::filesystem::path> all;
    const std::filesystem::path folder = std::string(STITCHGCM_SOURCE_FOLDER) + "/emitted/aesni_avx";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".S") all.push_back(entry.path());
    }
    return all;
  }

  TemporaryFolder folder_;
  Image image_;
  std::vector<std::unique_ptr<Contract>> contracts_;
  ContractTable table_;
  Function function_;
  const Contract* contract_ = nullptr;
};

std::vector<Mutant> at_random(std::vector<Mutant> all, std::size_t count) {
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < count; i++) std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(count);
  return all;
}

std::string described(const Result& r) {
  return std::string(name_of(r.mutant.damage)) + ": " + r.mutant.text + ": " + name_of(r.fate) + " " + r.reason;
}

}  // namespace

TEST_CASE("verify mutants: every damage of ghash is refused or explained") {
  const Routine ghash("ghash");
  std::map<Fate, std::size_t> counts;
  for (const Result& r : ghash.kill(ghash.mutants())) {
    counts[r.fate]++;
    CHECK_MESSAGE(r.fate != Fate::survived, described(r));
  }
  CHECK(counts[Fate::refused] > counts[Fate::same_instruction] + counts[Fate::same_where_read]);
}

TEST_CASE("verify mutants: one is refused exactly if its own proof fails") {
  for (const char* name : {"ghash", "powers", "encrypt_blocks"}) {
    const Routine routine(name);
    for (const Result& r : routine.kill(at_random(routine.mutants(), 60))) {
      CHECK_MESSAGE(routine.proved(r.mutant) == (r.fate != Fate::refused), name, ", ", described(r));
    }
  }
}

TEST_CASE("verify mutants: there are some of each kind of damage") {
  const Routine ghash("ghash");
  std::map<Damage, std::size_t> counts;
  for (const Mutant& m : ghash.mutants()) counts[m.damage]++;
  for (const Damage d : {Damage::dropped, Damage::exchanged, Damage::reg, Damage::displacement, Damage::base,
                         Damage::immediate, Damage::sibling, Damage::target, Damage::swapped}) {
    CHECK_MESSAGE(counts[d] > 0, "no mutant: ", name_of(d));
  }
}
