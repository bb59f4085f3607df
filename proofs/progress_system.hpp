// That a memory system which is left alone answers what it was asked: once threads ask nothing more and
// optional rules (replacements) fire no more, every rule that fires leaves less to do, and as long as a
// request waits some fair rule is enabled. So each request is answered after finitely many firings, whichever
// rules are chosen. Included by the translation unit of each system in proofs/systems only.
//
// What remains to be done is stated beside the lemmas, as truths of members, in groups: what is done of one
// group may begin anything in later ones again, and nothing in its own or those before. There are finitely
// many members, so no run of such steps is without end: a lexicographic order of sets, ordered by
// inclusion, which needs no numbers and so speaks of any size.
//
// Obligations, given the lemmas:
//   less      a fair rule of the memory system leaves less
//   answers   whose request a rule of the memory system ends has its completion then, and keeps it
//   goes on   where a thread's request is pending, some fair rule of the memory system is enabled
//   drains    where all threads have ended and none is, memory has drained
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/any_client.hpp"
#include "proofs/capacities.hpp"
#include "proofs/history.hpp"
#include "proofs/open_system.hpp"
#include "proofs/proof_system.hpp"
#include "spec/program/ended.hpp"

namespace lockstep {

// A system's list of what remains to be done; State is the memory system's.
template <class K, class State>
class Remainder {
 public:
  using Bool = typename K::Bool;
  explicit Remainder(const K& k) : k_(k) {}

  // What follows may be begun again whenever something listed before is done.
  void group() { groups_.emplace_back(); }
  // f(state, members...) is a list of truths, always of the same length: what of each remains.
  template <class... Tags, class F>
  void each(Over<Tags...>, F f) {
    groups_.back().push_back([this, f](const State& before, const State& after, bool sought) {
      return walk<Tags...>(sought, [&](const auto&... members) {
        const auto was = f(before, members...);
        const auto is = f(after, members...);
        Bool truth(!sought);
        for (std::size_t i = 0; i < was.size(); ++i) {
          if (sought) {
            truth = truth || (was[i] && !is[i]);
          } else {
            truth = truth && (was[i] || !is[i]);
          }
        }
        return truth;
      });
    });
  }
  // Less remains after than before.
  [[nodiscard]] Bool is_less(const State& before, const State& after) const {
    Bool less(false);
    Bool no_more(true);
    for (const auto& group : groups_) {
      Bool done(false);
      for (const auto& item : group) {
        no_more = no_more && item(before, after, false);
        done = done || item(before, after, true);
      }
      less = less || (no_more && done);
    }
    return less;
  }

 private:
  // Of all members, or sought: of some.
  template <class... Tags, class F>
  [[nodiscard]] Bool walk(bool sought, F&& f) const {
    if constexpr (sizeof...(Tags) == 0) {
      return f();
    } else {
      return walk_from<Tags...>(sought, f);
    }
  }
  template <class Tag, class... Tags, class F>
  [[nodiscard]] Bool walk_from(bool sought, F&& f) const {
    const auto inner = [&](const auto& member) {
      return walk<Tags...>(sought, [&](const auto&... members) { return f(member, members...); });
    };
    return sought ? k_.exists(Tag{}, inner) : k_.forall(Tag{}, inner);
  }

  // Whether nothing of it has been begun, or, sought, whether something of it has been done.
  using Item = std::function<Bool(const State& before, const State& after, bool sought)>;
  const K& k_;
  std::vector<std::vector<Item>> groups_;
};

// Of a queue's rows that `f` holds of: whether there is one, whether there are two, and so on.
template <class K, class Row, class Slot, template <class, class> class Queue, class F>
std::vector<typename K::Bool> rows_queued(const K& k, const Queue<Row, Slot>& queue, F&& f) {
  using Bool = typename K::Bool;
  std::vector<Bool> rows(static_cast<std::size_t>(k.template extent<Slot>()), Bool(false));
  K::for_each_queued(queue, [&](const Row& row) {
    const Bool counts = f(row);
    for (std::size_t i = rows.size() - 1; i > 0; --i) rows[i] = rows[i] || (counts && rows[i - 1]);
    rows[0] = rows[0] || counts;
  });
  return rows;
}

namespace symbolic {

// `System` with its lemmas, which `Lemmas` has, beside what remains to be done.
template <class Client, class Observed, template <class> class Lemmas>
class ReadProgress {
 public:
  using System = WithLemmas<Observed, Lemmas>;
  using K = typename System::Kind;
  using State = typename System::State;
  using MemoryState = typename Client::MemoryState;
  using Members = std::vector<Term>;
  using RuleOf = RuleValue<SymbolicErased>;

