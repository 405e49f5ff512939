// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/source_place.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace stitchgcm::verify {
namespace {

std::string trimmed(const std::string& s) {
  const auto first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

/// A line of code without its remark, and the remark.
struct Line {
  std::string code, remark;
};
Line split(const std::string& text) {
  const std::size_t at = text.find("//");
  if (at == std::string::npos) return {trimmed(text), ""};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 2))};
}

/// "---- enter ----": "enter". Empty for another remark.
std::string banner_in(const std::string& remark) {
  constexpr std::string_view kDashes = "---- ", kDashesAfter = " ----";
  const bool is_banner = remark.size() > kDashes.size() + kDashesAfter.size() && remark.starts_with(kDashes) &&
                         remark.ends_with(kDashesAfter);
  return is_banner ? remark.substr(kDashes.size(), remark.size() - kDashes.size() - kDashesAfter.size()) : "";
}

bool is_label(const std::string& code) { return code.ends_with(':'); }

/// How many bytes a .byte directive has; 0 if it is none.
std::size_t bytes_given(const std::string& code) {
  if (!code.starts_with(".byte ")) return 0;
  return static_cast<std::size_t>(std::count(code.begin(), code.end(), ',')) + 1;
}

}  // namespace

std::optional<SourcePlace> place_in_source(const Function& function, std::uint64_t address, const std::string& file,
                                           const std::string& text) {
  const std::string& symbol = function.symbol.name;
  std::istringstream in(text);
  std::optional<SourcePlace> found;
  SourcePlace here{file, 0, "", ""};
  bool inside = false;
  std::uint64_t reached = function.symbol.address;  // by the lines so far
  auto next = function.instructions.begin();
  const auto end = function.instructions.end();
  for (std::string raw; std::getline(in, raw);) {
    here.line++;
    const Line line = split(raw);
    if (!inside) {
      inside = line.code == "FUNCTION(" + symbol + ")";
      continue;
    }
    if (line.code == "END_FUNCTION(" + symbol + ")") return next == end ? found : std::nullopt;
    if (line.code.empty()) {
      const std::string banner = banner_in(line.remark);
      if (!banner.empty()) here.stage = banner, here.note.clear();
      continue;
    }
    if (is_label(line.code)) {
      here.note.clear();
      continue;
    }
    const std::size_t bytes = bytes_given(line.code);
    if (line.code[0] == '.' && bytes == 0) continue;  // a directive that makes no code
    if (!line.remark.empty()) here.note = line.remark;
    // Bytes may be several instructions, and the last of them may go on in the next line; any other line is one.
    if (next == end) return std::nullopt;
    reached = bytes == 0 ? next->next() : reached + bytes;
    for (; next != end && next->address < reached; ++next) {
      if (next->address == address) found = here;
    }
  }
  return std::nullopt;
}

std::optional<SourcePlace> place_in_sources(const Function& function, std::uint64_t address,
                                            const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (const auto place = place_in_source(function, address, file.string(), text)) return place;
  }
  return std::nullopt;
}

}  // namespace stitchgcm::verify
