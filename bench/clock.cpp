// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "clock.hpp"

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stitchgcm::bench {
namespace {

// Register to register: recent cores carry out additions of a constant while they rename, several in one cycle. The
// empty statement keeps the compiler from adding in one go what it can foresee.
inline void add_once(std::uint64_t& sum, std::uint64_t step) {
  sum += step;
  asm volatile("" : "+r"(sum));
}

template <std::size_t... kIndex>
inline void add_in_a_row(std::uint64_t& sum, std::uint64_t step, std::index_sequence<kIndex...>) {
  ((static_cast<void>(kIndex), add_once(sum, step)), ...);
}

}  // namespace

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

double core_ghz() {
  constexpr std::size_t row = 64;
  constexpr std::size_t rows = 400;
  std::uint64_t sum = 1;
  std::uint64_t step = 3;
  asm volatile("" : "+r"(step));
  const double start = now_ns();
  for (std::size_t i = 0; i < rows; ++i) add_in_a_row(sum, step, std::make_index_sequence<row>{});
  const double end = now_ns();
  return end > start ? static_cast<double>(row * rows) / (end - start) : 0.0;
}

std::optional<int> pin_to_cpu(std::optional<int> cpu) {
  const int chosen = cpu ? *cpu : sched_getcpu();
  if (chosen < 0 || chosen >= CPU_SETSIZE) return std::nullopt;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(chosen), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  return chosen;
}

}  // namespace stitchgcm::bench
