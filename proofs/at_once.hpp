// What makes a claim of spec/kernel/at_once.hpp true, as obligations.
//
// The client is any (any_client.hpp). Two states, one behind and one ahead, have every field in common but
// those that may differ. Where keeps_up(behind, ahead) holds, and the claims' own lemmas of both,
//   follows   whatever rule of the memory system fires behind, ahead fires one over the same members, or
//   none,
//             and keeps up; what a thread does behind it does ahead
//   ends      where a fair rule is enabled ahead, one is enabled behind, and not only one with which a thread
//             would begin something: that it may do so is not known of a program
//   shows     final values are the same; where no fair rule is enabled behind, both are proper ends or
//   neither
//   breaks    an invariant of the protocol that does not hold behind does not hold ahead
// and a rule that is taken at once leads from any state to one that keeps up with it. One that commutes mends
// no invariant, unless the claim says that it may. All that of rules that wait where they may. A rule that
// may wait, in a state where it may,
//   comes later  than any other that may come after it: that one is enabled before it and would not wait
//                there, and leads, with it or without, to a state that keeps up
//   hides        nothing: neither that a fair rule is enabled, nor what is shown at an end, nor a breach of
//                an invariant
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/any_client.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/symbolic.hpp"
#include "spec/kernel/at_once.hpp"

namespace lockstep {

// A memory system with any client, and what is claimed beside it.
template <class Info, class K, template <class> class Claims>
class ClaimedMemory : public AnyClient<Info, K> {
 public:
  using Base = AnyClient<Info, K>;
  using State = typename Base::State;
  using Base::Base;
  using Base::memory;
  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, typename Base::MemoryState> of_memory;
    Claims<K>{of_memory.keep(memory())}.lemmas(of_memory);
    v.part(of_memory, &State::memory);
  }
};

namespace symbolic {

template <class Info, class KindType, template <class> class Claims>
class ReadClaims {
 public:
  using System = ClaimedMemory<Info, KindType, Claims>;
  using K = KindType;
  using State = typename System::State;
  using Memory = typename System::Memory;
  using MemoryState = typename System::MemoryState;
  using Members = std::vector<Term>;

  ReadClaims(const System& system, ClaimVisitor& visitor)
      : system_(system), memory_(system.memory()), claims_{memory_}, visitor_(visitor) {
    system_.invariants(lemmas_);
    memory_.invariants(invariants_);
    system_.rules(rules_);
    claims_.at_once(at_once_);
  }

  void read() {
    for (const auto& claim : at_once_.values()) check_named(claim);
    for (const std::string_view field : Claims<K>::differ) check_differs(field);
    const auto& rules = rules_.values();
    for (std::size_t n = 0; n < rules.size(); ++n) {
      if (!visitor_.wants_rule(n)) continue;
      try {
        if (n == 0) {
          shows();
          for (const auto& invariant : invariants_.values()) breaks(invariant);
        }
        follows(rules[n]);
        if (rules[n].rule.fairness == Fairness::fair) ends(rules[n]);
        for (const auto& claim : at_once_.values()) {
          const bool own = is_of(claim, rules[n]);
          if (claim.why == WhyAtOnce::commutes) {
            commutes(rule_of(claim), claim, rules[n]);
            if (own) mends_nothing(rules[n], claim);
          } else if (claim.why == WhyAtOnce::waits) {
            comes_later(rule_of(claim), claim, rules[n]);
            if (rules[n].rule.fairness == Fairness::fair) hides_no_rule(rule_of(claim), claim, rules[n]);
            if (own) hides_nothing(rules[n], claim);
          } else if (own) {
            leads(rules[n], claim);
          }
        }
      } catch (const Unreadable& why) {
        throw BadInput(
            fmt::format("what is claimed of \"{}\" cannot be read: {}", rules[n].rule.name, why.what()));
      }
    }
  }

 private:
  using RuleOf = RuleValue<SymbolicErased>;

