// One job for each test and system, one for its races and one for SC; whoever ends a test's last job judges
// it.
#include "checker/litmus/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- judging one test -------------------------------------------------------------------------------------

bool is_reference(const Subject& subject) {
  return subject.system->name == "sc" && subject.options.faults.empty() && subject.options.sizes.empty();
}

class Judge {
 public:
  Judge(TestReport& report, const SuiteOptions& options, const RunLimits& limits)
      : report_(report), test_(*report.test), options_(options), limits_(limits) {}

  void judge() {
    find_failures();
    for (const SystemRun& run : report_.runs) find_reduction(run);
    if (test_.launches != nullptr) return compare_outcomes();
    find_conformance();
    find_violations();
    compare_outcomes();
    compare_races();
  }

 private:
  // ---- what went wrong by itself

  void find_failures() {
    for (SystemRun& run : report_.runs) find_failure(run);
    const bool asked = std::any_of(report_.runs.begin(), report_.runs.end(),
                                   [](const SystemRun& run) { return is_reference(run.subject); });
    if (!asked) find_failure(report_.sc);
  }

  void find_failure(const SystemRun& run) {
    if (never_ends(run) && test_.expected_progress.empty())
      report_.findings.push_back({Finding::Kind::failure, run.system, "no run ends", {}});
    if (!failed(run.status) || is_known_to_fail(run)) return;
    report_.findings.push_back({Finding::Kind::failure, run.system, failure_text(run), run.failure});
  }

  void find_reduction(const SystemRun& run) {
    if (!run.reductions || run.reductions->difference.empty()) return;
    report_.findings.push_back({Finding::Kind::reduction, run.system, run.reductions->difference, {}});
  }

  // Under some scheduler, hence under the one that does anything; or on the system.
  [[nodiscard]] bool is_known_to_fail(const SystemRun& run) const {
    return std::any_of(test_.expected_progress.begin(), test_.expected_progress.end(),
                       [](const ExpectedProgress& one) { return one.verdict == "unsafe"; }) ||
           (run.status == RunStatus::assertion && is_expected_to_fail(test_, run.system));
  }

  // ---- conformance

  void find_conformance() {
    for (std::size_t i = 0; i < report_.runs.size(); ++i) {
      for (const RaceModel model : race_models) {
        Conformance one{i, model, {}};
        for (const SyncReading reading : sync_readings) {
          one.standing[static_cast<std::size_t>(reading)] = standing(report_.runs[i], model, reading);
        }
        report_.conformance.push_back(one);
      }
    }
  }

  [[nodiscard]] Standing standing(const SystemRun& run, RaceModel model, SyncReading reading) const {
    if (report_.race_status == RunStatus::complete && !report_.races.judged) return Standing::not_judged;
    const bool beyond = beyond_sc(run, report_.sc).has_value();
    const bool within =
        !beyond && run.status == RunStatus::complete && report_.sc.status == RunStatus::complete;
    if (within) return Standing::conforms;
    if (report_.race_status != RunStatus::complete) return Standing::unknown;
    switch (report_.races.of(model, reading).answer) {
      case RaceAnswer::race:
        return Standing::conforms;
      case RaceAnswer::race_free:
        return beyond ? Standing::violates : Standing::unknown;
      case RaceAnswer::not_judged:
        return Standing::not_judged;
      case RaceAnswer::inconclusive:
        break;
    }
    return Standing::unknown;
  }

  void find_violations() {
    for (std::size_t i = 0; i < report_.runs.size(); ++i) {
      std::string models;
      for (const Conformance& one : report_.conformance) {
        const bool judged =
            std::find(options_.judged.begin(), options_.judged.end(), one.model) != options_.judged.end();
        if (one.run == i && judged && one.violates())
          models += (models.empty() ? "" : ", ") + model_text(one);
      }
      const SystemRun& run = report_.runs[i];
      if (models.empty() || is_known_to_stray(run)) continue;
      Finding finding{Finding::Kind::violation, run.system, "violates " + models, {}};
      finding.evidence = search(run, [this](const Outcome& outcome) { return !on_sc(outcome); });
      if (finding.evidence) {
        finding.text += " with " + finding.evidence->what;
      } else {
        finding.text += " with " + outcome_text(test_, *beyond_sc(run, report_.sc));
      }
      report_.findings.push_back(std::move(finding));
    }
  }

