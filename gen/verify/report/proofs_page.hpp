// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// PROOFS.md: what is proved of each symbol, of which code, and what that rests on.
#include <map>
#include <string>

#include "verify/report/finding.hpp"

namespace stitchgcm::verify {

/// The page, the same for the same code and the same verifier. `command` is what makes it. Throws std::logic_error
/// unless all is proved.
std::string proofs_page(const Report& report, const std::string& command);

/// Symbol -> hash of the code, as a page says.
std::map<std::string, std::string> hashes_in(const std::string& page);

}  // namespace stitchgcm::verify
