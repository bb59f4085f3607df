// Verifies a system: every reachable state, every invariant, every assertion of its program, no deadlock. Or
// hunts for what is bad, where there are too many states for that.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cluster/ranks.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/explore/hunt.hpp"
#include "checker/runs/coverage.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"
#include "checker/symmetry/figures.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep {

struct CheckOptions {
  RunLimits limits;
  bool deadlocks = true;
  std::function<void(const Progress&)> on_progress;  // a few times a second, from the calling thread
  std::string folder{};  // of checkpoints, from the last of which the run goes on; empty: none are kept
  std::string build{};   // where there is one: who explores (a checkpoint of another build is refused)
  std::chrono::milliseconds every{300'000};
  std::chrono::milliseconds hunt{0};  // instead of visiting every state: search at random for so long
  std::uint64_t seed = 1;             // of the search at random
  bool bit_state = false;             // it keeps bits of states alone (explore/bit_table.hpp)
  cluster::Ranks* ranks = nullptr;    // that search together, each of which asks the same; none: one process
  // Of the states that renaming members of these index types turns into one another, visits one; of all index
  // types where none is named.
  std::optional<std::vector<std::string>> symmetry{};
};

enum class CheckStatus : std::uint8_t { holds, violated, inconclusive, interrupted, error };
std::string_view word(CheckStatus status);

struct HuntFigures {
  std::uint64_t seed = 0;
  std::uint64_t searches = 0;
  std::optional<double>
      omission;  // where bits of states were kept: that a new one was taken for known, at most
  std::size_t steps_at_first = 0;  // of the run that was found, before it was made shorter
};

struct CheckRun {
  Subject subject;
  CheckStatus status = CheckStatus::holds;
  std::string message;                  // why it is inconclusive or an error
  std::optional<Diagnostic> bad_input;  // that the error is
  ExploreResult exploration;            // without its trace
  std::optional<HuntFigures> hunted;    // where it searched at random
  std::optional<symmetry::Figures> symmetry;
  int ranks = 1;
  std::vector<RuleDescription> rules;
  std::optional<RecordedTrace> counterexample;
};

// Explores a subject that is complete, with its program where it needs one. Whatever the subject or a limit
// does wrong ends in a status, not in an exception.
CheckRun check(const Subject& subject, const CheckOptions& options);
// The same of the subject's model, which has been built.
CheckRun check(const Subject& subject, const Model& model, const CheckOptions& options);

RuleCoverage coverage_of(std::span<const CheckRun> runs);

// What was explored, how fast, the verdict, and the counterexample step by step.
std::string check_text(const CheckRun& run);
// After all runs: the rules that never fired, and the verdicts counted. `planned` runs were meant.
std::string check_summary_text(std::span<const CheckRun> runs, std::size_t planned);
// At most 79 characters: "mp-agent  1.20 M states  350 k/s  depth 120  30.1 k waiting  1.2 GB  12 s".
std::string progress_text(const std::string& name, const Progress& progress);

// Schema lockstep.check/1.
nlohmann::json check_json(std::span<const CheckRun> runs, const std::vector<std::string>& errors);

// 130 interrupted, 2 bad input, 1 violated, 3 a limit was reached, else 0: the first that applies.
int exit_status(std::span<const CheckRun> runs, bool bad_input);

}  // namespace lockstep
