// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "vectors.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "tally.hpp"

namespace tests {
namespace {

constexpr const char* cavp_of_debian = "/usr/lib/python3/dist-packages/cryptography_vectors/ciphers/AES/GCM";

std::filesystem::path folder(const char* variable, const std::filesystem::path& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : otherwise;
}

}  // namespace

bool environment_flag(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

std::vector<CavpFile> cavp_files() {
  const std::filesystem::path where = folder("STITCHGCM_CAVP", cavp_of_debian);
  std::vector<CavpFile> files;
  for (const char* bits : {"128", "192", "256"}) {
    files.push_back({where / fmt::format("gcmEncryptExtIV{}.rsp", bits), true});
    files.push_back({where / fmt::format("gcmDecrypt{}.rsp", bits), false});
  }
  return files;
}

std::vector<CavpCase> read_cavp(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  std::vector<CavpCase> cases;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#' || line[0] == '[') continue;
    const std::size_t equals = line.find(" =");
    const std::string_view name = std::string_view(line).substr(0, equals);
    const std::string_view value =
        equals == std::string::npos || equals + 3 > line.size() ? "" : std::string_view(line).substr(equals + 3);
    if (name == "Count") {
      cases.emplace_back().where = fmt::format("{}:{}", path.filename().string(), number);
      continue;
    }
    CavpCase* current = cases.empty() ? nullptr : &cases.back();
    if (current != nullptr && name == "FAIL") {
      current->authentic = false;
    } else if (Bytes* field = current == nullptr ? nullptr
                              : name == "Key"    ? &current->key
                              : name == "IV"     ? &current->iv
                              : name == "AAD"    ? &current->aad
                              : name == "PT"     ? &current->text
                              : name == "CT"     ? &current->sealed
                              : name == "Tag"    ? &current->tag
                                                 : nullptr) {
      *field = unhex(value);
    } else {
      throw std::runtime_error(fmt::format("{}:{}: not understood: {}", path.string(), number, line));
    }
  }
  return cases;
}

std::optional<nlohmann::json> read_vectors(std::string_view title, const std::string& name) {
  const std::filesystem::path path =
      folder("STITCHGCM_VECTORS", std::filesystem::path(STITCHGCM_SOURCE_FOLDER) / "../shared/vectors") / name;
  std::ifstream file(path);
  if (!file) {
    announce(fmt::format("SKIPPED {}: {} is not there (set STITCHGCM_VECTORS to the folder that has it)", title,
                         path.lexically_normal().string()));
    return std::nullopt;
  }
  return nlohmann::json::parse(file);
}

}  // namespace tests
