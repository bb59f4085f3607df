// Two phases, each a pool of jobs whose results are taken in order: families are enumerated and looked at,
// then what is left of them is run, a few tests at a time. The order of everything is fixed by the generator,
// so a report does not depend on how many threads made it, nor on how often it was resumed.
#include "checker/generate/conform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/journal.hpp"

namespace lockstep::generate {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::size_t tests_in_part = 16;
constexpr std::size_t most_named = 20;  // tests of each kind that a report names

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
std::pair<int, int> size_of(const Blueprint& blueprint) {
  return {blueprint.edges, blueprint.extras};
}
std::size_t index_of(Notable::Kind kind) {
  return static_cast<std::size_t>(kind);
}

// Tests that are run and journalled together: all of one size.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<Part> parts_of(const std::vector<Blueprint>& tests) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < tests.size();) {
    Part part{at, at};
    while (part.end < tests.size() && part.end - part.begin < tests_in_part &&
           size_of(tests[part.end]) == size_of(tests[part.begin]))
      ++part.end;
    at = part.end;
    parts.push_back(part);
  }
  return parts;
}

struct PartResult {
  Tallies tallies;
  std::vector<Notable> notable;
};

bool is_allowed(const Obligation& obligation, const Outcome& outcome) {
  return std::binary_search(obligation.allowed.begin(), obligation.allowed.end(), outcome);
}

// What a run does that is not allowed, or nothing.
std::optional<Notable> offence(const LitmusTest& test, std::size_t number, const SystemRun& run,
                               const Obligation& obligation) {
  if (failed(run.status)) return Notable{Notable::Kind::failure, number, std::string(word(run.status))};
  for (const Outcome& outcome : run.outcomes) {
    if (!is_allowed(obligation, outcome))
      return Notable{Notable::Kind::violation, number, outcome_text(test, outcome)};
  }
  return std::nullopt;
}

std::function<bool(const Blueprint&)> owes_nothing_by(const ConsistencyModel& model) {
  return [&model](const Blueprint& blueprint) { return model.owes_nothing(blueprint); };
}

// ---- one test --------------------------------------------------------------------------------------------

class Runner {
 public:
  Runner(const Subject& system, const ConsistencyModel& model, const RunLimits& limits)
      : system_(system), model_(model), limits_(limits.of_one()) {}

  void run(const Blueprint& blueprint, std::size_t number, PartResult& result) const {
    const auto test = to_test(blueprint);
    const auto note = [&](Notable::Kind kind, std::string text) {
      ++result.tallies.notable[index_of(kind)];
      result.notable.push_back({kind, number, std::move(text)});
    };
    ++result.tallies.tests;
    try {
      const Obligation obligation = model_.obligation(*test, limits_);
      result.tallies.race_states += obligation.race_states;
      result.tallies.sc_states += obligation.outcome_states;
      switch (obligation.owed) {
        case Owed::nothing:
          ++result.tallies.racy;
          return;
        case Owed::not_judged:
          ++result.tallies.not_judged;
          return;
        case Owed::unknown:
          note(Notable::Kind::inconclusive, obligation.reason);
          return;
        case Owed::outcomes:
          ++result.tallies.race_free;
          break;
      }
      if (obligation.by_one_reading) note(Notable::Kind::one_reading, "race-free by any location alone");
      const SystemRun run = run_on_system(*test, system_, limits_);
      result.tallies.system_states += run.exploration.states;
      result.tallies.system_transitions += run.exploration.transitions;
      if (run.status == RunStatus::error) return note(Notable::Kind::error, run.message);
      if (const auto found = offence(*test, number, run, obligation)) return note(found->kind, found->text);
      if (run.status != RunStatus::complete)
        return note(Notable::Kind::inconclusive, std::string(word(run.status)));
      if (run.outcomes == obligation.allowed) ++result.tallies.same_outcomes;
    } catch (...) {
      const RunError error = describe_error(std::current_exception(), test->program);
      note(error.status == RunStatus::error ? Notable::Kind::error : Notable::Kind::inconclusive,
           error.message);
    }
  }

