// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// stitchgcm-bench: see options.cpp for what it takes, harness.hpp for how it measures.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>

#include "clock.hpp"
#include "options.hpp"
#include "ours.hpp"
#include "peers/peers.hpp"
#include "stitchgcm.h"

namespace {

using namespace stitchgcm::bench;

constexpr int exit_disagreement = 1;
constexpr int exit_usage = 2;

void complain(std::string_view what) {
  std::fflush(stdout);  // what was printed before comes before
  fmt::print(stderr, "stitchgcm-bench: {}\n", what);
}

// A file that appears under its name only when it is complete.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path) : path_(path), partial_(path + ".partial") {
    if (path_.empty()) return;
    stream_.open(partial_);
    if (!stream_) throw UsageError(fmt::format("--csv: cannot write {}", partial_));
  }
  ~WholeFile() {
    if (!path_.empty() && !finished_) std::remove(partial_.c_str());
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void finish(const std::string& text) {
    if (path_.empty()) return;
    stream_ << text;
    stream_.close();
    if (!stream_ || std::rename(partial_.c_str(), path_.c_str()) != 0) {
      throw std::runtime_error(fmt::format("cannot write {}", path_));
    }
    finished_ = true;
  }

 private:
  std::string path_;
  std::string partial_;
  std::ofstream stream_;
  bool finished_ = false;
};

const CpuClass& choose_class(const Options& options) {
  if (options.cpu_class != nullptr) return *options.cpu_class;
  stitchgcm_backend_select(nullptr);
  const CpuClass* best = find_cpu_class(stitchgcm_backend_selected());
  return best != nullptr ? *best : cpu_classes().back();
}

// The best of ours that the class has instructions for: the class's own, or what comes after it.
std::string best_backend(const CpuClass& cpu_class) {
  if (cpu_class.name == "native") return stitchgcm_backend_selected();
  const std::string name(cpu_class.name);
  if (stitchgcm_backend_available(name.c_str()) == 1) return name;
  complain(fmt::format("no backend of ours for class {} here: timing portable", cpu_class.name));
  return "portable";
}

std::unique_ptr<Contender> make_peer(const std::string& peer, const CpuClass& cpu_class) {
  if (peer == "openssl") return make_openssl(cpu_class);
  if (peer == "ipsec-mb") return make_ipsec_mb(cpu_class);
  if (peer.find('/') == std::string::npos) {
    throw Unavailable(fmt::format("--peer: '{}' is none of openssl, ipsec-mb, none, and no path", peer));
  }
  return make_dynamic(peer, cpu_class);
}

Contenders make_contenders(const Options& options, const CpuClass& cpu_class) {
  std::vector<std::string> backends = options.backends;
  if (backends.empty()) backends.push_back(best_backend(cpu_class));
  Contenders contenders;
  for (const std::string& backend : backends) contenders.push_back(make_backend(backend));
  for (const std::string& peer : options.peers) {
    try {
      contenders.push_back(make_peer(peer, cpu_class));
    } catch (const Unavailable& error) {
      if (options.peers_named) throw;
      complain(fmt::format("without {}: {}", peer, error.what()));
    }
  }
  return contenders;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

void print_head(const Options& options, const CpuClass& cpu_class, std::optional<int> cpu,
                const Contenders& contenders) {
  double ghz = 0;
  for (int i = 0; i < 20; ++i) ghz = std::max(ghz, core_ghz());
  const std::string end = options.style.markdown ? "  \n" : "\n";
  fmt::print("{}, {:.2f} GHz now, {}{}", cpu_model(), ghz, cpu ? fmt::format("on CPU {}", *cpu) : "not kept on one CPU",
             end);
  fmt::print("class {}: {}{}", cpu_class.name, cpu_class.what, end);
  for (const auto& contender : contenders) fmt::print("{}: {}{}", contender->name(), contender->about(), end);
  fmt::print("IV of {} bytes, AAD of {} bytes, tag of {} bytes{}", options.settings.iv_bytes,
             options.settings.aad_bytes, tag_bytes, end);
}

int run(const Options& options) {
  WholeFile csv_file(options.csv_file);
  const std::optional<int> cpu = pin_to_cpu(options.cpu);
  if (!cpu && options.cpu) throw UsageError(fmt::format("--cpu: this process cannot run on CPU {}", *options.cpu));
  const CpuClass& cpu_class = choose_class(options);
  hide_from_libcrypto(cpu_class);
  Contenders contenders = make_contenders(options, cpu_class);
  print_head(options, cpu_class, cpu, contenders);

  Harness harness(std::move(contenders), options.settings, options.largest());
  const Agreement agreement = harness.check(options.cells);
  fmt::print("{} outputs of each contender are the same, digest {:016x}\n\n", agreement.outputs, agreement.digest);
  std::fflush(stdout);

  const bool show = ::isatty(STDERR_FILENO) != 0;
  const std::vector<CellResult> results = harness.time(options.cells, [show](std::size_t done, std::size_t all) {
    if (show) fmt::print(stderr, "\r{:3} %{}", 100 * done / all, done == all ? "\r     \r" : "");
  });
  csv_file.finish(csv(results, harness.contenders()));
  fmt::print("{}", tables(results, harness.contenders(), options.style));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto parsed = parse_options(argc, argv);
    if (const std::string* help = std::get_if<std::string>(&parsed)) {
      fmt::print("{}", *help);
      return 0;
    }
    return run(std::get<Options>(parsed));
  } catch (const UsageError& error) {
    complain(error.what());
    return exit_usage;
  } catch (const Unavailable& error) {
    complain(error.what());
    return exit_usage;
  } catch (const std::exception& error) {
    complain(error.what());
    return exit_disagreement;
  }
}
