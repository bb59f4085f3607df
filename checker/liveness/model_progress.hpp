// Does a program end under an axiomatic model, whatever its scheduler does within its promises?
//
// A run for ever is told by an execution that the model allows: some thread goes round in a loop, where from
// one visit to the next it wrote nothing and changed no register, and each read of that round reads a write
// that no other comes after, so that there is nothing newer to be seen. All others have ended, go round as
// well, wait at barriers, or are not scheduled any more though they could go on, and the scheduler owes none
// of those last anything (spec/scheduler/setup.hpp).
//
// Source: memory fairness of Lahav et al., "Making Weak Memory Models Fair" (OOPSLA 2021): every write
// becomes visible in the end. Progress models: Sorensen et al., "Specifying and Testing GPU Workgroup
// Progress Models" (OOPSLA 2021).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/liveness/liveness.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// Of the words of Termination `terminates`, `unsafe`, `deadlock` (some thread waits at a barrier for ever,
// and nobody else goes on), `livelock`, and `inconclusive`: no such run was found, and loops that write or
// compute were cut, or a limit was reached.
struct ModelProgress {
  struct Verdict {
    ProgressModel scheduler = ProgressModel::fair;
    Termination termination = Termination::terminates;
    std::vector<std::string> run;  // of one that does not end: what each thread does
  };
  std::string program;
  std::string model;
  RunStatus status = RunStatus::complete;
  std::string message;             // of an error
  std::vector<std::string> flags;  // raised by the model: the program is undefined, whatever is said below
  std::vector<Verdict> verdicts;   // by scheduler, as asked
  double seconds = 0;
};

// Errors of the model or the test end in a status; more than most_scheduled work-groups are one, but under
// the fair scheduler alone. Of threads that have no way to their end it is asked no more than of others:
// whether they go round, and not whether all get on (judge_termination).
ModelProgress judge_progress(const LitmusTest& test, const AxiomaticModel& model,
                             std::span<const ProgressModel> schedulers, const JudgeOptions& options = {});

// A block for each model: a line a program, a column a scheduler, within 80 columns. A single verdict with
// its run.
std::string progress_text(std::span<const ModelProgress> all);
nlohmann::json progress_json(std::span<const ModelProgress> all);  // schema lockstep.model-progress/1

}  // namespace lockstep
