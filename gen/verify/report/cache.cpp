// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "verify/code/fingerprint.hpp"
#include "verify/report/json.hpp"

namespace stitchgcm::verify {
namespace {

namespace fs = std::filesystem;

// In every key, and in every file: another number when what is kept means something else.
constexpr int kFormat = 1;

std::string whole_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether a file of that name is a cache's: a key, and what is appended to it. Anything may be in the user's folder.
bool is_kept(const std::string& name) {
  constexpr std::size_t kKeyDigits = 64;
  return name.find_first_not_of("0123456789abcdef") == kKeyDigits &&
         (name.substr(kKeyDigits) == ".json" || name.ends_with(".new"));
}

}  // namespace

std::string proof_key(const Image& image, const Function& function, const std::string& verifier) {
  return sha256(fmt::format("format {}\nverifier {}\nsymbol {}\nalignment of data {}\n{}", kFormat, verifier,
                            function.symbol.name, image.constants_alignment(),
                            bytes_in_any_program(image, function, ZerosAtEnd::kept)));
}

std::string verifier_identity() {
  return sha256(whole_file("/proc/self/exe") + fmt::format("\nZydis {:x}", ZydisGetVersion()));
}

std::optional<fs::path> ProofCache::usual_folder() {
  const auto set = [](const char* name) -> std::optional<fs::path> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return fs::path(value);
  };
  if (const auto cache = set("XDG_CACHE_HOME")) return *cache / "stitchgcm" / "proofs";
  if (const auto home = set("HOME")) return *home / ".cache" / "stitchgcm" / "proofs";
  return std::nullopt;
}

std::optional<Verdict> ProofCache::find(const std::string& key, const std::string& symbol) const {
  const fs::path file = file_of(key);
  try {
    const auto json = nlohmann::ordered_json::parse(whole_file(file));
    if (json.at("format") != kFormat || json.at("key") != key) return std::nullopt;
    Verdict v = proof_from_json(json.at("verdict"));
    if (v.symbol != symbol) return std::nullopt;
    std::error_code ignored;
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);  // it was needed
    return v;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void ProofCache::keep(const std::string& key, const Verdict& proof) const {
  if (!proof.proved) throw std::logic_error("a verdict that is no proof is to be kept");
  fs::create_directories(folder_);
  // Others may write the same at the same time, so the name is this process's and this symbol's own.
  const fs::path file = file_of(key), temporary = folder_ / fmt::format("{}.{}.new", key, getpid());
  const nlohmann::ordered_json json{{"format", kFormat}, {"key", key}, {"verdict", verdict_json(proof)}};
  std::ofstream out(temporary, std::ios::binary);
  out << json.dump(1) << "\n";
  out.close();
  if (!out) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw std::runtime_error("cannot write " + temporary.string());
  }
  fs::rename(temporary, file);
}

void ProofCache::forget_older_than(int days) const {
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(24 * days);
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!is_kept(entry.path().filename().string()) || !entry.is_regular_file(error) ||
        entry.last_write_time(error) >= oldest)
      continue;
    fs::remove(entry.path(), error);
  }
}

}  // namespace stitchgcm::verify
