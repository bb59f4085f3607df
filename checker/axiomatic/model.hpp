// What an axiomatic model says of a litmus test: which outcomes it allows, and which it flags.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/axiomatic/execution.hpp"
#include "checker/axiomatic/unfold.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"
#include "checker/runs/limits.hpp"

namespace lockstep {

// A model, compiled once for all tests. Judging is const and may be done by many threads at once.
class AxiomaticModel {
 public:
  // By name ("ptx-v6.0") or file. Throws BadInput.
  explicit AxiomaticModel(const std::string& name_or_path, const std::vector<std::string>& include_path = {});
  // From text, for tests and tools.
  AxiomaticModel(std::string name, std::string text, const std::vector<std::string>& include_path);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const cat::Source& source() const { return source_; }
  // "file:3:8: warning: ...", a line each, where it is compiled once.
  [[nodiscard]] std::string warnings() const;
  // Nothing where the model must be compiled for each execution's events.
  [[nodiscard]] const std::optional<cat::Plan>& plan() const { return plan_; }
  // Whether it speaks of the sequence of kernels: of one that does not, outcomes of a program with several
  // kernels say nothing. One that is compiled for each execution is taken to do so.
  [[nodiscard]] bool orders_kernels() const;

 private:
  std::string name_;
  cat::Source source_;
  std::optional<cat::Plan> plan_;
};

struct AllowedOutcome {
  Outcome outcome;
  std::uint64_t flags = 0;  // by ModelRun::flags: raised in some execution with this outcome
  std::size_t executions = 0;
};

struct ModelRun {
  std::string model;
  RunStatus status = RunStatus::complete;
  std::string message;                   // of an error
  std::optional<Diagnostic> bad_input;   // that the error is
  std::vector<AllowedOutcome> outcomes;  // in ascending order, also those that the filter drops
  Tally tally;                           // of those that pass the filter
  std::vector<std::string> flags;        // the model's flags, by label
  std::uint64_t raised = 0;              // bits of `flags`: raised in some execution that passes the filter
  bool cut = false;              // loops were cut at the unrolling bound: other outcomes may be possible
  bool assertion_fails = false;  // in some execution
  bool counted = true;           // every execution was met; else outcomes and flags are all that is known
  std::uint64_t candidates = 0;  // complete candidate executions looked at
  std::uint64_t executions = 0;  // of these, those that the model allows
  double seconds = 0;

  // herd's word; nothing where the run ended early, was cut, or a flag leaves the program undefined.
  [[nodiscard]] std::optional<Observation> observation() const;
  [[nodiscard]] bool allows(const Outcome& outcome) const;
  [[nodiscard]] std::vector<std::string> raised_flags() const;
};

// How executions are looked for. `by_size`: one by one, and where those are too many, outcome by outcome.
enum class JudgeBy : std::uint8_t { by_size, executions, outcomes };

struct JudgeOptions {
  UnrollLimits unroll;
  std::chrono::milliseconds time{0};  // 0: no limit
  const std::atomic<bool>* interrupted = nullptr;
  bool unconstrained = false;  // every candidate counts as allowed: for outcomes that the model forbids
  JudgeBy by = JudgeBy::by_size;
  bool plainly = false;  // every candidate is put together and then checked: the measure of what is quicker
};

// Errors of the model or the test end in a status.
ModelRun judge(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options = {});

// Throws BadInput where the model can tell nothing apart: it forbids, or flags, every execution even of one
// thread that writes a location and reads it again.
void refuse_vacuous(const AxiomaticModel& model);

// ---- evidence ----

// One complete candidate execution.
struct Candidate {
  std::shared_ptr<const Program> program;         // that `execution` points to
  std::shared_ptr<const ProgramEvents> unrolled;  // and these
  Execution execution;
  std::vector<std::int32_t> values;     // by event
  std::vector<std::pair<int, int>> rf;  // from write to read
  std::vector<std::pair<int, int>> co;  // immediate successors only
  std::vector<std::pair<int, int>> fr;  // to the first write after the one read
  using Relation = std::pair<std::string, std::vector<std::pair<int, int>>>;
  std::vector<Relation> shown;  // as the model asks
  std::vector<Relation> named;  // all others that the model's definitions name and its checks rest on
  struct Failure {
    std::string label;
    std::string file;
    SourcePlace place;
    std::vector<int> cycle;  // events, where the check is of a cycle; of `empty`, one pair or event
    // Of a relation, each pair of the cycle in turn, unfolded; none where the execution is too large for it.
    std::vector<Derivation> pairs;
  };
  std::vector<Failure> failures;   // of checks; none: allowed
  std::vector<std::string> flags;  // raised
};

// A candidate with an outcome: an allowed one, preferably flagged, or else one that fails the fewest checks.
// Nothing where no candidate has the outcome, or the limits are reached first.
std::unique_ptr<Candidate> find_candidate(const LitmusTest& test, const AxiomaticModel& model,
                                          const Outcome& outcome, const JudgeOptions& options = {});

// The same of every outcome of some candidate, `most` outcomes at most, allowed ones first: in one go.
struct FoundCandidates {
  std::map<Outcome, std::unique_ptr<Candidate>> by_outcome;
  bool more = false;  // outcomes
};
FoundCandidates find_candidates(const LitmusTest& test, const AxiomaticModel& model,
                                const JudgeOptions& options, std::size_t most);

}  // namespace lockstep
