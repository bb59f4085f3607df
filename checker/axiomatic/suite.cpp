// One job for each test and model, and for each test and system; whoever ends a test's last job compares.
#include "checker/axiomatic/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "checker/axiomatic/graph.hpp"
#include "checker/litmus/report.hpp"
#include "checker/support/jobs.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Outcome> outcomes_of(const ModelRun& run) {
  std::vector<Outcome> all;
  for (const AllowedOutcome& one : run.outcomes) all.push_back(one.outcome);
  return all;
}

// ---- comparing ----

class Comparer {
 public:
  Comparer(ModelReport& report, const ModelSuiteOptions& options, const RunLimits& limits)
      : report_(report), test_(*report.test), options_(options), limits_(limits) {}

  void compare() {
    for (const ModelRun& run : report_.models) expect(run);
    for (const SystemRun& run : report_.systems) expect(run);
    for (std::size_t s = 0; s < report_.systems.size(); ++s) {
      for (std::size_t m = 0; m < report_.models.size(); ++m) hold(s, m);
    }
  }

 private:
  void find(Finding::Kind kind, const std::string& of, std::string text,
            std::optional<RecordedTrace> evidence = {}, std::string forbidden = {}) {
    report_.findings.push_back({kind, of, std::move(text), std::move(evidence)});
    report_.forbidden.push_back(std::move(forbidden));
  }

  // What the file expects, of a model by its name as of a system.
  void expect(const ModelRun& run) {
    if (run.status == RunStatus::complete && run.assertion_fails && is_expected_to_fail(test_, run.model))
      return;
    for (const ExpectedObservation& expected : test_.expected) {
      const auto found = run.observation();
      if (expected.system != run.model || !found || *found == expected.observation) continue;
      find(Finding::Kind::unexpected, run.model,
           fmt::format("{}, expected {}", word(*found), word(expected.observation)));
    }
    if (run.status == RunStatus::complete && run.assertion_fails) {
      find(Finding::Kind::failure, run.model, "an assertion of the program fails");
    }
    for (const ExpectedRace& expected : test_.expected_races) {
      const std::vector<std::string> raised = run.raised_flags();
      const bool races = std::find(raised.begin(), raised.end(), "race") != raised.end();
      if (expected.model != run.model || run.status != RunStatus::complete || races == expected.race)
        continue;
      if (!races && run.cut) continue;
      find(Finding::Kind::unexpected, run.model,
           fmt::format("{}, expected {}", races ? "races" : "race-free", expected.race ? "a race" : "none"));
    }
  }
  void expect(const SystemRun& run) {
    if (run.status == RunStatus::assertion && is_expected_to_fail(test_, run.system)) return;
    if (failed(run.status)) {
      find(Finding::Kind::failure, run.system, failure_text(run), run.failure);
      return;
    }
    for (const ExpectedObservation& expected : test_.expected) {
      if (expected.system != run.system || run.status != RunStatus::complete) continue;
      const Observation found = run.tally.observation();
      if (found == expected.observation) continue;
      find(Finding::Kind::unexpected, run.system,
           fmt::format("{}, expected {}", word(found), word(expected.observation)));
    }
  }

  void hold(std::size_t s, std::size_t m) {
    const SystemRun& system = report_.systems[s];
    const ModelRun& model = report_.models[m];
    ModelComparison one{s, m, Standing::unknown, {}, {}};
    const bool model_complete = model.status == RunStatus::complete;
    if (model_complete && model.raised != 0) {
      one.standing = Standing::not_judged;
    } else if (model_complete && system.status != RunStatus::error) {
      for (const Outcome& outcome : system.outcomes) {
        if (!model.allows(outcome)) one.forbidden.push_back(outcome);
      }
      if (system.status == RunStatus::complete) {
        for (const AllowedOutcome& allowed : model.outcomes) {
          if (!std::binary_search(system.outcomes.begin(), system.outcomes.end(), allowed.outcome)) {
            one.unseen.push_back(allowed.outcome);
          }
        }
      }
      if (!one.forbidden.empty()) {
        one.standing = model.cut ? Standing::unknown : Standing::violates;
      } else if (system.status == RunStatus::complete) {
        one.standing = Standing::conforms;
      }
    }
    if (one.standing == Standing::violates) violation(system, m, one.forbidden);
    report_.comparisons.push_back(std::move(one));
  }