 private:
  const Subject& system_;
  const ConsistencyModel& model_;
  RunLimits limits_;
};

// ---- journals --------------------------------------------------------------------------------------------

json tallies_json(const Tallies& tallies) {
  json notable = json::object();
  for (const Notable::Kind kind : notable_kinds)
    notable[std::string(word(kind))] = tallies.notable[index_of(kind)];
  return {{"tests", tallies.tests},
          {"racy", tallies.racy},
          {"race_free", tallies.race_free},
          {"not_judged", tallies.not_judged},
          {"race_states", tallies.race_states},
          {"sc_states", tallies.sc_states},
          {"system_states", tallies.system_states},
          {"system_transitions", tallies.system_transitions},
          {"same_outcomes", tallies.same_outcomes},
          {"notable", std::move(notable)},
          {"seconds", tallies.seconds}};
}

Tallies tallies_from(const json& in) {
  Tallies tallies;
  in.at("tests").get_to(tallies.tests);
  in.at("racy").get_to(tallies.racy);
  in.at("race_free").get_to(tallies.race_free);
  in.at("not_judged").get_to(tallies.not_judged);
  in.at("race_states").get_to(tallies.race_states);
  in.at("sc_states").get_to(tallies.sc_states);
  in.at("system_states").get_to(tallies.system_states);
  in.at("system_transitions").get_to(tallies.system_transitions);
  in.at("same_outcomes").get_to(tallies.same_outcomes);
  in.at("seconds").get_to(tallies.seconds);
  for (const Notable::Kind kind : notable_kinds)
    in.at("notable").at(std::string(word(kind))).get_to(tallies.notable[index_of(kind)]);
  return tallies;
}

json part_json(std::size_t number, const PartResult& result) {
  json notable = json::array();
  for (const Notable& one : result.notable)
    notable.push_back({{"kind", index_of(one.kind)}, {"test", one.test}, {"text", one.text}});
  return {{"part", number}, {"tallies", tallies_json(result.tallies)}, {"notable", std::move(notable)}};
}

PartResult part_from(const json& in) {
  PartResult result;
  result.tallies = tallies_from(in.at("tallies"));
  for (const json& one : in.at("notable")) {
    result.notable.push_back({notable_kinds.at(one.at("kind").get<std::size_t>()),
                              one.at("test").get<std::size_t>(), one.at("text").get<std::string>()});
  }
  return result;
}

// ---- all tests -------------------------------------------------------------------------------------------

class Conformance {
 public:
  Conformance(const ConformOptions& options, const ConsistencyModel& model)
      : options_(options), model_(model) {}

  ConformReport run() {
    report_.system = options_.system.description();
    report_.model = model_.name();
    report_.generate = options_.generate;
    auto candidates =
        find_candidates(options_.generate, owes_nothing_by(model_), options_.limits, options_.on_progress);
    if (candidates) {
      report_.counts = candidates->counts;
      report_.candidates = candidates->tests.size();
      run_all(*candidates);
      explain(*candidates);
    }
    report_.interrupted = options_.limits.are_interrupted();
    report_.seconds = seconds_since(start_);
    return std::move(report_);
  }

 private:
  struct Slot {
    PartResult result;
    std::atomic<bool> ended{false};
    bool resumed = false;
  };

