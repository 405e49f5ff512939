// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The vector files that the tests read from outside the source tree.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"

namespace tests {

/// True when the environment variable is set to something other than "" and "0".
bool environment_flag(const char* name);

/// One case of a NIST CAVP GCM file.
struct CavpCase {
  std::string where;  // file and line of its "Count"
  Bytes key;
  Bytes iv;
  Bytes aad;
  Bytes text;
  Bytes sealed;
  Bytes tag;
  bool authentic = true;  // false: the file says FAIL
};

/// A NIST CAVP GCM response file; `seals` tells the two kinds apart.
struct CavpFile {
  std::filesystem::path path;
  bool seals;  // gcmEncryptExtIV*: seal gives CT and Tag; else gcmDecrypt*: open gives PT or FAIL
};

/// The six files, whether they are there or not, in the folder $STITCHGCM_CAVP or else in that of Debian's package
/// python3-cryptography-vectors.
std::vector<CavpFile> cavp_files();

/// Throws std::runtime_error with file and line when the file cannot be read or has an unknown line.
std::vector<CavpCase> read_cavp(const std::filesystem::path& path);

/// A JSON file of the folder $STITCHGCM_VECTORS, by default ../shared/vectors beside the source tree. Not there: prints
/// "SKIPPED" with `title` and the path, and returns nothing.
std::optional<nlohmann::json> read_vectors(std::string_view title, const std::string& name);

}  // namespace tests
