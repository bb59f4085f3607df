// Runs litmus tests under axiomatic models, and holds what memory systems show against what models allow.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/litmus/record.hpp"
#include "checker/litmus/suite.hpp"

namespace lockstep {

// One system held against one model on one test.
struct ModelComparison {
  std::size_t system = 0;  // index into ModelReport::systems
  std::size_t model = 0;   // index into ModelReport::models
  Standing standing = Standing::unknown;
  std::vector<Outcome> forbidden;  // the system shows and the model forbids
  std::vector<Outcome> unseen;     // the model allows and the system never shows
};

struct ModelReport {
  std::shared_ptr<const LitmusTest> test;
  std::vector<ModelRun> models;    // in the order asked for
  std::vector<SystemRun> systems;  // likewise
  std::vector<ModelComparison> comparisons;
  std::vector<Finding> findings;  // of violations and of what the file expects
  std::vector<std::string>
      forbidden;  // by finding: the execution as the model sees it, and the check that fails
  double seconds = 0;

  [[nodiscard]] TestVerdict verdict() const;
  [[nodiscard]] std::vector<std::string> errors() const;
};

using AxiomaticModels = std::vector<std::shared_ptr<const AxiomaticModel>>;

struct ModelSuiteOptions {
  AxiomaticModels models;
  std::vector<Subject> systems;  // without programs; none: models alone
  RunLimits limits;
  UnrollLimits unroll;
  std::function<void(const ModelReport&)> on_report;  // in the tests' order, from the calling thread
  std::function<void(const SuiteProgress&)> on_progress;
};

SuiteTotals run_model_suite(const LitmusTests& tests, const ModelSuiteOptions& options);

// All but what the report says whole.
LitmusRecord record_of(const ModelReport& report);

// A test's blocks in herd's format, with flags, comparisons and findings.
std::string report_text(const ModelReport& report);
std::vector<std::string> finding_lines(const ModelReport& report);
// Cells of a SummaryTable: models, then systems.
std::vector<std::string> summary_cells(const ModelReport& report);
nlohmann::json report_json(const ModelReport& report);
// Schema lockstep.models/1.
nlohmann::json model_suite_json(std::vector<nlohmann::json> reports, const std::vector<std::string>& errors,
                                const SuiteTotals& totals);

}  // namespace lockstep
