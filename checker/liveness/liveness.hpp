// Does a program end, whatever its scheduler does within its promises?
//
// Definitions: deadlock, trap, livelock and starvation as in docs/progress.md. A verdict comes from the whole
// state graph; every "no" has a lasso, or a path, that anybody can fire again.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/liveness/fair_cycles.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"
#include "checker/symmetry/figures.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep {

enum class Termination : std::uint8_t {
  terminates,  // every fair run ends
  unsafe,      // a claim or an invariant fails: nothing is said about progress
  deadlock,    // a state in which nothing but optional rules can happen
  trap,        // a state from which no run ends, though there is always something to do
  livelock,    // a fair run that goes on for ever, past states from which others end
  starvation,  // endless rounds: a thread is kept out for ever while others get on
  progresses,  // endless rounds: every thread gets on again and again
  inconclusive,
  interrupted,
  error,
};
// "terminates", "deadlock", ...
std::string_view word(Termination termination);

struct LivenessOptions {
  RunLimits limits;
  CycleFairness fairness = CycleFairness::weak;
  // The published campaign's question instead: from every state some path of owed steps leads to the end, or
  // to a state in which nobody is owed anything.
  bool by_paths = false;
  bool traces = true;  // whether a counterexample is kept
  // Progress is judged although a claim or an invariant fails on the way.
  bool despite_unsafe = false;
  // Of states that differ in the names of members of these index types, or of all where none is named, one is
  // visited. Under weak fairness alone, and not of endless rounds.
  std::optional<std::vector<std::string>> symmetry{};
  std::function<void(const Progress&)> on_progress;
};

// By name, "weak", "strong" or "paths". Throws BadInput with the nearest.
void set_fairness(LivenessOptions& options, std::string_view name);

struct LivenessRun {
  Subject subject;
  Termination termination = Termination::terminates;
  std::string message;  // why it is inconclusive or an error; the claim that fails; the thread that starves
  std::optional<Diagnostic> bad_input;  // that the error is
  std::string unsafe;  // the claim or invariant that fails on the way, where progress is judged all the same
  std::size_t states = 0;
  std::size_t edges = 0;
  double seconds = 0;
  std::size_t memory = 0;  // bytes
  std::vector<RuleDescription> rules;
  std::vector<std::uint64_t> fired;  // firings by rule
  std::optional<symmetry::Figures> symmetry;
  std::optional<RecordedTrace> counterexample;
};

// Explores a subject with its program and, where its options name one, its scheduler. A program one of whose
// threads can never end runs in endless rounds: it is asked whether every thread enters a section of the
// program again and again. Whatever the subject or a limit does wrong ends in a verdict, not in an exception.
LivenessRun judge_termination(const Subject& subject, const LivenessOptions& options);

// Whether `goal` is reached again and again on every fair run that does not end; a lasso where it is not.
// Reductions must keep liveness, else BadInput.
std::optional<Lasso> always_eventually(const StateGraph& graph, CycleFairness fairness,
                                       const std::function<bool(StateNumber)>& goal);

// Whether the code of a thread has no way to its end.
bool never_ends(const Thread& thread);

}  // namespace lockstep
