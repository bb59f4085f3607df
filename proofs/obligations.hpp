// What has to be proved of a system, read off its rules with the Symbolic kind: that every lemma holds at the
// start, that every rule keeps every lemma, and that no rule overruns a queue or a range.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "proofs/symbolic.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

// One rule, or one family of initial states, as a transition from any state.
struct ReadRule {
  std::string name;
  std::string unit;
  std::string source;
  struct Parameter {
    std::string name;
    symbolic::Domain domain;
    symbolic::Term term;
  };
  std::vector<Parameter> parameters;
  symbolic::Term guard;
  std::vector<symbolic::Term> before;  // the lemmas, in the order of their names
  std::vector<symbolic::Term> after;
  std::vector<symbolic::Session::Requirement> requirements;
  const symbolic::Store* store = nullptr;  // alive during the visit only
};

// Is asked for each rule, by its number, whether to read it; then given it. Number 0 and up are rules, in
// the order of the protocol; starts have numbers of their own.
class RuleVisitor {
 public:
  RuleVisitor() = default;
  RuleVisitor(const RuleVisitor&) = delete;
  RuleVisitor& operator=(const RuleVisitor&) = delete;
  virtual ~RuleVisitor() = default;
  virtual bool wants_start(std::size_t number) = 0;
  virtual bool wants_rule(std::size_t number) = 0;
  virtual void start(const ReadRule& rule) = 0;
  virtual void rule(const ReadRule& rule) = 0;
};

// Something to be proved of two states: `goal` where everything `given` holds.
struct ReadClaim {
  std::string rule;
  std::string what;
  std::vector<ReadRule::Parameter> parameters;
  std::vector<symbolic::Term> given;
  symbolic::Term goal;
  std::vector<std::pair<std::string, const symbolic::Store*>> stores;  // alive during the visit only
};

// Is asked for each rule, by its number, whether to read its claims; then given them.
class ClaimVisitor {
 public:
  ClaimVisitor() = default;
  ClaimVisitor(const ClaimVisitor&) = delete;
  ClaimVisitor& operator=(const ClaimVisitor&) = delete;
  virtual ~ClaimVisitor() = default;
  virtual bool wants_rule(std::size_t number) = 0;
  virtual void claim(const ReadClaim& claim) = 0;
};

namespace symbolic {

// `System` lists its rules, starts and invariants, its lemmas among them, within the current session.
template <class System>
requires ValueKind<typename System::Kind>
class ReadSystem {
 public:
  using K = typename System::Kind;
  using State = typename System::State;
  using Members = std::vector<Term>;

  // `each_instance`: a rule is read for every member of its parameters that there is, one after the other,
  // rather than for any; then no index type may be open.
  ReadSystem(const System& system, RuleVisitor& visitor, bool each_instance = false)
      : system_(system), visitor_(visitor), each_instance_(each_instance) {
    system_.invariants(lemmas_);
  }

  void read() {
    StartList<K, State> starts(system_.kind());
    system_.start(starts);
    std::size_t number = 0;
    for (const StartValue<SymbolicErased>& start : starts.values()) {
      if (!visitor_.wants_start(number++)) continue;
      read(Rule{.name = "start", .unit = "system"}, start.parameters, Store::Start::defaults, nullptr,
           start.action);
    }
    RuleList<K, State> rules(system_.kind());
    system_.rules(rules);
    number = 0;
    for (const RuleValue<SymbolicErased>& rule : rules.values()) {
      if (!visitor_.wants_rule(number++)) continue;
      read(rule.rule, rule.parameters, Store::Start::variables, &rule.guard, rule.action);
    }
  }

