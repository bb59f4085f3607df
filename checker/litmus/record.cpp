#include "checker/litmus/record.hpp"

#include "checker/litmus/report.hpp"

namespace lockstep {

using nlohmann::json;

void LitmusRecord::add_to(RuleCoverage& coverage) const {
  for (const Fired& one : fired) coverage.add(one.system, one.rules, one.firings);
}

LitmusRecord record_of(const TestReport& report) {
  LitmusRecord record;
  record.findings = finding_lines(report);
  record.judged = judged_test(report, record.findings);
  record.cells = summary_cells(report);
  for (const SystemRun& run : report.runs) {
    LitmusRecord::Fired& one = record.fired.emplace_back();
    one.system = run.system;
    for (std::size_t i = 0; i < run.rules.size() && i < run.exploration.fired.size(); ++i) {
      if (run.rules[i].of_program) continue;
      one.rules.push_back(run.rules[i]);
      one.firings.push_back(run.exploration.fired[i]);
    }
  }
  return record;
}

json record_json(const LitmusRecord& record) {
  json remarks = json::array();
  for (const JudgedTest::Remark& remark : record.judged.remarks)
    remarks.push_back({static_cast<int>(remark.kind), remark.text});
  json fired = json::array();
  for (const LitmusRecord::Fired& one : record.fired) {
    json rules = json::array();
    for (std::size_t i = 0; i < one.rules.size(); ++i)
      rules.push_back({one.rules[i].name, one.rules[i].unit, one.rules[i].source, one.firings[i]});
    fired.push_back({{"system", one.system}, {"rules", std::move(rules)}});
  }
  return {{"name", record.judged.name},
          {"file", record.judged.file},
          {"seconds", record.judged.seconds},
          {"verdict", static_cast<int>(record.judged.verdict)},
          {"remarks", std::move(remarks)},
          {"errors", record.judged.errors},
          {"cells", record.cells},
          {"findings", record.findings},
          {"text", record.text},
          {"report", record.report},
          {"fired", std::move(fired)}};
}

LitmusRecord record_from(const json& line) {
  LitmusRecord record;
  line.at("name").get_to(record.judged.name);
  line.at("file").get_to(record.judged.file);
  line.at("seconds").get_to(record.judged.seconds);
  record.judged.verdict = static_cast<TestVerdict>(line.at("verdict").get<int>());
  for (const json& remark : line.at("remarks"))
    record.judged.remarks.push_back({static_cast<Finding::Kind>(remark.at(0).get<int>()), remark.at(1)});
  line.at("errors").get_to(record.judged.errors);
  line.at("cells").get_to(record.cells);
  line.at("findings").get_to(record.findings);
  line.at("text").get_to(record.text);
  record.report = line.at("report");
  for (const json& one : line.at("fired")) {
    LitmusRecord::Fired& fired = record.fired.emplace_back();
    one.at("system").get_to(fired.system);
    for (const json& rule : one.at("rules")) {
      RuleDescription& description = fired.rules.emplace_back();
      rule.at(0).get_to(description.name);
      rule.at(1).get_to(description.unit);
      rule.at(2).get_to(description.source);
      fired.firings.push_back(rule.at(3));
    }
  }
  return record;
}

}  // namespace lockstep