  // The system's execution and the model's view of it, of the first forbidden outcome.
  void violation(const SystemRun& system, std::size_t m, const std::vector<Outcome>& forbidden) {
    const auto is_forbidden = [&](const Outcome& outcome) {
      return std::find(forbidden.begin(), forbidden.end(), outcome) != forbidden.end();
    };
    auto evidence = find_outcome(test_, system.subject, limits_, is_forbidden);
    Outcome shown = forbidden.front();
    for (const Outcome& outcome : forbidden) {
      if (evidence && evidence->what == outcome_text(test_, outcome)) shown = outcome;
    }
    JudgeOptions options{options_.unroll, std::chrono::seconds(10), limits_.interrupted, false};
    const auto candidate = find_candidate(test_, *options_.models[m], shown, options);
    find(Finding::Kind::violation, system.system,
         fmt::format("shows what {} forbids: {}", report_.models[m].model, outcome_text(test_, shown)),
         std::move(evidence), candidate ? candidate_text(test_, *candidate) : std::string());
  }

  ModelReport& report_;
  const LitmusTest& test_;
  const ModelSuiteOptions& options_;
  const RunLimits& limits_;
};

// ---- scheduling ----

class ModelSuite {
 public:
  ModelSuite(const LitmusTests& tests, const ModelSuiteOptions& options)
      : options_(options), cases_(tests.size()), each_(options.limits) {
    each_.threads = 1;
    each_.memory = options.limits.memory / std::max(1U, options.limits.threads);
    width_ = options.models.size() + options.systems.size();
    for (std::size_t i = 0; i < tests.size(); ++i) {
      cases_[i].report.test = tests[i];
      cases_[i].report.models.resize(options.models.size());
      cases_[i].report.systems.resize(options.systems.size());
      cases_[i].waiting = width_;
    }
  }

  SuiteTotals run() {
    run_jobs(
        cases_.size() * width_, options_.limits.threads, [this](std::size_t job) { work(job); },
        [this] { attend(); });
    totals_.interrupted = interrupted();
    totals_.seconds = seconds_since(start_);
    return totals_;
  }

 private:
  struct Case {
    ModelReport report;
    std::atomic<std::size_t> waiting{0};
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
    std::atomic<double> seconds{0};
  };

  [[nodiscard]] bool interrupted() const {
    return options_.limits.interrupted != nullptr &&
           options_.limits.interrupted->load(std::memory_order_relaxed);
  }

  void work(std::size_t job) {
    Case& one = cases_[job / width_];
    const std::size_t which = job % width_;
    const auto start = Clock::now();
    if (!interrupted()) one.begun = true;
    if (which < options_.models.size()) {
      const JudgeOptions options{options_.unroll, each_.time, each_.interrupted, false};
      one.report.models[which] = judge(*one.report.test, *options_.models[which], options);
    } else {
      const std::size_t system = which - options_.models.size();
      one.report.systems[system] = run_on_system(*one.report.test, options_.systems[system], each_);
    }
    one.seconds += seconds_since(start);
    ++done_;
    if (--one.waiting > 0) return;
    Comparer(one.report, options_, each_).compare();
    one.report.seconds = one.seconds;
    one.ended = true;
  }

  void attend() {
    for (; next_ < cases_.size() && cases_[next_].ended; ++next_) {
      Case& one = cases_[next_];
      if (one.begun) {
        totals_.count(one.report.verdict());
        if (options_.on_report) options_.on_report(one.report);
      } else {
        ++totals_.skipped;
      }
      one.report = {};
    }
    if (options_.on_progress) options_.on_progress({done_, cases_.size() * width_, seconds_since(start_)});
  }

  const ModelSuiteOptions& options_;
  std::vector<Case> cases_;
  RunLimits each_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::atomic<std::size_t> done_{0};
  SuiteTotals totals_;
  Clock::time_point start_ = Clock::now();
};

// ---- reports ----

std::string_view answer_word(const LitmusTest& test, const ModelRun& run) {
  if (run.status != RunStatus::complete) return "Inconclusive";
  if (run.raised != 0) return "Undefined";
  if (!run.observation()) return "Inconclusive";
  return run.tally.validates(test.quantifier) ? "Ok" : "No";
}