 private:
  void read(const Rule& rule, const std::vector<RuleParameter<SymbolicErased>>& parameters, Store::Start from,
            const ErasedGuard<SymbolicErased>* guard, const ErasedAction<SymbolicErased>& action) {
    try {
      Members members;
      read_instances(members, rule, parameters, from, guard, action);
    } catch (const Unreadable& why) {
      throw BadInput(fmt::format("the rule \"{}\" cannot be read: {}", rule.name, why.what()));
    }
  }
  void read_instances(Members& members, const Rule& rule,
                      const std::vector<RuleParameter<SymbolicErased>>& parameters, Store::Start from,
                      const ErasedGuard<SymbolicErased>* guard, const ErasedAction<SymbolicErased>& action) {
    Session& session = Session::current();
    if (members.size() == parameters.size()) return read_rule(members, rule, parameters, from, guard, action);
    const auto& parameter = parameters[members.size()];
    const auto go_on = [&](const Term& member) {
      members.push_back(member);
      read_instances(members, rule, parameters, from, guard, action);
      members.pop_back();
    };
    if (!each_instance_)
      return go_on(session.variable(parameter.type, session.fresh(std::string(parameter.name))));
    if (parameter.type.kind == Domain::Kind::any)
      throw Unreadable(fmt::format("'{}' is open, so it has no instances to go through", parameter.name));
    for (int i = 0; i < parameter.type.size; ++i) go_on(session.member(parameter.type, i));
  }
  // Without a guard it may always happen.
  void read_rule(const Members& members, const Rule& rule,
                 const std::vector<RuleParameter<SymbolicErased>>& parameters, Store::Start from,
                 const ErasedGuard<SymbolicErased>* guard, const ErasedAction<SymbolicErased>& action) {
    Session& session = Session::current();
    Store store(from);
    State state;
    K::bind_to(state, Place{&store, {}, {}, {}});
    session.hold(&store);
    ReadRule read{std::string(rule.name),
                  std::string(rule.unit),
                  std::string(rule.source),
                  {},
                  session.truth(true),
                  lemmas(state),
                  {},
                  {},
                  &store};
    for (std::size_t i = 0; i < members.size(); ++i)
      read.parameters.push_back({std::string(parameters[i].name), parameters[i].type, members[i]});
    if (guard != nullptr) read.guard = (*guard)(&state, members.data());
    session.drop_requirements();
    action(&state, members.data());
    read.requirements = session.take_requirements();
    read.after = lemmas(state);
    if (from == Store::Start::variables) {
      visitor_.rule(read);
    } else {
      visitor_.start(read);
    }
  }
  std::vector<Term> lemmas(const State& state) const {
    std::vector<Term> terms;
    for (const auto& lemma : lemmas_.values()) terms.push_back(lemma.predicate(&state, nullptr));
    Session::current().drop_requirements();
    return terms;
  }

  const System& system_;
  RuleVisitor& visitor_;
  bool each_instance_;
  InvariantList<K, State> lemmas_;
};

// A variable for each parameter of a rule, which a claim then names.
inline std::vector<Term> variables_of(const RuleValue<SymbolicErased>& rule,
                                      std::vector<ReadRule::Parameter>& named) {
  Session& session = Session::current();
  std::vector<Term> members;
  for (const auto& parameter : rule.parameters) {
    members.push_back(session.variable(parameter.type, session.fresh(std::string(parameter.name))));
    named.push_back({std::string(parameter.name), parameter.type, members.back()});
  }
  return members;
}

// Whether `holds(members)` is true of some members of a rule's parameters.
template <class Holds>
Term some_instance(const RuleValue<SymbolicErased>& rule, Holds&& holds, std::vector<Term> members = {}) {
  if (members.size() == rule.parameters.size()) return holds(members);
  Session& session = Session::current();
  const Domain& domain = rule.parameters[members.size()].type;
  const auto with = [&](const Term& member) {
    std::vector<Term> more = members;
    more.push_back(member);
    return some_instance(rule, holds, std::move(more));
  };
  if (domain.kind == Domain::Kind::any) {
    const Term member = session.unbound(domain);
    const Term body = with(member);
    return body.is_true() || body.is_false() ? body : z3::exists(member, body);
  }
  Term any = session.truth(false);
  for (int i = 0; i < domain.size; ++i) any = either(any, with(session.member(domain, i)));
  return any;
}

// A system's rules as they are read and as their trees say them, two systems that list the same rules: that
// both are enabled in the same states, leave the same behind and ask for the same room.
template <class System>
class ReadTrees {
 public:
  using K = typename System::Kind;
  using State = typename System::State;
  ReadTrees(const System& system, const System& from_trees, ClaimVisitor& visitor)
      : visitor_(visitor), rules_(system.kind()), trees_(from_trees.kind()) {
    system.rules(rules_);
    from_trees.rules(trees_);
  }

