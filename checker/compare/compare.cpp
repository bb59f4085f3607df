// Every test is a job that runs on both sides; what is kept of it is a verdict, so that millions may be
// compared. The smallest tests that differ are run again when all are done.
#include "checker/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <set>
#include <tuple>

#include "checker/axiomatic/graph.hpp"
#include "checker/generate/conform.hpp"
#include "checker/generate/model.hpp"
#include "checker/litmus/faults.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/runs/coverage.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/systems/trees.hpp"

namespace lockstep::compare {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t tests_in_part = 16;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
constexpr std::size_t other(std::size_t side) {
  return 1 - side;
}

template <class T>
std::vector<T> without(const std::vector<T>& all, const std::vector<T>& others) {
  std::vector<T> left;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::back_inserter(left));
  return left;
}

// ---- the sides
// ---------------------------------------------------------------------------------------------

class Side {
 public:
  Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  virtual ~Side() = default;
  // Whatever goes wrong ends in a status. Safe to call from several threads at once.
  virtual Shown run(const LitmusTest& test, const RunLimits& limits) = 0;
};

class SystemSide final : public Side {
 public:
  explicit SystemSide(Subject subject) : subject_(std::move(subject)) {}
  Shown run(const LitmusTest& test, const RunLimits& limits) override {
    SystemRun run = run_on_system(test, subject_, limits);
    {
      const std::lock_guard lock(mutex_);
      coverage_.add("", run.rules, run.exploration.fired);
    }
    return {run.status, std::move(run.message), std::move(run.outcomes), {}, 0};
  }
  // Names of the rules that never fired.
  [[nodiscard]] std::set<std::string> silent() const {
    std::set<std::string> names;
    for (const RuleDescription& rule : coverage_.never_fired("")) names.insert(rule.name);
    return names;
  }

 private:
  Subject subject_;
  std::mutex mutex_;
  RuleCoverage coverage_;
};

class ModelSide final : public Side {
 public:
  explicit ModelSide(std::shared_ptr<const AxiomaticModel> model) : model_(std::move(model)) {}
  Shown run(const LitmusTest& test, const RunLimits& limits) override {
    const ModelRun run = judge(test, *model_, judging(limits));
    Shown shown{run.status, run.message, {}, run.raised_flags(), {}};
    if (run.counted) shown.executions = run.executions;
    if (run.cut && run.status == RunStatus::complete) shown.status = RunStatus::out_of_time;
    for (const AllowedOutcome& one : run.outcomes) shown.outcomes.push_back(one.outcome);
    return shown;
  }
  static JudgeOptions judging(const RunLimits& limits) {
    return {{}, limits.time, limits.interrupted, false};
  }

 private:
  std::shared_ptr<const AxiomaticModel> model_;
};

// ---- one test
// ----------------------------------------------------------------------------------------------

enum class Verdict : std::uint8_t {
  not_run,
  same,
  other_executions,
  differs,
  unknown,
  left_out,
  passed_over
};

// A run that ended early has shown what it has shown.
bool shows_more(const Shown& shown, const Shown& complete) {
  return complete.status == RunStatus::complete && !failed(shown.status) &&
         !std::includes(complete.outcomes.begin(), complete.outcomes.end(), shown.outcomes.begin(),
                        shown.outcomes.end());
}

Verdict verdict_on(const Both<Shown>& shown) {
  const auto any = [&](auto&& is) { return is(shown[0]) || is(shown[1]); };
  if (any([](const Shown& s) { return s.status == RunStatus::error; })) return Verdict::left_out;
  if (any([](const Shown& s) { return inconclusive(s.status); })) {
    return shows_more(shown[0], shown[1]) || shows_more(shown[1], shown[0]) ? Verdict::differs
                                                                            : Verdict::unknown;
  }
  if (shown[0].status != shown[1].status || shown[0].outcomes != shown[1].outcomes ||
      shown[0].flags != shown[1].flags)
    return Verdict::differs;
  const bool counted = shown[0].executions && shown[1].executions;
  return counted && shown[0].executions != shown[1].executions ? Verdict::other_executions : Verdict::same;
}

std::size_t instructions_of(const LitmusTest& test) {
  std::size_t count = 0;
  for (const Thread& thread : test.program.threads) count += thread.code.size();
  return count;
}

// ---- all tests
// ---------------------------------------------------------------------------------------------

