// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// After a routine returns, no round key, power of H, E(J0), keystream or plaintext is in any register or in the 4 KiB
// below rsp: neither one that the test knows, nor anything else that would be different with another key and plaintext.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "support/routine_calls.hpp"

namespace tests {
namespace {

constexpr std::size_t window_bytes = 8;

std::uint64_t window(View bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), window_bytes);
  return value;
}

// Strings of eight bytes to be found in memory at any alignment.
class Windows {
 public:
  /// Those that start at a multiple of `step`.
  void add(Bytes bytes, std::size_t step) {
    for (std::size_t i = 0; i + window_bytes <= bytes.size(); i += step) {
      const std::uint64_t value = window(View(bytes).subspan(i));
      if (value != 0) values_.insert(value);
    }
  }

  bool have(View bytes) const { return values_.count(window(bytes)) != 0; }

  /// The first offset in `memory` at which one of them is.
  std::optional<std::size_t> find_in(View memory) const {
    for (std::size_t i = 0; i + window_bytes <= memory.size(); ++i) {
      if (have(memory.subspan(i))) return i;
    }
    return std::nullopt;
  }

 private:
  std::unordered_set<std::uint64_t> values_;
};

Bytes reversed(Bytes bytes) {
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

// Halves of the secret blocks as they are and byte-reversed: either half gives a block away.
Windows halves_of(const std::vector<Bytes>& secrets) {
  Windows windows;
  for (const Bytes& secret : secrets) {
    windows.add(secret, window_bytes);
    windows.add(reversed(secret), window_bytes);
  }
  return windows;
}

// Any part of what is published, with zeros after its end as in a padded block; and of each block the bytes reversed
// and the sum of its halves, Karatsuba's factor, which anyone could work out as well.
Windows parts_of(const std::vector<Bytes>& published) {
  Windows windows;
  for (Bytes bytes : published) {
    bytes.resize((bytes.size() + 15) / 16 * 16 + window_bytes);
    windows.add(bytes, 1);
    for (std::size_t i = 0; i + 16 <= bytes.size(); i += 16) {
      const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(i);
      windows.add(reversed(Bytes(start, start + 16)), 1);
      Bytes sum(8);
      std::transform(start, start + 8, start + 8, sum.begin(),
                     [](std::uint8_t low, std::uint8_t high) { return static_cast<std::uint8_t>(low ^ high); });
      windows.add(sum, 1);
      windows.add(reversed(sum), 1);
    }
  }
  return windows;
}

// A register or the stack, as a call left it.
struct Place {
  std::string name;
  Bytes bytes;
};

std::vector<Place> places_after(const ControlledCall& controlled) {
  const CpuState& after = controlled.after();
  std::vector<Place> list;
  for (std::size_t i = 0; i < after.vector.size(); ++i) {
    list.push_back({fmt::format("vector register {}", i), Bytes(after.vector[i].begin(), after.vector[i].end())});
  }
  for (std::size_t i = 0; i < after.general.size(); ++i) {
    Bytes bytes(sizeof after.general[i]);
    std::memcpy(bytes.data(), &after.general[i], bytes.size());
    list.push_back({fmt::format("integer register {} (by encoding)", i), bytes});
  }
  const View stack = controlled.below_stack_pointer();
  list.push_back({"the stack", Bytes(stack.begin(), stack.end())});
  return list;
}

std::string location(const Place& place, std::size_t at) {
  return place.name == "the stack" ? fmt::format("the stack at rsp - {}", place.bytes.size() - at)
                                   : fmt::format("{} from byte {}", place.name, at);
}

std::string known_secrets(const std::vector<Place>& places, const Windows& secrets) {
  std::vector<std::string> found;
  for (const Place& place : places) {
    if (const auto at = secrets.find_in(place.bytes)) found.push_back("a secret is in " + location(place, *at));
  }
  return joined(found);
}

// Bytes that differ between two calls with other secrets, and are no part of what either published.
std::string differences(const std::vector<Place>& first, const Windows& first_published,
                        const std::vector<Place>& second, const Windows& second_published) {
  std::vector<std::string> found;
  for (std::size_t p = 0; p < first.size(); ++p) {
    const View a(first[p].bytes);
    const View b(second[p].bytes);
    std::vector<bool> explained(a.size());
    for (std::size_t i = 0; i + window_bytes <= a.size(); ++i) {
      if (!first_published.have(a.subspan(i)) || !second_published.have(b.subspan(i))) continue;
      for (std::size_t j = 0; j < window_bytes; ++j) explained[i + j] = true;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || explained[i]) continue;
      found.push_back(location(first[p], i) + " depends on a secret");
      break;
    }
  }
  return joined(found);
}

