// One job a mistake, running the tests in order until enough of them have killed it. What does not depend on
// the mistake (SC outcomes, races, the run without it) is found once, by the first job that asks.
#include "checker/litmus/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "checker/interpret/mutation.hpp"
#include "checker/runs/limits.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/journal.hpp"
#include "checker/systems/trees.hpp"

namespace lockstep {

// As a journal has them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProofVerdict, refuted, equivalent, unknown, error)

void to_json(nlohmann::json& out, const FaultReport& report) {
  out = {{"fault", report.fault},     {"what", report.what},      {"rule", report.rule},
         {"killers", report.killers}, {"enough", report.enough},  {"unsafe", report.unsafe},
         {"fired", report.fired},     {"tests", report.tests},    {"inconclusive", report.inconclusive},
         {"errors", report.errors},   {"seconds", report.seconds}};
  if (report.proof) out["proof"] = *report.proof;
}
void from_json(const nlohmann::json& in, FaultReport& report) {
  in.at("fault").get_to(report.fault);
  in.at("what").get_to(report.what);
  in.at("rule").get_to(report.rule);
  in.at("killers").get_to(report.killers);
  in.at("enough").get_to(report.enough);
  in.at("unsafe").get_to(report.unsafe);
  in.at("fired").get_to(report.fired);
  in.at("tests").get_to(report.tests);
  in.at("inconclusive").get_to(report.inconclusive);
  in.at("errors").get_to(report.errors);
  in.at("seconds").get_to(report.seconds);
  if (in.contains("proof")) report.proof = in.at("proof").get<ProofVerdict>();
}

namespace {

using Clock = std::chrono::steady_clock;

// A value found on first use, by whichever thread comes first.
template <class T>
class Once {
 public:
  template <class Find>
  const T& get(Find&& find) {
    std::call_once(found_, [&] { value_ = find(); });
    return value_;
  }

 private:
  std::once_flag found_;
  T value_{};
};

constexpr std::string_view no_end = "no end";

class FaultSuite {
 public:
  FaultSuite(const LitmusTests& tests, const FaultOptions& options)
      : tests_(tests),
        options_(options),
        known_(tests.size()),
        mistakes_(options.mistakes.empty() ? faults_of(options.system) : options.mistakes),
        reports_(mistakes_.size()) {
    const auto at_once =
        std::clamp<std::size_t>(options.limits.threads, 1, std::max<std::size_t>(1, mistakes_.size()));
    each_ = options.limits;
    each_.threads = static_cast<unsigned>(std::max<std::size_t>(1, options.limits.threads / at_once));
    each_.memory = options.limits.memory / at_once;
  }

  SuiteTotals run() {
    if (!options_.journal.empty()) resume();
    run_jobs(
        mistakes_.size(), options_.limits.threads, [this](std::size_t i) { test_fault(i); },
        [this] { attend(); });
    totals_.interrupted = interrupted();
    totals_.seconds = seconds();
    return totals_;
  }

