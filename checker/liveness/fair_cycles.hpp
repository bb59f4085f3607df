// Infinite runs of a state graph: strongly connected components, and cycles that a fair scheduler may take.
//
// A cycle is weakly fair if every obligation is, somewhere on it, not owed or discharged. The whole of a
// component that passes this test is such a cycle, and a component that fails it has none. Strong fairness
// asks that an obligation owed somewhere on the cycle is discharged on it; states that owe what the component
// never discharges are taken out, and what is left is decomposed again. A run that has come to its proper end
// is over, whatever optional rules may still do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checker/liveness/state_graph.hpp"

namespace lockstep {

enum class CycleFairness : std::uint8_t { weak, strong };

struct CycleQuestion {
  CycleFairness fairness = CycleFairness::weak;
  std::function<bool(StateNumber)> within;  // the states that the cycle may visit; none given: all
  std::function<bool(StateNumber)> visits;  // it visits one of these; none given: any
};

// A path from an initial state into a cycle: the states of the stem, whose last is where the loop begins, and
// the edges of the loop, one behind the other, back to that state.
struct Lasso {
  std::vector<StateNumber> stem;
  std::vector<std::size_t> loop;
};

// A cycle as asked for whose stem is as short as any such cycle's, with a loop as small as was found.
std::optional<Lasso> find_fair_cycle(const StateGraph& graph, const CycleQuestion& question);

// Strongly connected components of the states that are kept; of the others it means nothing. Sets how many
// there are.
std::vector<std::uint32_t> components_of(const StateGraph& graph, const std::vector<bool>& kept,
                                         std::uint32_t& count);

// Which states can reach a proper end; `by_owed_steps`: by steps that the scheduler owes and fair hardware
// alone, a state in which it owes nobody anything being as good as an end (OOPSLA 2021).
std::vector<bool> states_that_can_end(const StateGraph& graph, bool by_owed_steps);

}  // namespace lockstep
