// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The CPU features that emitted code needs: computed from the code, and demanded by the runtime before it runs it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "backend.h"
#include "cpu.h"
#include "emit/features.hpp"
#include "support/asm_routines.hpp"
#include "support/asm_strips.hpp"
#include "support/commands.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;
using stitchgcm::emit::features;
using stitchgcm::emit::joined;

template <class Record>
std::string features_of(Record record) {
  const LoweredSample s({sample_routine("sample", strip_of("the strip", record))});
  return joined(features(s.routine(0)));
}

TEST_CASE("features: each instruction adds what CPUID must say for it, and no more") {
  CHECK(features_of([](Recorder& c) { c.mov(rax, rcx), c.cmovb(rax, rdx), c.bswap(rax), c.lea(rcx, ptr[rax]); }) == "");
  CHECK(features_of([](Recorder& c) { c.vpxor(xmm0, xmm0, xmm1); }) == "AVX");
  CHECK(features_of([](Recorder& c) { c.vaesenc(xmm0, xmm0, xmm1); }) == "AES AVX");
  CHECK(features_of([](Recorder& c) { c.vaeskeygenassist(xmm0, xmm1, 1); }) == "AES AVX");
  CHECK(features_of([](Recorder& c) { c.vpclmulqdq(xmm0, xmm0, xmm1, 0); }) == "AVX PCLMULQDQ");
}

TEST_CASE("features: an instruction of a set that is not in the table is refused by name") {
  struct Unknown {
    const char *text, *set;
    void (*record)(Recorder&);
  };
  const std::vector<Unknown> all{
      {"pxor xmm0, xmm1", "SSE2", [](Recorder& c) { c.pxor(xmm0, xmm1); }},
      {"vpxor ymm0, ymm0, ymm1", "AVX2", [](Recorder& c) { c.vpxor(ymm0, ymm0, ymm1); }},
      {"movbe rax, [rcx]", "MOVBE", [](Recorder& c) { c.movbe(rax, ptr[rcx]); }},
      {"mulx rax, rcx, rdx", "BMI2", [](Recorder& c) { c.mulx(rax, rcx, rdx); }},
      {"vaesenc ymm0, ymm0, ymm1", "VAES", [](Recorder& c) { c.vaesenc(ymm0, ymm0, ymm1); }},
      {"vpclmulqdq ymm0", "VPCLMULQDQ", [](Recorder& c) { c.vpclmulqdq(ymm0, ymm0, ymm1, 0); }},
      {"vpxord xmm0", "AVX512", [](Recorder& c) { c.vpxord(xmm0, xmm0, xmm1); }},
  };
  for (const Unknown& u : all) {
    const std::string missing = missing_from(refusal_of([&] { features_of(u.record); }), {u.text, u.set});
    CHECK_MESSAGE(missing.empty(), missing);
  }
}

std::uint64_t feature_bits(std::string names) {
  std::ranges::transform(names, names.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::istringstream words(names);
  std::uint64_t bits = 0;
  for (std::string name; words >> name;) {
    const std::uint64_t bit = stitchgcm_cpu_feature_named(name.data(), name.size());
    CHECK_MESSAGE(bit != 0, "MANIFEST names the feature " << name << ", which the runtime does not know");
    bits |= bit;
  }
  return bits;
}

/// All the features of a backend's lines in MANIFEST.
std::uint64_t features_in_manifest(const std::string& backend) {
  std::istringstream manifest(contents(std::filesystem::path(STITCHGCM_SOURCE_FOLDER) / "emitted" / "MANIFEST"));
  std::uint64_t bits = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream words(line);
    std::string symbol, bytes, hash, stack, stack_bytes, names;
    words >> symbol >> bytes >> hash >> stack >> stack_bytes;
    if (stack != "stack" || !symbol.ends_with("_" + backend)) continue;
    std::getline(words, names);
    bits |= feature_bits(names);
  }
  return bits;
}

/// What a CPU with these features has besides: a CPU with AVX has all of SSE.
std::uint64_t with_implied(std::uint64_t bits) {
  if ((bits & STITCHGCM_CPU_AVX) != 0) bits |= STITCHGCM_CPU_SSSE3 | STITCHGCM_CPU_SSE4_1;
  return bits;
}

TEST_CASE("features: the runtime demands of the CPU what MANIFEST says that a backend's code needs, and no more") {
  std::size_t checked = 0;
  for (std::size_t n = 0; n < stitchgcm_backends_count; n++) {
    const std::string name = stitchgcm_backends[n].name;
    if (name == "portable") continue;
    CAPTURE(name);
    CHECK(with_implied(features_in_manifest(name)) == stitchgcm_backends[n].features);
    checked++;
  }
  CHECK_MESSAGE(checked > 0, "no emitted backend is in the runtime's table");
}

}  // namespace
}  // namespace tests
