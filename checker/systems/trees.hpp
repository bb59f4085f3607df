// A system's trees, recorded once for each variant, faults and sizes.
#pragma once

#include <map>
#include <mutex>
#include <string_view>

#include "checker/systems/registry.hpp"

namespace lockstep {

// A rule that breaks a law of protocol code (RecordedRule::problems) is bad input: what rests on its tree
// would be of another rule than the one that runs.
void refuse_unlawful(std::string_view system, const recorded::Description& trees);

// Those of the system itself, without a program; it has to have some (SystemEntry::describe). Kept for good;
// safe to call from several threads at once. Throws BadInput where a rule breaks a law.
const recorded::Description& trees_of(const SystemEntry& entry, const SystemOptions& options);

// What a reader makes of them, likewise; one reader a type.
template <class Reading, class Read>
const Reading& derived_from_trees(const SystemEntry& entry, const SystemOptions& options, Read&& read) {
  static std::mutex mutex;
  static std::map<const recorded::Description*, Reading> known;
  const recorded::Description& trees = trees_of(entry, options);
  const std::scoped_lock lock(mutex);
  auto found = known.find(&trees);
  if (found == known.end()) found = known.emplace(&trees, read(trees)).first;
  return found->second;
}

}  // namespace lockstep
