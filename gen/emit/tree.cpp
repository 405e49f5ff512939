// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "emit/tree.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "emit/gas.hpp"
#include "emit/header.hpp"
#include "emit/manifest.hpp"

namespace stitchgcm::emit {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// All but the page of proofs.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (!fs::exists(folder)) return paths;
  if (!fs::is_directory(folder)) throw std::runtime_error(folder.string() + " is not a folder");
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path path = entry.path().lexically_relative(folder);
    if (!entry.is_directory() && path != kProofsPage) paths.push_back(path);
  }
  return paths;
}

/// Whether an earlier emission could have written the file.
bool is_ours(const fs::path& p) {
  return p.extension() == ".S" || p.filename() == "MANIFEST" || p.filename().string().ends_with("_routines.h");
}

}  // namespace

Tree generate(const std::vector<assembly::SourceFile>& files, const Options& options, const Assemblers& assemblers) {
  std::vector<assembly::LoweredFile> lowered;
  for (const assembly::SourceFile& f : files) lowered.push_back(assembly::lower(f));
  Tree tree;
  for (const assembly::LoweredFile& f : lowered) {
    std::string text = gas(f, options);
    require_same_bytes(f, text, options, assemblers);
    tree[fs::path(f.source->backend) / (f.source->name + ".S")] = std::move(text);
  }
  tree[options.prefix + "_routines.h"] = header(lowered, options);
  tree["MANIFEST"] = manifest(lowered, options);
  return tree;
}

void write(const Tree& tree, const fs::path& folder) {
  const std::vector<fs::path> present = files_below(folder);
  for (const fs::path& p : present) {
    if (!tree.contains(p) && !is_ours(p)) {
      throw std::runtime_error(
          fmt::format("{} holds {}, which no emission wrote: name a folder of its own", folder.string(), p.string()));
    }
  }
  for (const auto& [path, text] : tree) {
    const fs::path file = folder / path;
    if (!fs::exists(file) || contents(file) != text) write_whole(file, text);
  }
  for (const fs::path& p : present) {
    if (!tree.contains(p)) fs::remove(folder / p);
  }
}

void write_whole(const fs::path& file, const std::string& text) {
  if (file.has_parent_path()) fs::create_directories(file.parent_path());
  const fs::path temporary = file.string() + ".new";
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw std::runtime_error("cannot write " + file.string());
  }
  fs::rename(temporary, file);
}

std::vector<Difference> compare(const Tree& tree, const fs::path& folder) {
  std::vector<Difference> differences;
  for (const auto& [path, text] : tree) {
    if (!fs::exists(folder / path)) {
      differences.push_back({path, Difference::Kind::missing});
    } else if (contents(folder / path) != text) {
      differences.push_back({path, Difference::Kind::changed});
    }
  }
  for (const fs::path& p : files_below(folder)) {
    if (!tree.contains(p)) differences.push_back({p, Difference::Kind::unexpected});
  }
  return differences;
}

}  // namespace stitchgcm::emit
