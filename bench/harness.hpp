// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// First all contenders must compute the same; then they are timed in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "contender.hpp"

namespace stitchgcm::bench {

struct Settings {
  double seconds = 80;     ///< for all cells together, checks not counted
  std::size_t rounds = 0;  ///< for each cell; 0: as many as the seconds allow
  double sample_us = 100;  ///< a sample is as many messages as take about this long, at least one
  std::size_t iv_bytes = 12;
  std::size_t aad_bytes = 13;
};

/// Of one contender in one cell, for one message (or key, or call).
struct Timing {
  bool measured = false;  ///< false: the contender does not do this operation
  double min_ns = 0;
  double median_ns = 0;
};

struct CellResult {
  Cell cell;
  double ghz = 0;               ///< highest core clock seen beside the samples
  std::vector<Timing> timings;  ///< in the contenders' order
};

/// Outputs differ, or a message was refused that should not be, or the other way round. what() says who, and where.
class Disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Agreement {
  std::size_t outputs = 0;   ///< compared, for each contender
  std::uint64_t digest = 0;  ///< of them all
};

class Harness {
 public:
  /// `largest` is the longest text of any cell in bytes.
  Harness(Contenders contenders, const Settings& settings, std::size_t largest);

  const Contenders& contenders() const { return contenders_; }

  /// Runs each contender once for each size of each cell and compares ciphertext and tag (or what else the operation
  /// leaves). Where it opens, a forged tag must be refused too. Throws Disagreement.
  Agreement check(const std::vector<Cell>& cells);

  /// Times all cells. The contenders of a cell take turns, sample by sample, so that what slows the machine for a
  /// while meets them alike; and all cells are visited in several passes, so that it does not fall on one cell alone.
  /// `progress` is called with the number of visits done and to do. Throws Disagreement if a message is refused.
  std::vector<CellResult> time(const std::vector<Cell>& cells,
                               const std::function<void(std::size_t, std::size_t)>& progress);

 private:
  struct Visit;

  void set_key(Contender& contender, const Cell& cell);
  void make_tags(const Cell& cell);
  std::uint64_t run_once(Contender& contender, const Cell& cell, std::size_t bytes);
  void compare(const Cell& cell, std::uint32_t bytes, Agreement& agreement);
  void visit(const Cell& cell, Visit& visit, double seconds, std::size_t rounds);
  double sample(Contender& contender, const Cell& cell, std::size_t count);
  std::size_t calibrate(Contender& contender, const Cell& cell);

  Contenders contenders_;
  Settings settings_;
  Job job_;
  Job tag_job_;  // makes the tags for job_ to open
};

}  // namespace stitchgcm::bench
