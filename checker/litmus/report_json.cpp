// Litmus results as JSON. Registers and locations bear the names that the text gives them ("P1:r0", "[x]").
#include <fmt/format.h>

#include "checker/litmus/report.hpp"

namespace lockstep {

namespace {

using nlohmann::json;

json run_json(const TestReport& report, const SystemRun& run) {
  const LitmusTest& test = *report.test;
  json out{{"system", run.system},
           {"faults", run.subject.options.faults},
           {"sizes", run.subject.options.sizes},
           {"status", word(run.status)}};
  if (run.status == RunStatus::error) {
    out["message"] = run.message;
    return out;
  }
  out["outcomes"] = json::array();
  for (const Outcome& outcome : run.outcomes) {
    if (satisfies(test.filter, test, outcome)) out["outcomes"].push_back(outcome_json(test, outcome));
  }
  out["positive"] = run.tally.positive;
  out["negative"] = run.tally.negative;
  out["observation"] = run.status == RunStatus::complete ? json(word(run.tally.observation())) : json();
  out["validates"] = run.status == RunStatus::complete ? json(run.tally.validates(test.quantifier)) : json();
  const bool comparable = test.launches == nullptr;
  if (comparable && run.status == RunStatus::complete && report.sc.status == RunStatus::complete) {
    out["beyond_sc"] = beyond_sc(run, report.sc).has_value();
  }
  out["states"] = run.exploration.states;
  out["transitions"] = run.exploration.transitions;
  out["depth"] = run.exploration.depth;
  out["seconds"] = run.exploration.seconds;
  out["memory_bytes"] = run.exploration.memory;
  return out;
}

std::string_view answer_word(RaceAnswer answer) {
  switch (answer) {
    case RaceAnswer::race_free:
      return "race-free";
    case RaceAnswer::race:
      return "race";
    case RaceAnswer::not_judged:
      return "not judged";
    case RaceAnswer::inconclusive:
      return "inconclusive";
  }
  return {};
}

json races_json(const TestReport& report) {
  json out{{"status", word(report.race_status)}};
  if (report.race_status != RunStatus::complete) {
    out["message"] = report.race_message;
    return out;
  }
  out["judged"] = report.races.judged && report.test->launches == nullptr;
  out["reason"] = report.test->launches ? "a sequence of launches has no threads" : report.races.reason;
  out["verdicts"] = json::array();
  for (const RaceVerdict& verdict : report.races.verdicts) {
    json one{{"model", name(verdict.model)},
             {"reading", name(verdict.reading)},
             {"answer", answer_word(verdict.answer)},
             {"states", verdict.states}};
    if (verdict.race) one["race"] = print(*verdict.race, report.test->program);
    if (!verdict.reason.empty()) one["reason"] = verdict.reason;
    out["verdicts"].push_back(std::move(one));
  }
  return out;
}

json conformance_json(const TestReport& report) {
  json out = json::array();
  for (const Conformance& one : report.conformance) {
    for (const SyncReading reading : sync_readings) {
      out.push_back({{"system", report.runs[one.run].system},
                     {"model", name(one.model)},
                     {"reading", name(reading)},
                     {"standing", word(one.of(reading))}});
    }
  }
  return out;
}

json findings_json(const TestReport& report) {
  json out = json::array();
  for (const Finding& finding : report.findings) {
    json one{{"kind", word(finding.kind)}, {"text", finding.text}};
    if (!finding.system.empty()) one["system"] = finding.system;
    if (finding.evidence) one["trace"] = trace_json(*finding.evidence);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

json outcome_json(const LitmusTest& test, const Outcome& outcome) {
  json values = json::object();
  for (std::size_t i = 0; i < test.observed.size(); ++i) {
    const auto named = value_word(test, i, outcome[i]);
    values[print(test.observed[i], test.program)] = named ? json(*named) : json(outcome[i]);
  }
  return {{"values", std::move(values)}, {"satisfies", satisfies(test.condition, test, outcome)}};
}

json totals_json(const SuiteTotals& totals) {
  return {{"reported", totals.tests},
          {"not_begun", totals.skipped},
          {"as_expected", totals.as_expected},
          {"differing", totals.differing},
          {"inconclusive", totals.inconclusive},
          {"errors", totals.errors},
          {"interrupted", totals.interrupted},
          {"seconds", totals.seconds}};
}

std::string_view word(TestVerdict verdict) {
  switch (verdict) {
    case TestVerdict::as_expected:
      return "as expected";
    case TestVerdict::inconclusive:
      return "inconclusive";
    case TestVerdict::differs:
      return "differs";
    case TestVerdict::error:
      return "error";
  }
  return {};
}

nlohmann::json report_json(const TestReport& report) {
  const LitmusTest& test = *report.test;
  json runs = json::array();
  for (const SystemRun& run : report.runs) runs.push_back(run_json(report, run));
  return {{"name", test.name},
          {"file", test.file},
          {"doc", test.doc},
          {"tags", test.tags},
          {"quantifier", word(test.quantifier)},
          {"condition", test.condition_text},
          {"filter", print(test.filter, test.program)},
          {"verdict", word(report.verdict())},
          {"systems", std::move(runs)},
          {"races", races_json(report)},
          {"conformance", conformance_json(report)},
          {"findings", findings_json(report)},
          {"seconds", report.seconds}};
}

nlohmann::json suite_json(std::vector<nlohmann::json> reports, const std::vector<std::string>& errors,
                          const RuleCoverage& coverage, const SuiteTotals& totals) {
  json never_fired = json::object();
  for (const std::string& system : coverage.systems()) {
    never_fired[system] = json::array();
    for (const RuleDescription& rule : coverage.never_fired(system)) never_fired[system].push_back(rule.name);
  }
  json of_all = totals_json(totals);
  if (totals.checked + totals.unchecked > 0)
    of_all["reductions"] = {{"compared", totals.checked}, {"too_large", totals.unchecked}};
  return {{"schema", "lockstep.litmus/1"},
          {"tests", std::move(reports)},
          {"errors", errors},
          {"never_fired", std::move(never_fired)},
          {"totals", std::move(of_all)}};
}

nlohmann::json faults_json(const std::vector<FaultReport>& reports, const Subject& system,
                           const SuiteTotals& totals) {
  json faults = json::array();
  for (const FaultReport& report : reports) {
    faults.push_back({{"fault", report.fault},
                      {"what", report.what},
                      {"killers", report.killers},
                      {"enough", report.enough},
                      {"alive", report.alive()},
                      {"tests", report.tests},
                      {"inconclusive", report.inconclusive},
                      {"errors", report.errors},
                      {"seconds", report.seconds}});
  }
  return {{"schema", "lockstep.faults/1"},
          {"system", system.name()},
          {"faults", std::move(faults)},
          {"totals", totals_json(totals)}};
}

nlohmann::json mutants_json(const std::vector<FaultReport>& reports, const Subject& system,
                            const SuiteTotals& totals) {
  json mutants = json::array();
  for (const FaultReport& report : reports) {
    json& mutant = mutants.emplace_back(report);
    mutant["mutant"] = report.fault;
    mutant["alive"] = report.alive();
    for (const char* const of_faults : {"fault", "what", "enough"}) mutant.erase(of_faults);
  }
  return {{"schema", "lockstep.mutants/1"},
          {"system", system.name()},
          {"mutants", std::move(mutants)},
          {"totals", totals_json(totals)}};
}

}  // namespace lockstep
