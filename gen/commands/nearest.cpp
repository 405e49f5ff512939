// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/nearest.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stitchgcm::commands {
namespace {

/// Letters to be put in, left out or replaced (Levenshtein's distance).
std::size_t changes(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); i++) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); j++) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> near;
  std::copy_if(names.begin(), names.end(), std::back_inserter(near),
               [&](const std::string& n) { return !word.empty() && n.find(word) != std::string::npos; });
  if (near.empty()) {
    near = names;
    std::stable_sort(near.begin(), near.end(),
                     [&](const std::string& a, const std::string& b) { return changes(word, a) < changes(word, b); });
  }
  if (near.size() > kMost) near.resize(kMost);
  return near;
}

}  // namespace stitchgcm::commands
