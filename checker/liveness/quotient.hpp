// Fair infinite runs of a state graph in which one state stands for all that renamings turn into one another.
//
// Whoever takes part in a run bears other names from state to state, since each successor is renamed into the
// one that stands for it. A component of the graph stands for components of the whole graph that are alike,
// and in one of these a name at the first state may come back as any that a cycle renames it into: such names
// are of one class. Weak fairness holds of the whole of a component exactly if of each class one is,
// somewhere, not owed or discharged. (Emerson and Sistla, "Utilizing symmetry when model-checking under
// fairness assumptions", TOPLAS 1997, tell who takes part by a graph of states with one name each.)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "checker/liveness/fair_cycles.hpp"
#include "checker/symmetry/symmetric_model.hpp"

namespace lockstep {

// States of one component that a weakly fair run may visit for ever; the first of them is the one of the
// lowest number.
std::optional<std::vector<StateNumber>> find_fair_component(const StateGraph& graph,
                                                            const symmetry::SymmetricModel& symmetric,
                                                            const std::function<bool(StateNumber)>& within);

// A run of the model itself into a weakly fair loop.
struct FairRun {
  Trace trace;
  std::size_t loop_start = 0;  // index of the step whose state the loop comes back to
};
// Through states that those of the component stand for. Nothing where none is found within the limits, or in
// ten seconds and twice the time that the graph took.
std::optional<FairRun> fair_run(const Model& model, const StateGraph& graph,
                                const symmetry::SymmetricModel& symmetric,
                                const std::vector<StateNumber>& component, const ExploreOptions& limits);

}  // namespace lockstep
