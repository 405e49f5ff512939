// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// A shared library that is opened at run time, apart from all others in the process.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "contender.hpp"

namespace stitchgcm::bench {

// It refuses RTLD_DEEPBIND.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool address_sanitizer = false;
#endif

class Library {
 public:
  /// Throws Unavailable with the loader's reason. It is opened so that its own calls stay inside of it: two libcryptos
  /// in one process must not call each other's functions of the same name.
  explicit Library(const std::string& path) : path_(path) {
    int flags = RTLD_NOW | RTLD_LOCAL;
    if (!address_sanitizer) flags |= RTLD_DEEPBIND;
    handle_.reset(::dlopen(path.c_str(), flags));
    if (!handle_) throw Unavailable(::dlerror());
  }

  const std::string& path() const { return path_; }
  bool has(const char* symbol) const { return ::dlsym(handle_.get(), symbol) != nullptr; }

  /// Sets `function` to the symbol. Throws Unavailable if the library has none of that name.
  template <class Function>
  void get(Function*& function, const char* symbol) const {
    if (!find(function, symbol)) throw Unavailable(path_ + " has no " + symbol);
  }

  /// The same, but a symbol that is not there leaves null and returns false.
  template <class Function>
  bool find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_.get(), symbol));
    return function != nullptr;
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::string path_;
  std::unique_ptr<void, Close> handle_;
};

}  // namespace stitchgcm::bench
