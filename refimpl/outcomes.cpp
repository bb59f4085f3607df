// Running litmus tests again and again.
#include "refimpl/outcomes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "refimpl/workloads/programs.hpp"

namespace lockstep {

namespace {

void run_once(const TimedTestRequest& request, const Workload& workload, const TimedSystem& system,
              const SimulationOptions& options, const std::atomic<bool>& interrupted, TimedOutcomes& result) {
  const auto simulator = system.build(workload, request.machine, options);
  switch (simulator->run(&interrupted)) {
    case SimulationEnd::finished: {
      ++result.outcomes[outcome_from(
          *request.test, [&](int location) { return simulator->word(location).front(); },
          [&](int thread, int index) {
            return simulator->final_register(static_cast<std::size_t>(thread),
                                             static_cast<std::size_t>(index));
          })];
      const double cycles = simulator->statistics().cycles;
      result.least = result.sum > 0 ? std::min(result.least, cycles) : cycles;
      result.most = std::max(result.most, cycles);
      result.sum += cycles;
      break;
    }
    case SimulationEnd::stuck:
      if (result.stuck++ == 0) result.waiting = simulator->waiting_threads();
      break;
    case SimulationEnd::failed:
      ++result.failed;
      break;
    default:
      result.interrupted = true;
      return;
  }
  ++result.runs;
}

// How many of the runs satisfy the condition, of those that pass the filter.
struct Runs {
  std::size_t positive = 0;
  std::size_t negative = 0;
};
Runs runs_of(const LitmusTest& test, const TimedOutcomes& system) {
  Runs runs;
  for (const auto& [outcome, count] : system.outcomes) {
    if (!satisfies(test.filter, test, outcome)) continue;
    (satisfies(test.condition, test, outcome) ? runs.positive : runs.negative) += count;
  }
  return runs;
}

std::optional<Observation> expected(const LitmusTest& test, std::string system) {
  constexpr std::string_view usual = "/default";
  if (system.ends_with(usual)) system.resize(system.size() - usual.size());
  const auto found = std::find_if(test.expected.begin(), test.expected.end(),
                                  [&](const ExpectedObservation& e) { return e.system == system; });
  if (found == test.expected.end()) return std::nullopt;
  return found->observation;
}

std::string verdict(const TimedTest& run, const TimedOutcomes& system) {
  if (system.stuck > 0)
    return fmt::format("STUCK, {} of {} runs: {}", system.stuck, system.runs, system.waiting);
  if (system.failed > 0)
    return fmt::format("FAILED: an assertion, in {} of {} runs", system.failed, system.runs);
  const Runs runs = runs_of(*run.test, system);
  const auto wanted = expected(*run.test, system.system);
  std::string text = fmt::format("in {} of {} runs", runs.positive, runs.positive + runs.negative);
  if (wanted) text += fmt::format(", expected {}", word(*wanted));
  if (contradicts(run, system)) text += ": CONTRADICTS";
  return system.interrupted ? text + ", interrupted" : text;
}

}  // namespace

TimedTest run_test(const TimedTestRequest& request, const std::atomic<bool>& interrupted) {
  TimedTest result;
  result.test = request.test;
  result.cus = request.options.cus > 0 ? request.options.cus : request.machine.cus;
  result.seed = request.options.seed;
  const Workload workload = workload_of(for_memory_systems(*request.test));
  for (const std::string& name : request.systems) {
    SimulationOptions options = request.options;
    const TimedSystem system = find_timed_system(name, options);
    TimedOutcomes& one = result.systems.emplace_back();
    one.system = name;
    for (std::size_t i = 0; i < request.runs && !one.interrupted; ++i) {
      options.seed = request.options.seed + i;
      run_once(request, workload, system, options, interrupted, one);
      one.interrupted = one.interrupted || interrupted;
    }
    if (one.interrupted) break;
  }
  return result;
}

bool contradicts(const TimedTest& run, const TimedOutcomes& system) {
  const Runs runs = runs_of(*run.test, system);
  const auto wanted = expected(*run.test, system.system);
  return (wanted == Observation::never && runs.positive > 0) ||
         (wanted == Observation::always && runs.negative > 0);
}

std::string timed_test_text(const TimedTest& run) {
  const LitmusTest& test = *run.test;
  const std::size_t runs = run.systems.empty() ? 0 : run.systems.front().runs;
  std::string text = fmt::format("Sim {}: {} CU{}, {} runs, seeds from {}\n", test.name, run.cus,
                                 run.cus == 1 ? "" : "s", runs, run.seed);
  text += fmt::format("  {:<24}", "");
  for (const TimedOutcomes& s : run.systems) text += fmt::format(" {:>15}", s.system.substr(0, 15));
  text += "\n";
  std::set<Outcome> outcomes;
  for (const TimedOutcomes& s : run.systems) {
    for (const auto& [outcome, count] : s.outcomes) outcomes.insert(outcome);
  }
  for (const Outcome& outcome : outcomes) {
    const std::string name = outcome_text(test, outcome);
    text += fmt::format("  {:<24}", name);
    if (name.size() > 24) text += fmt::format("\n  {:<24}", "");
    for (const TimedOutcomes& s : run.systems) {
      const auto found = s.outcomes.find(outcome);
      text += fmt::format(" {:>15}", found == s.outcomes.end() ? 0 : found->second);
    }
    text += "\n";
  }
  const auto line = [&](const char* name, const auto& of) {
    text += fmt::format("  {:<24}", name);
    for (const TimedOutcomes& s : run.systems) text += fmt::format(" {:>15.0f}", of(s));
    text += "\n";
  };
  line("cycles, least", [](const TimedOutcomes& s) { return s.least; });
  line("cycles, on average", [](const TimedOutcomes& s) {
    const auto finished = static_cast<double>(s.runs - s.stuck - s.failed);
    return finished > 0 ? s.sum / finished : 0;
  });
  line("cycles, most", [](const TimedOutcomes& s) { return s.most; });
  text += fmt::format("  {} {}\n", word(test.quantifier), test.condition_text);
  for (const TimedOutcomes& s : run.systems)
    text += fmt::format("    {:<22} {}\n", s.system, verdict(run, s));
  return text + "\n";
}

nlohmann::ordered_json timed_test_json(const TimedTest& run) {
  nlohmann::ordered_json json;
  json["test"] = run.test->name;
  json["cus"] = run.cus;
  json["seed"] = run.seed;
  json["condition"] = run.test->condition_text;
  json["systems"] = nlohmann::ordered_json::array();
  for (const TimedOutcomes& s : run.systems) {
    const Runs runs = runs_of(*run.test, s);
    nlohmann::ordered_json one{{"system", s.system},
                               {"runs", s.runs},
                               {"positive", runs.positive},
                               {"negative", runs.negative},
                               {"stuck", s.stuck},
                               {"failed", s.failed},
                               {"least_cycles", s.least},
                               {"most_cycles", s.most},
                               {"all_cycles", s.sum},
                               {"interrupted", s.interrupted},
                               {"contradicts", contradicts(run, s)}};
    if (const auto wanted = expected(*run.test, s.system)) one["expected"] = word(*wanted);
    one["outcomes"] = nlohmann::ordered_json::array();
    for (const auto& [outcome, count] : s.outcomes)
      one["outcomes"].push_back({{"outcome", outcome_text(*run.test, outcome)}, {"runs", count}});
    json["systems"].push_back(std::move(one));
  }
  return json;
}

int exit_status_of(const TimedTest& run) {
  bool wrong = false;
  for (const TimedOutcomes& s : run.systems) {
    if (s.interrupted) return 130;
    wrong = wrong || s.stuck > 0 || s.failed > 0 || contradicts(run, s);
  }
  return wrong ? 1 : 0;
}

}  // namespace lockstep
