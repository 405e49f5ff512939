// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_native.hpp"

#include <Zydis/Zydis.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

extern "C" {
void stitchgcm_test_run(const void* code, const tests::CpuState* before, tests::CpuState* after, int vector_level);
void stitchgcm_test_run_end();
}

namespace tests {
namespace {

constexpr std::size_t kPage = 4096;
// Guard, code, guard, data, guard.
constexpr std::size_t kCodeAt = kPage, kDataAt = 3 * kPage, kMapped = kDataAt + NativeCode::kDataBytes + kPage;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::uint8_t* map(void* at, std::size_t bytes, int protection, int flags, int file) {
  void* p = mmap(at, bytes, protection, flags, file, 0);
  if (p == MAP_FAILED) fail("mmap");
  return static_cast<std::uint8_t*>(p);
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

}  // namespace

NativeCode::NativeCode() {
  mapping_ = map(nullptr, kMapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  // The code's page twice: nothing is both writable and executable.
  const int file = memfd_create("code", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kPage) != 0) fail("memfd_create");
  writable_code_ = map(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  code_ = map(mapping_ + kCodeAt, kPage, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file);
  close(file);
  data_ = map(mapping_ + kDataAt, kDataBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
}

NativeCode::~NativeCode() {
  munmap(mapping_, kMapped);
  munmap(writable_code_, kPage);
}

CpuState NativeCode::run(View code, const CpuState& before) {
  // jmp [rip], and the address.
  static constexpr std::uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};
  const auto end = reinterpret_cast<std::uint64_t>(&stitchgcm_test_run_end);
  if (code.size() + sizeof kJump + sizeof end > kPage) throw std::logic_error("too much code");
  std::uint8_t* to = writable_code_;
  std::memcpy(to, code.data(), code.size());
  std::memcpy(to + code.size(), kJump, sizeof kJump);
  std::memcpy(to + code.size() + sizeof kJump, &end, sizeof end);
  CpuState after{};
  stitchgcm_test_run(code_, &before, &after, static_cast<int>(vector_level()));
  return after;
}

std::optional<std::string> missing_feature(View instruction) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, instruction.data(), instruction.size(), &decoded, operands))) {
    throw std::runtime_error("no instruction: " + hex(instruction));
  }
  const std::string set = ZydisISASetGetString(decoded.meta.isa_set);
  const auto needs = [](bool has, const char* name) { return has ? std::nullopt : std::optional<std::string>(name); };
  if (starts_with(set, "AVX512")) {
    const bool all = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                     __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    const bool aes = set.find("VAES") == std::string::npos || __builtin_cpu_supports("vaes") != 0;
    const bool clmul = set.find("VPCLMULQDQ") == std::string::npos || __builtin_cpu_supports("vpclmulqdq") != 0;
    return needs(all && aes && clmul, "AVX-512");
  }
  // Of these every x86-64 CPU has, or one that has AES-NI.
  for (const char* common : {"I86", "I186", "I286", "I386", "I486", "CMOV", "SSE", "SSE2", "SSE3", "SSSE3", "SSE4",
                             "LONGMODE", "PENTIUM", "PPRO", "FAT_NOP", "CET", "PREFETCH_NOP", "SSE_PREFETCH"}) {
    if (starts_with(set, common) && set.find("VAES") == std::string::npos) return std::nullopt;
  }
  if (starts_with(set, "AVX2")) return needs(__builtin_cpu_supports("avx2") != 0, "AVX2");
  if (starts_with(set, "AVX")) return needs(__builtin_cpu_supports("avx") != 0, "AVX");
  if (starts_with(set, "VAES")) return needs(__builtin_cpu_supports("vaes") != 0, "VAES");
  if (starts_with(set, "VPCLMULQDQ")) return needs(__builtin_cpu_supports("vpclmulqdq") != 0, "VPCLMULQDQ");
  if (starts_with(set, "AES")) return needs(__builtin_cpu_supports("aes") != 0, "AES-NI");
  if (starts_with(set, "PCLMULQDQ")) return needs(__builtin_cpu_supports("pclmul") != 0, "PCLMULQDQ");
  if (starts_with(set, "BMI1")) return needs(__builtin_cpu_supports("bmi") != 0, "BMI1");
  if (starts_with(set, "BMI2")) return needs(__builtin_cpu_supports("bmi2") != 0, "BMI2");
  if (starts_with(set, "MOVBE")) return needs(__builtin_cpu_supports("movbe") != 0, "MOVBE");
  throw std::runtime_error("an extension that the test does not know: " + set);
}

}  // namespace tests