  void read() {
    for (std::size_t r = 0; r < rules_.values().size(); ++r) {
      if (!visitor_.wants_rule(r)) continue;
      const std::string name(rules_.values()[r].rule.name);
      try {
        compare(name, rules_.values()[r], trees_.values().at(r));
      } catch (const Unreadable& why) {
        throw BadInput(fmt::format("the tree of the rule \"{}\" cannot be read: {}", name, why.what()));
      }
    }
  }

 private:
  using Members = std::vector<Term>;
  struct Fired {
    Store store{Store::Start::variables};
    State state;
    Term guard = Session::current().truth(true);
    Term room = Session::current().truth(true);
    Fired(const RuleValue<SymbolicErased>& rule, const Members& members) {
      Session& session = Session::current();
      K::bind_to(state, Place{&store, {}, {}, {}});
      session.hold(&store);
      guard = rule.guard(&state, members.data());
      session.drop_requirements();
      rule.action(&state, members.data());
      for (const Session::Requirement& requirement : session.take_requirements())
        room = both(room, requirement.holds);
    }
  };
  void compare(const std::string& name, const RuleValue<SymbolicErased>& rule,
               const RuleValue<SymbolicErased>& tree) {
    Session& session = Session::current();
    ReadClaim claim{name, {}, {}, {}, session.truth(true), {}};
    const Members members = variables_of(rule, claim.parameters);
    Fired read(rule, members);
    Fired told(tree, members);
    claim.stores = {{"rule", &read.store}, {"tree", &told.store}};
    const auto claimed = [&](std::string_view what, const Term& goal) {
      claim.what = what;
      claim.goal = goal;
      visitor_.claim(claim);
    };
    claimed("its tree is enabled where it is", equal(read.guard, told.guard));
    claim.given = {read.guard};
    claimed("its tree leaves what it leaves",
            same_but(read.store, told.store, [](const std::string&) { return false; }));
    claimed("its tree asks for the room and the ranges that it asks for", equal(read.room, told.room));
  }

  ClaimVisitor& visitor_;
  RuleList<K, State> rules_;
  RuleList<K, State> trees_;
};

}  // namespace symbolic

// A system together with what is claimed of it, as the prover and the explorer both read it.
template <class System, template <class> class Lemmas>
class WithLemmas {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;
  explicit WithLemmas(System system) : system_(std::move(system)) {}

  [[nodiscard]] const Kind& kind() const { return system_.kind(); }
  void start(StartList<Kind, State>& s) const { system_.start(s); }
  void rules(RuleList<Kind, State>& r) const { system_.rules(r); }
  // The system's own properties come first, less those that the lemmas leave to the explorer.
  void invariants(InvariantList<Kind, State>& v) const {
    if constexpr (requires { Lemmas<System>::left_to_the_explorer; }) {
      InvariantList<Kind, State> all;
      system_.invariants(all);
      const auto& left = Lemmas<System>::left_to_the_explorer;
      for (const auto& own : all.values()) {
        if (std::find(left.begin(), left.end(), own.name) == left.end()) v.add(own);
      }
      v.keep(all.kept());
    } else {
      system_.invariants(v);
    }
    v.keep(Lemmas<System>{system_}).lemmas(v);
  }
  void restore(State& s) const { system_.restore(s); }
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s); }

 private:
  System system_;
};

}  // namespace lockstep
