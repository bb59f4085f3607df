// Explores program x memory system, collecting the outcomes of proper ends.
//
// Outcomes, deadlocks and failed assertions survive every reduction; the memory system's own invariants need
// not hold between the states that a reduction keeps, so they are not asked here (`lockstep check` asks
// them).
#include "checker/litmus/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>

#include "checker/explore/model_view.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/lower_for_systems.hpp"

namespace lockstep {

namespace {

// A model of which only the program's assertions are checked; they are the first invariant of every system
// that runs programs. Under a sequence of launches nothing is: what it broke is among its outcomes.
class AssertionsOnly final : public ModelView {
 public:
  AssertionsOnly(const Model& model, const LitmusTest& test)
      : ModelView(model), first_(test.launches == nullptr ? 1 : 0) {}
  void expand(const std::uint64_t* state, Successors& out) const override {
    model_.expand(state, out);
    if (out.violated >= first_) out.violated = -1;
  }

 private:
  int first_;  // of those that are not
};

RunStatus status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return RunStatus::complete;
    case Verdict::invariant:
      return RunStatus::assertion;
    case Verdict::deadlock:
      return RunStatus::deadlock;
    case Verdict::broken:
      return RunStatus::broken;
    case Verdict::out_of_time:
      return RunStatus::out_of_time;
    case Verdict::out_of_memory:
      return RunStatus::out_of_memory;
    case Verdict::interrupted:
      return RunStatus::interrupted;
  }
  return RunStatus::error;
}

ExploreOptions explore_options(const RunLimits& limits) {
  ExploreOptions options;
  options.threads = limits.threads;
  options.memory_limit = limits.memory;
  options.time_limit = limits.time;
  options.interrupted = limits.interrupted;
  return options;
}

// To derive reductions from trees takes as long as it takes to visit some thousand states.
constexpr std::size_t states_before_deriving = 4'000;

void explore_outcomes(const LitmusTest& test, const ExploreOptions& limits, SystemRun& run) {
  const Posed posed = pose(test, run.subject);
  const std::unique_ptr<Model>& model = posed.model;
  const AssertionsOnly question(*model, test);
  run.rules = model->rules();
  std::set<Outcome> outcomes;
  ExploreOptions options = limits;
  options.on_end = [&](const std::uint64_t* state) { outcomes.insert(posed.outcome(state)); };
  run.exploration = explore(question, options);
  run.status = status_of(run.exploration.verdict);
  run.outcomes.assign(outcomes.begin(), outcomes.end());
  run.tally = tally(test, run.outcomes);
  if (failed(run.status)) {
    const auto keep = [&](TraceEnd end, std::string what) {
      run.failure = record(run.subject, *model, run.exploration.trace, end, std::move(what));
    };
    if (run.status == RunStatus::assertion) {
      keep(TraceEnd::invariant, model->invariants().front());
    } else if (run.status == RunStatus::broken) {
      keep(TraceEnd::broken, run.exploration.broken);
    } else {
      keep(TraceEnd::deadlock, "");
    }
    run.exploration.trace = {};
  }
}

// Most tests are small: first without what has to be derived, unless it is to be derived always.
void explore_outcomes(const LitmusTest& test, const RunLimits& limits, Derive derive, SystemRun& run) {
  ExploreOptions options = explore_options(limits);
  const SystemOptions& asked = run.subject.options;
  const bool derives = test.launches == nullptr && !asked.scheduler && !asked.check_footprints &&
                       (asked.reductions.stubborn || asked.reductions.dead);
  if (derives && derive == Derive::when_large) {
    SystemRun small = run;
    small.subject.options.reductions.stubborn = small.subject.options.reductions.dead = false;
    ExploreOptions few = options;
    few.state_limit = states_before_deriving;
    explore_outcomes(test, few, small);
    if (small.exploration.states <= states_before_deriving || small.status != RunStatus::out_of_memory) {
      run = std::move(small);
      return;
    }
    const auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(small.exploration.seconds));
    if (options.time_limit.count() != 0)
      options.time_limit = std::max(options.time_limit - taken, std::chrono::milliseconds(1));
  }
  run.subject.options.many_states = true;
  explore_outcomes(test, options, run);
}

}  // namespace

