// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The longest text, AAD and IV of SP 800-38D, 5.2.1.1, and one byte more. Nobody fills 64 GiB here: the data lie in
// address space that cannot be touched. A call that refuses a length returns; one that accepts it starts to read there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/attempt.hpp"
#include "support/guard_pages.hpp"

namespace tests {
namespace {

// 64 GiB: the whole of the longest text, and enough of the AAD and IV that no routine starts reading beyond it.
constexpr std::uint64_t reserved_bytes = std::uint64_t{1} << 36;

using SetLength = void (*)(stitchgcm_message&, std::uint8_t*, std::uint64_t);

struct Limit {
  const char* name;
  std::uint64_t most;
  stitchgcm_status refusal;
  SetLength set;
};

const std::array<Limit, 3>& limits() {
  static const std::array<Limit, 3> list{{
      {"text", STITCHGCM_MAX_TEXT_BYTES, STITCHGCM_ERROR_TEXT_BYTES,
       [](stitchgcm_message& m, std::uint8_t* data, std::uint64_t bytes) {
         m.in = data;
         m.out = data;
         m.bytes = static_cast<std::size_t>(bytes);
       }},
      {"AAD", STITCHGCM_MAX_AAD_BYTES, STITCHGCM_ERROR_AAD_BYTES,
       [](stitchgcm_message& m, std::uint8_t* data, std::uint64_t bytes) {
         m.aad = data;
         m.aad_bytes = static_cast<std::size_t>(bytes);
       }},
      {"IV", STITCHGCM_MAX_IV_BYTES, STITCHGCM_ERROR_IV_BYTES,
       [](stitchgcm_message& m, std::uint8_t* data, std::uint64_t bytes) {
         m.iv = data;
         m.iv_bytes = static_cast<std::size_t>(bytes);
       }},
  }};
  return list;
}

void run_limit(const Limit& limit, const ReservedSpace& space, const Key& key, View key_value, Tally& tally) {
  Attempt attempt(6, key_value, 50);
  for (const std::uint64_t bytes : {limit.most + 1, limit.most + 32, ~std::uint64_t{0}}) {
    attempt.expect_refused(tally, key.get(), limit.refusal, fmt::format("{} of {} bytes", limit.name, bytes),
                           [&](stitchgcm_message& m) { limit.set(m, space.data(), bytes); });
  }
  for (const bool opens : {false, true}) {
    attempt.set_up(opens);
    stitchgcm_message message = attempt.message();
    limit.set(message, space.data(), limit.most);
    stitchgcm_status status = STITCHGCM_OK;
    const auto address = faulting_address(
        [&] { status = opens ? stitchgcm_open(key.get(), &message) : stitchgcm_seal(key.get(), &message); });
    tally.expect(address && space.contains(*address), [&] {
      return fmt::format("{} aes{} {} with {} of {} bytes did not start to read it: {}", key.backend(), 8 * key.bytes(),
                         opens ? "open" : "seal", limit.name, limit.most,
                         address ? "it touched something else" : stitchgcm_status_text(status));
    });
  }
}

TEST_CASE("limits: the longest text, AAD and IV are accepted, and one byte more is refused before any access") {
  const ReservedSpace space(reserved_bytes);
  if (space.empty()) {
    announce("SKIPPED limits: the system does not let a process reserve 64 GiB of addresses");
    return;
  }
  for_each_backend("limits", [&](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      for (const Limit& limit : limits()) run_limit(limit, space, key, key_value, tally);
    }
  });
}

}  // namespace
}  // namespace tests