class Comparison {
 public:
  // `races`: of systems, who says whether a difference matters.
  Comparison(const Both<Side*>& sides, const generate::ConsistencyModel* races, const CompareOptions& options)
      : sides_(sides), races_(races), options_(options), limits_(options.limits.of_one()) {}

  OutcomeReport run() {
    generate_tests();
    const std::size_t shipped = options_.tests.size();
    slots_.resize(shipped + blueprints_.size());
    run_all();
    report_.shipped = shipped;
    report_.generated = blueprints_.size();
    count();
    return std::move(report_);
  }

  [[nodiscard]] double seconds() const { return seconds_since(start_); }
  void show(Phase phase, std::size_t done, std::size_t all) const {
    if (options_.on_progress) options_.on_progress({phase, done, all, differing_, seconds()});
  }

 private:
  struct Slot {
    Verdict verdict = Verdict::not_run;
    std::optional<bool> race_free;
    Both<bool> more{};
    std::size_t instructions = 0;
  };

  void generate_tests() {
    if (options_.generate.up_to == 0 && !options_.generate.straight) return;
    const auto owes_nothing = [this](const generate::Blueprint& blueprint) {
      return options_.race_free && races_ != nullptr && races_->owes_nothing(blueprint);
    };
    auto found = generate::find_candidates(
        options_.generate, owes_nothing, options_.limits,
        [this](const generate::ConformProgress& now) { show(Phase::generating, now.done, now.all); });
    if (found) blueprints_ = std::move(found->tests);
  }

  [[nodiscard]] std::shared_ptr<const LitmusTest> test_at(std::size_t i) const {
    const std::size_t shipped = options_.tests.size();
    return i < shipped ? options_.tests[i] : generate::to_test(blueprints_[i - shipped]);
  }

  void run_all() {
    std::atomic<std::size_t> done{0};
    const auto work = [&](std::size_t part) {
      const std::size_t end = std::min(slots_.size(), (part + 1) * tests_in_part);
      for (std::size_t i = part * tests_in_part; i < end; ++i) {
        if (options_.limits.are_interrupted()) return;
        const Slot slot = run_one(i);
        if (options_.limits.are_interrupted()) return;  // it may have been stopped short
        slots_[i] = slot;
        ++done;
        if (slot.verdict == Verdict::differs) ++differing_;
      }
    };
    run_jobs((slots_.size() + tests_in_part - 1) / tests_in_part, options_.limits.threads, work,
             [&] { show(Phase::running, done, slots_.size()); });
  }

  // Whether the program is owed anything, and what.
  [[nodiscard]] generate::Obligation owed(std::size_t i, const LitmusTest& test) const {
    const std::size_t shipped = options_.tests.size();
    generate::Obligation obligation;
    obligation.owed = generate::Owed::not_judged;
    if (races_ == nullptr || test.launches) return obligation;
    if (i >= shipped && races_->owes_nothing(blueprints_[i - shipped])) {
      obligation.owed = generate::Owed::nothing;
      return obligation;
    }
    return races_->obligation(test, limits_);
  }
  static std::optional<bool> race_free(const generate::Obligation& obligation) {
    if (obligation.owed == generate::Owed::outcomes) return true;
    if (obligation.owed == generate::Owed::nothing) return false;
    return std::nullopt;
  }

  Slot run_one(std::size_t i) {
    const auto test = test_at(i);
    Slot slot;
    slot.instructions = instructions_of(*test);
    try {
      if (options_.race_free) {
        const generate::Obligation obligation = owed(i, *test);
        slot.race_free = race_free(obligation);
        if (slot.race_free != true) {
          slot.verdict = obligation.owed == generate::Owed::unknown ? Verdict::unknown : Verdict::passed_over;
          return slot;
        }
      }
      const Both<Shown> shown{sides_[0]->run(*test, limits_), sides_[1]->run(*test, limits_)};
      slot.verdict = verdict_on(shown);
      if (slot.verdict == Verdict::left_out)
        refuse(shown[0].status == RunStatus::error ? shown[0] : shown[1]);
      if (slot.verdict != Verdict::differs) return slot;
      for (const std::size_t side : {0U, 1U})
        slot.more[side] = !without(shown[side].outcomes, shown[other(side)].outcomes).empty();
      if (races_ == nullptr) {
        slot.race_free = shown[0].flags.empty() || shown[1].flags.empty();
      } else if (!slot.race_free) {
        slot.race_free = race_free(owed(i, *test));
      }
    } catch (...) {
      const RunError error = describe_error(std::current_exception(), test->program);
      slot.verdict = error.status == RunStatus::error ? Verdict::left_out : Verdict::unknown;
      if (slot.verdict == Verdict::left_out) refuse({error.status, error.message, {}, {}, 0});
    }
    return slot;
  }

