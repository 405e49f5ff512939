// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Where a proof fails the code is run: lengths that take a path, the standards on bytes, and damage of every kind that
// an execution can show.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/gf128.hpp"
#include "support/openssl.hpp"
#include "support/tally.hpp"
#include "support/verify_objects.hpp"
#include "verify/counterexample/execution.hpp"
#include "verify/counterexample/reference.hpp"

namespace tests {
namespace {

using namespace stitchgcm::verify;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("verify counterexample: lengths satisfy the facts, the smallest first, all different") {
  Variables names;
  const Variable a = names.add("a"), b = names.add("b"), c = names.add("c");
  Facts facts;
  facts.declare(a, {0, 100});
  facts.declare(b, {3, Wide{1} << 60});
  facts.declare(c, {0, 7});
  REQUIRE(facts.assume_nonnegative(Affine(a) * 8 + c - 21));  // 8 a + c >= 21
  REQUIRE(facts.assume_zero(Affine(b) - Affine(a) * 2));      // b = 2 a
  const auto all = lengths_on_path(facts, names, 8);
  REQUIRE(!all.empty());
  CHECK(all.front() == Lengths{{"a", 2}, {"b", 4}, {"c", 5}});
  CHECK(all.size() > 2);
  for (std::size_t i = 0; i < all.size(); i++) {
    const Lengths& l = all[i];
    CHECK(8 * l.at("a") + l.at("c") >= 21);
    CHECK(l.at("b") == 2 * l.at("a"));
    CHECK(l.at("c") <= 7);
    CHECK_MESSAGE(std::count(all.begin(), all.end(), l) == 1, "the same lengths twice");
  }
}

TEST_CASE("verify counterexample: facts that no lengths satisfy have none") {
  Variables names;
  const Variable a = names.add("a"), b = names.add("b");
  Facts facts;
  facts.declare(a, {0, 50});
  facts.declare(b, {0, 50});
  // 2 a = 2 b + 1: no bounds show that there is no solution.
  const Affine difference = Affine(a) * 2 - Affine(b) * 2 - 1;
  REQUIRE(facts.assume_nonnegative(difference));
  if (facts.assume_nonnegative(difference * -1)) CHECK(lengths_on_path(facts, names, 8).empty());
}

TEST_CASE("verify counterexample: the standards on bytes are OpenSSL's AES-GCM") {
  Random random(1);
  for (int n = 0; n < 60; n++) {
    const Bytes key = random.bytes(16 + 8 * random.below(3)),
                iv = random.bytes(n % 2 == 0 ? 12 : 1 + random.below(200)), aad = random.bytes(random.below(70)),
                text = random.bytes(random.below(200));
    const Sealed sealed = OpenSslGcm(key).seal(iv, aad, text);
    const reference::Key k(key);
    const auto counter = reference::add_to_counter(k.first_counter(iv), 1);
    CHECK_MESSAGE(equal(k.counter_mode(counter, text), sealed.text), "text of " << text.size());
    CHECK_MESSAGE(equal(k.tag(iv, aad, sealed.text), sealed.tag), "IV of " << iv.size() << ", AAD of " << aad.size());
  }
}

TEST_CASE(
    "verify counterexample: a context is FIPS 197's key schedule, H and its powers times x, and leaves the rest") {
  for (const std::size_t bytes : {16u, 24u, 32u}) {
    const Bytes key = unhex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    const reference::Key k(Bytes(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(bytes)));
    stitchgcm_context c;
    std::memset(&c, 0x77, sizeof c);
    k.write_into(c);
    CHECK(c.rounds == bytes / 4 + 6);
    CHECK(c.backend == 0x77777777);
    // The last round keys of FIPS 197's examples C.1 to C.3.
    const char* const last = bytes == 16   ? "13111d7fe3944a17f307a78b4d2b30c5"
                             : bytes == 24 ? "a4970a331a78dc09c418c271e3a41d5d"
                                           : "24fc79ccbf0979e9371ac23c6d68de36";
    CHECK(hex(c.round_key[c.rounds]) == last);
    CHECK(equal(c.hash_key, AesEcb(View(key).first(bytes)).hash_key()));
    for (unsigned e = 1; e <= STITCHGCM_POWERS; e++) {
      // Times x in the representation of the stored form is a division by x of the standard's bit order.
      const Block wanted = gf128::multiply(gf128::power(block_of(c.hash_key), e), gf128::inverse(gf128::x()));
      Block stored = block_of(c.power[STITCHGCM_POWERS - e]);
      std::reverse(stored.begin(), stored.end());
      CHECK_MESSAGE(stored == wanted, "power " << e);
    }
  }
}

const Image& image() {
  static const Image all(emitted_objects());
  return all;
}

/// The difference that a call shows in one of some trials; "it was not run: .." where the CPU cannot.
std::string difference(const Call& call, const Image& code) {
  for (std::uint64_t seed = 0; seed < 6; seed++) {
    const std::string d = difference_in(call, code, seed);
    if (!d.empty()) return d;
  }
  return "";
}

Call call_of(Routine routine, const std::string& name, std::int64_t blocks) {
  Call c;
  c.routine = routine;
  c.symbol = "stitchgcm_" + name + "_aesni_avx";
  c.blocks = blocks;
  return c;
}

bool cpu_runs_it() {
  static const bool runs = [] {
    const std::string missing = message_of([] { difference_in(call_of(Routine::ghash, "ghash", 1), image(), 0); });
    if (missing != "nothing is wrong") announce("SKIPPED executions of emitted code: " + missing);
    return missing == "nothing is wrong";
  }();
  return runs;
}

TEST_CASE("verify counterexample: emitted code shows no difference, in any routine") {
  if (!cpu_runs_it()) return;
  for (const int rounds : {10, 12, 14}) {
    Call init = call_of(Routine::init, fmt::format("init_aes{}", 32 * (rounds - 6)), 0);
    init.rounds = rounds;
    CHECK(difference(init, image()) == "");
    for (const std::int64_t blocks : {0, 1, 7, 8, 9, 43}) {
      for (const auto& [routine, name] : {std::pair{Routine::encrypt_blocks, "encrypt_blocks"},
                                          {Routine::decrypt_blocks, "decrypt_blocks"},
                                          {Routine::ctr32, "ctr32"},
                                          {Routine::ghash, "ghash"}}) {
        Call c = call_of(routine, name, blocks);
        c.rounds = rounds;
        c.in_place = routine != Routine::ghash && blocks % 2 != 0;
        CHECK_MESSAGE(difference(c, image()) == "", c.text_of());
      }
    }
    for (const std::int64_t bytes : {0, 5, 16, 127, 128, 700}) {
      for (const auto& [routine, name] : {std::pair{Routine::seal, "seal"}, {Routine::open, "open"}}) {
        Call c = call_of(routine, name, 0);
        c.rounds = rounds;
        c.text = bytes;
        c.iv = bytes % 2 != 0 ? 12 : 1 + bytes / 8;
        c.aad = bytes % 33;
        c.tag = bytes == 5 ? 4 : 16;
        c.in_place = bytes % 16 == 0;
        CHECK_MESSAGE(difference(c, image()) == "", c.text_of());
      }
    }
  }
}

/// Emitted code in which one instruction of a routine is replaced by others, as long as it or shorter.
Image damaged(const std::string& name, const std::string& instruction, std::initializer_list<std::uint8_t> instead) {
  Image copy(emitted_objects());
  const Function f = decode(copy, *copy.find("stitchgcm_" + name + "_aesni_avx"));
  const auto i = std::find_if(f.instructions.begin(), f.instructions.end(),
                              [&](const Instruction& at) { return has(at.text, instruction); });
  if (i == f.instructions.end() || static_cast<std::size_t>(i->length) < instead.size()) {
    throw std::runtime_error("there is no such instruction, or no room: " + instruction);
  }
  for (Section& s : copy.sections()) {
    if (i->address < s.address || i->address - s.address >= s.bytes.size()) continue;
    auto* to = s.bytes.data() + (i->address - s.address);
    std::fill_n(to, i->length, std::uint8_t{0x90});
    std::copy(instead.begin(), instead.end(), to);
  }
  return copy;
}

TEST_CASE("verify counterexample: a wrong result is told by its first byte") {
  if (!cpu_runs_it()) return;
  const std::string d = difference(call_of(Routine::ghash, "ghash", 9), damaged("ghash", "vpclmulqdq", {}));
  CHECK_MESSAGE(has(d, "first differing byte "), d);
  CHECK_MESSAGE(has(d, " of the accumulator: is 0x"), d);
  CHECK_MESSAGE(has(d, ", must be 0x"), d);
}

TEST_CASE("verify counterexample: an access out of bounds is told by its byte") {
  if (!cpu_runs_it()) return;
  // add byte ptr [rdx - 1], 0: before the data
  const std::string before =
      difference(call_of(Routine::ghash, "ghash", 9), damaged("ghash", "lea", {0x80, 0x42, 0xff, 0x00}));
  CHECK_MESSAGE(has(before, "may not access byte -1 of the data, which has 144 bytes"), before);
}

TEST_CASE("verify counterexample: a loop without an end is told") {
  if (!cpu_runs_it()) return;
  const std::string d = difference(call_of(Routine::ghash, "ghash", 9), damaged("ghash", "lea", {0xeb, 0xfe}));
  CHECK_MESSAGE(d == "it does not come to an end", d);
}

TEST_CASE("verify counterexample: code that the CPU does not have is not run") {
  const Image ud2 = damaged("ghash", "endbr64", {0x0f, 0x0b});
  CHECK(has(message_of([&] { difference_in(call_of(Routine::ghash, "ghash", 1), ud2, 0); }),
            "this CPU does not have an instruction of stitchgcm_ghash_aesni_avx"));
}

}  // namespace
}  // namespace tests
