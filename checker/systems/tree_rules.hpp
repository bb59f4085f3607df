// Rules of a run as their trees say them: held against the compiled ones, or, changed, in place of one.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "checker/interpret/mutation.hpp"
#include "checker/interpret/tree_rule.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

// The trees of a run, with the change that its options ask for; `part` as in mutated().
recorded::WholeDescription with_mutation(recorded::WholeDescription whole, const SystemOptions& options,
                                         std::string_view part);

// All rules of a run, as FieldLayout. Throws std::logic_error with the rule and the construct where a tree
// cannot be walked.
std::vector<std::shared_ptr<const TreeRule>> tree_rules(const recorded::WholeDescription& whole,
                                                        std::vector<footprint::Place> places,
                                                        std::vector<std::byte> defaults);

// Has a model walk the tree of the rule that is changed, and hold all trees against the rules where
// footprints are checked. `whole` are its trees, with the change.
template <class CompiledModel>
void walk_trees(CompiledModel& model, const SystemOptions& options, const recorded::WholeDescription& whole) {
  if (!options.mutation && !options.check_footprints) return;
  const auto rules = tree_rules(whole, model.places(), model.default_bytes());
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (options.mutation && whole.rules[r].name == options.mutation->rule) model.replace(r, rules[r]);
  }
  if (options.check_footprints) model.check_trees(rules);
}

}  // namespace lockstep
