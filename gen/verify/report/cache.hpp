// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Proofs that were found before, in a folder: of the same code, by the same verifier. Failures are not kept.
#include <filesystem>
#include <optional>
#include <string>

#include "verify/contract/contract.hpp"
#include "verify/proof/prove.hpp"

namespace stitchgcm::verify {

/// SHA-256 of all that a verdict depends on: the function and its data, how far the data is aligned, the symbol, the
/// symbols that it calls, and the verifier itself.
std::string proof_key(const Image& image, const Function& function, const std::string& verifier);

/// SHA-256 of the program that runs, and of the decoder's version. Any change of semantics, of contracts, or of
/// anything else makes another one. Throws std::runtime_error if the program cannot be read.
std::string verifier_identity();

class ProofCache {
 public:
  /// $XDG_CACHE_HOME/stitchgcm/proofs, or ~/.cache/stitchgcm/proofs; nothing if neither is set.
  static std::optional<std::filesystem::path> usual_folder();

  explicit ProofCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The proof that was kept under the key. Whatever is wrong with a file, it counts as none.
  std::optional<Verdict> find(const std::string& key, const std::string& symbol) const;
  /// Keeps a proof, whole or not at all. Throws std::runtime_error if that cannot be done.
  void keep(const std::string& key, const Verdict& proof) const;
  /// Removes what was neither kept nor found for `days` days.
  void forget_older_than(int days) const;

 private:
  std::filesystem::path file_of(const std::string& key) const { return folder_ / (key + ".json"); }

  std::filesystem::path folder_;
};

}  // namespace stitchgcm::verify
