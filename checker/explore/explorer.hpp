// Breadth-first exploration of a model: every reachable state once, with shortest counterexamples.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checker/explore/model.hpp"

namespace lockstep {

struct Progress {
  std::size_t states = 0;
  std::size_t waiting = 0;  // states found but not yet expanded
  std::uint64_t transitions = 0;
  unsigned depth = 0;
  double seconds = 0;
  std::size_t memory = 0;  // bytes
};

// Where a search is kept so that another process goes on with it.
struct CheckpointOptions {
  std::string folder;  // empty: it is not
  std::string about;   // a JSON object: what is searched and by whom; only an equal one goes on
  std::chrono::milliseconds every{300'000};
};

struct ExploreOptions {
  unsigned threads = 1;
  std::size_t memory_limit = 0;             // bytes of visited states and index; 0: none
  std::size_t state_limit = 0;              // 0: none; beyond it a run ends as if memory were full
  std::chrono::milliseconds time_limit{0};  // 0: none
  bool invariants = true;                   // stop at a violated invariant
  bool deadlocks = true;                    // stop at a state that is live but stuck
  const std::atomic<bool>* interrupted = nullptr;
  // Begins where the folder's checkpoint is, if there is one; on_end is not told what was found before it.
  CheckpointOptions checkpoint;
  std::function<void(const Progress&)> progress;  // called a few times a second, from the calling thread
  // Called for every proper end, in order, from one thread at a time.
  std::function<void(const std::uint64_t* state)> on_end;
};

enum class Verdict : std::uint8_t {
  holds,        // every reachable state was visited and none is bad
  invariant,    // a reachable state violates an invariant
  deadlock,     // a reachable state is stuck before its proper end
  broken,       // in a reachable state, a rule does what its types do not allow
  out_of_time,  // stopped at a limit: inconclusive
  out_of_memory,
  interrupted,
};

constexpr bool inconclusive(Verdict verdict) {
  return verdict >= Verdict::out_of_time;
}

struct TraceStep {
  Firing firing;  // of the initial step: which initial state, in `initial`
  std::vector<NarratedStep> narration;
  std::vector<std::uint64_t> state;  // packed, after the step
};

struct Trace {
  std::size_t initial = 0;
  std::vector<TraceStep> steps;  // steps[0] is the initial state
};

struct ExploreResult {
  Verdict verdict = Verdict::holds;
  int violated = -1;   // index into Model::invariants, where the verdict is invariant
  std::string broken;  // the rule and what it does, where the verdict is broken
  Trace trace;         // where the verdict is invariant, deadlock or broken
  std::size_t states = 0;
  std::uint64_t transitions = 0;
  unsigned depth = 0;
  double seconds = 0;      // also before the checkpoint that it went on from
  std::size_t memory = 0;  // bytes of states and index at the end
  unsigned state_bits = 0;
  std::vector<std::uint64_t> fired;  // firings by rule
  std::size_t resumed_from = 0;      // states that a checkpoint had
  std::string checkpoint_failed;     // why there are no more, if there are not
  std::size_t on_disk = 0;           // states that memory had no room for
};

// Throws BadInput where the folder of checkpoints cannot be used or has another search.
ExploreResult explore(const Model& model, const ExploreOptions& options);

// The shortest path to some state that satisfies `goal` and is a proper end; empty where there is none.
Trace find_end(const Model& model, const ExploreOptions& options,
               const std::function<bool(const std::uint64_t* state)>& goal);

}  // namespace lockstep
