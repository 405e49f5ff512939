// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Object files for the tests of the verifier: those of emitted/, and small ones written for one test.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "verify/code/image.hpp"

namespace tests {

/// The objects of emitted/, assembled by gcc once for all tests, sorted.
const std::vector<std::filesystem::path>& emitted_objects();

/// Objects assembled from texts, in a folder that goes with the value.
class SmallObjects {
 public:
  /// Intel syntax, by gcc: a.o, b.o, .. Throws std::runtime_error if one cannot be assembled.
  explicit SmallObjects(const std::vector<std::string>& sources);
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  /// The image of them, and all of its functions decoded.
  stitchgcm::verify::Image image() const { return stitchgcm::verify::Image(paths_); }
  std::vector<stitchgcm::verify::Function> functions() const;

 private:
  TemporaryFolder folder_;
  std::vector<std::filesystem::path> paths_;
};

/// A hidden function with this body.
std::string function_text(const std::string& name, const std::string& body);

/// The message of the std::runtime_error that the call throws; "nothing is wrong" if it throws none.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "nothing is wrong";
}

}  // namespace tests
