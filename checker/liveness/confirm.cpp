#include "checker/liveness/confirm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

std::string goal_text(const ConfirmedGoal& goal) {
  return goal.thread < 0 ? "all end" : fmt::format("P{} gets on", goal.thread);
}

}  // namespace

Confirmation confirm_with_spin(const Subject& subject, const RunLimits& limits) {
  Confirmation confirmation;
  confirmation.program = subject.program->name;
  try {
    Subject fair = subject;
    fair.options.scheduler = scheduler_named("fair");
    fair.options.reductions = Reductions::none();
    const auto model = fair.build_with_program();
    ExploreOptions explore;
    explore.memory_limit = limits.memory;
    explore.time_limit = limits.time;
    explore.interrupted = limits.interrupted;
    const StateGraph graph(*model, explore);
    if (graph.verdict() != Verdict::holds) {
      confirmation.agreement =
          graph.verdict() == Verdict::interrupted ? Agreement::interrupted : Agreement::left_out;
      confirmation.message = graph.verdict() == Verdict::invariant ? "a claim fails" : "a limit was reached";
      return confirmation;
    }
    const Program& program = *subject.program;
    if (std::any_of(program.threads.begin(), program.threads.end(), never_ends)) {
      for (std::size_t t = 0; t < program.threads.size(); ++t) {
        const auto lasso =
            always_eventually(graph, CycleFairness::weak, [&](StateNumber s) { return graph.gets_on(s, t); });
        confirmation.goals.push_back({static_cast<int>(t), !lasso, {}});
      }
    } else {
      confirmation.goals.push_back({-1, !find_fair_cycle(graph, {}), {}});
    }
    Subject plain = subject;
    plain.options.scheduler.reset();
    plain.options.reductions = Reductions::none();
    const recorded::WholeDescription whole = plain.system->describe_whole(plain.program, plain.options);
    CountOptions options;
    options.time = limits.time;
    options.memory = limits.memory;
    options.interrupted = limits.interrupted;
    for (ConfirmedGoal& goal : confirmation.goals) {
      goal.spin =
          spin_progress(whole, plain.description() + " running " + program.name, goal.thread, options);
      if (goal.spin.status == CountStatus::interrupted) {
        confirmation.agreement = Agreement::interrupted;
        return confirmation;
      }
      if (goal.spin.status == CountStatus::out_of_time || goal.spin.status == CountStatus::out_of_memory) {
        confirmation.agreement = Agreement::inconclusive;
        confirmation.message = goal.spin.message;
      } else if (goal.spin.status != CountStatus::complete) {
        confirmation.agreement = Agreement::error;
        confirmation.message = goal.spin.message;
      } else if (goal.spin.failed == goal.reached) {
        confirmation.agreement = Agreement::differ;
        return confirmation;
      }
    }
  } catch (...) {
    const RunError error = describe_error(std::current_exception(), *subject.program);
    confirmation.agreement = error.status == RunStatus::error ? Agreement::error : Agreement::inconclusive;
    confirmation.message = error.message;
  }
  return confirmation;
}

std::string confirmation_text(std::span<const Confirmation> all) {
  std::string text = "SPIN, under weak fairness\n";
  std::size_t agree = 0;
  for (const Confirmation& one : all) {
    agree += one.agreement == Agreement::agree ? 1 : 0;
    text += fmt::format("  {:<36} {}{}{}\n", one.program, word(one.agreement),
                        one.message.empty() ? "" : ": ", one.message);
    for (const ConfirmedGoal& goal : one.goals) {
      const std::string_view says = goal.spin.status != CountStatus::complete ? "?"
                                    : goal.spin.failed                        ? "no"
                                                                              : "yes";
      text += fmt::format("    {:<34} here {}, SPIN {}, {:.1f} s\n", goal_text(goal),
                          goal.reached ? "yes" : "no", says, goal.spin.seconds);
    }
  }
  return text + fmt::format("{} of {} agree\n", agree, all.size());
}

nlohmann::json confirmation_json(std::span<const Confirmation> all) {
  nlohmann::json out = nlohmann::json::array();
  for (const Confirmation& one : all) {
    nlohmann::json goals = nlohmann::json::array();
    for (const ConfirmedGoal& goal : one.goals) {
      goals.push_back({{"goal", goal_text(goal)},
                       {"here", goal.reached},
                       {"spin", goal.spin.status == CountStatus::complete ? nlohmann::json(!goal.spin.failed)
                                                                          : nlohmann::json()},
                       {"seconds", goal.spin.seconds}});
    }
    out.push_back({{"program", one.program},
                   {"agreement", word(one.agreement)},
                   {"message", one.message},
                   {"goals", std::move(goals)}});
  }
  return out;
}

}  // namespace lockstep
