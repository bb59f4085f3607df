// Runs many litmus tests on many systems at once, and judges what they do: races by exploration of SC,
// conformance to each data-race-free model, and the verdicts that a test's author expects.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/races/races.hpp"

namespace lockstep {

// ---- one test on all systems ------------------------------------------------------------------------------

// Whether a system owes a program SC outcomes under a model, and gives it them.
enum class Standing : std::uint8_t {
  conforms,  // the program races, or has only SC outcomes
  violates,
  unknown,     // a run did not come to its end
  not_judged,  // the model says nothing of this program
};
std::string_view word(Standing standing);  // "not judged"

struct Conformance {
  std::size_t run = 0;  // index into TestReport::runs
  RaceModel model = RaceModel::drf;
  std::array<Standing, sync_readings.size()> standing{};  // by reading
  [[nodiscard]] Standing of(SyncReading reading) const { return standing[static_cast<std::size_t>(reading)]; }
  [[nodiscard]] bool violates() const {
    return of(SyncReading::any_location) == Standing::violates ||
           of(SyncReading::same_location) == Standing::violates;
  }
};

// Something that is not as it should be, with an execution that shows it where there is one.
struct Finding {
  enum class Kind : std::uint8_t {
    violation,   // a system does not obey a model that it is judged by
    failure,     // a deadlock or a failed assertion
    unexpected,  // a verdict differs from what the file expects
    reduction,   // a run without reductions says otherwise
  };
  Kind kind = Kind::unexpected;
  std::string system;  // empty where it is about the program alone
  std::string text;    // "violates hrf-indirect with P1:r0=1; P1:r1=0;"
  std::optional<RecordedTrace> evidence;
};
std::string_view word(Finding::Kind kind);

// How a test counts in the end: the worst of what happened to it.
enum class TestVerdict : std::uint8_t { as_expected, inconclusive, differs, error };

struct TestReport {
  std::shared_ptr<const LitmusTest> test;
  RunStatus race_status = RunStatus::complete;  // complete, a limit, or an error: then `races` is empty
  std::string race_message;
  RaceReport races;
  SystemRun sc;                 // the reference, whether asked for or not; of a program
  std::vector<SystemRun> runs;  // in the order asked for
  std::vector<Conformance> conformance;
  std::vector<Finding> findings;
  double seconds = 0;  // of all its runs together

  [[nodiscard]] TestVerdict verdict() const;
  // The errors of its runs, each once.
  [[nodiscard]] std::vector<std::string> errors() const;
};

// The first outcome of a run that SC does not have. Says nothing where SC's own run is not complete, or there
// is none.
std::optional<Outcome> beyond_sc(const SystemRun& run, const SystemRun& sc);

// ---- many tests -------------------------------------------------------------------------------------------

struct SuiteProgress {
  std::size_t done = 0;  // runs
  std::size_t all = 0;
  double seconds = 0;
};

struct SuiteOptions {
  std::vector<Subject> systems;                            // without programs
  std::vector<RaceModel> judged{RaceModel::hrf_indirect};  // models whose violation is a finding
  bool check_reductions = false;                           // hold every run against one without reductions
  RunLimits limits;                                        // threads and memory are for all runs together
  std::function<void(const TestReport&)> on_report;        // in the tests' order, from the calling thread
  std::function<void(const SuiteProgress&)> on_progress;   // a few times a second, from the calling thread
};

struct SuiteTotals {
  std::size_t tests = 0;    // reported
  std::size_t skipped = 0;  // not begun when the run was interrupted
  std::size_t as_expected = 0;
  std::size_t differing = 0;
  std::size_t inconclusive = 0;
  std::size_t errors = 0;     // tests that could not be run, and files that could not be read
  std::size_t checked = 0;    // runs held against the same without reductions
  std::size_t unchecked = 0;  // where that reached a limit
  bool interrupted = false;
  double seconds = 0;
  void count(TestVerdict verdict);  // of a test that is reported
  void add(const SuiteTotals& other);
};

// Tests and systems of one kind: programs and what runs them, or launches and what takes them.
SuiteTotals run_suite(const LitmusTests& tests, const SuiteOptions& options);

// 130 interrupted, 2 bad input, 1 a verdict differs, 3 a limit was reached, else 0: the first that applies.
int exit_status(const SuiteTotals& totals);

}  // namespace lockstep
