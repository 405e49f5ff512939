// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/counterexample/native.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace stitchgcm::verify {
namespace {

constexpr std::uint8_t kFill = 0xa5;
constexpr rlim_t kSeconds = 1;  // of CPU time that a call may take
constexpr std::size_t kSignalStack = std::size_t{64} << 10;

std::size_t whole_pages(std::size_t bytes) { return (bytes + Pages::page() - 1) / Pages::page() * Pages::page(); }

std::uint64_t first_address(const Image& image) {
  std::uint64_t first = UINT64_MAX;
  for (const Section& s : image.sections()) first = std::min(first, s.address);
  return first;
}

std::size_t span_of(const Image& image) {
  std::uint64_t end = 0;
  for (const Section& s : image.sections()) end = std::max<std::uint64_t>(end, s.address + s.bytes.size());
  return static_cast<std::size_t>(end - first_address(image));
}

/// What the child tells: a handler of signals knows no other way to it.
Ended* told = nullptr;

void tell_signal(int signal, siginfo_t* info, void*) {
  told->how = Ended::How::signal;
  told->signal = signal;
  told->address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  _exit(0);
}

void catch_signals(void* stack) {
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = kSignalStack;
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = tell_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigaction(s, &action, nullptr);
}

/// The first SIGXCPU ends the process.
void limit_time() {
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = kSeconds;
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

std::size_t Pages::page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

Pages::Pages(std::size_t bytes) : size_(whole_pages(std::max<std::size_t>(bytes, 1))) {
  void* p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::runtime_error(fmt::format("no memory of {} bytes", size_));
  begin_ = static_cast<std::uint8_t*>(p);
}

Pages::~Pages() { munmap(begin_, size_); }

void Pages::allow(std::size_t from, std::size_t bytes, Access access) {
  const int protection = access == Access::none    ? PROT_NONE
                         : access == Access::read  ? PROT_READ
                         : access == Access::write ? PROT_READ | PROT_WRITE
                                                   : PROT_READ | PROT_EXEC;
  if (mprotect(begin_ + from, bytes, protection) != 0) {
    throw std::runtime_error(fmt::format("rights of memory cannot be set: {}", std::strerror(errno)));
  }
}

NativeImage::NativeImage(const Image& image) : first_(first_address(image)), pages_(span_of(image)) {
  if (first_ % Pages::page() != 0) throw std::runtime_error("the image's sections do not begin at pages");
  for (const Section& s : image.sections()) {
    std::copy(s.bytes.begin(), s.bytes.end(), pages_.begin() + (s.address - first_));
  }
  for (const Section& s : image.sections()) {
    pages_.allow(static_cast<std::size_t>(s.address - first_), whole_pages(s.bytes.size()),
                 s.executable ? Pages::Access::execute : Pages::Access::read);
  }
}

GuardedBuffer::GuardedBuffer(std::string name, std::span<const std::uint8_t> content, End end)
    : name_(std::move(name)),
      size_(content.size()),
      pages_(whole_pages(std::max<std::size_t>(content.size(), 1)) + 2 * Pages::page()) {
  const std::span<std::uint8_t> inner = usable();
  std::fill(inner.begin(), inner.end(), kFill);
  data_ = end == End::begin ? inner.data() : inner.data() + inner.size() - size_;
  std::copy(content.begin(), content.end(), data_);
  pages_.allow(0, Pages::page(), Pages::Access::none);
  pages_.allow(pages_.size() - Pages::page(), Pages::page(), Pages::Access::none);
}

std::span<std::uint8_t> GuardedBuffer::usable() const {
  return {pages_.begin() + Pages::page(), pages_.size() - 2 * Pages::page()};
}

void GuardedBuffer::make_read_only() { pages_.allow(Pages::page(), usable().size(), Pages::Access::read); }

std::string GuardedBuffer::damage() const {
  const std::span<std::uint8_t> inner = usable();
  for (std::uint8_t& byte : inner) {
    const bool beside = &byte < data_ || &byte >= data_ + size_;
    if (beside && byte != kFill) return "it writes " + describe(reinterpret_cast<std::uintptr_t>(&byte));
  }
  return "";
}

std::string GuardedBuffer::describe(std::uintptr_t address) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(pages_.begin());
  if (address < begin || address - begin >= pages_.size()) return "";
  const auto place = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(data_));
  return fmt::format("byte {} of {}, which has {} bytes", place, name_, size_);
}

Ended call_in_child(const std::function<std::uint64_t()>& f) {
  const Pages shared(sizeof(Ended) + kSignalStack);
  Ended* ended = new (shared.begin()) Ended;
  ended->how = Ended::How::too_long;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("no process: {}", std::strerror(errno)));
  if (child == 0) {
    told = ended;
    catch_signals(shared.begin() + sizeof(Ended));
    limit_time();
    ended->value = f();
    ended->how = Ended::How::returned;
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGXCPU) {
    ended->how = Ended::How::signal;
    ended->signal = WTERMSIG(status);
  }
  return *ended;
}

}  // namespace stitchgcm::verify
