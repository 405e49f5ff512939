// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// The command line: what to time, whom, and how to print it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "cpu_class.hpp"
#include "harness.hpp"
#include "report.hpp"

namespace stitchgcm::bench {

struct Options {
  std::vector<Cell> cells;
  std::vector<std::string> backends;    ///< empty: the best one of the class
  std::vector<std::string> peers;       ///< names or paths
  bool peers_named = false;             ///< by the user: then one that is not here is an error
  const CpuClass* cpu_class = nullptr;  ///< null: that of the best backend
  std::optional<int> cpu;
  Settings settings;
  TableStyle style;
  std::string csv_file;  ///< empty: none

  std::size_t largest() const;  ///< longest text of all cells in bytes
};

/// The command line does not make sense; what() is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the arguments ask for, or the text of --help. Throws UsageError.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace stitchgcm::bench
