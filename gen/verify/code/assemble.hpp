// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Objects from emitted sources, for proofs of what is checked in.
#include <filesystem>
#include <string>
#include <vector>

namespace stitchgcm::verify {

/// A folder of its own that is gone with the object.
class TemporaryFolder {
 public:
  /// Throws std::runtime_error.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Assembles each source with the compiler driver and returns the objects, in the same order, in `folder`, named
/// <folder of the source>_<its name>.o. Throws std::runtime_error, one line, with the source's name and the first error
/// that the compiler reports, and if there is no such compiler or two objects would have one name.
std::vector<std::filesystem::path> assemble(const std::vector<std::filesystem::path>& sources,
                                            const std::filesystem::path& folder, const std::string& compiler);

}  // namespace stitchgcm::verify
