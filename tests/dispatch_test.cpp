// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Which backend is chosen, selected and named; and keys whose backend this CPU cannot run.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu.h"
#include "stitchgcm.h"
#include "support/backends.hpp"
#include "support/bytes.hpp"
#include "support/every_backend.hpp"
#include "testing.h"

namespace tests {
namespace {

constexpr const char* variable = "STITCHGCM_CPU_FEATURES";

// For one scope, the library sees the environment variable with this value; before and after, with the one it had.
class PretendedFeatures {
 public:
  explicit PretendedFeatures(const std::string& list) {
    if (const char* value = std::getenv(variable)) before_ = value;
    setenv(variable, list.c_str(), 1);
    stitchgcm_testing_forget_cpu();
  }
  ~PretendedFeatures() {
    if (before_) {
      setenv(variable, before_->c_str(), 1);
    } else {
      unsetenv(variable);
    }
    stitchgcm_testing_forget_cpu();
  }
  PretendedFeatures(const PretendedFeatures&) = delete;
  PretendedFeatures& operator=(const PretendedFeatures&) = delete;

 private:
  std::optional<std::string> before_;
};

// For one scope, keys are made for the backend that the scope selects; after it, for the best again.
class Selection {
 public:
  Selection() = default;
  ~Selection() { stitchgcm_backend_select(nullptr); }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
};

// The names of the features of a set, but without those in `without`.
std::string list_of(std::uint64_t features, std::uint64_t without = 0) {
  std::string list;
  for (const char* name :
       {"aes",        "pclmulqdq", "sse3",    "ssse3",      "sse4.1",    "movbe",    "avx",      "avx2",
        "bmi1",       "bmi2",      "vaes",    "vpclmulqdq", "avx512f",   "avx512dq", "avx512bw", "avx512vl",
        "avx512vbmi", "avx10",     "avx10.1", "avx10.2",    "avx10_256", "avx10_512"}) {
    const std::uint64_t feature = stitchgcm_cpu_feature_named(name, std::strlen(name));
    if ((features & ~without & feature) != 0) list.append(list.empty() ? "" : ",").append(name);
  }
  return list;
}

constexpr std::uint64_t avx10 = STITCHGCM_CPU_AVX10 | STITCHGCM_CPU_AVX10_1 | STITCHGCM_CPU_AVX10_2 |
                                STITCHGCM_CPU_AVX10_256 | STITCHGCM_CPU_AVX10_512;

const Bytes& key_bytes() {
  static const Bytes bytes = counting_bytes(32);
  return bytes;
}

// A message of 40 bytes in a buffer of its own.
struct Text {
  Bytes iv = iv12();
  Bytes buffer = pattern(40);
  Block tag{};
  stitchgcm_message message() {
    stitchgcm_message m{};
    m.iv = iv.data();
    m.iv_bytes = iv.size();
    m.in = m.out = buffer.data();
    m.bytes = buffer.size();
    m.tag = tag.data();
    m.tag_bytes = tag.size();
    return m;
  }
};

// What the counters say of a call: the names of the backends that ran in it.
template <class Call>
std::set<std::string> backends_that_run(const Call& call) {
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) before.push_back(stitchgcm_testing_calls(i));
  call();
  std::set<std::string> names;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) {
    if (stitchgcm_testing_calls(i) != before[i]) names.insert(stitchgcm_backends[i].name);
  }
  return names;
}

TEST_CASE("dispatch: the public list of backends is the table, and null beyond its end") {
  REQUIRE(stitchgcm_backend_count() == stitchgcm_backends_count);
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) {
    CHECK(std::string(stitchgcm_backend_name(i)) == stitchgcm_backends[i].name);
  }
  for (const std::size_t index : {stitchgcm_backends_count, stitchgcm_backends_count + 1, ~std::size_t{0}}) {
    CHECK_MESSAGE(stitchgcm_backend_name(index) == nullptr, "index " << index);
  }
}