  void run_all(const Candidates& candidates) {
    const std::vector<Part> parts = parts_of(candidates.tests);
    std::vector<Slot> slots(parts.size());
    std::optional<Journal> journal;
    if (!options_.journal.empty()) {
      const json header{{"tests", candidates.identity}, {"system", report_.system},
                        {"model", report_.model},       {"candidates", candidates.tests.size()},
                        {"part", tests_in_part},        {"timeout_ms", options_.limits.time.count()},
                        {"build", options_.build}};
      journal.emplace(options_.journal, "conform", header, [&](const json& line) {
        const auto number = line.at("part").get<std::size_t>();
        Slot& slot = slots.at(number);
        slot.result = part_from(line);
        if (slot.result.tallies.tests != parts[number].end - parts[number].begin)
          throw json::other_error::create(501, "a part of another size", &line);
        slot.resumed = true;
        slot.ended = true;
      });
    }
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!slots[i].resumed) todo.push_back(i);
    }
    const Runner runner(options_.system, model_, options_.limits);
    std::mutex writing;
    const auto work = [&](std::size_t job) {
      const std::size_t number = todo[job];
      Slot& slot = slots[number];
      const auto start = Clock::now();
      for (std::size_t i = parts[number].begin; i < parts[number].end; ++i) {
        if (options_.limits.are_interrupted()) return;
        PartResult one;
        runner.run(candidates.tests[i], i, one);
        if (options_.limits.are_interrupted()) return;  // it may have been stopped short
        slot.result.tallies += one.tallies;
        slot.result.notable.insert(slot.result.notable.end(), one.notable.begin(), one.notable.end());
      }
      slot.result.tallies.seconds = seconds_since(start);
      done_ += slot.result.tallies.tests;
      offences_ += slot.result.tallies.notable[0] + slot.result.tallies.notable[1];
      if (journal) {
        const std::lock_guard lock(writing);
        journal->append(part_json(number, slot.result));
      }
      slot.ended = true;
    };
    for (const Slot& slot : slots) {
      if (slot.resumed) report_.resumed += slot.result.tallies.tests;
    }
    done_ = report_.resumed;
    const auto attend = [&] { show(ConformProgress::Phase::running, candidates.tests.size()); };
    run_jobs(todo.size(), options_.limits.threads, work, attend);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].ended) continue;
      report_.tallies[size_of(candidates.tests[parts[i].begin])] += slots[i].result.tallies;
      for (const Notable& one : slots[i].result.notable) keep(one, candidates);
    }
  }

  void show(ConformProgress::Phase phase, std::size_t all) const {
    if (options_.on_progress) options_.on_progress({phase, done_, all, offences_, seconds_since(start_)});
  }

  void keep(const Notable& one, const Candidates& candidates) {
    const auto same = std::count_if(report_.notable.begin(), report_.notable.end(),
                                    [&](const Notable& other) { return other.kind == one.kind; });
    if (static_cast<std::size_t>(same) >= most_named) return;
    report_.notable.push_back(one);
    report_.names.push_back(name_of(candidates.tests[one.test]));
  }

  // An execution of the first test that convicts the system.
  void explain(const Candidates& candidates) {
    const auto first = std::find_if(report_.notable.begin(), report_.notable.end(), [](const Notable& one) {
      return one.kind == Notable::Kind::violation || one.kind == Notable::Kind::failure;
    });
    if (first == report_.notable.end()) return;
    show(ConformProgress::Phase::explaining, candidates.tests.size());
    report_.culprit = to_test(candidates.tests[first->test]);
    const RunLimits limits = options_.limits.of_one();
    if (first->kind == Notable::Kind::failure) {
      report_.evidence = run_on_system(*report_.culprit, options_.system, limits).failure;
    } else {
      const Obligation obligation = model_.obligation(*report_.culprit, limits);
      report_.evidence = find_outcome(*report_.culprit, options_.system, limits, [&](const Outcome& outcome) {
        return !is_allowed(obligation, outcome);
      });
    }
  }

  const ConformOptions& options_;
  const ConsistencyModel& model_;
  ConformReport report_;
  Clock::time_point start_ = Clock::now();
  std::atomic<std::size_t> done_{0};
  std::atomic<std::size_t> offences_{0};
};

// ---- faults ----------------------------------------------------------------------------------------------

