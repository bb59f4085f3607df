// A rule as its recorded tree says it, read as Z3 terms: the tree, walked on the fields of a state, in place
// of the rule's closures.
//
// What the prover reads and what is recorded come from one header, by two readings. That they say the same of
// every state is proved rule by rule (`prove --trees`); and a tree that has been changed (mutation.hpp) is
// proved of without being compiled.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/footprint/nodes.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/symbolic.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep::symbolic {

// What the trees of a system are read with.
struct TreeSystem {
  std::shared_ptr<const recorded::Description> description;
  footprint::Constants constants;
  std::map<std::string, Domain> enumerations;  // by name
  std::map<std::string, Domain> index_types;   // likewise
  std::string within;  // where its state lies in the one that is read, "system.memory"

  TreeSystem(std::shared_ptr<const recorded::Description> described, std::string_view place,
             std::map<std::string, Domain> types);
};

// On the state that the session holds, of its parameters' members. Both throw Unreadable with the construct
// that cannot be read.
Term guard_of(const TreeSystem& system, const recorded::RecordedRule& rule, const Term* members);
void act(const TreeSystem& system, const recorded::RecordedRule& rule, const Term* members);

}  // namespace lockstep::symbolic

namespace lockstep {

// The trees that are read in the place of rules: those of rules that are changed, or all of them.
class RuleTrees {
 public:
  RuleTrees() = default;
  using Describe = std::function<recorded::Description(const SystemOptions&)>;
  // Those of the system at these options and sizes, with the change that they ask for: of the rule that is
  // changed, or of all. Throws BadInput where there are none.
  RuleTrees(const Describe& describe, const SystemOptions& options,
            const std::vector<std::pair<std::string, int>>& sizes, bool all);

  // The same, of a state that lies within a larger one, of index types as they are in a session.
  [[nodiscard]] RuleTrees placed(std::string_view within,
                                 std::map<std::string, symbolic::Domain> types) const;
  void replace(RuleValue<SymbolicErased>& rule) const;

 private:
  std::shared_ptr<const recorded::Description> description_;  // none: nothing is replaced
  std::string only_;                                          // the rule that is; empty for all
  std::shared_ptr<const symbolic::TreeSystem> system_;
};

// A system, some of whose rules are read off their trees.
template <class System>
class FromTrees : public System {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;
  // Its state lies at `within` in the state that is read.
  FromTrees(System system, const RuleTrees& trees, std::string_view within)
      : System(std::move(system)), trees_(trees.placed(within, this->kind().index_types())) {}

  void rules(RuleList<Kind, State>& list) const {
    RuleList<Kind, State> own(this->kind());
    System::rules(own);
    for (RuleValue<SymbolicErased> rule : own.values()) {
      trees_.replace(rule);
      list.add(std::move(rule));
    }
    list.keep(own.kept());
  }

 private:
  RuleTrees trees_;
};

}  // namespace lockstep