TEST_CASE("dispatch: no two backends have one name") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) names.insert(stitchgcm_backends[i].name);
  CHECK(names.size() == stitchgcm_backends_count);
}

TEST_CASE("dispatch: portable is last and needs no feature, so there always is a backend") {
  const stitchgcm_backend& last = stitchgcm_backends[stitchgcm_backends_count - 1];
  CHECK(std::string(last.name) == "portable");
  CHECK(last.features == 0);
  CHECK(last.features_avx10 == 0);
}

#if defined(__x86_64__)
TEST_CASE("dispatch: the emitted backends of the table are those that have files in the tree") {
  std::set<std::string> emitted, table;
  for (const auto& entry : std::filesystem::directory_iterator(STITCHGCM_SOURCE_FOLDER "/emitted")) {
    if (entry.is_directory()) emitted.insert(entry.path().filename().string());
  }
  for (std::size_t i = 0; i + 1 < stitchgcm_backends_count; ++i) table.insert(stitchgcm_backends[i].name);
  CHECK(table == emitted);
}
#endif

TEST_CASE("dispatch: the table has its backends in the order in which every_backend has them") {
  std::size_t place = 0;
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) {
    while (place < every_backend_count && std::string(every_backend[place].name) != stitchgcm_backends[i].name) ++place;
    CHECK_MESSAGE(place < every_backend_count,
                  stitchgcm_backends[i].name << " is out of order, or new to every_backend");
  }
}

TEST_CASE("dispatch: names that are none are not available, null among them") {
  for (const char* name : {"", "portabl", "portable2", "Portable", "aesni_avx "}) {
    CHECK_MESSAGE(stitchgcm_backend_available(name) == 0, "'" << name << "'");
  }
  CHECK(stitchgcm_backend_available(nullptr) == 0);
}

TEST_CASE("dispatch: without a selection, this CPU's preferred backend is used") {
  const Backend best = preferred_backend("best backend");
  CHECK(std::string(stitchgcm_backend_selected()) == best.name);
  stitchgcm_key key{};
  const std::set<std::string> ran =
      backends_that_run([&] { REQUIRE(stitchgcm_key_init(&key, key_bytes().data(), 32) == STITCHGCM_OK); });
  CHECK_MESSAGE(ran == std::set{best.name}, "stitchgcm_key_init ran another backend than " << best.name);
}

TEST_CASE("dispatch: a selected backend makes the keys, and its keys are sealed and opened by it") {
  for (const Backend& backend : runnable_backends("selected backend")) {
    CAPTURE(backend.name);
    const Selection selection;
    REQUIRE(stitchgcm_backend_select(backend.name.c_str()) == STITCHGCM_OK);
    CHECK(std::string(stitchgcm_backend_selected()) == backend.name);
    const std::set<std::string> ran = backends_that_run([] {
      stitchgcm_key key{};
      Text text;
      const stitchgcm_message message = text.message();
      REQUIRE(stitchgcm_key_init(&key, key_bytes().data(), 32) == STITCHGCM_OK);
      REQUIRE(stitchgcm_seal(&key, &message) == STITCHGCM_OK);
      REQUIRE(stitchgcm_open(&key, &message) == STITCHGCM_OK);
    });
    CHECK_MESSAGE(ran == std::set{backend.name}, "another backend ran while " << backend.name << " was selected");
  }
}

TEST_CASE("dispatch: a key keeps the backend that made it, whatever is selected later") {
  for (const Backend& maker : runnable_backends("backend of a key")) {
    stitchgcm_key key{};
    REQUIRE(stitchgcm_key_init_for(&key, maker.name.c_str(), key_bytes().data(), 32) == STITCHGCM_OK);
    for (const Backend& selected : runnable_backends("backend of a key")) {
      const Selection selection;
      REQUIRE(stitchgcm_backend_select(selected.name.c_str()) == STITCHGCM_OK);
      Text text;
      const stitchgcm_message message = text.message();
      const std::set<std::string> ran =
          backends_that_run([&] { REQUIRE(stitchgcm_seal(&key, &message) == STITCHGCM_OK); });
      CHECK_MESSAGE(ran == std::set{maker.name},
                    "key of " << maker.name << " while " << selected.name << " is selected");
      CHECK(std::string(stitchgcm_key_backend(&key)) == maker.name);
    }
  }
}

