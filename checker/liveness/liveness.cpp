#include "checker/liveness/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "checker/liveness/quotient.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/symmetry/symmetric_model.hpp"

namespace lockstep {

namespace {

ExploreOptions explore_options(const LivenessOptions& options) {
  ExploreOptions explore;
  explore.threads = options.limits.threads;
  explore.memory_limit = options.limits.memory;
  explore.time_limit = options.limits.time;
  explore.interrupted = options.limits.interrupted;
  explore.progress = options.on_progress;
  explore.invariants = !options.despite_unsafe;
  return explore;
}

class Judge {
 public:
  // `symmetric`: the graph's model, of `model`, or none where that is the graph's own.
  Judge(LivenessRun& run, const Model& model, const StateGraph& graph, const LivenessOptions& options,
        const symmetry::SymmetricModel* symmetric)
      : run_(run), model_(model), graph_(graph), options_(options), symmetric_(symmetric) {}

  void judge() {
    if (options_.despite_unsafe && graph_.violated() >= 0)
      run_.unsafe = graph_.model().invariants().at(static_cast<std::size_t>(graph_.violated()));
    if (!explored()) return;
    if (stuck()) return;
    const Program& program = *run_.subject.program;
    if (std::any_of(program.threads.begin(), program.threads.end(), never_ends)) {
      endless(program);
    } else {
      ending();
    }
  }

 private:
  void keep(Termination termination, TraceEnd end, std::string what, const std::vector<StateNumber>& path,
            const std::vector<std::size_t>& loop) {
    run_.termination = termination;
    run_.message = what;
    if (!options_.traces) return;
    Trace trace = graph_.trace(path, loop);
    if (symmetric_ != nullptr) trace = symmetric_->run_of_model(trace);
    if (trace.steps.empty()) return;
    run_.counterexample = record(run_.subject, model_, trace, end, std::move(what));
    if (!loop.empty()) run_.counterexample->loop_start = path.size() - 1;
  }

  // A fair run for ever within some states.
  bool keep_cycle(Termination termination, std::string what, const std::function<bool(StateNumber)>& within) {
    if (symmetric_ == nullptr) {
      CycleQuestion question;
      question.fairness = options_.fairness;
      question.within = within;
      const auto lasso = find_fair_cycle(graph_, question);
      if (lasso) keep(termination, TraceEnd::cycle, std::move(what), lasso->stem, lasso->loop);
      return lasso.has_value();
    }
    const auto component = find_fair_component(graph_, *symmetric_, within);
    if (!component) return false;
    run_.termination = termination;
    run_.message = what;
    if (!options_.traces) return true;
    if (const auto run = fair_run(model_, graph_, *symmetric_, *component, explore_options(options_))) {
      run_.counterexample = record(run_.subject, model_, run->trace, TraceEnd::cycle, std::move(what));
      run_.counterexample->loop_start = run->loop_start;
    }
    return true;
  }

  bool explored() {
    switch (graph_.verdict()) {
      case Verdict::invariant:
        keep(Termination::unsafe, TraceEnd::invariant,
             graph_.model().invariants().at(static_cast<std::size_t>(graph_.violated())),
             graph_.path_to(graph_.bad()), {});
        return false;
      case Verdict::broken:
        keep(Termination::unsafe, TraceEnd::broken, graph_.broken(), graph_.path_to(graph_.bad()), {});
        return false;
      case Verdict::interrupted:
        run_.termination = Termination::interrupted;
        run_.message = "interrupted";
        return false;
      case Verdict::out_of_memory:
        run_.termination = Termination::inconclusive;
        run_.message = "out of memory";
        return false;
      case Verdict::out_of_time:
        run_.termination = Termination::inconclusive;
        run_.message = "out of time";
        return false;
      default:
        return true;
    }
  }

  bool stuck() {
    for (StateNumber s = 0; s < graph_.states(); ++s) {
      if (!graph_.is_stuck(s)) continue;
      keep(Termination::deadlock, TraceEnd::deadlock, "", graph_.path_to(s), {});
      return true;
    }
    return false;
  }

  void ending() {
    const std::vector<bool> can_end = states_that_can_end(graph_, options_.by_paths);
    const auto first = std::find(can_end.begin(), can_end.end(), false);
    const bool trapped = first != can_end.end();
    if (options_.by_paths) {
      if (!trapped) return;
      const auto at = static_cast<StateNumber>(first - can_end.begin());
      keep(Termination::trap, TraceEnd::state, "no steps that are owed lead from here to the end",
           graph_.path_to(at), {});
      return;
    }
    // Whoever is in a trap goes on for ever, and can do so fairly.
    if (trapped) {
      keep_cycle(Termination::trap, "no run from here on ends", [&](StateNumber s) { return !can_end[s]; });
    } else {
      keep_cycle(Termination::livelock, "a fair run that never ends", {});
    }
  }

