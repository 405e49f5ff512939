// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Verdicts and reports as JSON, for programs and for the cache.
#include <nlohmann/json.hpp>

#include "verify/report/finding.hpp"

namespace stitchgcm::verify {

/// An object with the fields of Verdict by name; failures as in `report_json`, without what is known only to Finding.
nlohmann::ordered_json verdict_json(const Verdict& verdict);

/// The verdict of a proof that succeeded, from verdict_json's object. Throws std::invalid_argument if a field is not
/// there or of another type, or if it is no proof.
Verdict proof_from_json(const nlohmann::ordered_json& json);

/// {"proved": all of it, "faults": [text], "symbols": [verdict with "sha256" and "cached", and with "failure": {"case",
/// "reason", "offset", "instruction", "path", "source": {"file", "line", "stage", "note"}, "execution"} where it
/// failed], "assumptions": [text]}
nlohmann::ordered_json report_json(const Report& report);

}  // namespace stitchgcm::verify
