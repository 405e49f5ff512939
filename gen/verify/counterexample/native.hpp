// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Code of an image, run as it is, in a process of its own.
#include <functional>
#include <string>

#include "verify/code/image.hpp"

namespace stitchgcm::verify {

/// Pages of memory that processes made later share.
class Pages {
 public:
  /// Throws std::runtime_error.
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint8_t* begin() const { return begin_; }
  std::size_t size() const { return size_; }  // whole pages
  enum class Access : std::uint8_t { none, read, write, execute };
  void allow(std::size_t from, std::size_t bytes, Access access);
  static std::size_t page();

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t size_ = 0;
};

/// The image in memory: all its sections as far from each other as in the image, so that its distances hold.
class NativeImage {
 public:
  explicit NativeImage(const Image& image);
  template <class FunctionType>
  FunctionType* function(const Symbol& symbol) const {
    return reinterpret_cast<FunctionType*>(pages_.begin() + (symbol.address - first_));
  }

 private:
  std::uint64_t first_;
  Pages pages_;
};

/// A buffer at one end of pages of its own, between pages that nothing may touch.
class GuardedBuffer {
 public:
  enum class End : std::uint8_t { begin, end };
  GuardedBuffer(std::string name, std::span<const std::uint8_t> content, End end);

  const std::string& name() const { return name_; }
  std::uint8_t* data() const { return data_; }
  std::span<std::uint8_t> bytes() const { return {data_, size_}; }
  void make_read_only();
  /// What was changed beside the buffer; empty if nothing was.
  std::string damage() const;
  /// Whether the address is in the buffer or in the pages around it, and where: "byte 16 of out, which has 16 bytes".
  std::string describe(std::uintptr_t address) const;

 private:
  std::span<std::uint8_t> usable() const;

  std::string name_;
  std::size_t size_;
  Pages pages_;
  std::uint8_t* data_;
};

/// How a call in another process ended.
struct Ended {
  enum class How : std::uint8_t { returned, signal, too_long } how{};
  std::uint64_t value = 0;     // that it returned
  int signal = 0;              // SIGILL: the CPU does not have an instruction
  std::uintptr_t address = 0;  // of SIGSEGV and SIGBUS
};

/// Calls f in a process of its own. Throws std::runtime_error if there can be none.
Ended call_in_child(const std::function<std::uint64_t()>& f);

}  // namespace stitchgcm::verify
