// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

namespace stitchgcm::bench {
namespace {

constexpr std::uint32_t largest_size = 1U << 28;
constexpr std::uint32_t largest_mixed = 1500;

constexpr std::string_view default_sizes =
    "0,1,13,16,31,32,48,63,64,100,128,200,255,256,257,300,384,385,500,512,640,768,1024,1025,1350,1420,2048,4095,4096,"
    "8192,16384,16385,65536,1048576";
constexpr std::string_view quick_sizes = "0,16,64,100,256,257,512,1024,1350,4096,16384,65536";
constexpr std::string_view routine_sizes = "16,32,64,128,256,512,1024,2048,4096,8192,16384,65536";

constexpr const char* examples = R"(Examples:
  stitchgcm-bench                                    the whole table, against the peers that are installed
  stitchgcm-bench --quick                            the main sizes, in place, in about ten seconds
  stitchgcm-bench --sizes 64,1350 --bits 128 --direction seal --seconds 5
  stitchgcm-bench --backend aesni_avx --backend portable --peer none
  stitchgcm-bench --class native --peer openssl --peer /opt/boringssl/libcrypto.so
  stitchgcm-bench --random --iv-bytes 8              messages of 1 to 1500 bytes in random order
  stitchgcm-bench --key-setup
  stitchgcm-bench --routines --backend aesni_avx     encrypt_blocks, decrypt_blocks, ctr32, ghash
  stitchgcm-bench --quick --csv table.csv --markdown >table.md

All contenders get one message after the other under one key, each with a fresh IV. They take turns, about a tenth of a
millisecond each, on one core; a table shows the minimum and the median. Outputs are compared before anything is
timed: exit code 1 if they differ. Exit code 2: the arguments make no sense, or ask for what is not here.)";

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = list.find(',');
    parts.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::uint32_t> parse_sizes(std::string_view list) {
  std::vector<std::uint32_t> sizes;
  for (const std::string_view part : split(list)) {
    std::uint32_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc() || end != part.data() + part.size() || size > largest_size) {
      throw UsageError(fmt::format("--sizes: '{}' is not a number of bytes from 0 to {}", part, largest_size));
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Each part of the list must be one of the words; `values` are what they stand for.
template <class Value>
std::vector<Value> parse_words(std::string_view option, std::string_view list,
                               const std::vector<std::string_view>& words, const std::vector<Value>& values) {
  std::vector<Value> result;
  for (const std::string_view part : split(list)) {
    const auto found = std::find(words.begin(), words.end(), part);
    if (found == words.end()) {
      throw UsageError(fmt::format("{}: '{}' is none of {}", option, part, fmt::join(words, ", ")));
    }
    result.push_back(values[static_cast<std::size_t>(found - words.begin())]);
  }
  return result;
}

// As given on the command line.
struct Arguments {
  std::string sizes;
  std::string bits = "128,192,256";
  std::string direction = "seal,open";
  std::string place = "in,out";
  std::string cpu_class;
  bool random = false;
  bool key_setup = false;
  bool routines = false;
  bool quick = false;
};

// 512 sizes in an order too long for a branch predictor to learn; the same ones in every run.
std::vector<std::uint32_t> mixed_sizes() {
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(512);
  for (std::uint32_t& size : sizes) size = 1 + static_cast<std::uint32_t>(random() % largest_mixed);
  return sizes;
}

std::vector<Cell> message_cells(const Arguments& arguments, const std::vector<int>& bits,
                                const std::vector<Operation>& operations, const std::vector<Place>& places,
                                const std::vector<std::uint32_t>& sizes) {
  std::vector<Cell> cells;
  for (const int key_bits : bits) {
    for (const Operation operation : operations) {
      for (const Place place : places) {
        if (operation == Operation::ghash && (key_bits != bits.front() || place != places.front())) continue;
        if (arguments.random) {
          cells.push_back({operation, key_bits, place, mixed_sizes(), fmt::format("1..{}", largest_mixed)});
          continue;
        }
        for (const std::uint32_t size : sizes) {
          // Messages of one size are several, for IVs that change; few where each takes long to make a tag for.
          const std::size_t different = size <= 4096 ? 16 : 1;
          cells.push_back({operation, key_bits, place, std::vector(different, size), fmt::format("{}", size)});
        }
      }
    }
  }
  return cells;
}

std::vector<Cell> make_cells(const Arguments& arguments) {
  const std::vector<int> bits = parse_words<int>("--bits", arguments.bits, {"128", "192", "256"}, {128, 192, 256});
  std::vector<Operation> operations =
      parse_words<Operation>("--direction", arguments.direction, {"seal", "open"}, {Operation::seal, Operation::open});
  const std::vector<Place> places =
      parse_words<Place>("--place", arguments.place, {"in", "out"}, {Place::in, Place::out});
  if (arguments.key_setup) {
    std::vector<Cell> cells;
    for (const int one : bits)
      cells.push_back({Operation::key_setup, one, Place::out, {64}, fmt::format("AES-{}", one)});
    return cells;
  }
  std::string_view list = arguments.quick ? quick_sizes : default_sizes;
  if (arguments.routines) {
    list = routine_sizes;
    operations = {Operation::encrypt_blocks, Operation::decrypt_blocks, Operation::ctr32, Operation::ghash};
  }
  const std::vector<std::uint32_t> sizes = parse_sizes(arguments.sizes.empty() ? list : arguments.sizes);
  if (arguments.routines) {
    const auto odd = std::ranges::find_if(sizes, [](std::uint32_t size) { return size % block_bytes != 0; });
    if (odd != sizes.end())
      throw UsageError(fmt::format("--sizes: {} is not a whole number of blocks, as --routines needs", *odd));
  }
  return message_cells(arguments, bits, operations, places, sizes);
}

}  // namespace

std::size_t Options::largest() const {
  std::size_t result = 0;
  for (const Cell& cell : cells) result = std::max<std::size_t>(result, *std::ranges::max_element(cell.sizes));
  return result;
}

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  CLI::App app("Times AES-GCM: our backends against each other and against other libraries.", "stitchgcm-bench");
  Options options;
  Arguments arguments;
  std::string class_names;
  std::string classes;
  for (const CpuClass& one : cpu_classes()) {
    class_names += fmt::format("{}{}", class_names.empty() ? "" : ", ", one.name);
    classes += fmt::format("\n  {:<12}{}", one.name, one.what);
  }
  app.footer(fmt::format("Classes:{}\n\n{}", classes, examples));
  auto* sizes = app.add_option("--sizes", arguments.sizes, "Text lengths in bytes, with commas between");
  auto* bits = app.add_option("--bits", arguments.bits, "Key lengths: 128,192,256");
  auto* direction = app.add_option("--direction", arguments.direction, "seal,open");
  auto* place = app.add_option("--place", arguments.place, "in (output overwrites the input), out, or in,out");
  app.add_option("--backend", options.backends, "One of our backends or variants; may be given again")
      ->allow_extra_args(false);
  app.add_option("--peer", options.peers,
                 "openssl, ipsec-mb, none, or the path of a libcrypto (OpenSSL, BoringSSL, aws-lc); may be given again")
      ->allow_extra_args(false);
  app.add_option("--class", arguments.cpu_class,
                 "What peers may use of the CPU: " + class_names + " (default: as our best backend)");
  auto* rounds = app.add_option("--rounds", options.settings.rounds, "Samples of each contender in each row")
                     ->check(CLI::Range(std::size_t{1}, std::size_t{1000000}));
  auto* seconds = app.add_option("--seconds", options.settings.seconds, "Time for all rows together (default 80)")
                      ->check(CLI::Range(0.1, 86400.0))
                      ->excludes(rounds);
  app.add_option("--iv-bytes", options.settings.iv_bytes, "Length of the IV (default 12)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{4096}));
  app.add_option("--aad-bytes", options.settings.aad_bytes, "Length of the AAD (default 13)")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 20));
  auto* random =
      app.add_flag("--random", arguments.random, "Messages of 1 to 1500 bytes in random order")->excludes(sizes);
  auto* key_setup = app.add_flag("--key-setup", arguments.key_setup, "Time the set-up of a key")
                        ->excludes(sizes)
                        ->excludes(direction)
                        ->excludes(place)
                        ->excludes(random);
  app.add_flag("--routines", arguments.routines, "Time our routines for whole blocks instead of messages")
      ->excludes(direction)
      ->excludes(random)
      ->excludes(key_setup);
  app.add_flag("--quick", arguments.quick, "Fewer sizes, AES-128 and AES-256, in place, about ten seconds");
  app.add_option("--cpu", options.cpu, "Number of the CPU to stay on (default: the one it starts on)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--markdown", options.style.markdown, "Tables in Markdown");
  app.add_flag("--difference", options.style.difference, "Minima only, as ns more than the first contender");
  app.add_option("--csv", options.csv_file, "Write all numbers to this file too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (arguments.quick) {
    if (bits->count() == 0) arguments.bits = "128,256";
    if (place->count() == 0) arguments.place = "in";
    if (seconds->count() == 0) options.settings.seconds = 8;
  }
  options.cells = make_cells(arguments);
  if (!arguments.cpu_class.empty()) {
    options.cpu_class = find_cpu_class(arguments.cpu_class);
    if (options.cpu_class == nullptr) {
      throw UsageError(fmt::format("--class: no '{}'; there are: {}", arguments.cpu_class, class_names));
    }
  }
  options.peers_named = !options.peers.empty();
  if (arguments.routines) {
    if (options.peers_named) throw UsageError("--routines: peers have no such routines; leave out --peer");
  } else if (!options.peers_named) {
    options.peers = {"openssl", "ipsec-mb"};
  } else if (std::ranges::find(options.peers, "none") != options.peers.end()) {
    if (options.peers.size() > 1) throw UsageError("--peer none goes with no other --peer");
    options.peers.clear();
  }
  return options;
}

}  // namespace stitchgcm::bench
