// What a rule's firing may make something to take at once of: a matrix over the fields that rules write and
// that claims look at (spec/kernel/at_once.hpp), read off the system's trees.
//
// An engine that has taken everything at once looks, after a firing, only at what that firing woke. It may
// overlook something: that leaves it to be explored like any other rule, and costs states, not outcomes.
#pragma once

#include <span>
#include <vector>

#include "checker/explore/rule_engine.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

// For each of the rules. A thread's wakes everything, and so does every rule where there are no trees. Keeps
// what it has read of a system; safe to use from several threads at once.
std::vector<RuleEngine::Wakes> wakes_of(const SystemEntry& entry, const SystemOptions& options,
                                        std::span<const RuleEngine::RuleOf> rules,
                                        std::span<const AtOnceValue<ConcreteErased>> claims);

}  // namespace lockstep
