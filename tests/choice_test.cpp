// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Which backend a CPU gets, for CPUs and operating systems that are not here, with every backend in the table.
#include "choice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu.h"
#include "cpu_clock.h"
#include "support/every_backend.hpp"

namespace tests {
namespace {

constexpr std::uint64_t xcr0_sse = 0x3, xcr0_avx = 0x7, xcr0_avx512 = 0xe7;

// A CPU's answers. The bits that the runtime reads are those of the model; others vary with firmware and hypervisor.
struct Cpu {
  const char* name;
  const char* maker;
  std::uint32_t leaf_1_eax, leaf_1_ecx, leaf_7_ebx, leaf_7_ecx, leaf_7_1_edx, leaf_24_ebx;
  std::uint64_t xcr0;
};

constexpr const char* intel = "GenuineIntel";
constexpr const char* amd = "AuthenticAMD";

constexpr Cpu goldmont{"Goldmont", intel, 0x506c9, 0x4ff8ebbf, 0x2294e283, 0, 0, 0, xcr0_sse};
constexpr Cpu haswell{"Haswell", intel, 0x306c3, 0x7ffafbbf, 0x000027ab, 0, 0, 0, xcr0_avx};
constexpr Cpu skylake{"Skylake (client)", intel, 0x506e3, 0x7ffafbbf, 0x029c6fbf, 0, 0, 0, xcr0_avx};
constexpr Cpu skylake_x{"Skylake-X", intel, 0x50654, 0x7ffefbff, 0xd39ffffb, 0x00000008, 0, 0, xcr0_avx512};
constexpr Cpu cascade_lake{"Cascade Lake", intel, 0x50657, 0x7ffefbff, 0xd39ffffb, 0x00000808, 0, 0, xcr0_avx512};
constexpr Cpu ice_lake{"Ice Lake (client)", intel, 0x706e5, 0x7ffafbbf, 0xf2bf27ef, 0x40405f4e, 0, 0, xcr0_avx512};
constexpr Cpu ice_lake_x{"Ice Lake (server)", intel, 0x606a6, 0x7ffefbff, 0xf3bfbfeb, 0x40417f5e, 0, 0, xcr0_avx512};
constexpr Cpu alder_lake{"Alder Lake", intel, 0x90672, 0x7ffafbff, 0x239c27eb, 0x98c027ac, 0, 0, xcr0_avx};
constexpr Cpu sapphire_rapids{"Sapphire Rapids", intel, 0x806f8, 0x7ffefbff, 0xf3bfbfeb, 0xfb417ffe, 0, 0, xcr0_avx512};
constexpr Cpu granite_rapids{
    "Granite Rapids (AVX10.1)", intel, 0xa06d1, 0x7ffefbff, 0xf3bfbfeb, 0xfb417ffe, 1 << 19, 0x00070001, xcr0_avx512};
// Made up: parts that tell of EVEX by AVX10 alone, with 256 bits at most and with 512. 0x239c27eb has no AVX-512.
constexpr Cpu avx10_2_256{"AVX10.2, 256 bits", intel,   0x4006c0,   0x7ffefbff, 0x239c27eb,
                          0x98c027ac,          1 << 19, 0x00030002, xcr0_avx512};
constexpr Cpu avx10_2_512{"AVX10.2, 512 bits", intel,   0x4006c0,   0x7ffefbff, 0x239c27eb,
                          0x98c027ac,          1 << 19, 0x00070002, xcr0_avx512};
constexpr Cpu zen_2{"Zen 2", amd, 0x830f10, 0x7ed8320b, 0x219c91a9, 0x00400004, 0, 0, xcr0_avx};
constexpr Cpu zen_3{"Zen 3", amd, 0xa20f10, 0x7ef8320b, 0x219c97a9, 0x0040068c, 0, 0, xcr0_avx};
constexpr Cpu zen_4{"Zen 4", amd, 0xa60f12, 0x7ef8320b, 0xf1bf97a9, 0x00405fce, 0, 0, xcr0_avx512};
constexpr Cpu zen_5{"Zen 5", amd, 0xb40f40, 0x7ef8320b, 0xf1bf97a9, 0x18405fce, 0, 0, xcr0_avx512};

constexpr Cpu renamed(Cpu cpu, const char* name) {
  cpu.name = name;
  return cpu;
}

// FMA and F16C go with AVX. A hypervisor that hides AVX leaves the bits of leaf 7, if it is a careless one.
constexpr Cpu without_avx(Cpu cpu, const char* name) {
  cpu.leaf_1_ecx &= ~(1u << 28 | 1u << 12 | 1u << 29);
  return renamed(cpu, name);
}

constexpr Cpu with_xcr0(Cpu cpu, std::uint64_t xcr0, const char* name) {
  cpu.xcr0 = xcr0;
  return renamed(cpu, name);
}

constexpr Cpu without_osxsave(Cpu cpu, const char* name) {
  cpu.leaf_1_ecx &= ~(1u << 27);
  return with_xcr0(cpu, 0, name);
}

// A virtual machine that names itself after one model and has the features of another.
constexpr Cpu with_model_of(Cpu cpu, const Cpu& other, const char* name) {
  cpu.leaf_1_eax = other.leaf_1_eax;
  cpu.maker = other.maker;
  return renamed(cpu, name);
}

stitchgcm_cpuid registers_of(const Cpu& cpu) {
  stitchgcm_cpuid cpuid{};
  cpuid.value[STITCHGCM_CPUID_0_EAX] = cpu.leaf_24_ebx != 0 ? 0x24 : 0x1f;
  std::memcpy(&cpuid.value[STITCHGCM_CPUID_0_EBX], cpu.maker, 4);
  std::memcpy(&cpuid.value[STITCHGCM_CPUID_0_EDX], cpu.maker + 4, 4);
  std::memcpy(&cpuid.value[STITCHGCM_CPUID_0_ECX], cpu.maker + 8, 4);
  cpuid.value[STITCHGCM_CPUID_1_EAX] = cpu.leaf_1_eax;
  cpuid.value[STITCHGCM_CPUID_1_ECX] = cpu.leaf_1_ecx;
  cpuid.value[STITCHGCM_CPUID_7_EAX] = 1;
  cpuid.value[STITCHGCM_CPUID_7_EBX] = cpu.leaf_7_ebx;
  cpuid.value[STITCHGCM_CPUID_7_ECX] = cpu.leaf_7_ecx;
  cpuid.value[STITCHGCM_CPUID_7_1_EDX] = cpu.leaf_7_1_edx;
  cpuid.value[STITCHGCM_CPUID_24_EBX] = cpu.leaf_24_ebx;
  return cpuid;
}

stitchgcm_choice choice_for(const Cpu& cpu) {
  const stitchgcm_cpuid cpuid = registers_of(cpu);
  return stitchgcm_choose(every_backend, every_backend_count, stitchgcm_cpu_features(&cpuid, cpu.xcr0),
                          stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid));
}

// "preferred: the others that are available, best first"
std::string told(const stitchgcm_choice& choice) {
  std::string text = fmt::format("{}:", every_backend[choice.preferred].name);
  for (std::size_t i = 0; i < every_backend_count; ++i) {
    if ((choice.available >> i & 1) != 0 && i != choice.preferred) text += fmt::format(" {}", every_backend[i].name);
  }
  return text;
}

struct Expectation {
  Cpu cpu;
  const char* choice;
};

void check_choices(const std::vector<Expectation>& all) {
  for (const Expectation& e : all) {
    CHECK_MESSAGE(told(choice_for(e.cpu)) == e.choice, e.cpu.name << " gets " << told(choice_for(e.cpu)));
  }
}

constexpr const char* only_portable = "portable:";
constexpr const char* only_aesni = "aesni: portable";
constexpr const char* up_to_avx = "aesni_avx: aesni portable";
constexpr const char* up_to_avx2 = "vaes_avx2: aesni_avx aesni portable";
constexpr const char* up_to_evex_256 = "vaes_avx10_256: vaes_avx2 aesni_avx aesni portable";
constexpr const char* up_to_512 = "vaes_avx512: vaes_avx10_256 vaes_avx2 aesni_avx aesni portable";

TEST_CASE("choice: the table is ordered by preference, widest first, portable last") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < every_backend_count; ++i) names.emplace_back(every_backend[i].name);
  CHECK(names ==
        std::vector<std::string>{"vaes_avx512", "vaes_avx10_256", "vaes_avx2", "aesni_avx", "aesni", "portable"});
}