  // A state of variables. Of two, fields that may differ have variables of their own where they are `apart`.
  struct Bound {
    explicit Bound(bool apart) : store(Store::Start::variables) {
      if (apart) {
        for (const std::string_view field : Claims<K>::differ)
          store.set_apart(fmt::format("memory.{}", field));
      }
      K::bind_to(state, Place{&store, {}, {}, {}});
    }
    [[nodiscard]] const MemoryState& memory() const { return state.memory; }
    Store store;
    State state;
  };
  struct Two {
    Bound behind{false};
    Bound ahead{true};
  };

  static bool is_of(const AtOnceValue<SymbolicErased>& claim, const RuleOf& rule) {
    return rule.rule.name == claim.rule && same_parameters(rule.parameters, claim.parameters);
  }
  [[nodiscard]] const RuleOf& rule_of(const AtOnceValue<SymbolicErased>& claim) const {
    const auto& rules = rules_.values();
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const RuleOf& rule) { return is_of(claim, rule); });
    if (found == rules.end())
      throw BadInput(fmt::format("a claim names \"{}\", which is no rule over those members", claim.rule));
    return *found;
  }
  // Where a state has no enabled fair rule, nothing that commutes may be left to take.
  void check_named(const AtOnceValue<SymbolicErased>& claim) const {
    const RuleOf& rule = rule_of(claim);
    if (System::is_of_client(rule.rule))
      throw BadInput(fmt::format("a claim names \"{}\", which is a thread's", claim.rule));
    if (claim.why == WhyAtOnce::commutes && rule.rule.fairness != Fairness::fair)
      throw BadInput(fmt::format("\"{}\" is claimed to commute, and is not fair", claim.rule));
    if (claim.why == WhyAtOnce::waits && rule.rule.fairness == Fairness::fair)
      throw BadInput(fmt::format("\"{}\" is claimed to wait, and is fair", claim.rule));
  }

  // What a thread sees of the port, and so its registers, has to be the same in both states.
  void check_differs(std::string_view field) const {
    if (field == "port" || field.starts_with("port."))
      throw BadInput(fmt::format("a claim lets \"{}\" differ, which threads see", field));
    const std::string name = fmt::format("memory.{}", field);
    Bound bound(true);
    std::vector<Term> touched;
    lemmas_of(bound.state, touched);
    touched.push_back(keeps_up(bound.memory(), bound.memory()));
    const auto& cells = bound.store.cells();
    const bool known = std::any_of(cells.begin(), cells.end(),
                                   [&](const auto& cell) { return cell.first.starts_with(name); });
    if (!known) throw BadInput(fmt::format("a claim lets \"{}\" differ, which it never looks at", field));
  }

  [[nodiscard]] Term keeps_up(const MemoryState& behind, const MemoryState& ahead) const {
    const Term holds = typename K::Bool(claims_.keeps_up(behind, ahead)).term();
    Session::current().drop_requirements();
    return holds;
  }
  void lemmas_of(const State& state, std::vector<Term>& given) const {
    for (const auto& lemma : lemmas_.values()) given.push_back(lemma.predicate(&state, nullptr));
    Session::current().drop_requirements();
  }
  [[nodiscard]] std::vector<Term> before(const Two& two) const {
    std::vector<Term> given{keeps_up(two.behind.memory(), two.ahead.memory())};
    lemmas_of(two.behind.state, given);
    lemmas_of(two.ahead.state, given);
    return given;
  }
  void fire(const RuleOf& rule, Bound& bound, const Members& members) const {
    Session& session = Session::current();
    session.hold(&bound.store);
    rule.action(&bound.state, members.data());
    session.drop_requirements();
  }
  [[nodiscard]] Term enabled(const RuleOf& rule, const Bound& bound, const Members& members) const {
    const Term guard = rule.guard(&bound.state, members.data());
    Session::current().drop_requirements();
    return guard;
  }
  [[nodiscard]] Term may_wait(const RuleOf& rule, const Bound& bound, const Members& members) const {
    Term any = Session::current().truth(false);
    for (const auto& claim : at_once_.values()) {
      if (claim.why == WhyAtOnce::waits && is_of(claim, rule))
        any = either(any, claim.where(&bound.memory(), members.data()));
    }
    Session::current().drop_requirements();
    return any;
  }
  // Enabled, of rules that wait where they may.
  [[nodiscard]] Term holds(const RuleOf& rule, const Bound& bound, const Members& members) const {
    return both(enabled(rule, bound, members), negation(may_wait(rule, bound, members)));
  }

  // Whether every field that may not differ is the same in both states as they are now.
  static Term same_beside(Store& a, Store& b) {
    return same_but(a, b, [&](const std::string& name) { return a.is_apart(name) || b.is_apart(name); });
  }
  [[nodiscard]] Term kept_up(Bound& behind, Bound& ahead) const {
    const Term rest = same_beside(behind.store, ahead.store);
    return rest.is_false() ? rest : both(rest, keeps_up(behind.memory(), ahead.memory()));
  }

  [[nodiscard]] static bool same_parameters(const std::vector<RuleParameter<SymbolicErased>>& a,
                                            const std::vector<RuleParameter<SymbolicErased>>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name; });
  }
  void follows(const RuleOf& rule) {
    Two two;
    ReadClaim claim = claim_of(rule, "whoever is ahead keeps up");
    const Members members = variables_of(rule, claim.parameters);
    claim.given = before(two);
    claim.given.push_back(holds(rule, two.behind, members));
    fire(rule, two.behind, members);
    claim.goal =
        System::is_of_client(rule.rule) ? Session::current().truth(false) : kept_up(two.behind, two.ahead);
    // Each answer is a firing on a state of its own, of the same variables.
    std::vector<std::unique_ptr<Bound>> answers;
    const auto answer = [&](const RuleOf& other) {
      Bound& ahead = *answers.emplace_back(std::make_unique<Bound>(true));
      const Term may = holds(other, ahead, members);
      fire(other, ahead, members);
      claim.goal = either(claim.goal, both(may, kept_up(two.behind, ahead)));
    };
    answer(rule);
    for (const RuleOf& other : rules_.values()) {
      if (&other != &rule && !System::is_of_client(rule.rule) && !System::is_of_client(other.rule) &&
          same_parameters(other.parameters, rule.parameters))
        answer(other);
    }
    claim.stores = {{"behind", &two.behind.store}, {"ahead", &answers.front()->store}};
    visitor_.claim(claim);
  }

  // Some fair rule is enabled, whatever the program is.
  [[nodiscard]] Term goes_on(const Bound& bound) const {
    Term any = Session::current().truth(false);
    for (const RuleOf& rule : rules_.values()) {
      if (rule.rule.fairness != Fairness::fair || System::begins(rule.rule)) continue;
      any = either(any,
                   some_instance(rule, [&](const Members& members) { return holds(rule, bound, members); }));
    }
    return any;
  }

  void ends(const RuleOf& rule) {
    Two two;
    ReadClaim claim = claim_of(rule, "who is behind is at no end before");
    const Members members = variables_of(rule, claim.parameters);
    claim.given = before(two);
    claim.given.push_back(holds(rule, two.ahead, members));
    claim.goal = either(holds(rule, two.behind, members), goes_on(two.behind));
    claim.stores = {{"behind", &two.behind.store}, {"ahead", &two.ahead.store}};
    visitor_.claim(claim);
  }

  // The same values and, where the first is at an end, that it is a proper one.
  [[nodiscard]] Term show_the_same(const Bound& first, const Bound& second) const {
    const K& k = system_.kind();
    typename K::Bool same(true);
    k.for_each(blocks, [&](const auto& b) {
      k.for_each(words, [&](const auto& w) {
        same =
            same && memory_.final_value(first.memory(), b, w) == memory_.final_value(second.memory(), b, w);
      });
    });
    const typename K::Bool ends = memory_.drained(first.memory()) == memory_.drained(second.memory());
    const Term shown = both(same.term(), either(goes_on(first), ends.term()));
    Session::current().drop_requirements();
    return shown;
  }
  void shows() {
    Two two;
    ReadClaim claim{"any end", "both show the same", {}, before(two), Session::current().truth(true), {}};
    claim.goal = show_the_same(two.behind, two.ahead);
    claim.stores = {{"behind", &two.behind.store}, {"ahead", &two.ahead.store}};
    visitor_.claim(claim);
  }

  using Invariant = InvariantValue<SymbolicErased>;
  [[nodiscard]] static Term holds(const Invariant& invariant, const Bound& bound) {
    const Term truth = invariant.predicate(&bound.memory(), nullptr);
    Session::current().drop_requirements();
    return truth;
  }
  void breaks(const Invariant& invariant) {
    Two two;
    ReadClaim claim{std::string(invariant.name),
                    "broken behind, it is broken ahead",
                    {},
                    before(two),
                    Session::current().truth(true),
                    {}};
    claim.given.push_back(holds(invariant, two.ahead));
    claim.goal = holds(invariant, two.behind);
    claim.stores = {{"behind", &two.behind.store}, {"ahead", &two.ahead.store}};
    visitor_.claim(claim);
  }
  void mends_nothing(const RuleOf& rule, const AtOnceValue<SymbolicErased>& at_once) {
    if (at_once.mending == may_mend) return;
    for (const Invariant& invariant : invariants_.values()) {
      Bound before(false);
      Bound after(false);
      ReadClaim claim = claim_of(rule, fmt::format("mends no breach of \"{}\"", invariant.name));
      const Members members = variables_of(rule, claim.parameters);
      lemmas_of(before.state, claim.given);
      claim.given.push_back(holds(rule, before, members));
      claim.given.push_back(at_once.where(&before.memory(), members.data()));
      fire(rule, after, members);
      claim.given.push_back(holds(invariant, after));
      claim.goal = holds(invariant, before);
      claim.stores = {{"state", &after.store}};
      visitor_.claim(claim);
    }
  }

  // Of two states that began as one, nothing set apart: what may differ is whatever firing changed of it.
  [[nodiscard]] Term keeps_up_as_fired(Bound& behind, Bound& ahead) const {
    return both(same_but(behind.store, ahead.store, may_differ), keeps_up(behind.memory(), ahead.memory()));
  }
  [[nodiscard]] static Term differ(const Members& some, const Members& others) {
    Term same = Session::current().truth(true);
    for (std::size_t i = 0; i < some.size(); ++i) same = both(same, equal(some[i], others[i]));
    return negation(same);
  }
  void leads(const RuleOf& rule, const AtOnceValue<SymbolicErased>& at_once) {
    Bound behind(false);
    Bound ahead(false);
    ReadClaim claim = claim_of(rule, "taken at once, it leads ahead");
    const Members members = variables_of(rule, claim.parameters);
    lemmas_of(behind.state, claim.given);
    claim.given.push_back(holds(rule, behind, members));
    claim.given.push_back(at_once.where(&behind.memory(), members.data()));
    fire(rule, ahead, members);
    claim.goal = keeps_up_as_fired(behind, ahead);
    claim.stores = {{"behind", &behind.store}, {"ahead", &ahead.store}};
    visitor_.claim(claim);
  }
  // Another rule, or the same of other members, before it or after it.
  void commutes(const RuleOf& rule, const AtOnceValue<SymbolicErased>& at_once, const RuleOf& other) {
    Bound after(false);   // the other comes after it
    Bound before(false);  // the other comes before it
    ReadClaim claim = claim_of(other, fmt::format("may as well come after \"{}\"", rule.rule.name));
    const Members own = variables_of(rule, claim.parameters);
    const Members others = variables_of(other, claim.parameters);
    lemmas_of(after.state, claim.given);
    claim.given.push_back(holds(rule, after, own));
    claim.given.push_back(holds(other, after, others));
    claim.given.push_back(at_once.where(&after.memory(), own.data()));
    if (&rule == &other) claim.given.push_back(differ(own, others));
    fire(rule, after, own);
    claim.goal = holds(other, after, others);
    fire(other, after, others);
    fire(other, before, others);
    claim.goal = both(claim.goal, holds(rule, before, own));
    claim.goal = both(claim.goal, at_once.where(&before.memory(), own.data()));
    fire(rule, before, own);
    claim.goal = both(claim.goal, keeps_up_as_fired(before, after));
    claim.stores = {{"before", &before.store}, {"after", &after.store}};
    visitor_.claim(claim);
  }

  // A rule that waits in one state and fires in the other.
  struct LaterOrNow {
    Bound later{false};
    Bound now{false};
    Members own;
  };
  std::unique_ptr<LaterOrNow> later_or_now(const RuleOf& rule, const AtOnceValue<SymbolicErased>& waits,
                                           ReadClaim& claim) const {
    auto two = std::make_unique<LaterOrNow>();
    two->own = variables_of(rule, claim.parameters);
    lemmas_of(two->later.state, claim.given);
    claim.given.push_back(enabled(rule, two->later, two->own));
    claim.given.push_back(waits.where(&two->later.memory(), two->own.data()));
    fire(rule, two->now, two->own);
    claim.stores = {{"later", &two->later.store}, {"now", &two->now.store}};
    return two;
  }
  // Another rule, or the same of other members, that may come after it.
  void comes_later(const RuleOf& rule, const AtOnceValue<SymbolicErased>& waits, const RuleOf& other) {
    ReadClaim claim = claim_of(other, fmt::format("may as well come before \"{}\"", rule.rule.name));
    const auto two = later_or_now(rule, waits, claim);
    const Members others = variables_of(other, claim.parameters);
    if (&rule == &other) claim.given.push_back(differ(two->own, others));
    claim.given.push_back(enabled(other, two->now, others));
    claim.goal =
        both(enabled(other, two->later, others),
             either(may_wait(other, two->now, others), negation(may_wait(other, two->later, others))));
    fire(other, two->now, others);
    fire(other, two->later, others);
    const Term without = keeps_up_as_fired(two->now, two->later);
    const Term still = enabled(rule, two->later, two->own);
    fire(rule, two->later, two->own);
    claim.goal = both(claim.goal, either(without, both(still, keeps_up_as_fired(two->now, two->later))));
    visitor_.claim(claim);
  }
  void hides_no_rule(const RuleOf& rule, const AtOnceValue<SymbolicErased>& waits, const RuleOf& other) {
    ReadClaim claim = claim_of(other, fmt::format("is not ended by \"{}\"", rule.rule.name));
    const auto two = later_or_now(rule, waits, claim);
    const Members others = variables_of(other, claim.parameters);
    claim.given.push_back(enabled(other, two->later, others));
    claim.goal = either(enabled(other, two->now, others), goes_on(two->now));
    visitor_.claim(claim);
  }
  void hides_nothing(const RuleOf& rule, const AtOnceValue<SymbolicErased>& waits) {
    {
      ReadClaim claim = claim_of(rule, "shows nothing");
      const auto two = later_or_now(rule, waits, claim);
      const Term port = same_but(two->later.store, two->now.store,
                                 [](const std::string& name) { return !name.starts_with("memory.port"); });
      claim.goal = both(port, show_the_same(two->now, two->later));
      visitor_.claim(claim);
    }
    for (const Invariant& invariant : invariants_.values()) {
      ReadClaim claim = claim_of(rule, fmt::format("does not break \"{}\"", invariant.name));
      const auto two = later_or_now(rule, waits, claim);
      claim.given.push_back(holds(invariant, two->later));
      claim.goal = holds(invariant, two->now);
      visitor_.claim(claim);
    }
  }
  static bool may_differ(const std::string& name) {
    const Bound apart(true);
    return apart.store.is_apart(name);
  }

  static ReadClaim claim_of(const RuleOf& rule, std::string what) {
    return {std::string(rule.rule.name), std::move(what), {}, {}, Session::current().truth(true), {}};
  }

  const System& system_;
  Memory memory_;
  Claims<K> claims_;
  ClaimVisitor& visitor_;
  InvariantList<K, State> lemmas_;
  InvariantList<K, MemoryState> invariants_;  // the protocol's
  RuleList<K, State> rules_{system_.kind()};
  AtOnceList<K, MemoryState> at_once_{system_.kind()};
};

}  // namespace symbolic

