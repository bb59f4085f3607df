// Which renamings of members of index types a system does not notice: its initial states, its rules, what is
// claimed of it and what is a proper end are the same after as before.
//
// A rule whose tree names no member treats all alike, since members of interchangeable types are compared for
// equality and nothing else. So a renaming has to be held only against what names members: it must turn the
// rules that do into one another. docs/engine.md has the argument.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/symmetry/normal_text.hpp"
#include "checker/symmetry/packed_layout.hpp"

namespace lockstep::symmetry {

struct Automorphisms {
  std::vector<std::string> types;    // whose members some of them rename
  std::vector<Renaming> elements;    // a group; the first renames nothing
  std::vector<std::string> refused;  // of each type asked for that is not among them: why not
  bool all = true;                   // none was left out for there were too many
};

// More than these are not asked for: what there is of them then is a subgroup.
constexpr std::size_t most_elements = 100'000;

// Of the index types named, or of all where none is. Throws BadInput, with the nearest name, on one that the
// system does not have.
Automorphisms automorphisms_of(const recorded::WholeDescription& whole, const Model& model,
                               const PackedLayout& layout, const std::vector<NotMeant>& not_meant,
                               const std::vector<std::string>& wanted);

}  // namespace lockstep::symmetry