const std::vector<MessageShape> shapes{{0, 0, 12},     {0, 300, 16},   {1, 20, 12},   {8, 0, 12},   {16, 13, 60},
                                       {40, 33, 12},   {127, 0, 12},   {128, 16, 12}, {129, 0, 16}, {255, 20, 12},
                                       {300, 300, 12}, {1031, 20, 12}, {4112, 0, 12}};
const std::vector<std::size_t> block_counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 70};

std::vector<Place> places_after(ControlledCall& controlled, const RoutineCall& call, Tally& tally) {
  call.set_up();
  controlled.call(call.function, call.arguments);
  const std::string wrong = call.wrong(controlled.result());
  tally.expect(wrong.empty(), [&] { return call.name + ": " + wrong; });
  return places_after(controlled);
}

TEST_CASE("leftovers: no secret is left in a register or below rsp, and nothing that depends on one") {
  for_each_routine_table("leftovers", [](const Backend& backend, Tally& tally) {
    if (backend.is_portable()) {
      tally.skip("C cannot say what a compiler leaves in registers and on the stack");
      return;
    }
    ControlledCall controlled;
    CallMemory memory;
    for (const std::size_t key_bytes : key_lengths) {
      const CallPlan plan{backend, key_bytes, shapes, block_counts};
      const std::vector<RoutineCall> calls = routine_calls(memory, plan, 1);
      const std::vector<RoutineCall> others = routine_calls(memory, plan, 2);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const std::vector<Place> places = places_after(controlled, calls[i], tally);
        const std::vector<Place> other_places = places_after(controlled, others[i], tally);
        const std::string known = known_secrets(places, halves_of(calls[i].secrets));
        tally.expect(known.empty(), [&] { return calls[i].name + ": " + known; });
        const std::string differs =
            differences(places, parts_of(calls[i].published), other_places, parts_of(others[i].published));
        tally.expect(differs.empty(), [&] { return calls[i].name + ": " + differs; });
      }
    }
  });
}

TEST_CASE("leftovers: control: eight bytes of a secret are found in each kind of place") {
  const Bytes secret = Random(0x1ea).bytes(16);
  const Windows halves = halves_of({secret});
  ControlledCall controlled;
  const auto found_after = [&](void (*function)(const void*)) {
    controlled.call(any_function(function), {reinterpret_cast<std::uintptr_t>(secret.data())});
    return known_secrets(places_after(controlled), halves);
  };
  CHECK(found_after(stitchgcm_test_leaks_to_vector) == "a secret is in vector register 9 from byte 0");
  CHECK(found_after(stitchgcm_test_leaks_to_high_vector) == "a secret is in vector register 3 from byte 8");
  CHECK(found_after(stitchgcm_test_leaks_to_integer) == "a secret is in integer register 10 (by encoding) from byte 0");
  CHECK(found_after(stitchgcm_test_leaks_to_red_zone) == "a secret is in the stack at rsp - 19");
  CHECK(found_after(stitchgcm_test_leaks_to_deep_stack) == "a secret is in the stack at rsp - 4008");
  controlled.call(stitchgcm_test_does_nothing, {});
  CHECK(known_secrets(places_after(controlled), halves) == "");
}

TEST_CASE("leftovers: control: what depends on a secret is found unless it was published") {
  Bytes secret(16);
  ControlledCall controlled;
  const auto places_with = [&](AnyFunction function, std::uint64_t seed) {
    const Bytes value = Random(seed).bytes(16);
    std::copy(value.begin(), value.end(), secret.begin());  // at the same address: that is in rdi, and no secret
    controlled.call(function, {reinterpret_cast<std::uintptr_t>(secret.data())});
    return places_after(controlled);
  };
  const auto found_after = [&](void (*function)(const void*), bool published) {
    const std::vector<Place> places = places_with(any_function(function), 1);
    const Windows first = published ? parts_of({secret}) : Windows();
    const std::vector<Place> other_places = places_with(any_function(function), 2);
    const Windows second = published ? parts_of({secret}) : Windows();
    return differences(places, first, other_places, second);
  };
  CHECK(found_after(stitchgcm_test_leaks_to_vector, false) == "vector register 9 from byte 0 depends on a secret");
  CHECK(found_after(stitchgcm_test_leaks_to_deep_stack, false) == "the stack at rsp - 4008 depends on a secret");
  CHECK(found_after(stitchgcm_test_leaks_to_vector, true) == "");
  CHECK(found_after(stitchgcm_test_leaks_to_deep_stack, true) == "");
}

}  // namespace
}  // namespace tests
