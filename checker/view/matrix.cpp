#include "checker/view/matrix.hpp"

#include <fmt/format.h>

#include "checker/litmus/report.hpp"
#include "checker/view/run.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

json cell_json(const LitmusTest& test, const std::string& text, const std::vector<Outcome>& outcomes) {
  json states = json::array();
  for (const Outcome& outcome : outcomes) {
    if (satisfies(test.filter, test, outcome)) states.push_back(outcome_text(test, outcome));
  }
  return {{"text", text}, {"outcomes", std::move(states)}};
}

std::vector<Outcome> outcomes_of(const ModelRun& run) {
  std::vector<Outcome> outcomes;
  for (const AllowedOutcome& one : run.outcomes) outcomes.push_back(one.outcome);
  return outcomes;
}

}  // namespace

Matrix::Matrix(MatrixOptions options) : options_(std::move(options)) {
  all_ = options_.tests.size() * (options_.systems.size() + options_.models.size());
  const json cells(options_.systems.size() + options_.models.size(), nullptr);
  for (const auto& test : options_.tests) {
    rows_.push_back({{"test", test->name},
                     {"doc", test->doc},
                     {"tags", test->tags},
                     {"threads", test->program.threads.size()},
                     {"condition", fmt::format("{} {}", word(test->quantifier), test->condition_text)},
                     {"cells", cells},
                     {"findings", json::array()}});
  }
}

json& Matrix::row_of(const LitmusTest& test) {
  for (std::size_t i = 0; i < options_.tests.size(); ++i) {
    if (options_.tests[i].get() == &test) return rows_[i];
  }
  throw std::logic_error("a report of a test that nobody asked for");
}

void Matrix::run() {
  // Models are quick: what they say stands while systems are explored.
  try {
    if (!options_.models.empty()) {
      ModelSuiteOptions suite;
      suite.models = options_.models;
      suite.limits = options_.limits;
      suite.on_report = [&](const ModelReport& report) {
        const std::scoped_lock lock(mutex_);
        json& row = row_of(*report.test);
        const std::vector<std::string> cells = summary_cells(report);
        for (std::size_t m = 0; m < report.models.size(); ++m) {
          row["cells"][options_.systems.size() + m] =
              cell_json(*report.test, cells[m], outcomes_of(report.models[m]));
        }
        for (const std::string& line : finding_lines(report)) row["findings"].push_back(line);
        done_ += report.models.size();
      };
      run_model_suite(options_.tests, suite);
    }
    if (!options_.systems.empty()) {
      SuiteOptions suite;
      suite.systems = options_.systems;
      suite.judged = {options_.judged};
      suite.limits = options_.limits;
      suite.on_report = [&](const TestReport& report) {
        const std::scoped_lock lock(mutex_);
        json& row = row_of(*report.test);
        const std::vector<std::string> cells = summary_cells(report);
        for (std::size_t i = 0; i < report.runs.size(); ++i)
          row["cells"][i] = cell_json(*report.test, cells[i], report.runs[i].outcomes);
        for (const std::string& line : finding_lines(report)) row["findings"].push_back(line);
        done_ += report.runs.size();
      };
      const SuiteTotals totals = run_suite(options_.tests, suite);
      const std::scoped_lock lock(mutex_);
      totals_ = totals_text(totals, options_.systems.size(), options_.models.size());
    }
  } catch (const std::exception& error) {
    const std::scoped_lock lock(mutex_);
    error_ = error.what();
  }
  const std::scoped_lock lock(mutex_);
  finished_ = true;
}

json Matrix::document() const {
  const std::scoped_lock lock(mutex_);
  json columns = json::array();
  for (const Subject& subject : options_.systems)
    columns.push_back({{"name", subject.name()}, {"kind", "system"}, {"subject", subject_json(subject)}});
  for (const auto& model : options_.models) columns.push_back({{"name", model->name()}, {"kind", "model"}});
  json document{{"kind", "matrix"},
                {"title", fmt::format("{} tests by {} systems and {} models", options_.tests.size(),
                                      options_.systems.size(), options_.models.size())},
                {"columns", std::move(columns)},
                {"rows", rows_},
                {"done", done_},
                {"all", all_},
                {"finished", finished_},
                {"totals", totals_}};
  if (!error_.empty()) document["error"] = error_;
  return document;
}

}  // namespace lockstep::view