  // The file says of a variant, by name, that it answers otherwise than SC, and it does: a protocol as
  // printed whose mistake the test shows.
  [[nodiscard]] bool is_known_to_stray(const SystemRun& run) const {
    return run.system.find('/') != std::string::npos &&
           std::any_of(
               test_.expected.begin(), test_.expected.end(), [&](const ExpectedObservation& expected) {
                 return expected.system == run.system && expected.observation == run.tally.observation() &&
                        expected.observation != report_.sc.tally.observation();
               });
  }

  // The model's name, with the reading where only one of them is violated.
  [[nodiscard]] static std::string model_text(const Conformance& one) {
    std::string text(name(one.model));
    for (const SyncReading reading : sync_readings) {
      if (one.of(reading) != Standing::violates) continue;
      const SyncReading other =
          reading == SyncReading::any_location ? SyncReading::same_location : SyncReading::any_location;
      if (one.of(other) != Standing::violates) text += fmt::format(" ({})", name(reading));
    }
    return text;
  }

  [[nodiscard]] bool on_sc(const Outcome& outcome) const {
    return std::binary_search(report_.sc.outcomes.begin(), report_.sc.outcomes.end(), outcome);
  }

  [[nodiscard]] std::optional<RecordedTrace> search(const SystemRun& run,
                                                    const std::function<bool(const Outcome&)>& wanted) const {
    return find_outcome(test_, run.subject, limits_, wanted);
  }

  // ---- what the file expects

  void compare_outcomes() {
    for (const ExpectedObservation& expected : test_.expected) {
      for (const SystemRun& run : report_.runs) {
        if (run.system == expected.system && run.status == RunStatus::complete) compare(expected, run);
      }
    }
  }

  void compare(const ExpectedObservation& expected, const SystemRun& run) {
    const Observation found = run.tally.observation();
    if (found == expected.observation) return;
    Finding finding{Finding::Kind::unexpected,
                    run.system,
                    fmt::format("{}, expected {}", word(found), word(expected.observation)),
                    {}};
    // An outcome that ought not to be there can be shown.
    if (!has_violation(run.system) && excludes(expected.observation)) {
      const bool unwanted = expected.observation == Observation::never;
      finding.evidence = search(run, [&](const Outcome& outcome) {
        return satisfies(test_.filter, test_, outcome) &&
               satisfies(test_.condition, test_, outcome) == unwanted;
      });
    }
    report_.findings.push_back(std::move(finding));
  }

  [[nodiscard]] bool has_violation(const std::string& system) const {
    return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Finding& finding) {
      return finding.kind == Finding::Kind::violation && finding.system == system;
    });
  }

  void compare_races() {
    if (report_.race_status != RunStatus::complete) return;
    for (const ExpectedRace& expected : test_.expected_races) {
      for (const RaceVerdict& verdict : report_.races.verdicts) {
        if (name(verdict.model) == expected.model) compare(expected, verdict);
      }
    }
  }

  void compare(const ExpectedRace& expected, const RaceVerdict& verdict) {
    const bool races = verdict.answer == RaceAnswer::race;
    if (!races && verdict.answer != RaceAnswer::race_free) return;
    if (races == expected.race) return;
    std::string text = fmt::format("{} under {} ({}), expected {}", races ? "races" : "race-free",
                                   expected.model, name(verdict.reading), expected.race ? "a race" : "none");
    if (verdict.race) text += ": " + print(*verdict.race, test_.program);
    report_.findings.push_back({Finding::Kind::unexpected, "", std::move(text), {}});
  }

  TestReport& report_;
  const LitmusTest& test_;
  const SuiteOptions& options_;
  const RunLimits& limits_;
};

// ---- scheduling -------------------------------------------------------------------------------------------

