// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// After a routine returns, no round key, power of H, E(J0), keystream or plaintext is in any register or in the 4 KiB
// below rsp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "support/routine_calls.hpp"

namespace tests {
namespace {

// Halves of the secret blocks, as they are and with their bytes reversed: what is left of one is found by either half.
class SecretHalves {
 public:
  explicit SecretHalves(const std::vector<Bytes>& secrets) {
    for (const Bytes& secret : secrets) {
      for (std::size_t i = 0; i + half <= secret.size(); i += half) {
        Bytes bytes(secret.begin() + static_cast<std::ptrdiff_t>(i),
                    secret.begin() + static_cast<std::ptrdiff_t>(i + half));
        words_.insert(word(bytes.data()));
        std::reverse(bytes.begin(), bytes.end());
        words_.insert(word(bytes.data()));
      }
    }
    words_.erase(0);
  }

  /// The first offset in `memory` at which one of them is, whatever the alignment.
  std::optional<std::size_t> find_in(View memory) const {
    for (std::size_t i = 0; i + half <= memory.size(); ++i) {
      if (words_.count(word(memory.data() + i)) != 0) return i;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t half = 8;
  static std::uint64_t word(const std::uint8_t* bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::unordered_set<std::uint64_t> words_;
};

std::string leftovers(const ControlledCall& controlled, const SecretHalves& secrets) {
  std::vector<std::string> found;
  const CpuState& after = controlled.after();
  for (std::size_t i = 0; i < after.vector.size(); ++i) {
    if (const auto at = secrets.find_in(after.vector[i])) {
      found.push_back(fmt::format("a secret is in vector register {} from byte {}", i, *at));
    }
  }
  for (std::size_t i = 0; i < after.general.size(); ++i) {
    const View bytes(reinterpret_cast<const std::uint8_t*>(&after.general[i]), sizeof after.general[i]);
    if (secrets.find_in(bytes)) found.push_back(fmt::format("a secret is in integer register {} (by encoding)", i));
  }
  const View stack = controlled.below_stack_pointer();
  if (const auto at = secrets.find_in(stack)) {
    found.push_back(fmt::format("a secret is on the stack at rsp - {}", stack.size() - *at));
  }
  return joined(found);
}

TEST_CASE("leftovers: no secret is left in a register or below rsp") {
  for_each_routine_table("leftovers", [](const Backend& backend, Tally& tally) {
    if (backend.is_portable()) {
      tally.skip("C cannot say what a compiler leaves in registers and on the stack");
      return;
    }
    ControlledCall controlled;
    for (const std::size_t key_bytes : key_lengths) {
      const std::vector<MessageShape> shapes{{0, 0, 12},     {0, 300, 16},   {1, 20, 12},   {8, 0, 12},   {16, 13, 60},
                                             {40, 33, 12},   {127, 0, 12},   {128, 16, 12}, {129, 0, 16}, {255, 20, 12},
                                             {300, 300, 12}, {1031, 20, 12}, {4112, 0, 12}};
      const std::vector<std::size_t> block_counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 70};
      for (const RoutineCall& call : routine_calls(backend, key_bytes, shapes, block_counts)) {
        call.reset();
        controlled.call(call.function, call.arguments);
        std::string wrong = call.wrong(controlled.result());
        if (wrong.empty()) wrong = leftovers(controlled, SecretHalves(call.secrets));
        tally.expect(wrong.empty(), [&] { return call.name + ": " + wrong; });
      }
    }
  });
}

TEST_CASE("leftovers: control: eight bytes of a secret are found in each kind of place") {
  const Bytes secret = Random(0x1ea).bytes(16);
  const SecretHalves halves({secret});
  ControlledCall controlled;
  const auto found_after = [&](void (*function)(const void*)) {
    controlled.call(any_function(function), {reinterpret_cast<std::uintptr_t>(secret.data())});
    return leftovers(controlled, halves);
  };
  CHECK(found_after(stitchgcm_test_leaks_to_vector) == "a secret is in vector register 9 from byte 0");
  CHECK(found_after(stitchgcm_test_leaks_to_high_vector) == "a secret is in vector register 3 from byte 8");
  CHECK(found_after(stitchgcm_test_leaks_to_integer) == "a secret is in integer register 10 (by encoding)");
  CHECK(found_after(stitchgcm_test_leaks_to_red_zone) == "a secret is on the stack at rsp - 19");
  CHECK(found_after(stitchgcm_test_leaks_to_deep_stack) == "a secret is on the stack at rsp - 4008");
  controlled.call(stitchgcm_test_does_nothing, {});
  CHECK(leftovers(controlled, halves) == "");
}

}  // namespace
}  // namespace tests
