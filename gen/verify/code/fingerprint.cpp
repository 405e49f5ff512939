// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/code/fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace stitchgcm::verify {
namespace {

constexpr std::size_t kFieldBytes = 4;

/// The instruction with the byte at this address.
const Instruction& instruction_with(const Function& function, std::uint64_t address) {
  const auto after = std::upper_bound(function.instructions.begin(), function.instructions.end(), address,
                                      [](std::uint64_t a, const Instruction& i) { return a < i.address; });
  if (after == function.instructions.begin()) throw std::logic_error("a field in front of its function");
  return *std::prev(after);
}

const Section* data_at(const Image& image, std::uint64_t address) {
  for (const Section& s : image.sections()) {
    if (!s.executable && address >= s.address && address - s.address <= s.bytes.size()) return &s;
  }
  return nullptr;
}

}  // namespace

std::string sha256(std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not to be had from libcrypto");
  }
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::string bytes_in_any_program(const Image& image, const Function& function, ZerosAtEnd zeros) {
  const auto code = image.code(function.symbol);
  std::string bytes(code.begin(), code.end()), references;
  std::vector<const Section*> data;
  for (const std::uint64_t field : image.relocated(function.symbol)) {
    const std::size_t place = static_cast<std::size_t>(field - function.symbol.address);
    std::int32_t distance = 0;
    std::memcpy(&distance, code.subspan(place, kFieldBytes).data(), kFieldBytes);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(place), kFieldBytes, '\0');
    const auto symbol_plus_addend = field + static_cast<std::uint64_t>(std::int64_t{distance});
    const std::uint64_t target =
        instruction_with(function, field).next() + static_cast<std::uint64_t>(std::int64_t{distance});
    std::string name;
    std::uint64_t from = 0;
    if (const Symbol* callee = image.at(target)) {
      name = callee->name;
      from = callee->address;
    } else if (const Section* section = data_at(image, target)) {
      from = section->address;
      if (std::find(data.begin(), data.end(), section) == data.end()) data.push_back(section);
    } else {
      throw std::runtime_error(
          fmt::format("{}: the field at {} leads neither to a function nor to data", function.symbol.name, place));
    }
    references += fmt::format("\n{} {} {}", place, name, static_cast<std::int64_t>(symbol_plus_addend - from));
  }
  bytes += references;
  for (const Section* section : data) {
    auto last = section->bytes.rbegin();
    if (zeros == ZerosAtEnd::left_out) {
      last = std::find_if(last, section->bytes.rend(), [](std::uint8_t b) { return b != 0; });
    }
    bytes += "\n" + std::string(section->bytes.begin(), last.base());
  }
  return bytes;
}

std::string code_hash(const Image& image, const Function& function) {
  return sha256(bytes_in_any_program(image, function, ZerosAtEnd::left_out)).substr(0, 32);
}

}  // namespace stitchgcm::verify
