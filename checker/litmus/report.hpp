// What a litmus run prints: blocks in herd's format, races and conformance, the summary table, and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "checker/litmus/faults.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/coverage.hpp"

namespace lockstep {

constexpr std::size_t page_width = 80;

// ---- text -------------------------------------------------------------------------------------------------

// What herd prints of a test's outcomes; `answer` is Ok, No, or why there is none.
std::string herd_states(const LitmusTest& test, std::span<const Outcome> outcomes, const Tally& tally,
                        std::string_view answer);

// One test on one system, as herd prints it, with a line on the exploration before the time.
std::string herd_block(const LitmusTest& test, const SystemRun& run);

// A test's blocks, its races, its conformance, and its findings with their executions.
std::string report_text(const TestReport& report);

// One line each: "mp-agent on quick-release: never, expected always".
std::vector<std::string> finding_lines(const TestReport& report);

// What a table says of each of its runs: "never", "sometimes!".
std::vector<std::string> summary_cells(const TestReport& report);

// Tests by systems or models, at most page_width wide; more systems than fit make a table each few.
class SummaryTable {
 public:
  explicit SummaryTable(const std::vector<Subject>& systems);
  explicit SummaryTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(const TestReport& report);
  // A cell for each column; the signs that end it are explained below the table.
  void add(std::string test, std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // With a line on each mark that occurs.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::string test;
    std::vector<std::string> cells;
  };
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

// "70 tests on 3 systems: 70 as expected, 0 differing, 0 inconclusive, 0 errors, 12.3 s".
std::string totals_text(const SuiteTotals& totals, std::size_t systems, std::size_t models = 0);

// The rules of each system that no test fired: how many, or which.
std::string coverage_text(const RuleCoverage& coverage, bool by_name);

// Faults by the tests that kill them, with a last line that counts.
std::string fault_table(const std::vector<FaultReport>& reports, std::string_view system,
                        const SuiteTotals& totals);

// Mutants by their rules, and those that are alive; with `killed`, what killed the others as well.
std::string mutant_table(const std::vector<FaultReport>& reports, std::string_view system,
                         const SuiteTotals& totals, bool killed);

// ---- JSON -------------------------------------------------------------------------------------------------

nlohmann::json outcome_json(const LitmusTest& test, const Outcome& outcome);
nlohmann::json totals_json(const SuiteTotals& totals);
std::string_view word(TestVerdict verdict);  // "as expected"
nlohmann::json report_json(const TestReport& report);
// Schema lockstep.litmus/1.
nlohmann::json suite_json(std::vector<nlohmann::json> reports, const std::vector<std::string>& errors,
                          const RuleCoverage& coverage, const SuiteTotals& totals);
// Schema lockstep.faults/1; of mutants lockstep.mutants/1.
nlohmann::json faults_json(const std::vector<FaultReport>& reports, const Subject& system,
                           const SuiteTotals& totals);
nlohmann::json mutants_json(const std::vector<FaultReport>& reports, const Subject& system,
                            const SuiteTotals& totals);

}  // namespace lockstep