// What is claimed beside a protocol, as something to be proved at fixed sizes.
template <class Info, template <class> class Claims>
class ProvedClaims final : public ProofSubject {
 public:
  using Sizes = typename Info::template Sizes<FullCapacities>;
  using K = Symbolic<Sizes>;
  using System = ClaimedMemory<Info, K, Claims>;

  ProvedClaims(const SystemEntry& entry, const SystemOptions& options)
      : variant_(variant_index(entry, options.variant)), faults_(fault_mask(entry, options.faults)) {
    machine_to_prove(sizes_);
    Info::default_sizes(sizes_, variant_);
    apply_sizes(sizes_, options, [](auto) { return false; });
    listed_ = sizes_to_tell(sizes_);
    const symbolic::Session session(false);
    const System system = make();
    RuleList<K, typename System::State> rules(system.kind());
    system.rules(rules);
    for (const auto& rule : rules.values()) rules_.emplace_back(rule.rule.name);
    InvariantList<K, typename System::State> lemmas;
    system.invariants(lemmas);
    for (const auto& lemma : lemmas.values()) lemmas_.push_back({std::string(lemma.name)});
    const typename System::Memory memory = system.memory();
    AtOnceList<K, typename System::MemoryState> at_once(system.kind());
    Claims<K>{memory}.at_once(at_once);
    for (const auto& claim : at_once.values())
      (claim.why == WhyAtOnce::waits ? later_ : taken_).emplace_back(claim.rule);
  }