  void refuse(const Shown& shown) {
    const std::lock_guard lock(mutex_);
    if (report_.why_left_out.empty()) report_.why_left_out = shown.message;
  }

  void count() {
    std::optional<std::size_t> smallest;
    std::optional<std::size_t> smallest_race_free;
    const auto take = [&](std::optional<std::size_t>& least, std::size_t i) {
      if (!least || slots_[i].instructions < slots_[*least].instructions) least = i;
    };
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      switch (slot.verdict) {
        case Verdict::not_run:
          continue;
        case Verdict::passed_over:
          ++report_.passed_over;
          continue;
        case Verdict::left_out:
          ++report_.left_out;
          continue;
        case Verdict::unknown:
          ++report_.unknown;
          continue;
        case Verdict::other_executions:
          ++report_.other_executions;
          [[fallthrough]];
        case Verdict::same:
          ++report_.same;
          break;
        case Verdict::differs:
          ++report_.differing;
          for (const std::size_t side : {0U, 1U}) report_.more[side] += slot.more[side] ? 1 : 0;
          if (!slot.race_free) ++report_.undecided;
          if (auto& names = slot.race_free == true ? report_.race_free_names : report_.other_names;
              names.size() < most_named)
            names.push_back(test_at(i)->name);
          if (slot.race_free == true) {
            ++report_.race_free;
            take(smallest_race_free, i);
          }
          take(smallest, i);
          break;
      }
      ++report_.compared;
    }
    if (!smallest) return;
    report_.smallest = again(smallest_race_free.value_or(*smallest));
    if (smallest_race_free && smallest != smallest_race_free) report_.smaller = again(*smallest);
  }

  Difference again(std::size_t i) {
    Difference difference;
    difference.test = test_at(i);
    for (const std::size_t side : {0U, 1U})
      difference.shown[side] = sides_[side]->run(*difference.test, limits_);
    difference.race_free = slots_[i].race_free;
    if (races_ != nullptr && difference.race_free == true)
      difference.allowed = owed(i, *difference.test).allowed;
    return difference;
  }

  const Both<Side*>& sides_;
  const generate::ConsistencyModel* races_;
  const CompareOptions& options_;
  RunLimits limits_;
  std::vector<generate::Blueprint> blueprints_;
  std::vector<Slot> slots_;
  OutcomeReport report_;
  std::mutex mutex_;
  std::atomic<std::size_t> differing_{0};
  Clock::time_point start_ = Clock::now();
};

// The outcome that an execution is looked for of: one that the model forbids, if there is one, preferably of
// the second side, which is likely to be the one that was changed.
std::optional<std::pair<std::size_t, Outcome>> telling_outcome(const Difference& difference) {
  std::optional<std::pair<std::size_t, Outcome>> telling;
  for (const std::size_t side : {1U, 0U}) {
    for (const Outcome& outcome : difference.only(side)) {
      const bool allowed = std::binary_search(difference.allowed.begin(), difference.allowed.end(), outcome);
      if (difference.race_free == true && !allowed) return std::pair{side, outcome};
      if (!telling) telling = {side, outcome};
    }
  }
  return telling;
}

// ---- systems
// -----------------------------------------------------------------------------------------------

// Step by step, and the same on both sides: what is taken at once depends on the rules.
Subject step_by_step(Subject subject) {
  subject.options.reductions = Reductions::none();
  subject.options.reductions.moves = true;
  return subject;
}

void follow(Evidence& evidence, const Subject& follower) {
  RecordedTrace wanted = *evidence.trace;
  wanted.subject = follower;
  const Replay followed = replay(wanted);
  evidence.shared_steps = followed.trace.steps.empty() ? 0 : followed.trace.steps.size() - 1;
  if (followed.difference.empty()) return;
  const RecordedTrace::Step& step = wanted.steps.at(followed.different_step);
  evidence.parting = fmt::format("'{}' {}", step.narration.empty() ? step.rule : step.narration.front().rule,
                                 followed.difference);
}