Subject with_client(Subject subject, const LitmusTest& test) {
  if (test.launches != nullptr) {
    subject.launches = test.launches;
    // What is noted of every state makes all rules meet: there is next to nothing to leave out.
    Reductions& wanted = subject.options.reductions;
    if (!subject.options.check_footprints) wanted.stubborn = wanted.dead = false;
    return subject;
  }
  Program program = for_memory_systems(test);
  if (needs_lowering(program)) program = lowered_for_systems(std::move(program));
  subject.program = std::make_shared<const Program>(std::move(program));
  subject.options.memory_observed = observes_memory(test);
  return subject;
}

Posed pose(const LitmusTest& test, const Subject& subject) {
  if (test.launches != nullptr) {
    std::unique_ptr<LaunchesModel> model = subject.build_with_launches();
    const LaunchesModel& asked = *model;
    return {std::move(model), [&test, &asked](const std::uint64_t* state) {
              Outcome outcome;
              for (const ConditionTerm& term : test.observed)
                outcome.push_back(asked.observed(state, static_cast<std::size_t>(term.index)));
              return outcome;
            }};
  }
  std::unique_ptr<ProgramModel> model = subject.build_with_program();
  const ProgramModel& asked = *model;
  return {std::move(model),
          [&test, &asked](const std::uint64_t* state) { return outcome_at(test, asked, state); }};
}

bool never_ends(const SystemRun& run) {
  return run.status == RunStatus::complete && run.exploration.states > 0 && run.outcomes.empty();
}

std::string failure_text(const SystemRun& run) {
  switch (run.status) {
    case RunStatus::deadlock:
      return "deadlock";
    case RunStatus::broken:
      return run.exploration.broken;
    default:
      return "an assertion of the program fails";
  }
}

Outcome outcome_at(const LitmusTest& test, const ProgramModel& model, const std::uint64_t* state) {
  return outcome_from(
      test, [&](int location) { return model.final_location(state, location); },
      [&](int thread, int index) { return model.final_register(state, thread, index); });
}

SystemRun run_on_system(const LitmusTest& test, Subject subject, const RunLimits& limits, Derive derive) {
  SystemRun run;
  run.subject = with_client(std::move(subject), test);
  run.system = run.subject.name();
  try {
    explore_outcomes(test, limits, derive, run);
  } catch (...) {
    const RunError error = describe_error(std::current_exception(), test.program);
    run.status = error.status;
    run.message = error.message;
    run.bad_input = error.bad_input;
  }
  return run;
}

ReductionCheck check_reductions(const LitmusTest& test, const SystemRun& reduced, const RunLimits& limits) {
  ReductionCheck check;
  if (reduced.status != RunStatus::complete && !failed(reduced.status)) return check;
  Subject subject = reduced.subject;
  subject.options.reductions = Reductions::none();
  const SystemRun full = run_on_system(test, std::move(subject), limits);
  check.states = full.exploration.states;
  if (full.status != RunStatus::complete && !failed(full.status)) return check;
  check.compared = true;
  if (full.status != reduced.status) {
    check.difference =
        fmt::format("with reductions: {}, without: {}", word(reduced.status), word(full.status));
    return check;
  }
  // Where a failure ends both, each has seen what came before it.
  if (failed(full.status)) return check;
  const auto first_beyond = [&](const SystemRun& some, const SystemRun& others, std::string_view what) {
    for (const Outcome& outcome : some.outcomes) {
      if (!check.difference.empty() ||
          std::binary_search(others.outcomes.begin(), others.outcomes.end(), outcome))
        continue;
      check.difference = fmt::format("the reductions {} {}", what, outcome_text(test, outcome));
    }
  };
  first_beyond(full, reduced, "leave out");
  first_beyond(reduced, full, "invent");
  return check;
}

std::optional<RecordedTrace> find_outcome(const LitmusTest& test, Subject subject, const RunLimits& limits,
                                          const std::function<bool(const Outcome&)>& wanted) {
  const Subject whole = with_client(std::move(subject), test);
  const Posed posed = pose(test, whole);
  const Trace trace = find_end(*posed.model, explore_options(limits),
                               [&](const std::uint64_t* state) { return wanted(posed.outcome(state)); });
  if (trace.steps.empty()) return std::nullopt;
  const Outcome outcome = posed.outcome(trace.steps.back().state.data());
  return record(whole, *posed.model, trace, TraceEnd::outcome, outcome_text(test, outcome));
}

}  // namespace lockstep
