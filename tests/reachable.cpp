#include "tests/reachable.hpp"

namespace lockstep {

PackedState packed_state(const Successors& successors, std::size_t i, const Model& model) {
  return {successors.state(i), successors.state(i) + model.words()};
}

ReachableStates::ReachableStates(const Model& model) {
  Successors states;
  const auto take = [&] {
    for (std::size_t i = 0; i < states.size(); ++i) {
      PackedState state = packed_state(states, i, model);
      if (known_.insert(state).second) all_.push_back(std::move(state));
    }
  };
  states.clear(model.words());
  model.initial(states);
  take();
  for (std::size_t at = 0; at < all_.size(); ++at) {
    states.clear(model.words());
    states.begin_state();
    model.expand(all_[at].data(), states);
    take();
  }
}

bool ReachableStates::contains(const PackedState& state) const {
  return known_.contains(state);
}

}  // namespace lockstep