std::optional<Evidence> evidence_of(const Difference& difference, const Both<Subject>& systems,
                                    const RunLimits& limits) {
  const LitmusTest& test = *difference.test;
  Evidence evidence;
  for (const std::size_t side : {1U, 0U}) {
    if (!failed(difference.shown[side].status) || failed(difference.shown[other(side)].status)) continue;
    const SystemRun run = run_on_system(test, step_by_step(systems[side]), limits);
    if (!run.failure) continue;
    evidence.side = side;
    evidence.outcome = failure_text(run);
    evidence.trace = run.failure;
  }
  if (!evidence.trace) {
    const auto telling = telling_outcome(difference);
    if (!telling) return std::nullopt;
    evidence.side = telling->first;
    evidence.outcome = outcome_text(test, telling->second);
    const auto wanted = [&](const Outcome& outcome) { return outcome == telling->second; };
    evidence.trace = find_outcome(test, step_by_step(systems[evidence.side]), limits, wanted);
    if (!evidence.trace) return evidence;
  }
  if (systems[0].system->describe != nullptr && systems[1].system->describe != nullptr)
    follow(evidence, with_client(step_by_step(systems[other(evidence.side)]), test));
  return evidence;
}

std::string verdict_text(const CheckRun& run) {
  switch (run.status) {
    case CheckStatus::holds:
      return fmt::format("holds, {} states", run.exploration.states);
    case CheckStatus::violated:
      return trace_end_text(*run.counterexample);
    default:
      return run.message;
  }
}

class InvariantComparison {
 public:
  InvariantComparison(const Both<Subject>& systems, const CompareOptions& options, const Comparison& progress)
      : systems_(systems), options_(options), progress_(progress) {}

