// How large what is a number may be to the prover: more than the explorer's tables hold.
#pragma once

#include <limits>
#include <type_traits>

#include "checker/systems/program_description.hpp"
#include "proofs/proof_system.hpp"

namespace lockstep {

// Amounts are numbers to the prover, so they may be as large as numbers get.
struct AnyAmounts {
  template <class Tag>
  static constexpr int of = Amount<Tag> ? std::numeric_limits<int>::max() : Tag::capacity;
};

// What is a number has the range of these capacities in the trees, too.
template <class Info, class Capacities>
RuleTrees::Describe trees_within(const SystemEntry& entry) {
  if constexpr (std::is_same_v<Capacities, FullCapacities>) {
    return entry.describe;
  } else {
    return [&entry](const SystemOptions& options) {
      return describe_memory<Info, NoClaims, Capacities>(options, entry);
    };
  }
}

}  // namespace lockstep
