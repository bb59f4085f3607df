// Index types over which some loop's iterations may tell in which order they come.
//
// A protocol's loops are pointwise (docs/kernel.md); where one is not, renaming the members that it goes over
// changes what it does, though its tree names none.
#pragma once

#include <map>
#include <string>

#include "spec/kernel/recorded.hpp"

namespace lockstep::symmetry {

// By index type: the first rule that has such a loop. What an iteration writes has to lie in a row of its
// own, or be one constant; and it may read nothing that another writes.
std::map<std::string, std::string> ordered_loops(const recorded::WholeDescription& whole);

}  // namespace lockstep::symmetry
