// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/prove_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "commands/progress.hpp"
#include "verify/code/fingerprint.hpp"
#include "verify/counterexample/execution.hpp"
#include "verify/report/cache.hpp"
#include "verify/report/text.hpp"

namespace stitchgcm::commands {
namespace {

namespace fs = std::filesystem;
using verify::Contract;
using verify::Finding;

constexpr int kDaysKept = 60;

class Run {
 public:
  explicit Run(const Proofs& proofs)
      : proofs_(proofs),
        callees_(proofs.image, proofs.contracts),
        progress_(proofs.lines, proofs.wanted.size()),
        findings_(proofs.wanted.size()) {
    const auto folder = proofs.cache.empty() ? verify::ProofCache::usual_folder() : proofs.cache;
    if (folder) {
      cache_.emplace(*folder);
      verifier_ = verify::verifier_identity();
    }
  }

  std::vector<Finding> run() {
    // The longest first, so that no CPU waits for the last one: by what is known beforehand.
    std::vector<std::size_t> order(proofs_.wanted.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) { return work(a) > work(b); });
    std::atomic<std::size_t> next = 0;
    const auto prove_next = [&] {
      for (std::size_t n = next++; n < order.size(); n = next++) prove(order[n]);
    };
    const std::size_t cpus = std::max(1u, proofs_.jobs != 0 ? proofs_.jobs : std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (std::size_t n = 1; n < std::min(cpus, order.size()); n++) threads.emplace_back(prove_next);
    prove_next();
    for (std::thread& t : threads) t.join();
    if (cache_) cache_->forget_older_than(kDaysKept);
    // In one thread: the code is run in processes of its own, and a fork takes one thread only.
    for (std::size_t n = 0; n < findings_.size(); n++) run_where_failed(n);
    return std::move(findings_);
  }

 private:
  const verify::Symbol& symbol(std::size_t n) const { return *proofs_.image.find(proofs_.wanted[n]->symbol()); }
  std::size_t work(std::size_t n) const { return symbol(n).size * proofs_.wanted[n]->cases().size(); }

  /// From any thread: each has its own n.
  void prove(std::size_t n) {
    const Contract& contract = *proofs_.wanted[n];
    Finding& f = findings_[n];
    try {
      const verify::Function function = verify::decode(proofs_.image, symbol(n));
      f.code_hash = verify::code_hash(proofs_.image, function);
      const std::string key = cache_ ? verify::proof_key(proofs_.image, function, verifier_) : "";
      std::optional<verify::Verdict> known;
      if (cache_ && !proofs_.force) known = cache_->find(key, contract.symbol());
      if (known) {
        f.verdict = std::move(*known);
        f.from_cache = true;
      } else {
        f.verdict = verify::prove(proofs_.image, function, contract, callees_, {},
                                  [&](const std::string& what) { progress_.now(contract.symbol(), what); });
        if (cache_ && f.verdict.proved) keep(key, f.verdict);
      }
      if (f.verdict.failure) locate(f, function);
    } catch (const std::exception& e) {
      fail(f, contract, e.what());
    }
    progress_.done(contract.symbol(), verify::line_of(f));
  }

  /// What cannot even be decoded, or is too much for the machine, is not proved.
  static void fail(Finding& f, const Contract& contract, const std::string& reason) {
    verify::Verdict v;
    v.symbol = contract.symbol();
    v.statement = contract.statement();
    v.lengths = contract.lengths();
    v.cases = contract.cases();
    v.failure.emplace();
    v.failure->reason = reason;
    f.verdict = std::move(v);
  }

  /// A proof holds without a cache, too.
  void keep(const std::string& key, const verify::Verdict& verdict) {
    try {
      cache_->keep(key, verdict);
    } catch (const std::exception& e) {
      if (!warned_.exchange(true)) fmt::print(stderr, "stitchgcm: proofs are not kept: {}\n", e.what());
    }
  }

  void locate(Finding& f, const verify::Function& function) const {
    const std::uint64_t address = f.verdict.failure->address;
    if (function.at(address) == nullptr) return;
    f.offset = address - function.symbol.address;
    f.place = verify::place_in_sources(function, address, proofs_.sources);
  }

  void run_where_failed(std::size_t n) {
    Finding& f = findings_[n];
    if (!f.verdict.failure || f.verdict.failed_case.empty()) return;
    f.execution = verify::execution_at(*f.verdict.failure, f.verdict.failed_case, *proofs_.wanted[n], proofs_.image,
                                       proofs_.prefix);
  }

  const Proofs& proofs_;
  verify::ContractTable callees_;
  Progress progress_;
  std::vector<Finding> findings_;
  std::optional<verify::ProofCache> cache_;
  std::string verifier_;
  std::atomic<bool> warned_ = false;
};

}  // namespace

std::vector<Finding> prove_all(const Proofs& proofs) { return Run(proofs).run(); }

}  // namespace stitchgcm::commands
