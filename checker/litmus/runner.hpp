// Runs one litmus test on one memory system: its outcomes, by exhaustive exploration.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep {

// A run with reductions, held against the same run without any.
struct ReductionCheck {
  bool compared = false;   // else a limit came first, or there was nothing to compare
  std::string difference;  // "the reductions leave out P1:r0=1; P1:r1=0;"; empty where there is none
  std::size_t states = 0;  // without reductions
};

struct SystemRun {
  Subject subject;     // with its program
  std::string system;  // the subject's name, as in Expect=
  RunStatus status = RunStatus::complete;
  std::string message;                  // of an error
  std::optional<Diagnostic> bad_input;  // that the error is
  std::vector<Outcome>
      outcomes;               // all that were reached, in ascending order, also those that the filter drops
  Tally tally;                // of those that pass the filter
  ExploreResult exploration;  // without its trace
  std::vector<RuleDescription> rules;
  std::optional<RecordedTrace> failure;
  std::optional<ReductionCheck> reductions;  // where that was asked for
};

// Every state was visited, and none is an end: what is asked of ends has no answer.
bool never_ends(const SystemRun& run);

// What a failed run did wrong, in a few words.
std::string failure_text(const SystemRun& run);

// A system with a test's client, a program or a sequence of launches: the model, and the values of the test's
// observed terms in a final state. The test has to outlive it.
struct Posed {
  std::unique_ptr<Model> model;
  std::function<Outcome(const std::uint64_t* state)> outcome;
};
// Throws BadInput where the subject, which has the test's program or launches already, does not fit.
Posed pose(const LitmusTest& test, const Subject& subject);
// Gives a subject the test's program or launches.
Subject with_client(Subject subject, const LitmusTest& test);
// The same of a program's model.
Outcome outcome_at(const LitmusTest& test, const ProgramModel& model, const std::uint64_t* state);

// Whether reductions that follow from trees are derived for small state spaces, too, where that takes longer
// than it saves.
enum class Derive : std::uint8_t { when_large, always };

// `subject` comes without a program or launches: they are the test's. Whatever the test, the system's options
// or a limit do wrong ends in a status, not in an exception.
SystemRun run_on_system(const LitmusTest& test, Subject subject, const RunLimits& limits,
                        Derive derive = Derive::when_large);

// Runs once more, without reductions; a run that reached a limit, or could not be made, is not compared.
ReductionCheck check_reductions(const LitmusTest& test, const SystemRun& reduced, const RunLimits& limits);

// A shortest execution whose outcome is `wanted`; nothing where there is none within the limits.
std::optional<RecordedTrace> find_outcome(const LitmusTest& test, Subject subject, const RunLimits& limits,
                                          const std::function<bool(const Outcome&)>& wanted);

}  // namespace lockstep