class FaultHunt {
 public:
  FaultHunt(const ConformOptions& options, const ConsistencyModel& model,
            const std::vector<std::string>& only)
      : options_(options), model_(model), limits_(options.limits.of_one()) {
    fault_mask(*options.system.system, only);  // refuses what is no fault
    for (const Fault& fault : options.system.system->faults) {
      if (!only.empty() && std::find(only.begin(), only.end(), fault.name) == only.end()) continue;
      Hunted& hunted = hunted_.emplace_back();
      hunted.kill.fault = fault.name;
      hunted.kill.what = fault.what;
      hunted.system = options.system;
      hunted.system.options.faults.push_back(hunted.kill.fault);
    }
  }

  FaultKills run() {
    FaultKills kills;
    kills.system = options_.system.description();
    kills.model = model_.name();
    const auto candidates =
        find_candidates(options_.generate, owes_nothing_by(model_), options_.limits, options_.on_progress);
    if (candidates) {
      kills.candidates = candidates->tests.size();
      run_all(candidates->tests);
    }
    kills.interrupted = options_.limits.are_interrupted();
    for (Hunted& hunted : hunted_) {
      hunted.kill.ended = hunted.kill.test || !kills.interrupted;
      hunted.kill.tests = hunted.kill.test ? *hunted.kill.test + 1 : hunted.kill.tests;
      if (hunted.kill.test) {
        const Blueprint& killer = candidates->tests[*hunted.kill.test];
        hunted.kill.killer = to_test(killer);
        hunted.kill.shape = shape_of(killer);
      }
      kills.faults.push_back(std::move(hunted.kill));
    }
    kills.seconds = seconds_since(start_);
    return kills;
  }

 private:
  struct Hunted {
    FaultKill kill;
    Subject system;
    std::atomic<std::size_t> first{static_cast<std::size_t>(-1)};  // the first test known to kill it
  };

  void run_all(const std::vector<Blueprint>& tests) {
    const std::vector<Part> parts = parts_of(tests);
    std::atomic<std::size_t> done{0};
    const auto work = [&](std::size_t number) {
      for (std::size_t i = parts[number].begin; i < parts[number].end; ++i) {
        if (options_.limits.are_interrupted()) return;
        run_one(tests[i], i);
        ++done;
      }
    };
    const auto attend = [&] {
      const auto dead = static_cast<std::size_t>(
          std::count_if(hunted_.begin(), hunted_.end(), [](const Hunted& one) { return one.first < most; }));
      if (options_.on_progress)
        options_.on_progress(
            {ConformProgress::Phase::running, done, tests.size(), dead, seconds_since(start_)});
    };
    run_jobs(parts.size(), options_.limits.threads, work, attend);
  }

  void run_one(const Blueprint& blueprint, std::size_t number) {
    const bool wanted =
        std::any_of(hunted_.begin(), hunted_.end(), [&](const Hunted& one) { return one.first > number; });
    if (!wanted) return;
    const auto test = to_test(blueprint);
    const Obligation obligation = model_.obligation(*test, limits_);
    if (obligation.owed != Owed::outcomes) return;
    std::optional<bool> sound;  // whether the test finds nothing without a fault
    for (Hunted& hunted : hunted_) {
      if (hunted.first <= number) continue;
      const auto start = Clock::now();
      const SystemRun run = run_on_system(*test, hunted.system, limits_);
      const auto found = offence(*test, number, run, obligation);
      if (found && !sound) {
        const SystemRun plain = run_on_system(*test, options_.system, limits_);
        sound = plain.status == RunStatus::complete && !offence(*test, number, plain, obligation);
      }
      const std::lock_guard lock(mutex_);
      hunted.kill.seconds += seconds_since(start);
      ++hunted.kill.tests;
      if (inconclusive(run.status)) ++hunted.kill.inconclusive;
      if (!found || !*sound || hunted.first <= number) continue;
      hunted.first = number;
      hunted.kill.test = number;
      hunted.kill.cause = found->text;
    }
  }