class Suite {
 public:
  Suite(const LitmusTests& tests, const SuiteOptions& options) : options_(options), cases_(tests.size()) {
    for (const Subject& subject : options.systems) {
      if (is_reference(subject) && !reference_) reference_ = subject;
    }
    reference_asked_ = reference_.has_value();
    if (!reference_asked_) {
      reference_ = subject_named("sc");
      if (!options.systems.empty())
        reference_->options.reductions = options.systems.front().options.reductions;
    }
    for (std::size_t i = 0; i < tests.size(); ++i) add(i, tests[i]);
    const auto at_once =
        std::clamp<std::size_t>(options.limits.threads, 1, std::max<std::size_t>(1, jobs_.size()));
    each_ = options.limits;
    each_.threads = static_cast<unsigned>(std::max<std::size_t>(1, options.limits.threads / at_once));
    each_.memory = options.limits.memory / at_once;
  }

  SuiteTotals run() {
    run_jobs(
        jobs_.size(), options_.limits.threads, [this](std::size_t job) { work(jobs_[job]); },
        [this] { attend(); });
    totals_.interrupted = interrupted();
    totals_.seconds = seconds_since(start_);
    return totals_;
  }

 private:
  enum class JobKind : std::uint8_t { races, reference, system };
  struct Job {
    JobKind kind = JobKind::races;
    std::size_t test = 0;
    std::size_t system = 0;
  };
  struct Case {
    TestReport report;
    std::atomic<std::size_t> waiting{0};  // jobs not yet ended
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
    std::atomic<double> seconds{0};
  };

  void add(std::size_t index, const std::shared_ptr<const LitmusTest>& test) {
    Case& one = cases_[index];
    one.report.test = test;
    one.report.runs.resize(options_.systems.size());
    const std::size_t before = jobs_.size();
    if (test->launches == nullptr) {
      jobs_.push_back({JobKind::reference, index, 0});
      jobs_.push_back({JobKind::races, index, 0});
    }
    for (std::size_t s = 0; s < options_.systems.size(); ++s) {
      if (!is_reference(options_.systems[s])) jobs_.push_back({JobKind::system, index, s});
    }
    one.waiting = jobs_.size() - before;
  }

  [[nodiscard]] bool interrupted() const {
    return options_.limits.interrupted != nullptr &&
           options_.limits.interrupted->load(std::memory_order_relaxed);
  }

  void work(const Job& job) {
    Case& one = cases_[job.test];
    const auto start = Clock::now();
    if (!interrupted()) one.begun = true;
    switch (job.kind) {
      case JobKind::reference:
        one.report.sc = run_one(one, *reference_);
        break;
      case JobKind::races:
        find_races(one.report);
        break;
      case JobKind::system:
        one.report.runs[job.system] = run_one(one, options_.systems[job.system]);
        break;
    }
    one.seconds += seconds_since(start);
    ++jobs_done_;
    if (--one.waiting == 0) finish(one);
  }

  SystemRun run_one(const Case& one, const Subject& subject) const {
    const Derive derive = options_.check_reductions ? Derive::always : Derive::when_large;
    SystemRun run = run_on_system(*one.report.test, subject, each_, derive);
    if (options_.check_reductions) run.reductions = check_reductions(*one.report.test, run, each_);
    return run;
  }

  void find_races(TestReport& report) const {
    RaceOptions options;
    options.explore.threads = each_.threads;
    options.explore.memory_limit = each_.memory;
    options.explore.time_limit = each_.time;
    options.explore.interrupted = each_.interrupted;
    try {
      report.races = analyse_races(for_memory_systems(*report.test), options);
      if (interrupted()) report.race_status = RunStatus::interrupted;
    } catch (...) {
      const RunError error = describe_error(std::current_exception(), report.test->program);
      report.race_status = error.status;
      report.race_message = error.message;
    }
  }

  void finish(Case& one) {
    const auto start = Clock::now();
    for (std::size_t s = 0; s < options_.systems.size(); ++s) {
      if (is_reference(options_.systems[s])) one.report.runs[s] = one.report.sc;
    }
    Judge(one.report, options_, each_).judge();
    one.report.seconds = one.seconds + seconds_since(start);
    one.ended = true;
  }

