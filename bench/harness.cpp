// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "clock.hpp"

namespace stitchgcm::bench {
namespace {

constexpr std::size_t passes = 3;
constexpr std::size_t fewest_rounds = 2;  // in one pass

std::array<std::uint8_t, 32> key_bytes() {
  std::array<std::uint8_t, 32> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// What is known of a cell between the passes.
struct Harness::Visit {
  double ghz = 0;
  std::vector<std::size_t> counts;           // messages in a sample; 0: not calibrated yet
  std::vector<std::vector<double>> samples;  // ns for one message
};

Harness::Harness(Contenders contenders, const Settings& settings, std::size_t largest)
    : contenders_(std::move(contenders)),
      settings_(settings),
      job_(largest, settings.iv_bytes, settings.aad_bytes),
      tag_job_(largest, settings.iv_bytes, settings.aad_bytes) {}

void Harness::set_key(Contender& contender, const Cell& cell) {
  static const std::array<std::uint8_t, 32> key = key_bytes();
  contender.set_key(std::span(key).first(static_cast<std::size_t>(cell.bits) / 8), settings_.iv_bytes);
}

// The tag under which a given ciphertext X is authentic: seal zeros for the keystream, then seal X ^ keystream, which
// gives X back, and its tag. In place, the text that the turn before left is the next turn's ciphertext.
void Harness::make_tags(const Cell& cell) {
  Contender& sealer = *contenders_.front();
  set_key(sealer, cell);
  job_.rewind();
  const std::span<const std::uint8_t> start = job_.first_input().first(*std::ranges::max_element(cell.sizes));
  std::vector<std::uint8_t> content(start.begin(), start.end());
  const std::size_t period = cell.sizes.size();
  for (std::size_t turn = 0; turn < job_.turns(); ++turn) {
    if (turn >= period && cell.place == Place::out) {
      job_.tags()[turn] = job_.tags()[turn - period];
      continue;
    }
    const std::uint32_t bytes = job_.size_at(turn);
    const auto seal = [&] {
      tag_job_.rewind();
      tag_job_.set_counter(turn % period);
      sealer.run(Operation::seal, tag_job_, 1);
    };
    tag_job_.prepare(Cell{Operation::seal, cell.bits, Place::out, {bytes}, {}});
    const std::span<std::uint8_t> text = tag_job_.first_input().first(bytes);
    std::fill(text.begin(), text.end(), std::uint8_t{0});
    seal();
    const std::span<const std::uint8_t> keystream = tag_job_.output(bytes);
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<std::uint8_t>(keystream[i] ^ content[i]);
    seal();
    if (!std::ranges::equal(tag_job_.output(bytes), std::span(content).first(bytes))) {
      throw Disagreement(
          fmt::format("{}: sealing twice does not give the text back: {}", sealer.name(), cell.name(bytes)));
    }
    job_.tags()[turn] = tag_job_.tag();
    if (cell.place == Place::in) std::copy(text.begin(), text.end(), content.begin());
  }
}

std::uint64_t Harness::run_once(Contender& contender, const Cell& cell, std::size_t bytes) {
  job_.rewind();
  if (contender.run(cell.operation, job_, 1) != 0) {
    throw Disagreement(fmt::format("{} refuses what it should take: {}", contender.name(), cell.name(bytes)));
  }
  if (cell.operation == Operation::key_setup) {
    // A key shows only in what it seals.
    contender.run(Operation::seal, job_, 1);
    return job_.digest(Operation::seal, bytes);
  }
  return job_.digest(cell.operation, bytes);
}

void Harness::compare(const Cell& cell, std::uint32_t bytes, Agreement& agreement) {
  Cell one = cell;
  one.sizes = {bytes};
  job_.prepare(one);
  if (cell.operation == Operation::open) make_tags(one);
  std::vector<std::string> found;
  std::uint64_t first = 0;
  bool same = true;
  for (const auto& contender : contenders_) {
    if (!contender->supports(cell.operation)) continue;
    set_key(*contender, cell);
    const std::uint64_t digest = run_once(*contender, one, bytes);
    if (found.empty()) first = digest;
    same = same && digest == first;
    found.push_back(fmt::format("{} {:016x}", contender->name(), digest));
    if (cell.operation != Operation::open) continue;
    job_.rewind();
    job_.tags()[0][5] ^= 0x10;
    const std::size_t refused = contender->run(cell.operation, job_, 1);
    job_.tags()[0][5] ^= 0x10;
    if (refused != 1) throw Disagreement(fmt::format("{} takes a forged tag: {}", contender->name(), cell.name(bytes)));
  }
  if (!same) throw Disagreement(fmt::format("outputs differ: {}: {}", cell.name(bytes), fmt::join(found, ", ")));
  ++agreement.outputs;
  agreement.digest = (agreement.digest ^ first) * 0x100000001b3;
}

Agreement Harness::check(const std::vector<Cell>& cells) {
  Agreement agreement;
  for (const Cell& cell : cells) {
    std::vector<std::uint32_t> sizes = cell.sizes;
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const std::uint32_t bytes : sizes) compare(cell, bytes, agreement);
  }
  return agreement;
}

double Harness::sample(Contender& contender, const Cell& cell, std::size_t count) {
  job_.rewind();
  // The other contenders have been here in between: a few messages to get the code and the branches back.
  std::size_t refused = contender.run(cell.operation, job_, count / 16);
  const double start = now_ns();
  refused += contender.run(cell.operation, job_, count);
  const double end = now_ns();
  if (refused != 0) {
    throw Disagreement(fmt::format("{} refused {} messages while timed: {}", contender.name(), refused,
                                   cell.name(cell.sizes.front())));
  }
  return (end - start) / static_cast<double>(count);
}

std::size_t Harness::calibrate(Contender& contender, const Cell& cell) {
  const double target = settings_.sample_us * 1000;
  std::size_t count = 1;
  for (;;) {
    const double ns = std::max(sample(contender, cell, count), 1.0);
    const double whole = ns * static_cast<double>(count);
    // At least one round of the sizes, where there are several: else the samples would not be of the same messages.
    if (whole >= target / 4) {
      const auto enough = static_cast<std::size_t>(std::max(1.0, target / ns));
      const std::size_t period = cell.sizes.size();
      return std::max<std::size_t>(1, enough / period) * period;
    }
    count *= 2;
  }
}

void Harness::visit(const Cell& cell, Visit& visit, double seconds, std::size_t rounds) {
  const double deadline = now_ns() + seconds * 1e9;
  job_.prepare(cell);
  if (cell.operation == Operation::open) make_tags(cell);
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (!contenders_[i]->supports(cell.operation)) continue;
    set_key(*contenders_[i], cell);
    if (visit.counts[i] == 0) visit.counts[i] = calibrate(*contenders_[i], cell);
  }
  for (std::size_t round = 0; rounds != 0 ? round < rounds : round < fewest_rounds || now_ns() < deadline; ++round) {
    visit.ghz = std::max(visit.ghz, core_ghz());
    for (std::size_t turn = 0; turn < contenders_.size(); ++turn) {
      const std::size_t i = (round + turn) % contenders_.size();  // nobody is always first
      if (visit.counts[i] != 0) visit.samples[i].push_back(sample(*contenders_[i], cell, visit.counts[i]));
    }
  }
}

std::vector<CellResult> Harness::time(const std::vector<Cell>& cells,
                                      const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::size_t visits_per_cell = settings_.rounds == 0 ? passes : std::min(passes, settings_.rounds);
  const std::size_t all = visits_per_cell * cells.size();
  const double seconds = settings_.seconds / static_cast<double>(all);
  std::vector<Visit> visits(cells.size());
  for (Visit& one : visits) {
    one.counts.assign(contenders_.size(), 0);
    one.samples.resize(contenders_.size());
  }
  for (std::size_t pass = 0; pass < visits_per_cell; ++pass) {
    // The rounds that do not divide by the passes fall to the first ones.
    const std::size_t rounds = settings_.rounds == 0 ? 0
                                                     : settings_.rounds / visits_per_cell +
                                                           (pass < settings_.rounds % visits_per_cell ? 1 : 0);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      visit(cells[i], visits[i], seconds, rounds);
      progress(pass * cells.size() + i + 1, all);
    }
  }
  std::vector<CellResult> results;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CellResult result{cells[i], visits[i].ghz, {}};
    for (const std::vector<double>& samples : visits[i].samples) {
      if (samples.empty()) {
        result.timings.push_back({});
      } else {
        result.timings.push_back({true, *std::min_element(samples.begin(), samples.end()), median(samples)});
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace stitchgcm::bench
