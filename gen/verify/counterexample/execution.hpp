// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Where a proof failed, the code is run: does it do anything wrong at such lengths?
#include "verify/counterexample/calls.hpp"
#include "verify/proof/explorer.hpp"

namespace stitchgcm::verify {

/// Runs the C function `call.symbol` of the image on random data, beside pages that nothing may touch, and compares all
/// that it returns and writes with the standards. What is wrong, in one line; empty if nothing is. Throws
/// std::runtime_error if it cannot be run.
std::string difference_in(const Call& call, const Image& image, std::uint64_t seed);

/// For a report: the smallest calls that take the path of the failure, and what came of them. It never throws.
std::string execution_at(const Failure& failure, const std::string& failed_case, const Contract& contract,
                         const Image& image, const std::string& prefix);

}  // namespace stitchgcm::verify
