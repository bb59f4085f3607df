// Exploration with everything switched on, and its report.
#include "checker/check/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "checker/cluster/cluster_search.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/symmetry/symmetric_model.hpp"

namespace lockstep {

namespace {

constexpr std::size_t line_width = 79;

// All that decides what is found.
nlohmann::json question_json(const Subject& subject, const CheckOptions& options) {
  nlohmann::json question = whole_subject_json(subject);
  question["deadlocks"] = options.deadlocks;
  if (options.symmetry) question["symmetry"] = *options.symmetry;
  return question;
}

ExploreOptions explore_options(const Subject& subject, const CheckOptions& options) {
  ExploreOptions explore;
  if (!options.folder.empty()) {
    nlohmann::json about = question_json(subject, options);
    about["build"] = options.build;
    explore.checkpoint = {options.folder, json_text(about), options.every};
  }
  explore.threads = options.limits.threads;
  explore.memory_limit = options.limits.memory;
  if (options.ranks != nullptr)
    explore.memory_limit /= static_cast<std::size_t>(options.ranks->on_this_machine());
  explore.time_limit = options.limits.time;
  explore.interrupted = options.limits.interrupted;
  explore.deadlocks = options.deadlocks;
  explore.progress = options.on_progress;
  return explore;
}

void judge(CheckRun& run, const Model& model) {
  const auto keep = [&](TraceEnd end, std::string what) {
    run.status = CheckStatus::violated;
    run.counterexample = record(run.subject, model, run.exploration.trace, end, std::move(what));
    run.exploration.trace = {};
  };
  switch (run.exploration.verdict) {
    case Verdict::holds:
      break;
    case Verdict::invariant:
      keep(TraceEnd::invariant, model.invariants().at(static_cast<std::size_t>(run.exploration.violated)));
      break;
    case Verdict::deadlock:
      keep(TraceEnd::deadlock, "");
      break;
    case Verdict::broken:
      keep(TraceEnd::broken, run.exploration.broken);
      break;
    case Verdict::out_of_time:
      run.status = CheckStatus::inconclusive;
      run.message += run.hunted ? "nothing was found, which says nothing" : "out of time";
      break;
    case Verdict::out_of_memory:
      run.status = CheckStatus::inconclusive;
      run.message +=
          run.exploration.checkpoint_failed.empty() ? "out of memory" : run.exploration.checkpoint_failed;
      break;
    case Verdict::interrupted:
      run.status = CheckStatus::interrupted;
      run.message += "interrupted";
      break;
  }
}

double per(double amount, double whole) {
  return whole > 0 ? amount / whole : 0;
}

// "1.20 M": three digits, for lines that must stay short.
std::string short_number(double n) {
  constexpr std::array units{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (n >= 999.5 && unit + 1 < units.size()) {
    n /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || n >= 99.95 ? 0 : (n >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}", n, decimals, units[unit]);
}

std::string verdict_text(const CheckRun& run) {
  switch (run.status) {
    case CheckStatus::holds:
      return "holds in every reachable state";
    case CheckStatus::violated:
      return trace_end_text(*run.counterexample);
    case CheckStatus::inconclusive:
    case CheckStatus::interrupted:
      return fmt::format("inconclusive: {}", run.message);
    case CheckStatus::error:
      return run.message;
  }
  return {};
}

std::string title(const CheckRun& run) {
  std::string text = run.subject.description();
  if (const std::string client = run.subject.client(); !client.empty()) text += " running " + client;
  return text;
}

nlohmann::json run_json(const CheckRun& run) {
  const ExploreResult& e = run.exploration;
  nlohmann::json out{
      {"system", run.subject.name()},
      {"faults", run.subject.options.faults},
      {"sizes", run.subject.options.sizes},
      {"program", run.subject.client().empty() ? nlohmann::json() : nlohmann::json(run.subject.client())},
      {"verdict", word(run.status)}};
  if (!run.message.empty()) out["message"] = run.message;
  if (run.status == CheckStatus::error) return out;
  if (run.hunted)
    out["hunted"] = {{"seed", run.hunted->seed},
                     {"searches", run.hunted->searches},
                     {"steps_at_first", run.hunted->steps_at_first}};
  if (run.symmetry) out["symmetry"] = symmetry::json(*run.symmetry);
  if (run.hunted && run.hunted->omission) out["hunted"]["omission"] = *run.hunted->omission;
  out["states"] = e.states;
  out["transitions"] = e.transitions;
  if (run.ranks > 1) out["ranks"] = run.ranks;
  out["depth"] = e.depth;
  out["seconds"] = e.seconds;
  if (!run.hunted) out["memory_bytes"] = e.memory;
  out["state_bits"] = e.state_bits;
  if (e.on_disk != 0) out["states_on_disk"] = e.on_disk;
  if (e.resumed_from != 0) out["resumed_from_states"] = e.resumed_from;
  if (!e.checkpoint_failed.empty()) out["checkpoint_failed"] = e.checkpoint_failed;
  if (run.counterexample) {
    out["violated"] = trace_end_text(*run.counterexample);
    out["trace"] = trace_json(*run.counterexample);
  }
  return out;
}

}  // namespace

std::string_view word(CheckStatus status) {
  constexpr std::array<std::string_view, 5> words{"holds", "violated", "inconclusive", "interrupted",
                                                  "error"};
  return words.at(static_cast<std::size_t>(status));
}

namespace {

template <class Explore>
CheckRun run_of(const Subject& subject, Explore&& explore) {
  CheckRun run;
  run.subject = subject;
  try {
    explore(run);
  } catch (...) {
    const RunError error =
        describe_error(std::current_exception(), subject.program ? *subject.program : Program{});
    run.status = error.status == RunStatus::error ? CheckStatus::error : CheckStatus::inconclusive;
    run.message = error.message;
    run.bad_input = error.bad_input;
  }
  return run;
}

void hunt_in(CheckRun& run, const Model& model, const CheckOptions& options) {
  HuntOptions how;
  how.threads = options.limits.threads;
  how.seed = options.seed;
  how.time_limit = options.hunt;
  how.memory_limit = options.limits.memory;
  how.deadlocks = options.deadlocks;
  how.bit_state = options.bit_state;
  how.interrupted = options.limits.interrupted;
  how.progress = options.on_progress;
  HuntResult result = hunt(model, how);
  run.hunted = HuntFigures{options.seed, result.searches, {}, result.steps_at_first};
  if (options.bit_state) run.hunted->omission = result.omission;
  run.exploration = std::move(result.found);
}

ExploreResult visit_all(CheckRun& run, const Model& model, const CheckOptions& options) {
  const ExploreOptions explored = explore_options(run.subject, options);
  if (options.ranks == nullptr) return explore(model, explored);
  run.ranks = options.ranks->size();
  nlohmann::json question = question_json(run.subject, options);
  question["checkpoints"] = !options.folder.empty();
  cluster::agree_on(*options.ranks, question);
  return cluster::explore(model, explored, *options.ranks);
}

void explore_all(CheckRun& run, const Model& model, const CheckOptions& options) {
  run.rules = model.rules();
  if (options.hunt.count() != 0) {
    hunt_in(run, model, options);
  } else {
    run.exploration = visit_all(run, model, options);
  }
  judge(run, model);
}

// Turns the run that was found, of states that stand for others, into one of the model.
void show_run_of(const Model& model, const symmetry::SymmetricModel& symmetric, CheckRun& run,
                 const CheckOptions& options) {
  ExploreResult& found = run.exploration;
  if (found.trace.steps.empty()) return;
  found.trace = symmetric.run_of_model(found.trace);
  if (found.trace.steps.empty()) {
    CheckOptions once = options;
    once.folder.clear();
    const ExploreResult without = visit_all(run, model, once);
    if (without.verdict == Verdict::holds)
      throw std::logic_error("up to symmetry something is violated that holds in every state");
    if (without.trace.steps.empty()) run.message = "a violation was found, and no run that shows it: ";
    found.trace = without.trace;
    found.verdict = without.verdict;
    if (found.trace.steps.empty()) return;
  }
  // The claim that is violated, and the rule that is broken, as they are called in this run.
  Successors last;
  last.clear(std::max(1U, model.words()));
  last.begin_state();
  try {
    model.expand(found.trace.steps.back().state.data(), last);
    found.violated = last.violated;
  } catch (const BrokenRule& broken) {
    found.broken = broken.what();
  }
}

void explore_up_to_symmetry(CheckRun& run, const Model& model, const recorded::WholeDescription& whole,
                            const CheckOptions& options) {
  if (run.subject.options.mutation || run.subject.options.scheduler)
    throw BadInput("symmetry is found for a system as it is, under no scheduler");
  const symmetry::SymmetricModel symmetric(model, whole, *options.symmetry);
  run.symmetry = symmetry::figures_of(symmetric.automorphisms(), *options.symmetry);
  run.rules = model.rules();
  run.exploration = visit_all(run, symmetric, options);
  show_run_of(model, symmetric, run, options);
  judge(run, model);
}

}  // namespace

CheckRun check(const Subject& subject, const CheckOptions& options) {
  return run_of(subject, [&](CheckRun& run) {
    Subject large = subject;
    large.options.many_states = true;
    const std::unique_ptr<Model> model = large.build();
    if (options.symmetry) {
      explore_up_to_symmetry(run, *model, large.describe(), options);
    } else {
      explore_all(run, *model, options);
    }
  });
}

CheckRun check(const Subject& subject, const Model& model, const CheckOptions& options) {
  return run_of(subject, [&](CheckRun& run) { explore_all(run, model, options); });
}

RuleCoverage coverage_of(std::span<const CheckRun> runs) {
  RuleCoverage coverage;
  for (const CheckRun& run : runs) {
    if (run.status != CheckStatus::error) coverage.add(run.subject.name(), run.rules, run.exploration.fired);
  }
  return coverage;
}

namespace {

std::string hunt_text(const CheckRun& run) {
  const ExploreResult& e = run.exploration;
  std::string text =
      fmt::format("  Hunted       {:.2f} s, {} search{} as deep as {}, seed {}\n", e.seconds,
                  run.hunted->searches, run.hunted->searches == 1 ? "" : "es", e.depth, run.hunted->seed);
  text += fmt::format("  States       {}, of each search by itself\n", e.states);
  if (run.hunted->omission)
    text += fmt::format("  Left out     a new state, where its bits were set: 1 in {:.3g} at the worst\n",
                        1 / std::max(1e-18, *run.hunted->omission));
  text += fmt::format("  Transitions  {}\n", e.transitions);
  if (run.counterexample && run.hunted->steps_at_first >= run.counterexample->steps.size())
    text += fmt::format("  Run          {} steps, made {}\n", run.hunted->steps_at_first,
                        run.counterexample->steps.size() - 1);
  text += fmt::format("  Verdict      {}\n", verdict_text(run));
  if (run.counterexample) text += trace_text(*run.counterexample);
  return text;
}

}  // namespace

std::string check_text(const CheckRun& run) {
  const ExploreResult& e = run.exploration;
  std::string text = fmt::format("Check {}\n", title(run));
  if (run.status == CheckStatus::error) return text + run.message + "\n";
  if (run.hunted) return text + hunt_text(run);
  const auto states = static_cast<double>(e.states);
  text += fmt::format("  States       {}, depth {}\n", e.states, e.depth);
  text += fmt::format("  Transitions  {}\n", e.transitions);
  text += fmt::format("  Time         {:.2f} s, {} states a second\n", e.seconds,
                      short_number(per(states, e.seconds)));
  text += fmt::format("  Memory       {}B, {:.1f} bytes a state of {} bits\n",
                      short_number(static_cast<double>(e.memory)), per(static_cast<double>(e.memory), states),
                      e.state_bits);
  if (run.ranks > 1) text += fmt::format("  Ranks        {}\n", run.ranks);
  if (run.symmetry) text += symmetry::text(*run.symmetry);
  if (e.on_disk != 0) text += fmt::format("  On disk      {} states\n", e.on_disk);
  if (e.resumed_from != 0)
    text += fmt::format("  Went on      from a checkpoint with {} states\n", e.resumed_from);
  if (!e.checkpoint_failed.empty())
    text += fmt::format("  Checkpoint   none any more: {}\n", e.checkpoint_failed);
  text += fmt::format("  Verdict      {}\n", verdict_text(run));
  if (run.counterexample) text += trace_text(*run.counterexample);
  return text;
}

std::string check_summary_text(std::span<const CheckRun> runs, std::size_t planned) {
  std::string text;
  const RuleCoverage coverage = coverage_of(runs);
  const bool whole = std::all_of(runs.begin(), runs.end(),
                                 [](const CheckRun& run) { return run.status == CheckStatus::holds; });
  for (const std::string& system : coverage.systems()) {
    const std::vector<RuleDescription> silent = coverage.never_fired(system);
    if (silent.empty()) {
      text += "Every rule fired.\n";
    } else {
      text += fmt::format("{} rule{} {}:\n", silent.size(), silent.size() == 1 ? "" : "s",
                          whole ? "never fired" : "had not fired when the search ended");
      text += rules_text(silent);
    }
  }
  if (planned == 0) return text;
  std::array<std::size_t, 5> counts{};
  double seconds = 0;
  for (const CheckRun& run : runs) {
    ++counts.at(static_cast<std::size_t>(run.status));
    seconds += run.exploration.seconds;
  }
  std::string verdicts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0)
      verdicts +=
          fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", counts[i], word(static_cast<CheckStatus>(i)));
  }
  text += fmt::format("{} of {} run{}: {}, {:.1f} s\n", runs.size(), planned, planned == 1 ? "" : "s",
                      verdicts, seconds);
  return text;
}

std::string progress_text(const std::string& name, const Progress& progress) {
  const auto states = static_cast<double>(progress.states);
  const std::string figures =
      fmt::format("  {} states  {}/s  depth {}  {} waiting  {}B  {:.0f} s", short_number(states),
                  short_number(per(states, progress.seconds)), progress.depth,
                  short_number(static_cast<double>(progress.waiting)),
                  short_number(static_cast<double>(progress.memory)), progress.seconds);
  const std::size_t room = line_width - std::min(line_width, figures.size());
  return name.substr(0, room) + figures.substr(0, line_width);
}

nlohmann::json check_json(std::span<const CheckRun> runs, const std::vector<std::string>& errors) {
  nlohmann::json out{{"schema", "lockstep.check/1"}, {"runs", nlohmann::json::array()}, {"errors", errors}};
  for (const CheckRun& run : runs) out["runs"].push_back(run_json(run));
  out["never_fired"] = nlohmann::json::array();
  const RuleCoverage coverage = coverage_of(runs);
  for (const std::string& system : coverage.systems()) {
    for (const RuleDescription& rule : coverage.never_fired(system)) {
      out["never_fired"].push_back({{"rule", rule.name}, {"unit", rule.unit}, {"source", rule.source}});
    }
  }
  return out;
}

int exit_status(std::span<const CheckRun> runs, bool bad_input) {
  const auto any = [&](CheckStatus status) {
    return std::any_of(runs.begin(), runs.end(), [&](const CheckRun& run) { return run.status == status; });
  };
  if (any(CheckStatus::interrupted)) return 130;
  if (bad_input || any(CheckStatus::error)) return 2;
  if (any(CheckStatus::violated)) return 1;
  return any(CheckStatus::inconclusive) ? 3 : 0;
}

}  // namespace lockstep
