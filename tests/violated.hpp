// What exploring a model finds, for tests that name the claim that is to fail.
#pragma once

#include <cstddef>
#include <string>

#include "checker/explore/explorer.hpp"

namespace lockstep {

// The claim that is violated, "deadlock", or "" if all claims hold.
inline std::string violated(const Model& model) {
  const ExploreResult result = explore(model, {});
  if (result.verdict == Verdict::holds) return "";
  if (result.verdict != Verdict::invariant) return "deadlock";
  return model.invariants().at(static_cast<std::size_t>(result.violated));
}

}  // namespace lockstep