TEST_CASE("dispatch: selecting null goes back to the best backend") {
  const Selection selection;
  REQUIRE(stitchgcm_backend_select("portable") == STITCHGCM_OK);
  REQUIRE(stitchgcm_backend_select(nullptr) == STITCHGCM_OK);
  CHECK(std::string(stitchgcm_backend_selected()) == preferred_backend("best backend").name);
}

TEST_CASE("dispatch: selecting a backend that does not exist is refused and leaves the selection") {
  const Selection selection;
  REQUIRE(stitchgcm_backend_select("portable") == STITCHGCM_OK);
  CHECK(stitchgcm_backend_select("no_such_backend") == STITCHGCM_ERROR_BACKEND);
  CHECK(std::string(stitchgcm_backend_selected()) == "portable");
}

TEST_CASE("dispatch: a CPU without features runs portable and nothing else") {
  const PretendedFeatures none("");
  CHECK(std::string(stitchgcm_backend_selected()) == "portable");
  for (std::size_t i = 0; i < stitchgcm_backends_count; ++i) {
    const std::string name = stitchgcm_backends[i].name;
    CHECK_MESSAGE(stitchgcm_backend_available(name.c_str()) == (name == "portable" ? 1 : 0), name);
  }
}

TEST_CASE("dispatch: a backend is available with exactly the features it needs, and gone without any one of them") {
  for (const Backend& backend : runnable_backends("needed features")) {
    const std::uint64_t needed = backend.table->features;
    {
      const PretendedFeatures exactly(list_of(needed));
      CHECK_MESSAGE(stitchgcm_backend_available(backend.name.c_str()) == 1,
                    backend.name << " with " << list_of(needed));
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
      const std::uint64_t feature = std::uint64_t{1} << bit;
      if ((needed & feature) == 0) continue;
      // All but this one; and nothing of AVX10, which could stand in for a feature of AVX-512.
      const std::string rest = list_of(~std::uint64_t{0}, feature | avx10);
      const PretendedFeatures without(rest);
      CHECK_MESSAGE(stitchgcm_backend_available(backend.name.c_str()) == 0, backend.name << " with only " << rest);
    }
  }
}

TEST_CASE("dispatch: a backend that the CPU cannot run is refused for selection and for keys") {
  const PretendedFeatures none("");
  for (std::size_t i = 0; i + 1 < stitchgcm_backends_count; ++i) {
    const char* name = stitchgcm_backends[i].name;
    stitchgcm_key key;
    std::memset(&key, 0x5a, sizeof key);
    const stitchgcm_key before = key;
    CHECK_MESSAGE(stitchgcm_backend_select(name) == STITCHGCM_ERROR_BACKEND, name);
    CHECK_MESSAGE(stitchgcm_key_init_for(&key, name, key_bytes().data(), 32) == STITCHGCM_ERROR_BACKEND, name);
    CHECK_MESSAGE(std::memcmp(&key, &before, sizeof key) == 0, name << ": the refused key was written to");
  }
  CHECK(std::string(stitchgcm_backend_selected()) == "portable");
}

TEST_CASE("dispatch: a key of a backend that the CPU cannot run is refused before anything is written") {
  for (const Backend& backend : runnable_backends("key of a backend that is gone")) {
    if (backend.is_portable()) continue;
    CAPTURE(backend.name);
    stitchgcm_key key{};
    REQUIRE(stitchgcm_key_init_for(&key, backend.name.c_str(), key_bytes().data(), 32) == STITCHGCM_OK);
    const PretendedFeatures none("");
    Text text;
    const stitchgcm_message message = text.message();
    const std::set<std::string> ran = backends_that_run([&] {
      CHECK(stitchgcm_seal(&key, &message) == STITCHGCM_ERROR_KEY);
      CHECK(stitchgcm_open(&key, &message) == STITCHGCM_ERROR_KEY);
    });
    CHECK(ran.empty());
    CHECK(hex(text.buffer) == hex(pattern(40)));
    CHECK(hex(text.tag) == hex(Block{}));
    CHECK(stitchgcm_key_backend(&key) == nullptr);
  }
}