std::string outcomes_text(const LitmusTest& test, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes) text += "  " + outcome_text(test, outcome) + "\n";
  return text;
}

std::string model_block(const LitmusTest& test, const ModelRun& run) {
  const std::vector<Outcome> outcomes = outcomes_of(run);
  std::string text = herd_states(test, outcomes, run.tally, answer_word(test, run));
  text += run.counted ? fmt::format("Model {} {} executions of {} candidates", run.model, run.executions,
                                    run.candidates)
                      : fmt::format("Model {} outcome by outcome", run.model);
  if (run.status != RunStatus::complete) text += fmt::format(", stopped: {}", word(run.status));
  text += "\n";
  for (const std::string& flag : run.raised_flags()) text += fmt::format("Flag {}\n", flag);
  if (run.cut) text += "Loops were cut at the unrolling bound (--unroll)\n";
  return text + fmt::format("Time {} {:.2f}\n", test.name, run.seconds);
}

std::string finding_line(const ModelReport& report, const Finding& finding) {
  return fmt::format("{} on {}: {}", report.test->name, finding.system, finding.text);
}

}  // namespace

TestVerdict ModelReport::verdict() const {
  const auto any = [this](auto&& is) {
    return std::any_of(models.begin(), models.end(), [&](const ModelRun& run) { return is(run.status); }) ||
           std::any_of(systems.begin(), systems.end(), [&](const SystemRun& run) { return is(run.status); });
  };
  if (any([](RunStatus status) { return status == RunStatus::error; })) return TestVerdict::error;
  if (!findings.empty()) return TestVerdict::differs;
  if (any([](RunStatus status) { return inconclusive(status); })) return TestVerdict::inconclusive;
  const bool open = std::any_of(models.begin(), models.end(),
                                [](const ModelRun& run) { return run.raised == 0 && !run.observation(); });
  const bool unknown = std::any_of(comparisons.begin(), comparisons.end(),
                                   [](const ModelComparison& c) { return c.standing == Standing::unknown; });
  return open || unknown ? TestVerdict::inconclusive : TestVerdict::as_expected;
}

std::vector<std::string> ModelReport::errors() const {
  std::vector<std::string> found;
  const auto note = [&](RunStatus status, const std::string& message) {
    if (status != RunStatus::error || std::find(found.begin(), found.end(), message) != found.end()) return;
    found.push_back(message);
  };
  for (const ModelRun& run : models) note(run.status, run.message);
  for (const SystemRun& run : systems) note(run.status, run.message);
  return found;
}

SuiteTotals run_model_suite(const LitmusTests& tests, const ModelSuiteOptions& options) {
  return ModelSuite(tests, options).run();
}

LitmusRecord record_of(const ModelReport& report) {
  LitmusRecord record;
  record.findings = finding_lines(report);
  record.judged = judged_test(report, record.findings);
  record.cells = summary_cells(report);
  return record;
}

std::string report_text(const ModelReport& report) {
  const LitmusTest& test = *report.test;
  std::string text;
  for (const ModelRun& run : report.models) {
    if (run.status != RunStatus::error) text += model_block(test, run) + "\n";
  }
  for (const SystemRun& run : report.systems) {
    if (run.status != RunStatus::error) text += herd_block(test, run) + "\n";
  }
  for (const ModelComparison& one : report.comparisons) {
    const std::string& system = report.systems[one.system].system;
    const std::string& model = report.models[one.model].model;
    text += fmt::format("{} {} {} against {}\n",
                        one.standing == Standing::conforms   ? "Conforms"
                        : one.standing == Standing::violates ? "Violates"
                        : one.standing == Standing::unknown  ? "Unknown"
                                                             : "Undefined",
                        test.name, system, model);
    if (!one.forbidden.empty()) {
      text += fmt::format(" shown by {} and forbidden:\n{}", system, outcomes_text(test, one.forbidden));
    }
    if (!one.unseen.empty()) {
      text += fmt::format(" allowed and never shown by {}:\n{}", system, outcomes_text(test, one.unseen));
    }
  }
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    text += "Finding " + finding_line(report, report.findings[i]) + "\n";
    if (!report.forbidden[i].empty()) text += " as the model sees it:\n" + report.forbidden[i];
    if (report.findings[i].evidence) text += trace_text(*report.findings[i].evidence);
  }
  return text;
}

