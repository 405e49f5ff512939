// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/choices.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <stdexcept>

namespace stitchgcm::gcm {
namespace {

int integer(const std::string& name, const std::string& value, int low, int high) {
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc{} || end != value.data() + value.size() || n < low || n > high) {
    throw std::invalid_argument(
        fmt::format("{} takes a whole number from {} to {}, not \"{}\"", name, low, high, value));
  }
  return n;
}

template <class T>
T one_of(const std::string& name, const std::string& value, const std::map<std::string, T>& values) {
  if (const auto it = values.find(value); it != values.end()) return it->second;
  std::string known;
  for (const auto& [k, v] : values) known += (known.empty() ? "" : " or ") + k;
  throw std::invalid_argument(fmt::format("{} is {}, not \"{}\"", name, known, value));
}

void set_schedule(BatchSchedule& s, const std::string& name, const std::string& field, const std::string& value) {
  if (field == "aes_start") {
    s.aes_start = integer(name, value, -64000, 8000);
  } else if (field == "aes_time") {
    s.aes_time = integer(name, value, 0, 64000);
  } else if (field == "reverse_start") {
    s.reverse_start = integer(name, value, -64000, 8000);
  } else if (field == "reverse_time") {
    s.reverse_time = integer(name, value, 0, 64000);
  } else if (field == "first_gap") {
    s.gaps.first = integer(name, value, 0, 10000) / 1000.0;
  } else if (field == "last_gap") {
    s.gaps.last = integer(name, value, 0, 10000) / 1000.0;
  } else if (field == "hash_start") {
    s.hash_start = integer(name, value, -64000, 8000);
  } else if (field == "hash_time") {
    s.hash_time = integer(name, value, 0, 64000);
  } else if (field == "multiply_group") {
    s.multiply_group = integer(name, value, 1, 3);
  } else {
    throw std::invalid_argument("no choice is named \"" + name +
                                "\"; of a schedule there are aes_start, aes_time, first_gap, "
                                "last_gap, reverse_start, reverse_time, hash_start, hash_time, multiply_group");
  }
}

}  // namespace

void Choices::set(const std::string& name, const std::string& value) {
  if (name == "first_counters") {
    first_counters = one_of<FirstCounters>(
        name, value, {{"registers", FirstCounters::registers}, {"memory", FirstCounters::memory}});
  } else if (name == "end") {
    end = one_of<EndOfText>(name, value, {{"inline", EndOfText::inlined}, {"calls", EndOfText::calls}});
  } else if (name.starts_with("encrypt.")) {
    set_schedule(encrypt, name, name.substr(8), value);
  } else if (name.starts_with("decrypt.")) {
    set_schedule(decrypt, name, name.substr(8), value);
  } else {
    throw std::invalid_argument("no choice is named \"" + name +
                                "\"; there are first_counters, end, encrypt.FIELD and decrypt.FIELD");
  }
}

}  // namespace stitchgcm::gcm
