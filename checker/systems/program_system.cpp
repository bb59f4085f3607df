#include "checker/systems/program_system.hpp"

#include <memory>
#include <utility>

namespace lockstep {

Derived derive_reductions(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
                          const std::vector<bool>& fair, const std::byte* initial, std::size_t bytes,
                          bool memory_observed) {
  const auto footprints = std::make_shared<const footprint::Footprints>(whole, std::move(places));
  Derived derived;
  derived.stubborn = std::make_shared<const footprint::StubbornSets>(
      footprints, fair, footprints->assertions(), std::vector{initial},
      footprint::DeadFields::candidates(*footprints));
  derived.dead = std::make_shared<const footprint::DeadFields>(footprints, derived.stubborn->possible(), fair,
                                                               memory_observed, initial, bytes);
  return derived;
}

}  // namespace lockstep
