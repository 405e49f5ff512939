// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// What a CPU may use, as a function of CPUID and XCR0, for CPUs and operating systems that are not here; and the list
// that takes features away for tests.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "cpu.h"
#include "cpu_pretend.h"

namespace tests {
namespace {

using Features = std::uint64_t;

constexpr Features no_register_state = STITCHGCM_CPU_AES | STITCHGCM_CPU_PCLMULQDQ | STITCHGCM_CPU_SSE3 |
                                       STITCHGCM_CPU_SSSE3 | STITCHGCM_CPU_SSE4_1 | STITCHGCM_CPU_MOVBE |
                                       STITCHGCM_CPU_BMI1 | STITCHGCM_CPU_BMI2;
constexpr Features avx512_extensions =
    STITCHGCM_CPU_AVX512DQ | STITCHGCM_CPU_AVX512BW | STITCHGCM_CPU_AVX512VL | STITCHGCM_CPU_AVX512VBMI;
constexpr Features avx10_details =
    STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_2 | STITCHGCM_CPU_AVX10_256 | STITCHGCM_CPU_AVX10_512;
constexpr Features avx512_state = STITCHGCM_CPU_AVX512F | avx512_extensions | STITCHGCM_CPU_AVX10 | avx10_details;
constexpr Features avx_state = STITCHGCM_CPU_AVX | STITCHGCM_CPU_AVX2 | STITCHGCM_CPU_VAES | STITCHGCM_CPU_VPCLMULQDQ;
constexpr Features everything = no_register_state | avx_state | avx512_state;

constexpr std::uint64_t xcr0_of_avx512 = 0xe7;

// Where Intel's manual puts each bit, and what must go when only this bit is missing.
struct Bit {
  const char* name;
  stitchgcm_cpuid_register where;
  unsigned bit;
  Features lost;
};

constexpr std::array bits{
    Bit{"SSE3", STITCHGCM_CPUID_1_ECX, 0, STITCHGCM_CPU_SSE3},
    Bit{"PCLMULQDQ", STITCHGCM_CPUID_1_ECX, 1, STITCHGCM_CPU_PCLMULQDQ},
    Bit{"SSSE3", STITCHGCM_CPUID_1_ECX, 9, STITCHGCM_CPU_SSSE3},
    Bit{"SSE4.1", STITCHGCM_CPUID_1_ECX, 19, STITCHGCM_CPU_SSE4_1},
    Bit{"MOVBE", STITCHGCM_CPUID_1_ECX, 22, STITCHGCM_CPU_MOVBE},
    Bit{"AES", STITCHGCM_CPUID_1_ECX, 25, STITCHGCM_CPU_AES},
    Bit{"OSXSAVE", STITCHGCM_CPUID_1_ECX, 27, avx_state | avx512_state},
    Bit{"AVX", STITCHGCM_CPUID_1_ECX, 28, avx_state | avx512_state},
    Bit{"BMI1", STITCHGCM_CPUID_7_EBX, 3, STITCHGCM_CPU_BMI1},
    Bit{"AVX2", STITCHGCM_CPUID_7_EBX, 5, STITCHGCM_CPU_AVX2 | avx512_state},
    Bit{"BMI2", STITCHGCM_CPUID_7_EBX, 8, STITCHGCM_CPU_BMI2},
    Bit{"AVX512F", STITCHGCM_CPUID_7_EBX, 16, STITCHGCM_CPU_AVX512F | avx512_extensions},
    Bit{"AVX512DQ", STITCHGCM_CPUID_7_EBX, 17, STITCHGCM_CPU_AVX512DQ},
    Bit{"AVX512BW", STITCHGCM_CPUID_7_EBX, 30, STITCHGCM_CPU_AVX512BW},
    Bit{"AVX512VL", STITCHGCM_CPUID_7_EBX, 31, STITCHGCM_CPU_AVX512VL},
    Bit{"AVX512VBMI", STITCHGCM_CPUID_7_ECX, 1, STITCHGCM_CPU_AVX512VBMI},
    Bit{"VAES", STITCHGCM_CPUID_7_ECX, 9, STITCHGCM_CPU_VAES},
    Bit{"VPCLMULQDQ", STITCHGCM_CPUID_7_ECX, 10, STITCHGCM_CPU_VPCLMULQDQ},
    Bit{"AVX10", STITCHGCM_CPUID_7_1_EDX, 19, STITCHGCM_CPU_AVX10 | avx10_details},
    Bit{"AVX10 256-bit", STITCHGCM_CPUID_24_EBX, 17, STITCHGCM_CPU_AVX10_256},
    Bit{"AVX10 512-bit", STITCHGCM_CPUID_24_EBX, 18, STITCHGCM_CPU_AVX10_512},
};

// A CPU that has exactly the bits above, AVX10 version 2, and no other bit of any register.
stitchgcm_cpuid full_cpu() {
  stitchgcm_cpuid cpuid{};
  cpuid.value[STITCHGCM_CPUID_0_EAX] = 0x24;
  cpuid.value[STITCHGCM_CPUID_7_EAX] = 1;
  for (const Bit& bit : bits) cpuid.value[bit.where] |= std::uint32_t{1} << bit.bit;
  cpuid.value[STITCHGCM_CPUID_24_EBX] |= 2;
  return cpuid;
}

stitchgcm_cpuid full_cpu_with(stitchgcm_cpuid_register where, std::uint32_t value) {
  stitchgcm_cpuid cpuid = full_cpu();
  cpuid.value[where] = value;
  return cpuid;
}

void check_features(const stitchgcm_cpuid& cpuid, std::uint64_t xcr0, Features want, std::string_view which) {
  const Features got = stitchgcm_cpu_features(&cpuid, xcr0);
  CHECK_MESSAGE(got == want, fmt::format("{}: features {:#x} too many, {:#x} missing (bits of cpu.h)", which,
                                         got & ~want, want & ~got));
}

TEST_CASE("CPU features: a CPU with every bit has every feature") {
  check_features(full_cpu(), xcr0_of_avx512, everything, "all bits");
}

TEST_CASE("CPU features: registers of zeros have none") { check_features(stitchgcm_cpuid{}, 0, 0, "no bits"); }

TEST_CASE("CPU features: each bit that is missing takes its feature and what builds on it, and nothing else") {
  for (const Bit& bit : bits) {
    stitchgcm_cpuid cpuid = full_cpu();
    cpuid.value[bit.where] &= ~(std::uint32_t{1} << bit.bit);
    check_features(cpuid, xcr0_of_avx512, everything & ~bit.lost, fmt::format("without {}", bit.name));
  }
}

TEST_CASE("CPU features: no other bit of these registers makes a feature") {
  stitchgcm_cpuid cpuid{};
  for (std::uint32_t& value : cpuid.value) value = 0xffffffff;
  for (const Bit& bit : bits) cpuid.value[bit.where] &= ~(std::uint32_t{1} << bit.bit);
  cpuid.value[STITCHGCM_CPUID_24_EBX] &= ~std::uint32_t{0xff};
  check_features(cpuid, ~std::uint64_t{0}, 0, "all bits but those");
}

TEST_CASE("CPU features: without OSXSAVE nothing needs XCR0 to be believed") {
  const stitchgcm_cpuid cpuid =
      full_cpu_with(STITCHGCM_CPUID_1_ECX, full_cpu().value[STITCHGCM_CPUID_1_ECX] & ~(std::uint32_t{1} << 27));
  check_features(cpuid, 0, no_register_state, "OSXSAVE off, XCR0 0");
  check_features(cpuid, ~std::uint64_t{0}, no_register_state, "OSXSAVE off, XCR0 all ones");
}

TEST_CASE("CPU features: an operating system without the AVX state takes AVX and all that builds on it") {
  for (const std::uint64_t missing : {0x2u, 0x4u, 0x6u}) {
    check_features(full_cpu(), xcr0_of_avx512 & ~missing, no_register_state,
                   fmt::format("XCR0 without {:#x}", missing));
  }
}

TEST_CASE(
    "CPU features: an operating system without the AVX-512 state takes AVX-512 and AVX10 and leaves AVX2 and VAES") {
  for (const std::uint64_t missing : {0x20u, 0x40u, 0x80u, 0xe0u}) {
    check_features(full_cpu(), xcr0_of_avx512 & ~missing, no_register_state | avx_state,
                   fmt::format("XCR0 without {:#x}", missing));
  }
}

TEST_CASE("CPU features: what CPUID returns beyond its highest leaf and sub-leaf does not count") {
  check_features(full_cpu_with(STITCHGCM_CPUID_0_EAX, 0), xcr0_of_avx512, 0, "highest leaf 0");
  constexpr Features of_leaf_1 = STITCHGCM_CPU_AES | STITCHGCM_CPU_PCLMULQDQ | STITCHGCM_CPU_SSE3 |
                                 STITCHGCM_CPU_SSSE3 | STITCHGCM_CPU_SSE4_1 | STITCHGCM_CPU_MOVBE | STITCHGCM_CPU_AVX;
  for (const std::uint32_t highest : {1u, 6u}) {
    check_features(full_cpu_with(STITCHGCM_CPUID_0_EAX, highest), xcr0_of_avx512, of_leaf_1,
                   fmt::format("highest leaf {}", highest));
  }
  for (const std::uint32_t highest : {0x7u, 0x23u}) {
    check_features(full_cpu_with(STITCHGCM_CPUID_0_EAX, highest), xcr0_of_avx512, everything & ~avx10_details,
                   fmt::format("highest leaf {:#x}", highest));
  }
  check_features(full_cpu_with(STITCHGCM_CPUID_7_EAX, 0), xcr0_of_avx512,
                 everything & ~avx10_details & ~Features{STITCHGCM_CPU_AVX10}, "leaf 7 without sub-leaf 1");
}

TEST_CASE("CPU features: AVX10 counts by version and by vector length") {
  constexpr Features without_details = everything & ~avx10_details;
  constexpr std::uint32_t has_256 = 1 << 17, has_512 = 1 << 18;
  struct Leaf {
    std::uint32_t ebx;
    Features details;
  };
  for (const Leaf& leaf : {
           Leaf{0, 0},
           Leaf{1 | has_256, STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_256},
           Leaf{1 | has_256 | has_512, STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_256 | STITCHGCM_CPU_AVX10_512},
           Leaf{2 | has_256, STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_2 | STITCHGCM_CPU_AVX10_256},
           Leaf{255, STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_2},
       }) {
    check_features(full_cpu_with(STITCHGCM_CPUID_24_EBX, leaf.ebx), xcr0_of_avx512, without_details | leaf.details,
                   fmt::format("leaf 0x24 with EBX {:#x}", leaf.ebx));
  }
}

#if defined(__x86_64__)
TEST_CASE("CPU features: of this CPU they are what the compiler's own detection says") {
  stitchgcm_cpuid cpuid{};
  std::uint64_t xcr0 = 0;
  stitchgcm_cpu_read(&cpuid, &xcr0);
  const Features features = stitchgcm_cpu_features(&cpuid, xcr0);
  __builtin_cpu_init();
  const auto agrees = [&](Features feature, int compiler_says, const char* name) {
    CHECK_MESSAGE(((features & feature) != 0) == (compiler_says != 0), name << " of this CPU");
  };
  agrees(STITCHGCM_CPU_AES, __builtin_cpu_supports("aes"), "AES");
  agrees(STITCHGCM_CPU_PCLMULQDQ, __builtin_cpu_supports("pclmul"), "PCLMULQDQ");
  agrees(STITCHGCM_CPU_SSE3, __builtin_cpu_supports("sse3"), "SSE3");
  agrees(STITCHGCM_CPU_SSSE3, __builtin_cpu_supports("ssse3"), "SSSE3");
  agrees(STITCHGCM_CPU_SSE4_1, __builtin_cpu_supports("sse4.1"), "SSE4.1");
  agrees(STITCHGCM_CPU_AVX, __builtin_cpu_supports("avx"), "AVX");
  agrees(STITCHGCM_CPU_AVX2, __builtin_cpu_supports("avx2"), "AVX2");
  agrees(STITCHGCM_CPU_BMI1, __builtin_cpu_supports("bmi"), "BMI1");
  agrees(STITCHGCM_CPU_BMI2, __builtin_cpu_supports("bmi2"), "BMI2");
  agrees(STITCHGCM_CPU_VPCLMULQDQ, __builtin_cpu_supports("vpclmulqdq"), "VPCLMULQDQ");
  agrees(STITCHGCM_CPU_AVX512F, __builtin_cpu_supports("avx512f"), "AVX512F");
  agrees(STITCHGCM_CPU_AVX512DQ, __builtin_cpu_supports("avx512dq"), "AVX512DQ");
  agrees(STITCHGCM_CPU_AVX512BW, __builtin_cpu_supports("avx512bw"), "AVX512BW");
  agrees(STITCHGCM_CPU_AVX512VL, __builtin_cpu_supports("avx512vl"), "AVX512VL");
  agrees(STITCHGCM_CPU_AVX512VBMI, __builtin_cpu_supports("avx512vbmi"), "AVX512VBMI");
}
#endif

TEST_CASE("CPU feature list: each name stands for its feature") {
  struct Name {
    const char* name;
    Features feature;
  };
  for (const Name& name : {
           Name{"aes", STITCHGCM_CPU_AES},
           Name{"pclmulqdq", STITCHGCM_CPU_PCLMULQDQ},
           Name{"sse3", STITCHGCM_CPU_SSE3},
           Name{"ssse3", STITCHGCM_CPU_SSSE3},
           Name{"sse4.1", STITCHGCM_CPU_SSE4_1},
           Name{"movbe", STITCHGCM_CPU_MOVBE},
           Name{"avx", STITCHGCM_CPU_AVX},
           Name{"avx2", STITCHGCM_CPU_AVX2},
           Name{"bmi1", STITCHGCM_CPU_BMI1},
           Name{"bmi2", STITCHGCM_CPU_BMI2},
           Name{"vaes", STITCHGCM_CPU_VAES},
           Name{"vpclmulqdq", STITCHGCM_CPU_VPCLMULQDQ},
           Name{"avx512f", STITCHGCM_CPU_AVX512F},
           Name{"avx512dq", STITCHGCM_CPU_AVX512DQ},
           Name{"avx512bw", STITCHGCM_CPU_AVX512BW},
           Name{"avx512vl", STITCHGCM_CPU_AVX512VL},
           Name{"avx512vbmi", STITCHGCM_CPU_AVX512VBMI},
           Name{"avx10", STITCHGCM_CPU_AVX10},
           Name{"avx10.1", STITCHGCM_CPU_AVX10_1},
           Name{"avx10.2", STITCHGCM_CPU_AVX10_2},
           Name{"avx10_256", STITCHGCM_CPU_AVX10_256},
           Name{"avx10_512", STITCHGCM_CPU_AVX10_512},
       }) {
    CHECK_MESSAGE(stitchgcm_cpu_restrict(everything, name.name, 0) == name.feature, name.name);
  }
}

TEST_CASE("CPU feature list: spaces, empty names and repetitions do not count, and an empty list is no feature") {
  constexpr Features two = STITCHGCM_CPU_AES | STITCHGCM_CPU_AVX2;
  for (const char* list : {"aes,avx2", "avx2,aes", " aes , avx2 ", ",aes,,avx2,", "aes,avx2,aes"}) {
    CHECK_MESSAGE(stitchgcm_cpu_restrict(everything, list, 0) == two, "'" << list << "'");
  }
  for (const char* list : {"", " ", ",", " , ,"}) {
    CHECK_MESSAGE(stitchgcm_cpu_restrict(everything, list, 0) == 0, "'" << list << "'");
  }
}

TEST_CASE("CPU feature list: it takes features away and never adds one") {
  CHECK(stitchgcm_cpu_restrict(STITCHGCM_CPU_AES | STITCHGCM_CPU_AVX, "aes,avx2,vaes", 0) == STITCHGCM_CPU_AES);
}

TEST_CASE("CPU feature list: no list leaves all features") {
  CHECK(stitchgcm_cpu_restrict(everything, nullptr, 0) == everything);
}

TEST_CASE("CPU feature list: under other rights than the user's it is ignored, whatever it says") {
  for (const char* list : {"", "aes", "nonsense"}) {
    CHECK_MESSAGE(stitchgcm_cpu_restrict(everything, list, 1) == everything, "'" << list << "'");
  }
}

TEST_CASE("CPU feature list: a name that is unknown is pointed out and changes nothing") {
  struct List {
    std::string_view text, unknown;
  };
  for (const List& list : {List{"avx3", "avx3"}, List{"aes,AVX,avx2", "AVX"}, List{"aes, ssse ,avx", "ssse"},
                           List{"aes;avx", "aes;avx"}, List{"aes,sse4.10", "sse4.10"}}) {
    Features features = 1234;
    const char* unknown = nullptr;
    std::size_t unknown_bytes = 0;
    const int done = stitchgcm_cpu_parse_features(list.text.data(), &features, &unknown, &unknown_bytes);
    REQUIRE_MESSAGE(done == 0, list.text);
    CHECK(std::string_view(unknown, unknown_bytes) == list.unknown);
    CHECK(features == 1234);
  }
}

TEST_CASE("CPU feature list: an unknown name in the environment ends the program with one line that names it") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // not the test program's own report of a crash
    stitchgcm_cpu_restrict(everything, "aes,nonsense", 0);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 512> piece{};
  for (ssize_t n; (n = read(ends[0], piece.data(), piece.size())) > 0;)
    said.append(piece.data(), static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_MESSAGE((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT), "the wait status is " << status);
  CHECK(said == "STITCHGCM_CPU_FEATURES: no CPU feature is called 'nonsense'\n");
}

}  // namespace
}  // namespace tests
