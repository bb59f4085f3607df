#include "checker/explore/judge.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace lockstep {

Trace trace_along(const Model& model, std::span<const std::uint64_t> successors) {
  const unsigned words = std::max(1U, model.words());
  Successors found;
  found.clear(words);
  model.initial(found);
  const auto chosen = [&](std::uint64_t i) {
    if (i >= found.size()) throw std::logic_error("a state has not the successors that it had before");
    return std::vector<std::uint64_t>(found.state(static_cast<std::size_t>(i)),
                                      found.state(static_cast<std::size_t>(i)) + words);
  };
  Trace trace;
  trace.initial = static_cast<std::size_t>(successors.front());
  std::vector<std::uint64_t> state = chosen(successors.front());
  trace.steps.push_back({found.firing(trace.initial), model.narrate_initial(trace.initial), state});
  for (const std::uint64_t i : successors.subspan(1)) {
    found.clear(words);
    model.expand(state.data(), found);
    std::vector<std::uint64_t> next = chosen(i);
    const Firing firing = found.firing(static_cast<std::size_t>(i));
    trace.steps.push_back({firing, model.narrate(state.data(), firing), next});
    state = std::move(next);
  }
  return trace;
}

}  // namespace lockstep
