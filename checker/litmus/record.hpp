// What is kept of a test that has been judged, in a journal: enough to print and count it again without
// running it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/litmus/for_ci.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/coverage.hpp"

namespace lockstep {

struct LitmusRecord {
  JudgedTest judged;
  std::vector<std::string> cells;     // of the summary
  std::vector<std::string> findings;  // a line each
  std::string text;                   // as people read it, where that is wanted
  nlohmann::json report;              // as programs do, likewise
  struct Fired {
    std::string system;
    std::vector<RuleDescription> rules;  // by name, unit and source
    std::vector<std::uint64_t> firings;
  };
  std::vector<Fired> fired;  // a system each

  void add_to(RuleCoverage& coverage) const;
};

// All but what the report says whole.
LitmusRecord record_of(const TestReport& report);

nlohmann::json record_json(const LitmusRecord& record);
// Throws nlohmann::json::exception on what is no record.
LitmusRecord record_from(const nlohmann::json& line);

}  // namespace lockstep