TEST_CASE("dispatch: a key that holds nothing names no backend") {
  stitchgcm_key key{};
  CHECK(stitchgcm_key_backend(&key) == nullptr);
  REQUIRE(stitchgcm_key_init(&key, key_bytes().data(), 32) == STITCHGCM_OK);
  stitchgcm_key_clear(&key);
  CHECK(stitchgcm_key_backend(&key) == nullptr);
  CHECK(stitchgcm_key_backend(nullptr) == nullptr);
}

TEST_CASE("dispatch: a backend's index is not taken modulo the number of bits of a mask") {
  stitchgcm_key key{};
  REQUIRE(stitchgcm_key_init_for(&key, "portable", key_bytes().data(), 32) == STITCHGCM_OK);
  for (const std::uint32_t more : {32u, 64u, 1u << 31}) {
    stitchgcm_key other = key;
    other.context.backend += more;
    CHECK_MESSAGE(stitchgcm_key_backend(&other) == nullptr, "backend " << other.context.backend);
  }
}

TEST_CASE("dispatch: the bytes of a key may lie in the key that they set") {
  for (const Backend& backend : runnable_backends("key bytes in the key")) {
    for (const std::size_t bytes : key_lengths) {
      stitchgcm_key apart{}, within{};
      REQUIRE(stitchgcm_key_init_for(&apart, backend.name.c_str(), key_bytes().data(), bytes) == STITCHGCM_OK);
      auto* inside = reinterpret_cast<std::uint8_t*>(&within) + 8;
      std::memcpy(inside, key_bytes().data(), bytes);
      REQUIRE(stitchgcm_key_init_for(&within, backend.name.c_str(), inside, bytes) == STITCHGCM_OK);
      CHECK_MESSAGE(std::memcmp(&apart, &within, sizeof apart) == 0, backend.name << ", key of " << bytes << " bytes");
    }
  }
}

TEST_CASE("dispatch: clearing null does nothing") { stitchgcm_key_clear(nullptr); }

TEST_CASE("dispatch: 64 threads that come first together choose one backend, and it works in each") {
  constexpr int count = 64;
  stitchgcm_testing_forget_cpu();
  const std::string best = preferred_backend("first use by threads").name;
  stitchgcm_testing_forget_cpu();
  std::vector<std::string> chosen(count), sealed(count);
  std::latch start(count);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      stitchgcm_key key{};
      Text text;
      const stitchgcm_message message = text.message();
      start.arrive_and_wait();
      if (stitchgcm_key_init(&key, key_bytes().data(), 32) != STITCHGCM_OK) return;
      chosen[i] = stitchgcm_key_backend(&key);
      if (stitchgcm_seal(&key, &message) == STITCHGCM_OK) sealed[i] = hex(text.buffer) + hex(text.tag);
    });
  }
  threads.clear();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_MESSAGE(chosen[i] == best, "thread " << i);
    CHECK_MESSAGE((!sealed[i].empty() && sealed[i] == sealed[0]), "thread " << i);
  }
}

TEST_CASE("dispatch: the version that is linked is the header's") {
  CHECK(std::string(stitchgcm_version()) == STITCHGCM_VERSION);
  CHECK(std::string(STITCHGCM_VERSION) ==
        fmt::format("{}.{}.{}", STITCHGCM_VERSION_MAJOR, STITCHGCM_VERSION_MINOR, STITCHGCM_VERSION_PATCH));
}

}  // namespace
}  // namespace tests
