// The events of one candidate execution before anything is chosen, and the base sets and relations that
// follow from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checker/axiomatic/events.hpp"
#include "checker/axiomatic/plan.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// One path of each thread. Events are numbered: initial writes by location, then thread by thread.
struct Execution {
  const Program* program = nullptr;
  EventStyle style = EventStyle::hrf;
  std::vector<const ThreadPath*> paths;
  std::vector<ProgramEvent> events;
  std::vector<int> first;                // of each thread, its first event
  std::vector<int> partner;              // by event: the other half of its RMW, -1: none
  std::vector<std::vector<int>> writes;  // by location, without the initial one
  const std::vector<std::set<std::int32_t>>* values = nullptr;  // by location: what reads may find
  std::vector<int> round;  // by event: who meets at barriers (rounds.hpp), -1: no barrier
  bool hangs = false;      // some thread waits at a barrier for ever
  bool diverges = false;   // threads of a work-group come to different barriers
  [[nodiscard]] int size() const { return static_cast<int>(events.size()); }
  [[nodiscard]] bool any_path(PathEnd end) const {
    return std::any_of(paths.begin(), paths.end(),
                       [end](const ThreadPath* path) { return path->end == end; });
  }
  // Of a row of bits: 1, 2 or 4.
  [[nodiscard]] int words() const { return size() <= 64 ? 1 : size() <= 128 ? 2 : 4; }
  static constexpr int largest = 256;

  void assemble(const Program& program, EventStyle style, const ProgramEvents& events,
                const std::vector<const ThreadPath*>& paths);
  // How many arrivals a barrier event waits for.
  [[nodiscard]] int awaited_at(int barrier) const;
  // A base set (one row of words() words) or relation (size() rows); all but rf, co and sync_fence.
  void fill(cat::Base base, std::uint64_t* rows) const;
  // Whether two events are at one barrier at one time.
  [[nodiscard]] bool meet(int a, int b) const;
  // The fences that a model may order by choice, and which of them it does: those whose scopes include each
  // other.
  [[nodiscard]] std::vector<int> sc_fences() const;
  [[nodiscard]] bool order_each_other(int fence, int other) const {
    return scope_includes(fence, other) && scope_includes(other, fence);
  }
  // Whether an event's scope includes the other's thread.
  [[nodiscard]] bool scope_includes(int event, int other) const;
  [[nodiscard]] bool scope_includes_thread(int event, int thread) const;
};

// "a: W.rel.wg[flag]=1", as in execution graphs.
std::string event_text(const Execution& execution, int event, std::int32_t value);

}  // namespace lockstep