TEST_CASE("choice: Intel's CPUs without AVX-512 get the widest of what they have") {
  check_choices({{goldmont, only_aesni}, {haswell, up_to_avx}, {skylake, up_to_avx}, {alder_lake, up_to_avx2}});
}

TEST_CASE("choice: AVX-512 without VAES is of no use to any backend") {
  check_choices({{skylake_x, up_to_avx}, {cascade_lake, up_to_avx}});
}

TEST_CASE("choice: Ice Lake and later get 512-bit vectors") {
  check_choices({{ice_lake, up_to_512}, {ice_lake_x, up_to_512}, {sapphire_rapids, up_to_512}});
}

TEST_CASE("choice: AVX10 alone is enough, up to the width of its vectors") {
  check_choices({{granite_rapids, up_to_512}, {avx10_2_256, up_to_evex_256}, {avx10_2_512, up_to_512}});
}

TEST_CASE("choice: AMD's Zen 2 has AVX alone, Zen 3 adds VAES, Zen 4 and 5 AVX-512") {
  check_choices({{zen_2, up_to_avx}, {zen_3, up_to_avx2}, {zen_4, up_to_512}, {zen_5, up_to_512}});
}

TEST_CASE("choice: a virtual machine that hides AVX gets legacy encodings, whatever else it shows") {
  check_choices({{without_avx(haswell, "Haswell, AVX hidden"), only_aesni},
                 {without_avx(zen_5, "Zen 5, AVX hidden"), only_aesni},
                 {without_avx(granite_rapids, "Granite Rapids, AVX hidden"), only_aesni},
                 {without_avx(avx10_2_512, "AVX10.2, AVX hidden"), only_aesni}});
}

