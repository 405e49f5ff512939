// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/mutate_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "commands/progress.hpp"

namespace stitchgcm::commands {
namespace {

using verify::Mutant;
using verify::Mutation;

/// Some mutants of one symbol.
struct Part {
  std::size_t symbol;
  std::vector<Mutant> mutants;
};

class Run {
 public:
  explicit Run(const Mutations& m)
      : m_(m),
        callees_(m.image, m.contracts),
        progress_(m.lines, m.wanted.size()),
        functions_(m.wanted.size()),
        parts_open_(m.wanted.size(), 0),
        found_(m.wanted.size()),
        cpus_(std::max(1u, m.jobs != 0 ? m.jobs : std::thread::hardware_concurrency())) {}

  std::vector<Mutation> run() {
    const std::vector<Part> parts = divided(chosen(all_mutants()));
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t n = next++; n < parts.size(); n = next++) of_part(parts[n]);
    };
    std::vector<std::thread> threads;
    for (std::size_t n = 1; n < std::min<std::size_t>(cpus_, parts.size()); n++) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return std::move(found_);
  }

 private:
  std::vector<std::vector<Mutant>> all_mutants() {
    std::vector<std::vector<Mutant>> all;
    for (std::size_t n = 0; n < m_.wanted.size(); n++) {
      found_[n].symbol = m_.wanted[n]->symbol();
      functions_[n] = verify::decode(m_.image, *m_.image.find(found_[n].symbol));
      all.push_back(verify::mutants(m_.image, functions_[n]));
      found_[n].existing = all.back().size();
    }
    return all;
  }

  /// As many as are asked for, in the order of the code.
  std::vector<std::vector<Mutant>> chosen(std::vector<std::vector<Mutant>> all) const {
    if (!m_.sample) return all;
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::size_t n = 0; n < all.size(); n++) {
      for (std::size_t k = 0; k < all[n].size(); k++) places.emplace_back(n, k);
    }
    // Fisher and Yates, with numbers that are the same everywhere; std::shuffle's are not.
    std::mt19937_64 random(m_.seed);
    const std::size_t wanted = std::min(*m_.sample, places.size());
    for (std::size_t i = 0; i < wanted; i++) std::swap(places[i], places[i + random() % (places.size() - i)]);
    places.resize(wanted);
    std::sort(places.begin(), places.end());
    std::vector<std::vector<Mutant>> some(all.size());
    for (const auto& [n, k] : places) some[n].push_back(std::move(all[n][k]));
    return some;
  }

  /// One part for each symbol, or more if there are more CPUs than symbols: each part proves the routine itself first.
  /// The longest first.
  std::vector<Part> divided(const std::vector<std::vector<Mutant>>& mutants) {
    const std::size_t parts_each = std::max<std::size_t>(1, cpus_ / std::max<std::size_t>(1, mutants.size()));
    std::vector<Part> parts;
    for (std::size_t n = 0; n < mutants.size(); n++) {
      std::vector<Part> of_symbol(std::min(parts_each, std::max<std::size_t>(1, mutants[n].size())), Part{n, {}});
      for (std::size_t k = 0; k < mutants[n].size(); k++) {
        of_symbol[k % of_symbol.size()].mutants.push_back(mutants[n][k]);
      }
      parts_open_[n] = of_symbol.size();
      for (Part& part : of_symbol) parts.push_back(std::move(part));
    }
    const auto work = [this](const Part& p) {
      return functions_[p.symbol].instructions.size() * m_.wanted[p.symbol]->cases().size();
    };
    std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) { return work(a) > work(b); });
    return parts;
  }

  void of_part(const Part& part) {
    const auto begin = std::chrono::steady_clock::now();
    const verify::Function& function = functions_[part.symbol];
    const verify::Contract& contract = *m_.wanted[part.symbol];
    std::vector<verify::Result> results;
    std::string fault;
    try {
      results = verify::kill(m_.image, function, contract, callees_, part.mutants, [&](std::size_t done) {
        progress_.now(contract.symbol(), fmt::format("{} of {} mutants", done, part.mutants.size()));
      });
    } catch (const verify::Failure& f) {
      fault = "is not proved itself: " + f.reason;
    } catch (const std::exception& e) {
      fault = e.what();
    }
    const std::lock_guard lock(mutex_);
    Mutation& m = found_[part.symbol];
    if (m.fault.empty()) m.fault = fault;
    verify::add_results(m, results, function, m_.sources);
    m.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (--parts_open_[part.symbol] != 0) return;
    std::string text = verify::mutation_text(m);
    text.pop_back();  // the last line's end, which is added again
    progress_.done(contract.symbol(), text);
  }

  const Mutations& m_;
  verify::ContractTable callees_;
  Progress progress_;
  std::vector<verify::Function> functions_;
  std::vector<std::size_t> parts_open_;  // by symbol
  std::vector<Mutation> found_;
  std::size_t cpus_;
  std::mutex mutex_;
};

}  // namespace

std::vector<Mutation> mutate_all(const Mutations& mutations) { return Run(mutations).run(); }

}  // namespace stitchgcm::commands