  void endless(const Program& program) {
    run_.termination = Termination::progresses;
    const auto some_progress = [&](StateNumber s) { return graph_.facts(s).progressing != 0; };
    if (const auto lasso = always_eventually(graph_, options_.fairness, some_progress)) {
      keep(Termination::livelock, TraceEnd::cycle, "nobody gets on", lasso->stem, lasso->loop);
      return;
    }
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      if (!has_section(program, static_cast<int>(t))) continue;
      const auto lasso =
          always_eventually(graph_, options_.fairness, [&](StateNumber s) { return graph_.gets_on(s, t); });
      if (!lasso) continue;
      keep(Termination::starvation, TraceEnd::cycle, program.threads[t].name + " never gets on", lasso->stem,
           lasso->loop);
      return;
    }
  }

  [[nodiscard]] static bool has_section(const Program& program, int thread) {
    return std::any_of(program.sections.begin(), program.sections.end(), [&](const Section& section) {
      return std::any_of(section.stretches.begin(), section.stretches.end(),
                         [&](const Stretch& stretch) { return stretch.thread == thread; });
    });
  }

  LivenessRun& run_;
  const Model& model_;
  const StateGraph& graph_;
  const LivenessOptions& options_;
  const symmetry::SymmetricModel* symmetric_;
};

// What renaming loses is not asked of it.
void refuse_symmetry(const Program& program, const LivenessOptions& options) {
  if (!options.symmetry) return;
  if (options.fairness != CycleFairness::weak)
    throw BadInput("with --symmetry fairness is weak", "strong fairness is judged without it");
  if (std::any_of(program.threads.begin(), program.threads.end(), never_ends))
    throw BadInput("with --symmetry programs have an end",
                   "whether each thread gets on for ever is judged without it");
}

}  // namespace

std::string_view word(Termination termination) {
  constexpr std::array<std::string_view, 10> words{"terminates",  "unsafe",     "deadlock",   "trap",
                                                   "livelock",    "starvation", "progresses", "inconclusive",
                                                   "interrupted", "error"};
  return words.at(static_cast<std::size_t>(termination));
}

void set_fairness(LivenessOptions& options, std::string_view name) {
  const std::vector<std::string> words{"weak", "strong", "paths"};
  if (std::find(words.begin(), words.end(), name) == words.end())
    throw BadInput(fmt::format("unknown fairness '{}'", name), suggestion(name, words));
  options.fairness = name == "strong" ? CycleFairness::strong : CycleFairness::weak;
  options.by_paths = name == "paths";
}

bool never_ends(const Thread& thread) {
  // Backwards from the end.
  const std::size_t n = thread.code.size();
  std::vector<bool> ends(n + 1, false);
  ends[n] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t pc = n; pc-- > 0;) {
      const Instruction& i = thread.code[pc];
      const bool jumps = i.opcode == Opcode::jump || i.opcode == Opcode::branch;
      const bool now =
          (i.opcode != Opcode::jump && ends[pc + 1]) || (jumps && ends[static_cast<std::size_t>(i.target)]);
      changed |= now != ends[pc];
      ends[pc] = now;
    }
  }
  return !ends[0];
}

std::optional<Lasso> always_eventually(const StateGraph& graph, CycleFairness fairness,
                                       const std::function<bool(StateNumber)>& goal) {
  CycleQuestion question;
  question.fairness = fairness;
  question.within = [&](StateNumber s) { return !goal(s); };
  return find_fair_cycle(graph, question);
}

LivenessRun judge_termination(const Subject& subject, const LivenessOptions& options) {
  LivenessRun run;
  run.subject = subject;
  run.subject.options.reductions = subject.options.reductions.only_moves();
  run.subject.options.many_states = true;
  try {
    refuse_symmetry(*subject.program, options);
    const std::unique_ptr<ProgramModel> model = run.subject.build_with_program();
    run.rules = model->rules();
    std::optional<symmetry::SymmetricModel> symmetric;
    if (options.symmetry) {
      symmetric.emplace(*model, run.subject.describe(), *options.symmetry);
      run.symmetry = symmetry::figures_of(symmetric->automorphisms(), *options.symmetry);
    }
    const Model& visited = symmetric ? static_cast<const Model&>(*symmetric) : *model;
    const StateGraph graph(visited, explore_options(options));
    run.states = graph.states();
    run.edges = graph.edges();
    run.memory = graph.memory();
    run.fired = graph.fired();
    Judge(run, *model, graph, options, symmetric ? &*symmetric : nullptr).judge();
    run.seconds = graph.seconds();
  } catch (...) {
    const RunError error =
        describe_error(std::current_exception(), subject.program ? *subject.program : Program{});
    run.termination = error.status == RunStatus::error ? Termination::error : Termination::inconclusive;
    run.message = error.message;
    run.bad_input = error.bad_input;
  }
  return run;
}

}  // namespace lockstep
