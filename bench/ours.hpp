// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Our side: the backends of the runtime, and variants of them that were emitted under other symbol names.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend.h"
#include "contender.hpp"

namespace stitchgcm::bench {

/// One set of routines of a folder that STITCHGCM_BENCH_VARIANTS names.
struct Variant {
  std::string_view name;     ///< the symbol prefix
  std::string_view backend;  ///< the backend that it is a variant of: same CPU features, same layout
  stitchgcm_routines routines[STITCHGCM_KEY_LENGTHS];
};

/// All that this program was built with; CMake writes the list.
std::span<const Variant> variants();

/// The backend of this name through the public API, as a user of the library meets it, checks of the arguments
/// included. Throws Unavailable, with the names that there are, if this CPU cannot run it or there is none.
std::unique_ptr<Contender> make_backend(std::string_view name);

/// The variant, its routines called directly. Throws Unavailable if this CPU cannot run it.
std::unique_ptr<Contender> make_variant(const Variant& variant);

/// A variant's name as --backend takes it: its prefix, with ":backend" behind if another variant has that prefix too.
std::string variant_name(const Variant& variant);

}  // namespace stitchgcm::bench
