// Small changes of a rule's recorded tree, as a slip of its author would make: the measure of what tests and
// proofs notice.
//
// A change is named by what it changes, not by where that stands in one recording, so that it is the same
// change at all sizes: what a loop over a fixed index type unrolls to is changed as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep {

enum class MutationKind : std::uint8_t {
  drops_statement,    // an assignment, a push or a pop
  drops_condition,    // of the guard: it is enabled more often
  drops_alternative,  // of the guard: it is enabled less often
  never_fires,
  negates_condition,  // of a part of the action
  takes_other,        // of a value that is one or the other
  does_nothing,       // but take its message, where it has one
  swaps_pushes,
};

struct Mutation {
  std::string rule;
  MutationKind kind = MutationKind::does_nothing;
  std::string what;  // what is changed, as the tree says it
  std::string
      where;  // the conditions on the way to it, likewise; empty in the guard and where there are none
  bool operator==(const Mutation&) const = default;
};

// For people: "drops `rl1(cu, block).present = false`".
std::string text(const Mutation& mutation);

// All of a rule, in the order of its tree, each once.
std::vector<Mutation> mutations_of(const recorded::RecordedRule& rule);

// The rule, changed; itself where it has nothing of the kind at these sizes. `part` is the name of the rule's
// part of a larger state, "" where it is all.
recorded::RecordedRule mutated(const recorded::RecordedRule& rule, const Mutation& mutation,
                               std::string_view part);

}  // namespace lockstep
