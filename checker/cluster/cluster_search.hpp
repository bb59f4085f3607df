// Breadth-first search by several ranks: each keeps the states that hash to it.
//
// A depth is searched in steps. In each, every rank expands some of its states and sends each successor to
// the rank that keeps it, with how it was found; then all put in what they were sent, and tell each other how
// far they are. What is found, and how many there are of it, does not depend on how many ranks there are.
#pragma once

#include "checker/cluster/ranks.hpp"
#include "checker/explore/explorer.hpp"

namespace lockstep::cluster {

// The same for all ranks, but for the times. `memory_limit` is each rank's; `threads` is not looked at: a
// rank is one. Throws on all ranks what one of them had to: BadInput with the rank where it was another's.
ExploreResult explore(const Model& model, const ExploreOptions& options, Ranks& ranks);

}  // namespace lockstep::cluster