TEST_CASE("choice: a virtual machine that hides AES gets portable C") {
  Cpu cpu = renamed(zen_5, "Zen 5, AES hidden");
  cpu.leaf_1_ecx &= ~(1u << 25);
  check_choices({{cpu, only_portable}});
}

TEST_CASE("choice: an operating system that does not enable zmm and masks gets 256-bit vectors by VEX") {
  check_choices({{with_xcr0(sapphire_rapids, xcr0_avx, "Sapphire Rapids, XCR0 0x7"), up_to_avx2},
                 {with_xcr0(avx10_2_512, xcr0_avx, "AVX10.2, XCR0 0x7"), up_to_avx2},
                 {with_xcr0(zen_4, 0x27, "Zen 4, masks only"), up_to_avx2},
                 {with_xcr0(zen_4, 0x67, "Zen 4, without zmm16 to zmm31"), up_to_avx2},
                 {with_xcr0(zen_4, 0xc7, "Zen 4, without masks"), up_to_avx2}});
}

TEST_CASE("choice: an operating system that does not enable ymm, or has no XSAVE, gets legacy encodings") {
  check_choices({{with_xcr0(sapphire_rapids, xcr0_sse, "Sapphire Rapids, XCR0 0x3"), only_aesni},
                 {with_xcr0(zen_4, 0xe3, "Zen 4, zmm without ymm"), only_aesni},
                 {without_osxsave(zen_4, "Zen 4, no OSXSAVE"), only_aesni}});
}

TEST_CASE("choice: 512-bit vectors are passed over where they lower the clock, and stay available by name") {
  check_choices({{with_model_of(ice_lake, skylake_x, "Ice Lake's features under Skylake-X's model"),
                  "vaes_avx10_256: vaes_avx512 vaes_avx2 aesni_avx aesni portable"},
                 {with_model_of(avx10_2_512, cascade_lake, "AVX10 under Cascade Lake's model"),
                  "vaes_avx10_256: vaes_avx512 vaes_avx2 aesni_avx aesni portable"}});
}

TEST_CASE("choice: without any feature it is portable C, with or without a lower clock") {
  for (const int lowers : {0, 1}) {
    CHECK(told(stitchgcm_choose(every_backend, every_backend_count, 0, lowers)) == only_portable);
  }
}

TEST_CASE("choice: an empty table has no preferred backend") {
  const stitchgcm_choice choice = stitchgcm_choose(every_backend, 0, ~std::uint64_t{0}, 0);
  CHECK(choice.available == 0);
  CHECK(choice.preferred == 0);
}

// All models of family 6, of Intel and of others.
std::vector<std::uint32_t> models_that_lower_their_clock(const char* maker) {
  std::vector<std::uint32_t> models;
  for (std::uint32_t model = 0; model < 256; ++model) {
    Cpu cpu = skylake_x;
    cpu.maker = maker;
    cpu.leaf_1_eax = (model >> 4) << 16 | 6 << 8 | (model & 0xf) << 4;
    const stitchgcm_cpuid cpuid = registers_of(cpu);
    if (stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid) != 0) models.push_back(model);
  }
  return models;
}

TEST_CASE("CPU clock: four models of Intel's family 6 lower it for 512-bit vectors, and no other") {
  CHECK(models_that_lower_their_clock(intel) == std::vector<std::uint32_t>{0x55, 0x57, 0x66, 0x85});
}

TEST_CASE("CPU clock: another maker's model of the same number is another CPU") {
  for (const char* maker : {amd, "CentaurHauls", "  Shanghai  ", "GenuineIotel"}) {
    CHECK_MESSAGE(models_that_lower_their_clock(maker).empty(), maker);
  }
}

TEST_CASE("CPU clock: each stepping of a listed model counts, and no other family with its model number") {
  const auto lowers = [](std::uint32_t leaf_1_eax) {
    Cpu cpu = skylake_x;
    cpu.leaf_1_eax = leaf_1_eax;
    const stitchgcm_cpuid cpuid = registers_of(cpu);
    return stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid);
  };
  for (std::uint32_t stepping = 0; stepping < 16; ++stepping) {
    CHECK_MESSAGE(lowers(0x50650 | stepping) == 1, "stepping " << stepping);
  }
  CHECK_MESSAGE(lowers(0x00050f50) == 0, "family 15, model 0x55");
  CHECK_MESSAGE(lowers(0x00450f50) == 0, "family 19, model 0x55");
  CHECK_MESSAGE(lowers(0x00050550) == 0, "family 5, model 5: its extended model does not count");
  CHECK_MESSAGE(lowers(0x00150650) == 1, "family 6: its extended family does not count");
}

TEST_CASE("CPU clock: a CPU whose highest leaf is 0 has no model") {
  stitchgcm_cpuid cpuid = registers_of(skylake_x);
  cpuid.value[STITCHGCM_CPUID_0_EAX] = 0;
  CHECK(stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid) == 0);
}

}  // namespace
}  // namespace tests
