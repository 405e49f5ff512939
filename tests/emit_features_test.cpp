// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The CPU features that emitted code needs: computed from the code, and demanded by the runtime before it runs it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "backend.h"
#include "cpu.h"
#include "emit/features.hpp"
#include "gcm/routines.hpp"
#include "support/asm_routines.hpp"
#include "support/asm_strips.hpp"
#include "support/commands.hpp"

namespace tests {
namespace {

using namespace stitchgcm::assembly;
using namespace Xbyak::util;
using namespace stitchgcm::emit;

/// Bits of XCR0: xmm and the upper halves of ymm; masks and zmm as well.
constexpr std::uint64_t no_state = 0, vex_state = 0x6, evex_state = 0xe6;

/// An instruction, and what the Intel manual has in its column of feature flags.
struct Form {
  const char* features;
  const char* features_avx10;
  unsigned vector_bits;
  std::uint64_t state;
  void (*record)(Recorder&);
};

const char* const same = nullptr;  // of a form that is no part of AVX-512

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      // General registers. Those with VEX prefixes need no state.
      {"", same, 0, no_state, [](Recorder& c) { c.mov(rax, rcx); }},
      {"", same, 0, no_state, [](Recorder& c) { c.cmovb(rax, rdx); }},
      {"", same, 0, no_state, [](Recorder& c) { c.bswap(rax); }},
      {"", same, 0, no_state, [](Recorder& c) { c.lea(rcx, ptr[rax]); }},
      {"", same, 0, no_state, [](Recorder& c) { c.prefetcht0(ptr[rax]); }},
      {"MOVBE", same, 0, no_state, [](Recorder& c) { c.movbe(rax, ptr[rcx]); }},
      {"BMI1", same, 0, no_state, [](Recorder& c) { c.andn(rax, rcx, rdx); }},
      {"BMI2", same, 0, no_state, [](Recorder& c) { c.mulx(rax, rcx, rdx); }},
      {"BMI2", same, 0, no_state, [](Recorder& c) { c.bzhi(rax, rcx, rdx); }},
      {"BMI2", same, 0, no_state, [](Recorder& c) { c.shlx(rax, rcx, rdx); }},
      // Legacy encodings.
      {"", same, 128, no_state, [](Recorder& c) { c.movaps(xmm0, xmm1); }},
      {"", same, 128, no_state, [](Recorder& c) { c.movups(xmm0, ptr[rax]); }},
      {"", same, 128, no_state, [](Recorder& c) { c.movdqu(ptr[rax], xmm15); }},
      {"", same, 128, no_state, [](Recorder& c) { c.pxor(xmm0, xmm1); }},
      {"", same, 128, no_state, [](Recorder& c) { c.paddd(xmm0, xmm1); }},
      {"", same, 128, no_state, [](Recorder& c) { c.pshufd(xmm0, xmm1, 0x4e); }},
      {"", same, 128, no_state, [](Recorder& c) { c.movq(xmm0, rax); }},
      {"SSE3", same, 128, no_state, [](Recorder& c) { c.movddup(xmm0, xmm1); }},
      {"SSSE3", same, 128, no_state, [](Recorder& c) { c.pshufb(xmm0, xmm1); }},
      {"SSSE3", same, 128, no_state, [](Recorder& c) { c.palignr(xmm0, xmm1, 8); }},
      {"SSE4.1", same, 128, no_state, [](Recorder& c) { c.pinsrd(xmm0, eax, 3); }},
      {"SSE4.1", same, 128, no_state, [](Recorder& c) { c.pblendw(xmm0, xmm1, 0xf0); }},
      {"SSE4.1", same, 128, no_state, [](Recorder& c) { c.ptest(xmm0, xmm1); }},
      {"AES", same, 128, no_state, [](Recorder& c) { c.aesenc(xmm0, xmm1); }},
      {"AES", same, 128, no_state, [](Recorder& c) { c.aesenclast(xmm0, ptr[rax]); }},
      {"AES", same, 128, no_state, [](Recorder& c) { c.aeskeygenassist(xmm0, xmm1, 1); }},
      {"PCLMULQDQ", same, 128, no_state, [](Recorder& c) { c.pclmulqdq(xmm0, xmm1, 0x11); }},
      // VEX, 128 bits.
      {"AVX", same, 128, vex_state, [](Recorder& c) { c.vpxor(xmm0, xmm0, xmm1); }},
      {"AVX", same, 128, vex_state, [](Recorder& c) { c.vmovdqu(xmm0, ptr[rax]); }},
      {"AVX", same, 128, vex_state, [](Recorder& c) { c.vmovq(xmm0, rax); }},
      {"AVX", same, 128, vex_state, [](Recorder& c) { c.vpshufb(xmm0, xmm1, xmm2); }},
      {"AVX", same, 128, vex_state, [](Recorder& c) { c.vpinsrq(xmm0, xmm1, rax, 1); }},
      {"AES AVX", same, 128, vex_state, [](Recorder& c) { c.vaesenc(xmm0, xmm0, xmm1); }},
      {"AES AVX", same, 128, vex_state, [](Recorder& c) { c.vaeskeygenassist(xmm0, xmm1, 1); }},
      {"AVX PCLMULQDQ", same, 128, vex_state, [](Recorder& c) { c.vpclmulqdq(xmm0, xmm0, xmm1, 0); }},
      {"AVX2", same, 128, vex_state, [](Recorder& c) { c.vpbroadcastd(xmm0, xmm1); }},
      {"AVX2", same, 128, vex_state, [](Recorder& c) { c.vpblendd(xmm0, xmm1, xmm2, 1); }},
      // VEX, 256 bits.
      {"AVX", same, 0, vex_state, [](Recorder& c) { c.vzeroupper(); }},
      {"AVX", same, 0, vex_state, [](Recorder& c) { c.vzeroall(); }},
      {"AVX", same, 256, vex_state, [](Recorder& c) { c.vmovdqu(ymm0, ptr[rax]); }},
      {"AVX", same, 256, vex_state, [](Recorder& c) { c.vbroadcastf128(ymm0, ptr[rax]); }},
      {"AVX", same, 256, vex_state, [](Recorder& c) { c.vperm2f128(ymm0, ymm1, ymm2, 0x31); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vpxor(ymm0, ymm0, ymm1); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vpshufb(ymm0, ymm1, ymm2); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vbroadcasti128(ymm0, ptr[rax]); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vinserti128(ymm0, ymm1, xmm2, 1); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vextracti128(xmm0, ymm1, 1); }},
      {"AVX2", same, 256, vex_state, [](Recorder& c) { c.vpermq(ymm0, ymm1, 0x4e); }},
      {"VAES", same, 256, vex_state, [](Recorder& c) { c.vaesenc(ymm0, ymm0, ymm1); }},
      {"VAES", same, 256, vex_state, [](Recorder& c) { c.vaesenclast(ymm0, ymm0, ptr[rax]); }},
      {"VPCLMULQDQ", same, 256, vex_state, [](Recorder& c) { c.vpclmulqdq(ymm0, ymm0, ymm1, 0); }},
      // EVEX, 128 and 256 bits.
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 128, evex_state, [](Recorder& c) { c.vpxord(xmm0, xmm0, xmm1); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state, [](Recorder& c) { c.vpxorq(ymm0, ymm0, ymm31); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vpternlogq(ymm0, ymm1, ymm2, 0x96); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state, [](Recorder& c) { c.vmovdqu64(ymm16, ptr[rax]); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state, [](Recorder& c) { c.vpaddd(ymm16, ymm1, ymm2); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vbroadcasti32x4(ymm0, ptr[rax]); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vinserti32x4(ymm0, ymm1, xmm2, 1); }},
      {"AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vshufi64x2(ymm0, ymm1, ymm2, 1); }},
      {"AVX512F", "AVX10.1 AVX10_256", 128, evex_state, [](Recorder& c) { c.vmovq(xmm16, rax); }},
      {"AVX512F", "AVX10.1 AVX10_256", 128, evex_state, [](Recorder& c) { c.vmovd(eax, xmm16); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_256", 128, evex_state, [](Recorder& c) { c.vpextrb(eax, xmm16, 1); }},
      {"AVX512DQ AVX512F", "AVX10.1 AVX10_256", 128, evex_state, [](Recorder& c) { c.vpextrq(rax, xmm16, 1); }},
      {"AVX512BW AVX512F AVX512VL", "AVX10.1 AVX10_256", 128, evex_state,
       [](Recorder& c) { c.vmovdqu8(xmm0 | k1 | T_z, ptr[rax]); }},
      {"AVX512BW AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vmovdqu8(ptr[rax] | k1, ymm0); }},
      {"AVX512BW AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vpshufb(ymm16, ymm1, ymm2); }},
      {"AVX512BW AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vpslldq(ymm16, ymm1, 8); }},
      {"AVX512DQ AVX512F AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vbroadcasti64x2(ymm0, ptr[rax]); }},
      {"AVX512F AVX512VBMI AVX512VL", "AVX10.1 AVX10_256", 256, evex_state,
       [](Recorder& c) { c.vpermb(ymm0, ymm1, ymm2); }},
      {"AVX512F AVX512VL VAES", "AVX10.1 AVX10_256 VAES", 128, evex_state,
       [](Recorder& c) { c.vaesenc(xmm16, xmm0, xmm1); }},
      {"AVX512F AVX512VL VAES", "AVX10.1 AVX10_256 VAES", 256, evex_state,
       [](Recorder& c) { c.vaesenc(ymm16, ymm0, ymm1); }},
      {"AVX512F AVX512VL VPCLMULQDQ", "AVX10.1 AVX10_256 VPCLMULQDQ", 128, evex_state,
       [](Recorder& c) { c.vpclmulqdq(xmm16, xmm0, xmm1, 0); }},
      {"AVX512F AVX512VL VPCLMULQDQ", "AVX10.1 AVX10_256 VPCLMULQDQ", 256, evex_state,
       [](Recorder& c) { c.vpclmulqdq(ymm16, ymm0, ymm1, 0); }},
      // EVEX, 512 bits.
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vpxorq(zmm0, zmm0, zmm1); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vpternlogd(zmm0, zmm1, zmm2, 0x96); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vmovdqu64(ptr[rax], zmm0); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vbroadcasti32x4(zmm0, ptr[rax]); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vextracti32x4(xmm0, zmm1, 3); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vextracti64x4(ymm0, zmm1, 1); }},
      {"AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vshufi64x2(zmm0, zmm1, zmm2, 1); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vpshufb(zmm0, zmm1, zmm2); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_512", 512, evex_state,
       [](Recorder& c) { c.vmovdqu8(zmm0 | k1 | T_z, ptr[rax]); }},
      {"AVX512DQ AVX512F", "AVX10.1 AVX10_512", 512, evex_state,
       [](Recorder& c) { c.vinserti64x2(zmm0, zmm1, xmm2, 3); }},
      {"AVX512F AVX512VBMI", "AVX10.1 AVX10_512", 512, evex_state, [](Recorder& c) { c.vpermb(zmm0, zmm1, zmm2); }},
      {"AVX512F VAES", "AVX10.1 AVX10_512 VAES", 512, evex_state, [](Recorder& c) { c.vaesenc(zmm0, zmm0, zmm1); }},
      {"AVX512F VPCLMULQDQ", "AVX10.1 AVX10_512 VPCLMULQDQ", 512, evex_state,
       [](Recorder& c) { c.vpclmulqdq(zmm0, zmm0, zmm1, 0); }},
      // Masks.
      {"AVX512F", "AVX10.1 AVX10_256", 0, evex_state, [](Recorder& c) { c.kmovw(k1, eax); }},
      {"AVX512F", "AVX10.1 AVX10_256", 0, evex_state, [](Recorder& c) { c.kxnorw(k1, k1, k1); }},
      {"AVX512DQ AVX512F", "AVX10.1 AVX10_256", 0, evex_state, [](Recorder& c) { c.kmovb(k1, eax); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_256", 0, evex_state, [](Recorder& c) { c.kmovd(k1, eax); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_256", 0, evex_state, [](Recorder& c) { c.kunpckwd(k1, k2, k3); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_512", 0, evex_state, [](Recorder& c) { c.kmovq(k1, rax); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_512", 0, evex_state, [](Recorder& c) { c.kunpckdq(k1, k2, k3); }},
      {"AVX512BW AVX512F", "AVX10.1 AVX10_512", 0, evex_state, [](Recorder& c) { c.kshiftrq(k1, k2, 16); }},
  };
  return all;
}

LoweredSample sample_of(void (*record)(Recorder&)) {
  return LoweredSample({sample_routine("sample", strip_of("the strip", record))});
}

/// The recorded instruction, without what lowering put around it.
std::string text_of(const LoweredSample& sample) {
  for (const Item& item : sample.routine(0).items) {
    const auto* i = std::get_if<Instruction>(&item.value);
    if (i && i->stage == "the strip") return i->text() + "\n";
  }
  return {};
}

TEST_CASE("features: each form of an instruction adds what CPUID must say for it, and no more") {
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    CHECK_MESSAGE(joined(features(s.routine(0))) == f.features, text_of(s));
  }
}

TEST_CASE("features: a CPU with AVX10 is asked for its version and its width in place of AVX-512's bits") {
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    const std::string expected = f.features_avx10 == same ? f.features : f.features_avx10;
    CHECK_MESSAGE(joined(features(s.routine(0), Enumeration::avx10)) == expected, text_of(s));
  }
}

TEST_CASE("features: the width of vectors is that of the widest register that an instruction names") {
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    CHECK_MESSAGE(vector_bits(s.routine(0)) == f.vector_bits, text_of(s));
  }
}

TEST_CASE(
    "features: the register state is XCR0's for VEX, with masks and zmm for EVEX, and none for general registers") {
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    CHECK_MESSAGE(register_state(s.routine(0)) == f.state, text_of(s));
  }
}

TEST_CASE("features: of a routine they are those of all its instructions together") {
  const LoweredSample s = sample_of([](Recorder& c) {
    c.vaesenc(ymm0, ymm0, ymm1);
    c.vpclmulqdq(xmm0, xmm0, xmm1, 0);
    c.vpxorq(zmm0, zmm0, zmm1);
    c.shlx(rax, rcx, rdx);
  });
  CHECK(joined(features(s.routine(0))) == "AVX AVX512F BMI2 PCLMULQDQ VAES");
  CHECK(joined(features(s.routine(0), Enumeration::avx10)) == "AVX AVX10.1 AVX10_512 BMI2 PCLMULQDQ VAES");
  CHECK(vector_bits(s.routine(0)) == 512);
  CHECK(register_state(s.routine(0)) == evex_state);
}

TEST_CASE("features: an instruction of a set that is not in the table is refused by name") {
  struct Unknown {
    const char *text, *set;
    void (*record)(Recorder&);
  };
  const std::vector<Unknown> all{
      {"crc32", "SSE42", [](Recorder& c) { c.crc32(eax, ecx); }},
      {"gf2p8mulb", "GFNI", [](Recorder& c) { c.gf2p8mulb(xmm0, xmm1); }},
      {"vfmadd231ps", "FMA", [](Recorder& c) { c.vfmadd231ps(xmm0, xmm1, xmm2); }},
      {"vpmadd52luq", "AVX512_IFMA_512", [](Recorder& c) { c.vpmadd52luq(zmm0, zmm1, zmm2); }},
      {"popcnt", "POPCNT", [](Recorder& c) { c.popcnt(rax, rcx); }},
      {"adcx", "ADOX_ADCX", [](Recorder& c) { c.adcx(rax, rcx); }},
  };
  for (const Unknown& u : all) {
    const auto refused = [&] {
      const LoweredSample s = sample_of(u.record);
      features(s.routine(0));
    };
    const std::string missing = missing_from(refusal_of(refused), {u.text, u.set});
    CHECK_MESSAGE(missing.empty(), missing);
  }
}

/// The runtime's bits of the features with these names.
std::uint64_t feature_bits(const std::set<std::string>& names) {
  std::uint64_t bits = 0;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::uint64_t bit = stitchgcm_cpu_feature_named(name.data(), name.size());
    CHECK_MESSAGE(bit != 0, "code needs the feature " << name << ", which the runtime does not know");
    bits |= bit;
  }
  return bits;
}

/// A CPU that has everything that the runtime asks for, of AVX10 both widths.
stitchgcm_cpuid cpu_with_everything() {
  stitchgcm_cpuid cpuid{};
  for (std::uint32_t& value : cpuid.value) value = 0xffffffff;
  return cpuid;
}

/// "" if the runtime finds all of these features in a CPU whose operating system enabled this register state, and not
/// all of them once one bit of the state is missing; else the XCR0 that is taken or refused and should not be.
std::string state_that_is_judged_wrong(std::uint64_t feature_bits, std::uint64_t state) {
  const stitchgcm_cpuid cpuid = cpu_with_everything();
  const auto suffices = [&](std::uint64_t xcr0) { return (feature_bits & ~stitchgcm_cpu_features(&cpuid, xcr0)) == 0; };
  if (!suffices(state)) return fmt::format("{:#x} is refused", state);
  for (unsigned bit = 0; bit < 64; bit++) {
    const std::uint64_t less = ~(std::uint64_t{1} << bit);
    if ((state >> bit & 1) != 0 && suffices(less)) return fmt::format("{:#x} is taken", less);
  }
  return {};
}

TEST_CASE("features: the runtime knows the features of each form, and demands the register state that the form needs") {
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    for (const Enumeration by : {Enumeration::avx512, Enumeration::avx10}) {
      const std::string wrong =
          state_that_is_judged_wrong(feature_bits(features(s.routine(0), by)), register_state(s.routine(0)));
      CHECK_MESSAGE(wrong.empty(), text_of(s) << "XCR0 " << wrong);
    }
  }
}

/// What the catalogue's code of a backend needs, computed from it here and now.
struct Needs {
  std::set<std::string> features, features_avx10;
  unsigned vector_bits = 0;
  std::uint64_t state = 0;
};

std::map<std::string, Needs> needs_by_backend() {
  std::map<std::string, Needs> all;
  for (const SourceFile& file : stitchgcm::gcm::aesni_avx({})) {
    const LoweredFile lowered = lower(file);
    Needs& n = all[file.backend];
    for (const LoweredRoutine& r : lowered.routines) {
      n.features.merge(features(r));
      n.features_avx10.merge(features(r, Enumeration::avx10));
      n.vector_bits = std::max(n.vector_bits, vector_bits(r));
      n.state |= register_state(r);
    }
  }
  return all;
}

TEST_CASE("features: the runtime demands of the CPU what a backend's instructions need, and no more") {
  const std::map<std::string, Needs> needs = needs_by_backend();
  for (std::size_t n = 0; n + 1 < stitchgcm_backends_count; n++) {
    const stitchgcm_backend& backend = stitchgcm_backends[n];
    REQUIRE_MESSAGE(needs.contains(backend.name), backend.name << " is not generated");
    const Needs& needed = needs.at(backend.name);
    CHECK_MESSAGE(backend.features == feature_bits(needed.features), backend.name);
    CHECK_MESSAGE(backend.features_avx10 == feature_bits(needed.features_avx10), backend.name << ", as AVX10");
    CHECK_MESSAGE(backend.vector_bits == needed.vector_bits, backend.name);
  }
  CHECK_MESSAGE(stitchgcm_backends_count == needs.size() + 1, "a generated backend is not in the runtime's table");
}

TEST_CASE("features: the runtime demands of the operating system the registers that a backend's instructions touch") {
  const std::map<std::string, Needs> needs = needs_by_backend();
  for (std::size_t n = 0; n + 1 < stitchgcm_backends_count; n++) {
    const stitchgcm_backend& backend = stitchgcm_backends[n];
    REQUIRE_MESSAGE(needs.contains(backend.name), backend.name << " is not generated");
    for (const std::uint64_t bits : {backend.features, backend.features_avx10}) {
      const std::string wrong = state_that_is_judged_wrong(bits, needs.at(backend.name).state);
      CHECK_MESSAGE(wrong.empty(), backend.name << ": XCR0 " << wrong);
    }
  }
}

/// What GNU as is to be held to. Its names are those of the features but for two; ibt is for endbr64.
std::string march(const std::set<std::string>& names) {
  std::string text = "-march=generic64+ibt";
  for (const std::string& n : names) {
    std::string name = n == "PCLMULQDQ" ? "pclmul" : n == "BMI1" ? "bmi" : n;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    text += "+" + name;
  }
  return text;
}

/// In GNU as a feature brings those along that it builds on, so that one of them cannot be left out.
bool is_brought_along(const std::string& name, const std::set<std::string>& others) {
  return name == "AVX512F" && std::ranges::any_of(others, [](const auto& o) { return o.starts_with("AVX512"); });
}

/// "" if assembles(names) and, for each one of the names, not with the others alone; else what is wrong.
template <class Assembles>
std::string not_exactly_needed(const std::set<std::string>& names, const Assembles& assembles) {
  if (!assembles(names)) return "more is needed than " + joined(names);
  for (const std::string& name : names) {
    std::set<std::string> others = names;
    others.erase(name);
    if (!is_brought_along(name, others) && assembles(others)) return name + " is not needed";
  }
  return {};
}

TEST_CASE("features: held to those of a form, GNU as takes it, and with any one of them left out it does not") {
  const TemporaryFolder folder;
  const std::string source = (folder / "form.s").string(), object = (folder / "form.o").string();
  for (const Form& f : forms()) {
    const LoweredSample s = sample_of(f.record);
    write_file(source, ".intel_syntax noprefix\n" + text_of(s));
    const std::string wrong = not_exactly_needed(features(s.routine(0)), [&](const std::set<std::string>& names) {
      return run_command({"as", march(names), source, "-o", object}).code == 0;
    });
    CHECK_MESSAGE(wrong.empty(), text_of(s) << wrong);
  }
}

/// File of emitted/ -> all the features that MANIFEST lists for its symbols.
std::map<std::string, std::set<std::string>> features_in_manifest() {
  std::map<std::string, std::set<std::string>> all;
  std::istringstream manifest(contents(std::filesystem::path(STITCHGCM_SOURCE_FOLDER) / "emitted" / "MANIFEST"));
  std::string file;
  for (std::string line; std::getline(manifest, line);) {
    if (line.ends_with(".S")) file = line;
    std::istringstream words(line);
    std::string symbol, bytes, hash, stack, stack_bytes;
    words >> symbol >> bytes >> hash >> stack >> stack_bytes;
    if (!line.starts_with("  ") || stack != "stack") continue;
    for (std::string name; words >> name;) all[file].insert(name);
  }
  return all;
}

TEST_CASE("features: held to what MANIFEST lists, GNU as takes each emitted file, and with one left out it does not") {
  const TemporaryFolder folder;
  const std::string object = (folder / "file.o").string();
  const auto files = features_in_manifest();
  CHECK(!files.empty());
  for (const auto& entry : files) {
    const std::string& file = entry.first;
    const std::string source = STITCHGCM_SOURCE_FOLDER "/emitted/" + file;
    const std::string wrong = not_exactly_needed(entry.second, [&](const std::set<std::string>& names) {
      return run_command({"gcc", "-c", "-Wa," + march(names), source, "-o", object}).code == 0;
    });
    CHECK_MESSAGE(wrong.empty(), file << ": " << wrong);
  }
}

}  // namespace
}  // namespace tests
