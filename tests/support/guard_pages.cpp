// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "guard_pages.hpp"

#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tests {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void must(bool holds, const char* what) {
  if (!holds) throw std::system_error(errno, std::generic_category(), what);
}

std::vector<const GuardedBuffer*>& living_buffers() {
  static std::vector<const GuardedBuffer*> buffers;
  return buffers;
}

sigjmp_buf landing;
volatile std::uintptr_t fault_address = 0;

void on_fault(int, siginfo_t* info, void*) {
  fault_address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  siglongjmp(landing, 1);
}

// The handlers of SIGSEGV and SIGBUS, for as long as it lives.
class FaultHandlers {
 public:
  FaultHandlers() {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    must(sigaction(SIGSEGV, &action, &segv_) == 0, "sigaction");
    must(sigaction(SIGBUS, &action, &bus_) == 0, "sigaction");
  }
  ~FaultHandlers() {
    sigaction(SIGSEGV, &segv_, nullptr);
    sigaction(SIGBUS, &bus_, nullptr);
  }
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;

 private:
  struct sigaction segv_ = {};
  struct sigaction bus_ = {};
};

// Apart from anything with a local variable that changes: those are lost when the handler jumps back.
bool faults(const std::function<void()>& body) {
  if (sigsetjmp(landing, 0) != 0) return true;
  body();
  return false;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::string name, std::size_t capacity) : name_(std::move(name)) {
  const std::size_t page = page_bytes();
  const std::size_t inside = std::max(page, (capacity + page - 1) / page * page);
  void* memory = mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(memory != MAP_FAILED, "mmap");
  mapping_ = {static_cast<std::uint8_t*>(memory), inside + 2 * page};
  all_ = mapping_.subspan(page, inside);
  must(mprotect(all_.data(), all_.size(), PROT_READ | PROT_WRITE) == 0, "mprotect");
  living_buffers().push_back(this);
}

GuardedBuffer::~GuardedBuffer() {
  std::erase(living_buffers(), this);
  munmap(mapping_.data(), mapping_.size());
}

std::span<std::uint8_t> GuardedBuffer::place(Flush flush, std::size_t bytes, std::size_t offset) const {
  return flush == Flush::before_the_end ? all_.subspan(all_.size() - bytes - offset, bytes)
                                        : all_.subspan(offset, bytes);
}

void GuardedBuffer::fill(std::uint8_t byte) const { std::fill(all_.begin(), all_.end(), byte); }

void GuardedBuffer::make_read_only() const { must(mprotect(all_.data(), all_.size(), PROT_READ) == 0, "mprotect"); }

std::optional<std::string> GuardedBuffer::describe(std::uintptr_t address) const {
  const auto start = reinterpret_cast<std::uintptr_t>(all_.data());
  const std::uintptr_t end = start + all_.size();
  const auto mapping_start = reinterpret_cast<std::uintptr_t>(mapping_.data());
  if (address < mapping_start || address >= mapping_start + mapping_.size()) return std::nullopt;
  if (address < start) return fmt::format("byte {} before the start of {}", start - address, name_);
  if (address >= end) return fmt::format("byte {} past the end of {}", address - end, name_);
  return fmt::format("read-only memory of {}", name_);
}

ReservedSpace::ReservedSpace(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = memory;
  bytes_ = bytes;
}

ReservedSpace::~ReservedSpace() {
  if (!empty()) munmap(memory_, bytes_);
}

bool ReservedSpace::contains(std::uintptr_t address) const {
  const auto start = reinterpret_cast<std::uintptr_t>(memory_);
  return address >= start && address - start < bytes_;
}

std::optional<std::uintptr_t> faulting_address(const std::function<void()>& body) {
  const FaultHandlers handlers;
  if (!faults(body)) return std::nullopt;
  return fault_address;
}

std::string fault_of(const std::function<void()>& body) {
  const auto address = faulting_address(body);
  if (!address) return "";
  for (const GuardedBuffer* buffer : living_buffers()) {
    if (const auto text = buffer->describe(*address)) return "touched " + *text;
  }
  return fmt::format("touched the address {:#x}, which is in no buffer of the test", *address);
}

}  // namespace tests
