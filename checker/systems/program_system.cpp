#include "checker/systems/program_system.hpp"

#include <memory>
#include <utility>

#include "checker/footprint/dead.hpp"
#include "checker/footprint/footprint.hpp"
#include "checker/footprint/stubborn.hpp"

namespace lockstep {

namespace {

recorded::WholeDescription with_waiting(recorded::WholeDescription whole) {
  for (const recorded::RecordedClaim& claim : whole.claims) {
    for (recorded::RecordedRule& rule : whole.rules) {
      if (rule.name != claim.rule) continue;
      rule.guard = recorded::conjunction(rule.guard, recorded::negation(claim.where));
      rule.reads.insert(claim.reads.begin(), claim.reads.end());
    }
  }
  return whole;
}

}  // namespace

Derived derive_reductions(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
                          const std::vector<bool>& fair, const std::byte* initial, std::size_t bytes,
                          bool memory_observed, const Reductions& wanted) {
  const auto footprints_of = [&](const recorded::WholeDescription& described) {
    return std::make_shared<const footprint::Footprints>(described, std::move(places));
  };
  const auto footprints =
      wanted.at_once && !whole.claims.empty() ? footprints_of(with_waiting(whole)) : footprints_of(whole);
  Derived derived;
  const auto stubborn = std::make_shared<const footprint::StubbornSets>(
      footprints, fair, footprints->assertions(), std::vector{initial},
      wanted.dead ? footprint::DeadFields::candidates(*footprints) : std::vector<bool>{});
  if (wanted.stubborn) derived.stubborn = stubborn;
  if (wanted.dead)
    derived.dead = std::make_shared<const footprint::DeadFields>(footprints, stubborn->possible(), fair,
                                                                 memory_observed, initial, bytes);
  return derived;
}

}  // namespace lockstep
