// What each rule of a protocol does with queues, memory and caches, read off its recorded tree: what a
// machine file says of a rule is held against it before anything runs.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checker/systems/registry.hpp"

namespace lockstep {

// By names of fields of the memory system's state, without indices: "link1", "home.memory".
struct RuleAccesses {
  std::set<std::string> reads;      // by its action
  std::set<std::string> writes;     // likewise
  std::set<std::string> pushes;     // queues that it sends on
  std::set<std::string> looked_up;  // tables of which it accesses the row of one block, also in its guard
  std::string takes;                // the queue whose head it consumes, if it does
};
using Accesses = std::map<std::string, RuleAccesses, std::less<>>;  // by rule

// Of a memory system's own rules. Recorded once for each variant and list of faults; null where the system's
// translation unit of trees is not linked. Throws BadInput on names that do not fit the system.
const Accesses* accesses_of(const SystemEntry& system, const std::string& variant,
                            const std::vector<std::string>& faults);

}  // namespace lockstep
