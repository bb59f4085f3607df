// The verdicts of several progress models from one state graph.
//
// A progress model holds nobody back. It says who is owed execution, given who has begun and who has ended,
// so as long as a state remembers who has begun, a program has the same states under all of them: it is
// explored once, and each model is a question about the same graph.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checker/liveness/liveness.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// Threads as bits, each a work-group of its own; thread 0 has the lowest id.
using ThreadSet = std::uint32_t;

struct ThreadStanding {
  ThreadSet begun = 0;  // has executed a step, ended or not
  ThreadSet ended = 0;
};

// Whose execution a scheduler owes; threads that have ended do not count.
using Owes = std::function<ThreadSet(const ThreadStanding&)>;

// What spec/scheduler/progress_models.hpp says of a model, with a slot for every work-group; of
// most_scheduled threads at most.
ThreadSet owed_threads(ProgressModel model, int threads, const ThreadStanding& standing);

// The same for every standing, looked up.
class OwedThreads {
 public:
  OwedThreads(ProgressModel model, int threads);
  ThreadSet operator()(const ThreadStanding& standing) const {
    return owed_[standing.begun << static_cast<unsigned>(threads_) | standing.ended];
  }

 private:
  int threads_;
  std::vector<ThreadSet> owed_;  // by who has begun, then by who has ended
};

enum class TerminationQuestion : std::uint8_t {
  weak_fairness,  // does every weakly fair run end?
  by_paths,       // as LivenessOptions::by_paths
};

class SharedGraph {
 public:
  // Explores a program on a memory system that performs every request at once, so that each step is a
  // thread's. Each of its threads has code, and is a work-group of its own. Throws BadInput as building a
  // model does, and where a thread could wait otherwise than by spinning.
  SharedGraph(const Subject& subject, const RunLimits& limits);

  // Where a limit ended the exploration, it says so, and nothing can be asked.
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  [[nodiscard]] std::size_t states() const { return standing_.size(); }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }

  // As judge_termination of the same program: terminates, trap or livelock.
  [[nodiscard]] Termination judge(const Owes& owes, TerminationQuestion question) const;

  // Whether the end can be reached from every state.
  [[nodiscard]] bool can_always_end() const;

 private:
  struct Edge {
    StateNumber source;
    StateNumber target;
    ThreadSet thread;  // whose step it is
  };
  void read(const StateGraph& graph, const Model& model, ThreadSet all);
  void find_components();
  [[nodiscard]] std::vector<ThreadSet> owed_in_states(const Owes& owes) const;
  template <class Usable>
  [[nodiscard]] bool all_reach(std::vector<bool> goal, Usable&& usable) const;
  [[nodiscard]] Termination judge_weakly(const std::vector<ThreadSet>& owed) const;
  [[nodiscard]] Termination judge_by_paths(const std::vector<ThreadSet>& owed) const;

  Verdict verdict_ = Verdict::holds;
  ThreadSet all_ = 0;
  std::vector<ThreadStanding> standing_;  // of each state
  std::vector<Edge> edges_;               // in the order of their sources
  // Strongly connected: a state's component, and what is asked of a component whatever is owed.
  std::vector<std::uint32_t> component_;
  std::vector<ThreadSet> stepping_;  // who steps within it
  bool can_always_end_ = false;
};

}  // namespace lockstep