 private:
  // What is known of a test without the fault.
  struct Known {
    Once<SystemRun> sc;
    Once<SystemRun> sound;
    Once<bool> race_free;
  };
  struct Slot {
    FaultReport report;
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
  };
  [[nodiscard]] bool interrupted() const {
    return options_.limits.interrupted != nullptr &&
           options_.limits.interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void test_fault(std::size_t index) {
    Slot& slot = reports_[index];
    FaultReport& report = slot.report;
    if (slot.ended) return;  // a journal knows it
    const auto start = Clock::now();
    const Mistake& mistake = mistakes_[index];
    report.fault = mistake.name;
    report.what = mistake.what;
    report.rule = mistake.rule;
    slot.begun = !interrupted();
    if (slot.begun && options_.prove) report.proof = options_.prove(mistake);
    if (slot.begun && options_.tests && !report.equivalent()) try_tests(mistake.system, report);
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (journal_ && slot.begun && !interrupted()) {
      const std::scoped_lock lock(writing_);
      journal_->append({{"mistake", index}, {"report", report}});
    }
    slot.ended = true;
  }

  static std::string identity_of(std::size_t count, const std::string& text) {
    return fmt::format("{} ({})", count, digest(text));
  }
  // Takes what a journal of the same mistakes, tests and options knows.
  void resume() {
    nlohmann::json header = options_.identity;
    header["system"] = options_.system.description();
    header["timeout_ms"] = options_.limits.time.count();
    std::string all;
    for (const Mistake& mistake : mistakes_) all += mistake.name + "\n";
    header["mistakes"] = identity_of(mistakes_.size(), all);
    all.clear();
    for (const auto& test : tests_) all += fmt::format("{}\n{}\n", test->name, print_program(test->program));
    header["tests"] = identity_of(tests_.size(), all);
    journal_.emplace(options_.journal, "mutate", header, [this](const nlohmann::json& line) {
      Slot& slot = reports_.at(line.at("mistake").get<std::size_t>());
      line.at("report").get_to(slot.report);
      slot.begun = slot.ended = true;
    });
  }

  void try_tests(const Subject& faulty, FaultReport& report) {
    if (!faulty.system->runs_programs && faulty.system->build_launched == nullptr)
      return try_all(faulty, report);
    for (std::size_t t = 0; t < tests_.size() && !report.enough && !interrupted(); ++t)
      try_test(t, faulty, report);
  }

  void try_test(std::size_t t, const Subject& faulty, FaultReport& report) {
    const LitmusTest& test = *tests_[t];
    const SystemRun run = run_on_system(test, faulty, each_);
    ++report.tests;
    if (run.status == RunStatus::error && without_fault(t).status == RunStatus::error) {
      report.errors.push_back(run.message);
      return;
    }
    note_fired(run.rules, run.exploration, report);
    const std::string cause = fault_shown(t, run);
    if (!cause.empty() && fault_shown(t, without_fault(t)).empty()) {
      kill(report, test.name, cause);
      report.enough = report.killers.size() >= options_.enough;
    } else if (inconclusive(run.status)) {
      ++report.inconclusive;
    }
  }

  static void kill(FaultReport& report, std::string_view where, std::string_view cause) {
    report.killers.push_back(fmt::format("{} ({})", where, cause));
    report.unsafe = report.unsafe || (cause != word(RunStatus::deadlock) && cause != no_end);
  }

  // Explores a system that is its own client.
  void try_all(const Subject& faulty, FaultReport& report) {
    report.tests = 1;
    try {
      const Shown with = explore_all(faulty, report);
      if (with.inconclusive) {
        ++report.inconclusive;
      } else if (!with.fault.empty() &&
                 sound_.get([&] { return explore_all(options_.system, report); }).fault.empty()) {
        kill(report, "every state", with.fault);
        report.enough = true;
      }
    } catch (...) {
      report.errors.push_back(describe_error(std::current_exception(), Program{}).message);
    }
  }

  struct Shown {
    std::string fault;  // in a word, or nothing
    bool inconclusive = false;
  };
  Shown explore_all(const Subject& subject, FaultReport& report) const {
    const std::unique_ptr<Model> model = subject.build();
    ExploreOptions options;
    options.threads = each_.threads;
    options.memory_limit = each_.memory;
    options.time_limit = each_.time;
    options.interrupted = each_.interrupted;
    const ExploreResult result = explore(*model, options);
    if (subject.options.mutation) note_fired(model->rules(), result, report);
    switch (result.verdict) {
      case Verdict::holds:
        return {};
      case Verdict::invariant:
        return {model->invariants().at(static_cast<std::size_t>(result.violated)), false};
      case Verdict::deadlock:
        return {std::string(word(RunStatus::deadlock)), false};
      case Verdict::broken:
        return {result.broken, false};
      default:
        return {{}, true};
    }
  }

  static void note_fired(const std::vector<RuleDescription>& rules, const ExploreResult& result,
                         FaultReport& report) {
    for (std::size_t r = 0; r < rules.size() && r < result.fired.size(); ++r)
      report.fired = report.fired || (rules[r].name == report.rule && result.fired[r] > 0);
  }

  // What a run does that it must not, in a word, or nothing.
  std::string fault_shown(std::size_t t, const SystemRun& run) {
    // Where a run without the mistake can be made: a value out of its range.
    if (failed(run.status) || run.status == RunStatus::error) return std::string(word(run.status));
    if (never_ends(run)) return std::string(no_end);
    if (tests_[t]->launches == nullptr && beyond_sc(run, on_sc(t)) && race_free(t)) return "outcome";
    if (strays_from_expected(*tests_[t], run)) return "verdict";
    return {};
  }

  // An outcome that the test says the system never has; it may well be one that no race analysis judges.
  static bool strays_from_expected(const LitmusTest& test, const SystemRun& run) {
    return run.status == RunStatus::complete &&
           std::any_of(test.expected.begin(), test.expected.end(), [&](const ExpectedObservation& expected) {
             return expected.system == run.system && excludes(expected.observation) &&
                    expected.observation != run.tally.observation();
           });
  }

  const SystemRun& on_sc(std::size_t t) {
    return known_[t].sc.get([&] {
      Subject sc = subject_named("sc");
      sc.options.reductions = options_.system.options.reductions;
      return run_on_system(*tests_[t], sc, each_);
    });
  }
  const SystemRun& without_fault(std::size_t t) {
    return known_[t].sound.get([&] { return run_on_system(*tests_[t], options_.system, each_); });
  }
  bool race_free(std::size_t t) {
    return known_[t].race_free.get([&] {
      RaceOptions options;
      options.models = {RaceModel::hrf_indirect};
      options.explore.threads = each_.threads;
      options.explore.memory_limit = each_.memory;
      options.explore.time_limit = each_.time;
      options.explore.interrupted = each_.interrupted;
      const RaceReport races = analyse_races(for_memory_systems(*tests_[t]), options);
      const auto free = [](const RaceVerdict& verdict) { return verdict.answer == RaceAnswer::race_free; };
      return races.judged && std::any_of(races.verdicts.begin(), races.verdicts.end(), free);
    });
  }

  void attend() {
    for (; next_ < reports_.size() && reports_[next_].ended; ++next_) {
      const Slot& slot = reports_[next_];
      if (!slot.begun) {
        ++totals_.skipped;
        continue;
      }
      count(slot.report);
      if (options_.on_report) options_.on_report(slot.report);
    }
    if (options_.on_progress) options_.on_progress({next_, reports_.size(), seconds()});
  }

  void count(const FaultReport& report) {
    ++totals_.tests;
    if (!report.alive()) {
      ++totals_.as_expected;
    } else if (!report.errors.empty() || (report.proof && !report.proof->error.empty())) {
      ++totals_.errors;
    } else if (report.inconclusive > 0 || (report.proof && report.proof->unknown) || interrupted()) {
      ++totals_.inconclusive;
    } else {
      ++totals_.differing;
    }
  }

  const LitmusTests& tests_;
  const FaultOptions& options_;
  RunLimits each_;
  std::vector<Known> known_;
  Once<Shown> sound_;  // of a system that is its own client
  std::vector<Mistake> mistakes_;
  std::vector<Slot> reports_;
  std::optional<Journal> journal_;
  std::mutex writing_;
  std::size_t next_ = 0;
  Clock::time_point start_ = Clock::now();
  SuiteTotals totals_;
};

}  // namespace

std::vector<Mistake> faults_of(const Subject& system) {
  std::vector<Mistake> all;
  for (const Fault& fault : system.system->faults) {
    Mistake mistake{std::string(fault.name), std::string(fault.what), system, {}};
    mistake.system.options.faults.push_back(mistake.name);
    all.push_back(std::move(mistake));
  }
  return all;
}

std::vector<Mistake> mutants_of(const Subject& system, const std::string& rule) {
  if (system.system->describe == nullptr)
    throw BadInput(fmt::format("{} was built without the trees that are changed", system.system->name));
  std::vector<Mistake> all;
  std::vector<std::string> rules;
  for (const recorded::RecordedRule& tree : trees_of(*system.system, system.options).rules) {
    rules.push_back(tree.name);
    if (!rule.empty() && tree.name != rule) continue;
    for (const Mutation& mutation : mutations_of(tree)) {
      Mistake mistake{fmt::format("'{}' {}", tree.name, text(mutation)), "", system, tree.name};
      mistake.system.options.mutation = std::make_shared<const Mutation>(mutation);
      all.push_back(std::move(mistake));
    }
  }
  if (all.empty() && !rule.empty())
    throw BadInput(fmt::format("{} has no rule '{}'", system.name(), rule), suggestion(rule, rules));
  return all;
}

SuiteTotals run_faults(const LitmusTests& tests, const FaultOptions& options) {
  return FaultSuite(tests, options).run();
}

}  // namespace lockstep