  static constexpr auto most = static_cast<std::size_t>(-1);
  const ConformOptions& options_;
  const ConsistencyModel& model_;
  RunLimits limits_;
  std::deque<Hunted> hunted_;
  std::mutex mutex_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::string_view word(Notable::Kind kind) {
  constexpr std::array<std::string_view, notable_kinds.size()> words{
      "violation", "failure", "owed by one reading", "inconclusive", "error"};
  return words.at(index_of(kind));
}

Tallies& Tallies::operator+=(const Tallies& other) {
  tests += other.tests;
  racy += other.racy;
  race_free += other.race_free;
  not_judged += other.not_judged;
  race_states += other.race_states;
  sc_states += other.sc_states;
  system_states += other.system_states;
  system_transitions += other.system_transitions;
  for (std::size_t i = 0; i < notable.size(); ++i) notable[i] += other.notable[i];
  same_outcomes += other.same_outcomes;
  seconds += other.seconds;
  return *this;
}

SizeCounts ConformReport::all_counts() const {
  SizeCounts all;
  for (const auto& [size, one] : counts) {
    all.generated += one.generated;
    all.duplicates += one.duplicates;
    all.racy += one.racy;
  }
  return all;
}

Tallies ConformReport::all_tallies() const {
  Tallies all;
  for (const auto& [size, one] : tallies) all += one;
  return all;
}

std::optional<Candidates> find_candidates(const GenerateOptions& options,
                                          const std::function<bool(const Blueprint&)>& owes_nothing,
                                          const RunLimits& limits, const OnConformProgress& on_progress) {
  const auto start = Clock::now();
  const Generator generator(options);
  struct Found {
    SizeCounts counts;
    std::vector<Blueprint> tests;
  };
  const auto families = generator.families();
  std::vector<Found> found(families.size());
  std::atomic<std::size_t> done{0};
  run_jobs(
      families.size(), limits.threads,
      [&](std::size_t i) {
        if (limits.are_interrupted()) return;
        Found& mine = found[i];
        mine.counts.duplicates = generator.enumerate(families[i], [&](const Blueprint& blueprint) {
          ++mine.counts.generated;
          if (owes_nothing(blueprint)) {
            ++mine.counts.racy;
          } else {
            mine.tests.push_back(blueprint);
          }
        });
        ++done;
      },
      [&] {
        if (on_progress)
          on_progress({ConformProgress::Phase::generating, done, families.size(), 0, seconds_since(start)});
      });
  if (limits.are_interrupted()) return std::nullopt;
  Candidates candidates;
  candidates.identity = generator.identity();
  for (std::size_t i = 0; i < families.size(); ++i) {
    SizeCounts& counts = candidates.counts[{families[i].edges, families[i].extras}];
    counts.generated += found[i].counts.generated;
    counts.duplicates += found[i].counts.duplicates;
    counts.racy += found[i].counts.racy;
    candidates.tests.insert(candidates.tests.end(), found[i].tests.begin(), found[i].tests.end());
    found[i].tests = {};
  }
  return candidates;
}

ConformReport conform(const ConformOptions& options, const ConsistencyModel& model) {
  return Conformance(options, model).run();
}

FaultKills kill_faults(const ConformOptions& options, const ConsistencyModel& model,
                       const std::vector<std::string>& only) {
  return FaultHunt(options, model, only).run();
}

int exit_status(const ConformReport& report) {
  const Tallies all = report.all_tallies();
  const auto count = [&](Notable::Kind kind) { return all.notable[index_of(kind)]; };
  if (report.interrupted) return 130;
  if (count(Notable::Kind::error) > 0) return 2;
  if (count(Notable::Kind::violation) + count(Notable::Kind::failure) > 0) return 1;
  return count(Notable::Kind::inconclusive) > 0 ? 3 : 0;
}

int exit_status(const FaultKills& kills) {
  if (kills.interrupted) return 130;
  const auto any = [&](auto&& is) { return std::any_of(kills.faults.begin(), kills.faults.end(), is); };
  if (any([](const FaultKill& one) { return !one.test && one.inconclusive == 0; })) return 1;
  return any([](const FaultKill& one) { return !one.test; }) ? 3 : 0;
}

}  // namespace lockstep::generate