  ReadProgress(const Observed& observed, const System& system, ClaimVisitor& visitor)
      : observed_(observed), system_(system), visitor_(visitor), remainder_(system.kind()) {
    system_.rules(rules_);
    system_.invariants(lemmas_);
    claims_.remaining(remainder_);
  }

  void read() {
    for (std::size_t n = 0; n < rules_.values().size(); ++n) {
      if (!visitor_.wants_rule(n)) continue;
      const RuleOf& rule = rules_.values()[n];
      try {
        if (n == 0) {
          goes_on();
          drains();
        }
        if (Client::is_of_client(rule.rule)) continue;
        fired(rule, "answers whoever waits no longer",
              [&](const Bound& before, const Bound& after) { return answers(before, after); });
        if (is_counted_on(rule)) {
          fired(rule, "leaves less to do", [&](const Bound& before, const Bound& after) {
            return remainder_.is_less(before.memory(), after.memory());
          });
        }
      } catch (const Unreadable& why) {
        throw BadInput(
            fmt::format("what is claimed of \"{}\" cannot be read: {}", rule.rule.name, why.what()));
      }
    }
  }

 private:
  struct Bound {
    Bound() { K::bind_to(state, Place{&store, {}, {}, {}}); }
    [[nodiscard]] const MemoryState& memory() const { return state.system.memory; }
    Store store{Store::Start::variables};
    State state;
  };
  static bool is_counted_on(const RuleOf& rule) {
    return rule.rule.fairness == Fairness::fair && !Client::is_of_client(rule.rule);
  }
  static Term kept(const typename K::Bool& truth) {
    Session::current().drop_requirements();
    return truth.term();
  }
  void given_lemmas(const Bound& bound, std::vector<Term>& given) const {
    for (const auto& lemma : lemmas_.values()) given.push_back(lemma.predicate(&bound.state, nullptr));
    Session::current().drop_requirements();
  }
  [[nodiscard]] Term some_rule_is_enabled(Bound& bound) const {
    Session::current().hold(&bound.store);
    Term any = Session::current().truth(false);
    for (const RuleOf& rule : rules_.values()) {
      if (!is_counted_on(rule)) continue;
      any = either(any, some_instance(rule, [&](const Members& members) {
                     const Term guard = rule.guard(&bound.state, members.data());
                     Session::current().drop_requirements();
                     return guard;
                   }));
    }
    return any;
  }

