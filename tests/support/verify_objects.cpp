// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify_objects.hpp"

#include "verify/code/assemble.hpp"

namespace tests {

namespace fs = std::filesystem;
using namespace stitchgcm::verify;

const std::vector<fs::path>& emitted_objects() {
  static const TemporaryFolder folder;
  static const std::vector<fs::path> objects =
      assemble(files_below(fs::path(STITCHGCM_SOURCE_FOLDER) / "emitted", ".S"), folder.path(), "gcc");
  return objects;
}

SmallObjects::SmallObjects(const std::vector<std::string>& sources) {
  for (std::size_t i = 0; i < sources.size(); i++) {
    const std::string name(1, static_cast<char>('a' + i));
    const fs::path source = folder_ / (name + ".s");
    paths_.push_back(folder_ / (name + ".o"));
    write_file(source, ".intel_syntax noprefix\n" + sources[i]);
    output_of({"gcc", "-c", source.string(), "-o", paths_.back().string()});
  }
}

std::vector<Function> SmallObjects::functions() const {
  const Image all = image();
  std::vector<Function> functions;
  for (const Symbol& s : all.symbols()) functions.push_back(decode(all, s));
  return functions;
}

std::string function_text(const std::string& name, const std::string& body) {
  return "  .text\n  .globl " + name + "\n  .hidden " + name + "\n  .type " + name + ", @function\n" + name + ":\n" +
         body + "\n  .size " + name + ", . - " + name + "\n";
}

}  // namespace tests
