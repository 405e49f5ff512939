// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "verify/report/json.hpp"

#include <stdexcept>

namespace stitchgcm::verify {
namespace {

using Json = nlohmann::ordered_json;

Json failure_json(const Verdict& v) {
  return {{"case", v.failed_case},
          {"reason", v.failure->reason},
          {"instruction", v.failure->instruction},
          {"path", v.failure->path}};
}

Json finding_json(const Finding& f) {
  Json json = verdict_json(f.verdict);
  json["sha256"] = f.code_hash;
  json["cached"] = f.from_cache;
  if (!f.verdict.failure) return json;
  Json& failure = json["failure"];
  failure["offset"] = f.offset;
  if (f.place) {
    failure["source"] = {
        {"file", f.place->file}, {"line", f.place->line}, {"stage", f.place->stage}, {"note", f.place->note}};
  }
  if (!f.execution.empty()) failure["execution"] = f.execution;
  return json;
}

}  // namespace

Json verdict_json(const Verdict& v) {
  const Statistics& s = v.statistics;
  Json json{{"symbol", v.symbol},
            {"proved", v.proved},
            {"statement", v.statement},
            {"lengths", v.lengths},
            {"cases", v.cases},
            {"invariants", v.invariants},
            {"instructions", v.instructions},
            {"code_bytes", v.code_bytes},
            {"stack_bytes", s.deepest_stack},
            {"followed",
             {{"instructions", s.instructions},
              {"paths", s.paths},
              {"forks", s.forks},
              {"joins", s.joins},
              {"hypotheses", s.hypotheses}}},
            {"formulas",
             {{"lanes", v.formulas.lanes},
              {"maps", v.formulas.maps},
              {"tensors", v.formulas.tensors},
              {"atoms", v.formulas.atoms}}},
            {"seconds", v.seconds}};
  if (v.failure) json["failure"] = failure_json(v);
  return json;
}

Verdict proof_from_json(const Json& json) {
  try {
    Verdict v;
    json.at("symbol").get_to(v.symbol);
    json.at("proved").get_to(v.proved);
    json.at("statement").get_to(v.statement);
    json.at("lengths").get_to(v.lengths);
    json.at("cases").get_to(v.cases);
    json.at("invariants").get_to(v.invariants);
    json.at("instructions").get_to(v.instructions);
    json.at("code_bytes").get_to(v.code_bytes);
    json.at("stack_bytes").get_to(v.statistics.deepest_stack);
    const Json& followed = json.at("followed");
    followed.at("instructions").get_to(v.statistics.instructions);
    followed.at("paths").get_to(v.statistics.paths);
    followed.at("forks").get_to(v.statistics.forks);
    followed.at("joins").get_to(v.statistics.joins);
    followed.at("hypotheses").get_to(v.statistics.hypotheses);
    const Json& formulas = json.at("formulas");
    formulas.at("lanes").get_to(v.formulas.lanes);
    formulas.at("maps").get_to(v.formulas.maps);
    formulas.at("tensors").get_to(v.formulas.tensors);
    formulas.at("atoms").get_to(v.formulas.atoms);
    json.at("seconds").get_to(v.seconds);
    if (!v.proved || json.contains("failure")) throw std::invalid_argument("a verdict that is no proof");
    return v;
  } catch (const Json::exception& e) {
    throw std::invalid_argument(e.what());
  }
}

Json report_json(const Report& report) {
  Json symbols = Json::array();
  for (const Finding& f : report.findings) symbols.push_back(finding_json(f));
  return {{"proved", report.all_proved()},
          {"faults", report.faults},
          {"symbols", std::move(symbols)},
          {"assumptions", assumptions()}};
}

}  // namespace stitchgcm::verify