  InvariantReport run() {
    const std::size_t all = options_.clients.empty() ? 1 : options_.clients.size();
    for (std::size_t i = 0; i < all && !options_.limits.are_interrupted(); ++i) {
      const LitmusTest* client = options_.clients.empty() ? nullptr : options_.clients[i].get();
      Both<CheckRun> runs;
      for (const std::size_t side : {0U, 1U}) {
        progress_.show(Phase::checking, 2 * i + side, 2 * all);
        runs[side] = check(posed(side, client), {options_.limits, true, [&](const Progress&) {
                                                   progress_.show(Phase::checking, 2 * i + side, 2 * all);
                                                 }});
      }
      if (options_.limits.are_interrupted()) break;
      take(client == nullptr ? "" : client->name, std::move(runs));
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] Subject posed(std::size_t side, const LitmusTest* client) const {
    Subject subject = systems_[side];
    subject.options.reductions = reductions_for_invariants(*subject.system, {});
    return client == nullptr ? subject : with_client(subject, *client);
  }

  void take(const std::string& client, Both<CheckRun> runs) {
    ++report_.clients;
    InvariantDifference difference{client, {}, {}, {}};
    for (const std::size_t side : {0U, 1U}) {
      ++report_.counts[side][runs[side].status];
      difference.status[side] = runs[side].status;
      difference.text[side] = verdict_text(runs[side]);
      if (runs[side].status == CheckStatus::violated && runs[other(side)].status != CheckStatus::violated)
        difference.counterexample = std::move(runs[side].counterexample);
    }
    const bool violated = difference.status[0] == CheckStatus::violated;
    if (difference.status[0] == difference.status[1] &&
        (!violated || difference.text[0] == difference.text[1]))
      return;
    report_.differences.push_back(std::move(difference));
  }

  const Both<Subject>& systems_;
  const CompareOptions& options_;
  const Comparison& progress_;
  InvariantReport report_;
};

std::string text_of(const recorded::RecordedRule& rule) {
  return fmt::format("{}|{}|{}|{}|{}|{}", rule.unit, static_cast<int>(rule.fairness),
                     fmt::join(rule.parameters, ","), print(rule.trigger), print(rule.guard),
                     print(rule.action, ""));
}

// Names with what is behind them, as they stand in the header.
using Named = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> names_missing(const Named& of, const Named& in) {
  std::vector<std::string> names;
  for (const auto& [name, text] : of) {
    const auto same = [&, &sought = name](const auto& one) { return one.first == sought; };
    if (std::none_of(in.begin(), in.end(), same)) names.push_back(name);
  }
  return names;
}
std::vector<std::string> names_changed(const Both<Named>& sides) {
  std::vector<std::string> names;
  for (const auto& one : sides[0]) {
    const auto same = [&](const auto& found) { return found.first == one.first; };
    const auto found = std::find_if(sides[1].begin(), sides[1].end(), same);
    if (found != sides[1].end() && found->second != one.second) names.push_back(one.first);
  }
  return names;
}

TextReport compare_texts(const Both<Subject>& systems, const Both<std::set<std::string>>& silent) {
  Both<Named> rules;
  Both<Named> invariants;
  Both<Named> fields;
  for (const std::size_t side : {0U, 1U}) {
    const recorded::Description& trees = trees_of(*systems[side].system, systems[side].options);
    for (const auto& rule : trees.rules) rules[side].emplace_back(rule.name, text_of(rule));
    for (const auto& one : trees.invariants) invariants[side].emplace_back(one.name, print(one.predicate));
    for (const std::string& field : trees.fields) fields[side].emplace_back(field, "");
  }
  TextReport report;
  for (const std::size_t side : {0U, 1U}) {
    report.only_rules[side] = names_missing(rules[side], rules[other(side)]);
    report.only_invariants[side] = names_missing(invariants[side], invariants[other(side)]);
    report.only_fields[side] = names_missing(fields[side], fields[other(side)]);
    for (const auto& [name, text] : rules[side]) {
      const auto& missing = report.only_rules[side];
      if (std::find(missing.begin(), missing.end(), name) == missing.end() && !silent[side].contains(name) &&
          silent[other(side)].contains(name))
        report.only_fired[side].push_back(name);
    }
  }
  report.common_rules = rules[0].size() - report.only_rules[0].size();
  report.changed_rules = names_changed(rules);
  report.changed_invariants = names_changed(invariants);
  return report;
}

// What tests say of a system's faults, by name: of those that it has not on already.
std::map<std::string, FaultReport> faults_noticed(const Subject& system,
                                                  const std::vector<std::string>& names,
                                                  const CompareOptions& options, const Comparison& progress) {
  FaultOptions suite;
  suite.system = system;
  suite.enough = 1;
  suite.limits = options.limits;
  for (Mistake& mistake : faults_of(system)) {
    if (std::find(names.begin(), names.end(), mistake.name) != names.end())
      suite.mistakes.push_back(std::move(mistake));
  }
  std::map<std::string, FaultReport> found;
  suite.on_report = [&](const FaultReport& report) { found[report.fault] = report; };
  suite.on_progress = [&](const SuiteProgress& now) { progress.show(Phase::breaking, now.done, now.all); };
  run_faults(options.tests, suite);
  return found;
}

FaultsReport compare_faults(const Both<Subject>& systems, const CompareOptions& options,
                            const Comparison& progress) {
  Both<std::vector<std::string>> names;
  std::vector<std::string> common;
  for (const std::size_t side : {0U, 1U}) {
    const auto& on = systems[side].options.faults;
    for (const Fault& fault : systems[side].system->faults) {
      const std::string name(fault.name);
      if (std::find(on.begin(), on.end(), name) == on.end()) names[side].push_back(name);
    }
    std::sort(names[side].begin(), names[side].end());
  }
  std::set_intersection(names[0].begin(), names[0].end(), names[1].begin(), names[1].end(),
                        std::back_inserter(common));
  FaultsReport report;
  for (const std::size_t side : {0U, 1U}) report.only[side] = without(names[side], names[other(side)]);
  if (common.empty()) return report;
  Both<std::map<std::string, FaultReport>> found;
  for (const std::size_t side : {0U, 1U})
    found[side] = faults_noticed(systems[side], common, options, progress);
  for (const std::string& fault : common) {
    const Both<FaultReport> both{found[0][fault], found[1][fault]};
    const auto undecided = [](const FaultReport& one) {
      return one.killers.empty() && (one.inconclusive > 0 || !one.errors.empty() || one.tests == 0);
    };
    ++report.common;
    if (undecided(both[0]) || undecided(both[1])) {
      ++report.undecided;
    } else if (both[0].killers.empty() != both[1].killers.empty()) {
      FaultDifference difference{fault, {}};
      for (const std::size_t side : {0U, 1U}) {
        if (!both[side].killers.empty()) difference.noticed[side] = both[side].killers.front();
      }
      report.differences.push_back(std::move(difference));
    } else {
      ++(both[0].killers.empty() ? report.unnoticed : report.noticed);
    }
  }
  return report;
}

void refuse_if_alike(const Both<std::string>& names) {
  if (names[0] == names[1])
    throw BadInput(
        fmt::format("there is nothing to compare: {} twice", names[0]),
        "name a variant (SYSTEM/VARIANT), a fault (SYSTEM+FAULT), a size (SYSTEM,NAME=N) or another "
        "commit's version (SYSTEM@COMMIT)");
}

}  // namespace

