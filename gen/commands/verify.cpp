// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "commands/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "commands/mutate_all.hpp"
#include "commands/nearest.hpp"
#include "commands/prove_all.hpp"
#include "commands/what.hpp"
#include "emit/tree.hpp"
#include "verify/code/assemble.hpp"
#include "verify/report/json.hpp"
#include "verify/report/proofs_page.hpp"
#include "verify/report/text.hpp"

namespace stitchgcm::commands {
namespace {

namespace fs = std::filesystem;
using verify::Contract;

/// Those whose routines have contracts.
constexpr const char* kBackends[] = {"aesni_avx"};

std::vector<std::unique_ptr<Contract>> all_contracts(const std::string& prefix) {
  std::vector<std::unique_ptr<Contract>> all;
  for (const char* backend : kBackends) {
    for (auto& c : verify::contracts(prefix, backend)) all.push_back(std::move(c));
  }
  return all;
}

/// <folder>/<backend>/<name>.S
std::vector<fs::path> emitted_sources(const fs::path& folder) {
  std::vector<fs::path> sources;
  if (!fs::is_directory(folder)) return sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".S") sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

/// Symbols and contracts that have no counterpart.
std::vector<std::string> faults_of(const verify::Image& image,
                                   const std::vector<std::unique_ptr<Contract>>& contracts) {
  std::vector<std::string> faults;
  std::set<std::string> known;
  for (const auto& c : contracts) {
    known.insert(c->symbol());
    if (image.find(c->symbol()) == nullptr) {
      faults.push_back(fmt::format("NO CODE for {}: no object has a function of that name", c->symbol()));
    }
  }
  for (const verify::Symbol& s : image.symbols()) {
    if (!known.contains(s.name)) faults.push_back(fmt::format("NO CONTRACT for {}, in {}", s.name, s.file));
  }
  return faults;
}

int complain(const std::string& text) {
  fmt::print(stderr, "stitchgcm: {}\n", text);
  return kWrongArguments;
}

void write_json(const VerifyRequest& r, const nlohmann::ordered_json& json) {
  if (r.json.empty()) return;
  const std::string text = json.dump(1) + "\n";
  if (r.json == "-") {
    fmt::print("{}", text);
  } else {
    emit::write_whole(r.json, text);
  }
}

int mutate(const VerifyRequest& r, const Mutations& mutations) {
  const std::vector<verify::Mutation> all = mutate_all(mutations);
  fmt::print(mutations.lines, "\n{}", verify::mutation_summary(all));
  write_json(r, verify::mutation_json(all));
  return verify::all_explained(all) ? 0 : kDiffers;
}

}  // namespace

void VerifyRequest::add_to(CLI::App& app) {
  CLI::Option* some = app.add_option("SYMBOL", symbols, "what is to be proved");
  app.add_flag("--all", all, "every symbol; one that has no contract is an error")->excludes(some);
  app.add_option("--object", objects, "object files that hold the code (default: assembled from the emitted files)")
      ->check(CLI::ExistingFile);
  app.add_option("--emitted", emitted, "folder of the emitted files (default: emitted)");
  add_prefix(app, prefix);
  app.add_option("--gnu", compiler, "compiler driver that assembles (default: gcc)");
  app.add_flag("--force", force, "prove again what was proved before");
  app.add_option("--cache", cache, "folder of proofs (default: stitchgcm/proofs in $XDG_CACHE_HOME or ~/.cache)");
  app.add_option("--json", json, "a file for the report as JSON, or - for standard output");
  app.add_option("--proofs", proofs, "a file for the page of proofs; with --all");
  CLI::Option* damaged =
      app.add_flag("--mutate", mutate,
                   "damage the routines, one instruction at a time: each must be refused, or shown to "
                   "be the same")
          ->excludes("--proofs");
  app.add_option("--sample", sample, "with --mutate: so many damaged routines, at random (default: all)")
      ->needs(damaged)
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", seed, "with --sample: which (default: 1)")->needs(damaged);
  app.add_option("--jobs", jobs, "proofs side by side (default: one for each CPU)")->check(CLI::Range(1, 1024));
}

int verify(const VerifyRequest& r) {
  if (!r.all && r.symbols.empty()) return complain("name symbols to be proved, or --all");
  if (!r.all && !r.proofs.empty()) return complain("--proofs needs --all: a page of some symbols would not be whole");

  const std::vector<std::unique_ptr<Contract>> contracts = all_contracts(r.prefix);
  std::vector<std::string> names;
  for (const auto& c : contracts) names.push_back(c->symbol());
  for (const std::string& s : r.symbols) {
    if (std::find(names.begin(), names.end(), s) != names.end()) continue;
    return complain(
        fmt::format("there is no contract for \"{}\"; near to it: {}", s, fmt::join(nearest(s, names), ", ")));
  }
  const std::vector<fs::path> sources = emitted_sources(r.emitted);
  if (r.objects.empty() && sources.empty()) {
    return complain(
        fmt::format("{} has no .S files: name their folder with --emitted, or --object files", r.emitted.string()));
  }

  const verify::TemporaryFolder folder;
  const verify::Image image(r.objects.empty() ? verify::assemble(sources, folder.path(), r.compiler) : r.objects);
  std::vector<const Contract*> wanted;
  for (const auto& c : contracts) {
    const bool asked_for = r.all || std::find(r.symbols.begin(), r.symbols.end(), c->symbol()) != r.symbols.end();
    if (!asked_for) continue;
    if (image.find(c->symbol()) != nullptr) {
      wanted.push_back(c.get());
    } else if (!r.all) {
      return complain(fmt::format("no object has a function named {}", c->symbol()));
    }
  }

  std::FILE* const lines = r.json == "-" ? stderr : stdout;
  if (r.mutate) return mutate(r, {image, contracts, wanted, sources, r.sample, r.seed, r.jobs, lines});
  verify::Report report;
  if (r.all) report.faults = faults_of(image, contracts);
  report.findings = prove_all({image, contracts, wanted, sources, r.prefix, r.force, r.cache, r.jobs, lines});

  for (const verify::Finding& f : report.findings) {
    if (f.verdict.failure) fmt::print(lines, "\n{}:\n{}", f.verdict.symbol, verify::failure_text(f));
  }
  fmt::print(lines, "\n{}", verify::summary(report));
  write_json(r, verify::report_json(report));
  if (!report.all_proved()) {
    if (!r.proofs.empty()) fmt::print(lines, "{} is not written\n", r.proofs.string());
    return kDiffers;
  }
  if (!r.proofs.empty()) {
    const std::string with_prefix = r.prefix == "stitchgcm" ? "" : " --prefix " + r.prefix;
    const std::string command =
        fmt::format("stitchgcm verify --all{} --proofs emitted/{}", with_prefix, emit::kProofsPage);
    emit::write_whole(r.proofs, verify::proofs_page(report, command));
  }
  return 0;
}

}  // namespace stitchgcm::commands