  [[nodiscard]] const std::vector<ProofLemma>& lemmas() const override { return lemmas_; }
  [[nodiscard]] const std::vector<std::string>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& sizes() const override { return listed_; }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& fixed_sizes() const override {
    return listed_;
  }
  [[nodiscard]] const std::string& client() const override { return client_; }
  void read(RuleVisitor& visitor) const override {
    const System system = make();
    symbolic::ReadSystem<System>(system, visitor).read();
  }
  // An explorer stops where a rule overruns something, whatever it takes at once.
  [[nodiscard]] bool judges_overruns() const override { return false; }
  [[nodiscard]] std::vector<std::string> taken_at_once() const override { return taken_; }
  [[nodiscard]] std::vector<std::string> left_for_later() const override { return later_; }
  void read_claims(ClaimVisitor& visitor) const override {
    const System system = make();
    symbolic::ReadClaims<Info, K, Claims>(system, visitor).read();
  }

 private:
  [[nodiscard]] System make() const { return System(K(sizes_), named_machine<K>(), faults_, variant_); }

  int variant_;
  std::uint64_t faults_;
  Sizes sizes_;
  std::vector<std::string> rules_;
  std::vector<ProofLemma> lemmas_;
  std::vector<std::string> taken_;
  std::vector<std::string> later_;
  std::vector<std::pair<std::string, int>> listed_;
  std::string client_ =
      "any: at any moment any idle thread asks for any operation, function, order and scope, "
      "with any words of 32 bits";
};

template <class Info, template <class> class Claims>
std::unique_ptr<ProofSubject> build_claims(const SystemOptions& options) {
  return std::make_unique<ProvedClaims<Info, Claims>>(find_system(Info::name), options);
}

}  // namespace lockstep
