// Graphs of a model's states held against each other.
#pragma once

#include "checker/liveness/state_graph.hpp"

namespace lockstep {

// Whether states and edges have the same numbers, and the same is said of each.
inline bool same_graph(const StateGraph& a, const StateGraph& b) {
  if (a.states() != b.states() || a.edges() != b.edges()) return false;
  for (StateNumber s = 0; s < a.states(); ++s) {
    if (a.packed(s) != b.packed(s) || a.first_edge(s) != b.first_edge(s) ||
        a.enabled_sets()[a.enabled_set(s)] != b.enabled_sets()[b.enabled_set(s)] ||
        a.is_end(s) != b.is_end(s) || a.is_stuck(s) != b.is_stuck(s))
      return false;
  }
  for (std::size_t e = 0; e < a.edges(); ++e) {
    if (a.target(e) != b.target(e) || a.label(e) != b.label(e)) return false;
  }
  return true;
}

}  // namespace lockstep