std::vector<std::string> finding_lines(const ModelReport& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) lines.push_back(finding_line(report, finding));
  return lines;
}

std::vector<std::string> summary_cells(const ModelReport& report) {
  const auto marks = [&](const std::string& of) {
    std::string signs;
    for (const Finding& finding : report.findings) {
      if (finding.system != of) continue;
      const char sign = finding.kind == Finding::Kind::violation ? '!' : '*';
      if (signs.find(sign) == std::string::npos) signs += sign;
    }
    return signs;
  };
  std::vector<std::string> cells;
  for (const ModelRun& run : report.models) {
    std::string cell;
    if (run.status != RunStatus::complete) {
      cell = word(run.status);
    } else if (run.raised != 0) {
      cell = std::string(word(run.tally.observation())) + "?";
    } else if (const auto seen = run.observation()) {
      cell = word(*seen);
    } else {
      cell = "inconclusive";
    }
    cells.push_back(cell + marks(run.model));
  }
  for (const SystemRun& run : report.systems) {
    cells.push_back((run.status == RunStatus::complete ? std::string(word(run.tally.observation()))
                                                       : std::string(word(run.status))) +
                    marks(run.system));
  }
  return cells;
}

nlohmann::json report_json(const ModelReport& report) {
  using nlohmann::json;
  const LitmusTest& test = *report.test;
  const auto outcomes = [&](const std::vector<Outcome>& all) {
    json list = json::array();
    for (const Outcome& outcome : all) list.push_back(outcome_json(test, outcome));
    return list;
  };
  json models = json::array();
  for (const ModelRun& run : report.models) {
    const auto seen = run.observation();
    json one{{"model", run.model},
             {"status", word(run.status)},
             {"outcomes", outcomes(outcomes_of(run))},
             {"positive", run.tally.positive},
             {"negative", run.tally.negative},
             {"observation", seen ? json(word(*seen)) : json()},
             {"flags", run.raised_flags()},
             {"cut", run.cut},
             {"candidates", run.counted ? json(run.candidates) : json()},
             {"executions", run.counted ? json(run.executions) : json()},
             {"seconds", run.seconds}};
    if (!run.message.empty()) one["message"] = run.message;
    models.push_back(std::move(one));
  }
  json systems = json::array();
  for (const SystemRun& run : report.systems) {
    systems.push_back({{"system", run.system},
                       {"status", word(run.status)},
                       {"outcomes", outcomes(run.outcomes)},
                       {"states", run.exploration.states}});
  }
  json comparisons = json::array();
  for (const ModelComparison& one : report.comparisons) {
    comparisons.push_back({{"system", report.systems[one.system].system},
                           {"model", report.models[one.model].model},
                           {"standing", word(one.standing)},
                           {"forbidden", outcomes(one.forbidden)},
                           {"unseen", outcomes(one.unseen)}});
  }
  json findings = json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    json one{{"kind", word(finding.kind)}, {"of", finding.system}, {"text", finding.text}};
    if (!report.forbidden[i].empty()) one["execution"] = report.forbidden[i];
    if (finding.evidence) one["trace"] = trace_json(*finding.evidence);
    findings.push_back(std::move(one));
  }
  return {{"name", test.name},
          {"file", test.file},
          {"dialect", test.dialect},
          {"quantifier", word(test.quantifier)},
          {"condition", test.condition_text},
          {"verdict", word(report.verdict())},
          {"models", std::move(models)},
          {"systems", std::move(systems)},
          {"comparisons", std::move(comparisons)},
          {"findings", std::move(findings)},
          {"seconds", report.seconds}};
}

nlohmann::json model_suite_json(std::vector<nlohmann::json> reports, const std::vector<std::string>& errors,
                                const SuiteTotals& totals) {
  return {{"schema", "lockstep.models/1"},
          {"tests", std::move(reports)},
          {"errors", errors},
          {"totals", totals_json(totals)}};
}

}  // namespace lockstep
