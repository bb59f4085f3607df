// What a state that has been expanded is: good, or the end of a run.
#pragma once

#include "checker/explore/explorer.hpp"
#include "checker/explore/model.hpp"

namespace lockstep {

enum class Judgement : std::uint8_t { good, proper_end, invariant, deadlock };

// `expanded` is what Model::expand last made of the state.
inline Judgement judge(const Model& model, const std::uint64_t* state, const Successors& expanded,
                       bool invariants, bool deadlocks) {
  if (invariants && expanded.violated >= 0) return Judgement::invariant;
  if (expanded.live) return Judgement::good;
  if (model.proper_end(state)) return Judgement::proper_end;
  return deadlocks ? Judgement::deadlock : Judgement::good;
}

}  // namespace lockstep
