// What each guard of a system looks at, of a packed state: read off the system's trees.
#pragma once

#include <string_view>
#include <vector>

#include "checker/explore/guard_inputs.hpp"
#include "checker/explore/rule_engine.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

// Where the trees' fields are among a run's.
struct WhereTreesLie {
  std::string_view part;  // the trees' state, as a part of the run's; "" where it is all
  // Tables whose row for a thread all fields of that thread that are not stored follow from; where there are
  // none, such a field may follow from anything.
  std::vector<std::string_view> restored_from;
  std::vector<recorded::RigidFunction> functions;  // that are known
};

// Of each of the engine's instances what its guard looks at: of rules that the trees do not know, all
// `state_bits`. The system has to have trees.
std::vector<std::vector<BitRange>> guard_reads(const SystemEntry& entry, const SystemOptions& options,
                                               const RuleEngine& engine,
                                               const std::vector<ScalarBits>& scalars,
                                               std::uint32_t state_bits, const WhereTreesLie& where);

// Has a model ask guards again only where that may make a difference, by the trees of `entry`.
template <class CompiledModel>
void ask_by_trees(CompiledModel& model, const SystemEntry& entry, const SystemOptions& options,
                  const WhereTreesLie& where) {
  if (entry.describe == nullptr) return;
  model.ask_again(
      {guard_reads(entry, options, model.engine(), model.packed_scalars(), model.state_bits(), where),
       model.words()});
}

}  // namespace lockstep