  // By the calling thread: hands over the reports that are due.
  void attend() {
    for (; next_ < cases_.size() && cases_[next_].ended; ++next_) {
      Case& one = cases_[next_];
      if (one.begun) {
        totals_.count(one.report.verdict());
        for (const SystemRun& run : one.report.runs) {
          if (run.reductions) ++(run.reductions->compared ? totals_.checked : totals_.unchecked);
        }
        if (options_.on_report) options_.on_report(one.report);
      } else {
        ++totals_.skipped;
      }
      one.report = {};
    }
    if (options_.on_progress) options_.on_progress({jobs_done_, jobs_.size(), seconds_since(start_)});
  }

  const SuiteOptions& options_;
  std::optional<Subject> reference_;
  bool reference_asked_ = false;
  RunLimits each_;
  std::vector<Case> cases_;
  std::vector<Job> jobs_;
  std::atomic<std::size_t> jobs_done_{0};
  Clock::time_point start_ = Clock::now();
  std::size_t next_ = 0;  // the first case not yet handed over
  SuiteTotals totals_;
};

}  // namespace

bool has_tag(const LitmusTest& test, std::string_view tag) {
  return std::find(test.tags.begin(), test.tags.end(), tag) != test.tags.end();
}

std::string_view word(Standing standing) {
  constexpr std::array<std::string_view, 4> words{"conforms", "violates", "unknown", "not judged"};
  return words.at(static_cast<std::size_t>(standing));
}

std::string_view word(Finding::Kind kind) {
  constexpr std::array<std::string_view, 4> words{"violation", "failure", "unexpected", "reduction"};
  return words.at(static_cast<std::size_t>(kind));
}

std::optional<Outcome> beyond_sc(const SystemRun& run, const SystemRun& sc) {
  if (sc.subject.system == nullptr || sc.status != RunStatus::complete) return std::nullopt;
  for (const Outcome& outcome : run.outcomes) {
    if (!std::binary_search(sc.outcomes.begin(), sc.outcomes.end(), outcome)) return outcome;
  }
  return std::nullopt;
}

TestVerdict TestReport::verdict() const {
  const auto any = [this](auto&& is) {
    return is(race_status) || is(sc.status) ||
           std::any_of(runs.begin(), runs.end(), [&](const SystemRun& run) { return is(run.status); });
  };
  if (any([](RunStatus status) { return status == RunStatus::error; })) return TestVerdict::error;
  if (!findings.empty()) return TestVerdict::differs;
  if (any([](RunStatus status) { return inconclusive(status); }) || races.inconclusive())
    return TestVerdict::inconclusive;
  return TestVerdict::as_expected;
}

std::vector<std::string> TestReport::errors() const {
  std::vector<std::string> found;
  const auto note = [&](RunStatus status, const std::string& message) {
    if (status != RunStatus::error || std::find(found.begin(), found.end(), message) != found.end()) return;
    found.push_back(message);
  };
  note(sc.status, sc.message);
  for (const SystemRun& run : runs) note(run.status, run.message);
  note(race_status, race_message);
  return found;
}

void SuiteTotals::count(TestVerdict verdict) {
  ++tests;
  switch (verdict) {
    case TestVerdict::as_expected:
      ++as_expected;
      break;
    case TestVerdict::inconclusive:
      ++inconclusive;
      break;
    case TestVerdict::differs:
      ++differing;
      break;
    case TestVerdict::error:
      ++errors;
      break;
  }
}

void SuiteTotals::add(const SuiteTotals& other) {
  tests += other.tests;
  skipped += other.skipped;
  as_expected += other.as_expected;
  differing += other.differing;
  inconclusive += other.inconclusive;
  errors += other.errors;
  checked += other.checked;
  unchecked += other.unchecked;
  interrupted = interrupted || other.interrupted;
  seconds += other.seconds;
}

SuiteTotals run_suite(const LitmusTests& tests, const SuiteOptions& options) {
  return Suite(tests, options).run();
}

int exit_status(const SuiteTotals& totals) {
  if (totals.interrupted) return 130;
  if (totals.errors > 0) return 2;
  if (totals.differing > 0) return 1;
  return totals.inconclusive > 0 ? 3 : 0;
}

}  // namespace lockstep
