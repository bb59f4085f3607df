// What the events of an execution read and wrote, as far as the writes chosen for its reads tell. Each choice
// can be taken back, the last one first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/axiomatic/execution.hpp"
#include "checker/axiomatic/terms.hpp"

namespace lockstep {

// The reads of an execution, those first that decide whether its paths are taken: most of what they might
// read, they cannot.
inline std::vector<int> reads_in_order(const Execution& execution) {
  std::vector<int> reads;
  for (const bool deciding : {true, false}) {
    for (std::size_t t = 0; t < execution.paths.size(); ++t) {
      const ThreadPath& path = *execution.paths[t];
      Terms::Bits decide = 0;
      for (const PathCondition& condition : path.conditions) decide |= condition.reads;
      for (std::size_t e = 0; e < path.events.size(); ++e) {
        if (path.events[e].kind == EventKind::read && (((decide >> e) & 1U) != 0) == deciding)
          reads.push_back(execution.first[t] + static_cast<int>(e));
      }
    }
  }
  return reads;
}

class Valuation {
 public:
  void begin(const Execution& execution) {
    execution_ = &execution;
    const auto n = static_cast<std::size_t>(execution.size());
    value_.assign(n, 0);
    known_.assign(n, true);
    source_.assign(n, -1);
    if (readers_.size() < n) readers_.resize(n);
    for (auto& readers : readers_) readers.clear();
    trail_.clear();
    const std::size_t threads = execution.paths.size();
    known_reads_.assign(threads, 0);
    if (evaluations_.size() < threads) evaluations_.resize(threads);
    for (std::size_t t = 0; t < threads; ++t) {
      const ThreadPath& path = *execution.paths[t];
      evaluations_[t].begin(*path.terms);
      for (std::size_t e = 0; e < path.events.size(); ++e) {
        const auto event = static_cast<std::size_t>(execution.first[t]) + e;
        known_[event] = path.events[e].kind != EventKind::read && path.values[e].known;
        if (known_[event]) value_[event] = path.values[e].is;
      }
    }
    for (std::size_t l = 0; l < execution.writes.size(); ++l) {
      value_[l] = execution.program->locations[l].initial_value;
    }
  }

  [[nodiscard]] bool known(int event) const { return known_[static_cast<std::size_t>(event)]; }
  [[nodiscard]] std::int32_t value(int event) const { return value_[static_cast<std::size_t>(event)]; }
  [[nodiscard]] const std::vector<std::int32_t>& values() const { return value_; }
  [[nodiscard]] const std::vector<int>& sources() const { return source_; }  // by read, -1: none yet
  // At the end of a thread, all of its reads being known.
  std::int32_t end_value(std::size_t thread, PathValue v) { return evaluations_[thread](v); }
  // The reads of a thread that are known, by position on its path.
  [[nodiscard]] Terms::Bits known_reads(std::size_t thread) const { return known_reads_[thread]; }

  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  // Calls use(event) for each that has become known since.
  template <class Use>
  void each_known_since(std::size_t mark, const Use& use) const {
    for (; mark < trail_.size(); ++mark) {
      if (!trail_[mark].is_source) use(trail_[mark].event);
    }
  }
  void undo(std::size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      const auto event = static_cast<std::size_t>(trail_.back().event);
      if (trail_.back().is_source) {
        readers_[static_cast<std::size_t>(source_[event])].pop_back();
        source_[event] = -1;
        continue;
      }
      known_[event] = false;
      value_[event] = 0;
      const ProgramEvent& e = execution_->events[event];
      if (e.kind == EventKind::read)
        known_reads_[static_cast<std::size_t>(e.thread)] &= ~bit_of(trail_.back().event);
    }
  }

  // What the last contradiction was about: reads of a thread, by position, that do not let its path be taken,
  // or one read that is known to have read something else.
  struct Contradiction {
    std::size_t thread = 0;
    Terms::Bits reads = 0;
    int read = -1;
  };
  [[nodiscard]] const Contradiction& contradicted() const { return contradicted_; }

  // Lets a read read a write. False: some condition of a path, or what a read was said to have read, is
  // contradicted; what has been noted is then to be undone.
  bool connect(int read, int write) {
    source_[static_cast<std::size_t>(read)] = write;
    readers_[static_cast<std::size_t>(write)].push_back(read);
    trail_.push_back({read, true});
    return !known(write) || found(read, value(write));
  }
  // Says what a read has read, before its write is known.
  bool found(int read, std::int32_t v) {
    if (known(read)) {
      if (value(read) != v) contradicted_ = {0, 0, read};
      return value(read) == v;
    }
    const auto thread = static_cast<std::size_t>(execution_->events[static_cast<std::size_t>(read)].thread);
    const ThreadPath& path = *execution_->paths[thread];
    const int first = execution_->first[thread];
    const Terms::Bits here = bit_of(read);
    note(read, v);
    known_reads_[thread] |= here;
    evaluations_[thread].set(read - first, v);
    const auto decided = [&](Terms::Bits reads) {
      return (reads & here) != 0 && (reads & ~known_reads_[thread]) == 0;
    };
    for (const PathCondition& condition : path.conditions) {
      if (!decided(condition.reads) || condition.holds(evaluations_[thread])) continue;
      contradicted_ = {thread, condition.reads, -1};
      return false;
    }
    // Reads that find what is now known to be written may decide more of this thread, so all of its own
    // first.
    const std::size_t before = trail_.size();
    for (std::size_t e = 0; e < path.events.size(); ++e) {
      if (path.events[e].kind == EventKind::write && decided(path.terms->reads(path.values[e]))) {
        note(first + static_cast<int>(e), evaluations_[thread](path.values[e]));
      }
    }
    for (std::size_t i = before, end = trail_.size(); i < end; ++i) {
      const int write = trail_[i].event;
      for (const int reader : readers_[static_cast<std::size_t>(write)]) {
        if (!found(reader, value(write))) return false;
      }
    }
    return true;
  }

 private:
  struct Step {
    int event;
    bool is_source;
  };
  [[nodiscard]] Terms::Bits bit_of(int event) const {
    const auto thread = static_cast<std::size_t>(execution_->events[static_cast<std::size_t>(event)].thread);
    return Terms::Bits{1} << (event - execution_->first[thread]);
  }
  void note(int event, std::int32_t v) {
    known_[static_cast<std::size_t>(event)] = true;
    value_[static_cast<std::size_t>(event)] = v;
    trail_.push_back({event, false});
  }

  const Execution* execution_ = nullptr;
  std::vector<std::int32_t> value_;        // by event
  std::vector<bool> known_;                // by event
  std::vector<int> source_;                // by read
  std::vector<std::vector<int>> readers_;  // by write
  std::vector<Terms::Bits> known_reads_;   // by thread
  std::vector<Evaluation> evaluations_;    // by thread
  std::vector<Step> trail_;
  Contradiction contradicted_;
};

}  // namespace lockstep