std::vector<Outcome> Difference::only(std::size_t side) const {
  return without(shown[side].outcomes, shown[other(side)].outcomes);
}

std::vector<Outcome> Difference::common() const {
  return without(shown[0].outcomes, only(0));
}

bool TextReport::alike() const {
  return common_rules > std::max(only_rules[0].size(), only_rules[1].size());
}

bool CompareReport::differ() const {
  return outcomes.differing > 0 || outcomes.other_executions > 0 ||
         (invariants && std::any_of(invariants->differences.begin(), invariants->differences.end(),
                                    [](const InvariantDifference& one) {
                                      return one.status[0] == CheckStatus::violated ||
                                             one.status[1] == CheckStatus::violated;
                                    }));
}

bool CompareReport::open() const {
  if (outcomes.unknown > 0) return true;
  if (!invariants) return false;
  return std::any_of(invariants->counts.begin(), invariants->counts.end(),
                     [](const auto& counts) { return counts.contains(CheckStatus::inconclusive); });
}

CompareReport compare_systems(const Both<Subject>& systems, const CompareOptions& options) {
  const auto start = Clock::now();
  CompareReport report;
  report.systems = true;
  report.names = {systems[0].description(), systems[1].description()};
  refuse_if_alike(report.names);
  const bool programs = systems[0].system->runs_programs;
  const bool launches = systems[0].system->build_launched != nullptr;
  if (programs != systems[1].system->runs_programs ||
      launches != (systems[1].system->build_launched != nullptr))
    throw BadInput(fmt::format("{} and {} have clients of different kinds", report.names[0], report.names[1]),
                   "compare systems that run programs, or systems that take launches");
  report.model = name(options.model);
  report.generate = options.generate;
  SystemSide left(systems[0]);
  SystemSide right(systems[1]);
  const Both<Side*> sides{&left, &right};
  const auto races = generate::race_free_model(options.model);
  Comparison comparison(sides, races.get(), options);
  if (programs || launches) report.outcomes = comparison.run();
  const bool described = systems[0].system->describe != nullptr && systems[1].system->describe != nullptr;
  if (described) report.texts = compare_texts(systems, {left.silent(), right.silent()});
  if (report.outcomes.smallest && !options.limits.are_interrupted()) {
    comparison.show(Phase::explaining, 0, 1);
    report.outcomes.evidence = evidence_of(*report.outcomes.smallest, systems, options.limits.of_one());
  }
  if (options.invariants && (!programs || !options.clients.empty()))
    report.invariants = InvariantComparison(systems, options, comparison).run();
  if (options.faults && report.texts && report.texts->alike() && !options.limits.are_interrupted())
    report.faults = compare_faults(systems, options, comparison);
  report.interrupted = options.limits.are_interrupted();
  report.seconds = seconds_since(start);
  return report;
}

CompareReport compare_models(const Both<std::shared_ptr<const AxiomaticModel>>& models,
                             const CompareOptions& options) {
  const auto start = Clock::now();
  CompareReport report;
  report.names = {models[0]->name(), models[1]->name()};
  refuse_if_alike(report.names);
  report.generate = options.generate;
  ModelSide left(models[0]);
  ModelSide right(models[1]);
  const Both<Side*> sides{&left, &right};
  Comparison comparison(sides, nullptr, options);
  report.outcomes = comparison.run();
  if (const auto& difference = report.outcomes.smallest) {
    comparison.show(Phase::explaining, 0, 1);
    const LitmusTest& test = *difference->test;
    if (const auto telling = telling_outcome(*difference)) {
      Evidence evidence;
      evidence.side = telling->first;
      evidence.outcome = outcome_text(test, telling->second);
      for (const std::size_t side : {0U, 1U}) {
        const auto candidate =
            find_candidate(test, *models[side], telling->second, ModelSide::judging(options.limits.of_one()));
        if (candidate) evidence.views[side] = candidate_text(test, *candidate);
      }
      report.outcomes.evidence = std::move(evidence);
    }
  }
  report.interrupted = options.limits.are_interrupted();
  report.seconds = seconds_since(start);
  return report;
}

int exit_status(const CompareReport& report) {
  if (report.interrupted) return 130;
  if (report.differ()) return 1;
  return report.open() ? 3 : 0;
}

}  // namespace lockstep::compare