  void goes_on() {
    Session& session = Session::current();
    Bound bound;
    ReadClaim claim{
        "no rule", "as long as a request waits, some rule is enabled", {}, {}, session.truth(true), {}};
    const Domain domain = K::template domain<ThreadTag>();
    const Term thread = session.variable(domain, session.fresh("thread"));
    claim.parameters.push_back({"thread", domain, thread});
    given_lemmas(bound, claim.given);
    claim.given.push_back(kept(bound.memory().port(typename K::template Ix<ThreadTag>(thread)).pending));
    claim.goal = some_rule_is_enabled(bound);
    claim.stores = {{"state", &bound.store}};
    visitor_.claim(claim);
  }
  void drains() {
    Bound bound;
    ReadClaim claim{"no rule",
                    "where threads have ended and no rule is enabled, memory has drained",
                    {},
                    {},
                    Session::current().truth(true),
                    {}};
    given_lemmas(bound, claim.given);
    claim.given.push_back(kept(all_ended(system_.kind(), bound.memory().port)));
    claim.goal =
        either(some_rule_is_enabled(bound), kept(observed_.system().memory().drained(bound.memory())));
    claim.stores = {{"state", &bound.store}};
    visitor_.claim(claim);
  }
  [[nodiscard]] typename K::Bool answers(const Bound& before, const Bound& after) const {
    return system_.kind().forall(threads, [&](const auto& t) {
      const auto& was = before.memory().port(t);
      const auto& is = after.memory().port(t);
      return (!was.pending || is.pending || is.done) && (!was.done || is.done);
    });
  }
  // `goal` of the states before and after.
  template <class Goal>
  void fired(const RuleOf& rule, std::string_view what, Goal&& goal) {
    Session& session = Session::current();
    Bound before;
    Bound after;
    ReadClaim claim{std::string(rule.rule.name), std::string(what), {}, {}, session.truth(true), {}};
    const Members members = variables_of(rule, claim.parameters);
    given_lemmas(before, claim.given);
    session.hold(&before.store);
    claim.given.push_back(rule.guard(&before.state, members.data()));
    session.drop_requirements();
    session.hold(&after.store);
    rule.action(&after.state, members.data());
    claim.goal = kept(goal(before, after));
    claim.stores = {{"state", &after.store}};
    visitor_.claim(claim);
  }

  const Observed& observed_;
  const System& system_;
  ClaimVisitor& visitor_;
  Lemmas<Observed> claims_{observed_};
  RuleList<K, State> rules_{system_.kind()};
  InvariantList<K, State> lemmas_;
  Remainder<K, MemoryState> remainder_;
};

}  // namespace symbolic

// `Lemmas<System>` has lemmas(list), and remaining(Remainder&); what is promised of data it may leave to the
// explorer.
template <class Info, template <class> class Lemmas, template <class> class History = NoHistory,
          class Capacities = FullCapacities>
std::unique_ptr<ProofSubject> build_progress(const SystemOptions& options, bool any_size) {
  using Sizes = ClientSizes<Info, Capacities>;
  using Terms = Symbolic<Sizes>;
  const SystemEntry& entry = find_system(Info::name);
  const int variant = variant_index(entry, options.variant);
  const std::uint64_t faults = fault_mask(entry, options.faults);
  Sizes sizes;
  machine_to_prove(sizes);
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  using Client = FromTrees<AskedAnything<Info, Terms>>;
  using Observed = WithHistory<Client, History>;
  using Proved = WithLemmas<Observed, Lemmas>;
  const RuleTrees::Describe describe = trees_within<Info, Capacities>(entry);
  const RuleTrees changed = rule_trees(describe, options, sizes, Trees::of_changed);
  const auto observed = [=](Trees trees) {
    return Observed(Client(AskedAnything<Info, Terms>(Terms(sizes), named_machine<Terms>(), faults, variant),
                           trees == Trees::of_changed ? changed : rule_trees(describe, options, sizes, trees),
                           "system.memory"));
  };
  const auto claims = [=](ClaimVisitor& visitor) {
    const Observed of_claims = observed(Trees::of_changed);
    const Proved system(of_claims);
    symbolic::ReadProgress<AnyClient<Info, Terms>, Observed, Lemmas>(of_claims, system, visitor).read();
  };
  // A tree computes what an RMW leaves.
  const symbolic::Words words =
      options.mutation ? symbolic::computed(symbolic::Words::any) : symbolic::Words::any;
  const auto explored = explored_memory<Info, History, Lemmas>(sizes, variant, faults, Watch::nothing);
  return std::make_unique<CompiledProof<Proved>>(
      [=](Trees trees) { return Proved(observed(trees)); }, explored.model, explored.sizes, any_size,
      ProofCover{words,
                 "any: at any moment any idle thread asks for any operation, function, order and scope",
                 {},
                 false,
                 {},
                 {},
                 claims});
}

}  // namespace lockstep
