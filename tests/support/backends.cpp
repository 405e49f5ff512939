// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "backends.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cpu.h"
#include "cpu_clock.h"
#include "stitchgcm.h"
#include "testing.h"

namespace tests {
namespace {

Backend backend_at(std::size_t index) {
  const stitchgcm_backend& table = stitchgcm_backends[index];
  return {index, table.name, &table};
}

std::vector<std::uint64_t> hits() {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) counts.push_back(stitchgcm_testing_calls(i));
  return counts;
}

bool shares_a_routine(const Backend& a, const Backend& b) {
  for (const std::size_t key_bytes : key_lengths) {
    const stitchgcm_routines& r = a.routines(key_bytes);
    const stitchgcm_routines& s = b.routines(key_bytes);
    if (r.init == s.init || r.seal == s.seal || r.open == s.open || r.encrypt_blocks == s.encrypt_blocks ||
        r.decrypt_blocks == s.decrypt_blocks || r.ctr32 == s.ctr32 || r.ghash == s.ghash) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Backend> runnable_backends(std::string_view title) {
  std::vector<Backend> backends;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) {
    const Backend backend = backend_at(i);
    if (stitchgcm_backend_available(backend.name.c_str()) != 0) {
      backends.push_back(backend);
    } else {
      announce(fmt::format("SKIPPED {}: this CPU cannot run the backend {}", title, backend.name));
    }
  }
  return backends;
}

Backend preferred_backend(std::string_view title) {
  stitchgcm_cpuid cpuid{};
  std::uint64_t xcr0 = 0;
  stitchgcm_cpu_read(&cpuid, &xcr0);
  const bool avoids_512 = stitchgcm_cpu_lowers_clock_for_512_bits(&cpuid) != 0;
  for (const Backend& backend : runnable_backends(title)) {
    if (!avoids_512 || backend.table->vector_bits < 512) return backend;
  }
  return portable_backend();
}

Backend portable_backend() { return backend_at(stitchgcm_backends_count - 1); }

void for_each_backend(std::string_view title, const std::function<void(const Backend&, Tally&)>& body) {
  for (const Backend& backend : runnable_backends(title)) {
    Tally tally{std::string(title), backend.name};
    const std::vector<std::uint64_t> before = hits();
    body(backend, tally);
    const std::vector<std::uint64_t> after = hits();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::uint64_t moved = after[i] - before[i];
      CHECK_MESSAGE((i == backend.index ? moved > 0 : moved == 0),
                    title << ": while " << backend.name << " was forced, backend " << stitchgcm_backends[i].name
                          << " ran " << moved << " times");
    }
    tally.report();
  }
}

void for_each_routine_table(std::string_view title, const std::function<void(const Backend&, Tally&)>& body) {
  for (const Backend& backend : runnable_backends(title)) {
    Tally tally{std::string(title), backend.name};
    if (!backend.is_portable()) CHECK_FALSE(shares_a_routine(backend, portable_backend()));
    body(backend, tally);
    tally.report();
  }
}

}  // namespace tests
