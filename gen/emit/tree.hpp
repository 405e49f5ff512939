// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// The whole of emitted/ as a value: what is written, and what a folder is checked against.
#include <filesystem>
#include <map>

#include "emit/assembler.hpp"

namespace stitchgcm::emit {

/// Path below the folder -> contents.
using Tree = std::map<std::filesystem::path, std::string>;

/// The page of proofs, which stands among the emitted files and is written by `stitchgcm verify`.
inline constexpr const char* kProofsPage = "PROOFS.md";

/// Lowers, prints and reassembles every file. Throws std::runtime_error if an assembler disagrees.
Tree generate(const std::vector<assembly::SourceFile>& files, const Options& options, const Assemblers& assemblers);

/// Makes `folder` exactly the tree: writes what differs, each file whole or not at all, and removes files of the kinds
/// that a tree has (.S, the header, MANIFEST) that are not in it. The page of proofs stays. Throws std::runtime_error,
/// for a folder with anything else in it too, before anything is written.
void write(const Tree& tree, const std::filesystem::path& folder);

/// Replaces a file, whole or not at all. Throws std::runtime_error.
void write_whole(const std::filesystem::path& file, const std::string& text);

/// One way in which a folder differs from the tree.
struct Difference {
  std::filesystem::path path;
  enum class Kind { missing, unexpected, changed } kind;
};
/// All of them, but for the page of proofs.
std::vector<Difference> compare(const Tree& tree, const std::filesystem::path& folder);

}  // namespace stitchgcm::emit
