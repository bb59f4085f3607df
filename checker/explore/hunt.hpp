// Search for what is bad where there are too many states to visit them all: a swarm of depth-first searches
// in random orders (Holzmann, Joshi and Groce, "Swarm verification techniques", 2011), each of which goes
// first where a rule has fired least. What is found is a run like any other, made shorter; that nothing is
// found says nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "checker/explore/explorer.hpp"
#include "checker/explore/model.hpp"

namespace lockstep {

struct HuntOptions {
  unsigned threads = 1;
  std::uint64_t seed = 1;
  std::chrono::milliseconds time_limit{0};
  std::size_t memory_limit = 0;  // bytes, of all searches together; 0: a gibibyte
  bool invariants = true;
  bool deadlocks = true;
  bool bit_state = false;  // keeps bits of each state (bit_table.hpp), so that far more are visited
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const Progress&)> progress;  // a few times a second, from the calling thread
};

struct HuntResult {
  ExploreResult found;  // verdict out_of_time or interrupted: nothing; states: of each search by itself
  std::uint64_t searches = 0;
  double omission = 0;             // with bit_state: that a new state was taken for known, at most
  std::size_t steps_at_first = 0;  // of the run that was found, before it was made shorter
};

// With one thread and no limit of time that strikes, a seed finds the same run again.
HuntResult hunt(const Model& model, const HuntOptions& options);

}  // namespace lockstep
