// What a state that has been expanded is: good, or the end of a run; and the run that leads to it.
#pragma once

#include <span>
#include <string>

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

// A state, by its number, that a search ends with.
struct BadState {
  Verdict verdict = Verdict::holds;
  int violated = -1;
  std::uint64_t state = 0;
  std::string broken{};
};

// Of an initial state, the successor of it, and so on, by their numbers among them. Throws std::logic_error
// where there are not so many.
Trace trace_along(const Model& model, std::span<const std::uint64_t> successors);

}  // namespace lockstep
