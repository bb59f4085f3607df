// What has to be proved of a system, read off its rules with the Symbolic kind: that every lemma holds at the
// start, that every rule keeps every lemma, and that no rule overruns a queue or a range.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
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

namespace symbolic {

struct LemmaNames {
  std::vector<std::string> names;
  template <class Predicate>
  void invariant(std::string_view name, Predicate&&) {
    names.emplace_back(name);
  }
};

template <class K, class State>
struct LemmaTerms {
  const State& state;
  std::vector<Term> terms;
  template <class Predicate>
  void invariant(std::string_view, Predicate&& predicate) {
    terms.push_back(typename K::Bool(predicate(state)).term());
  }
};

// `System` offers rules(r), start(s) and invariants(v), its lemmas among them.
template <class System>
requires ValueKind<typename System::Kind>
class ReadSystem {
 public:
  using K = typename System::Kind;
  using State = typename System::State;

  ReadSystem(const System& system, RuleVisitor& visitor) : system_(system), visitor_(visitor) {}

  void read() {
    system_.start(*this);
    system_.rules(*this);
  }

  template <class... Tags, class Action>
  void start(Over<Tags...>, Action&& action) {
    if (!visitor_.wants_start(next_start_++)) return;
    read<Tags...>(
        Rule{.name = "start", .unit = "system"}, Store::Start::defaults,
        [](const State&, const auto&...) { return typename K::Bool(true); },
        [&](State& s, const auto&... i) { action(s, i...); });
  }
  template <class... Tags, class Guard, class Action>
  void rule(const Rule& r, Over<Tags...>, Guard&& guard, Action&& action) {
    if (!visitor_.wants_rule(next_rule_++)) return;
    read<Tags...>(
        r, Store::Start::variables,
        [&](const State& s, const auto&... i) { return typename K::Bool(guard(s, i...)); },
        [&](State& s, const auto&... i) { action(s, i...); });
  }
  template <class... Tags, class Guard, class Matters, class Action>
  void deferrable(const Rule& r, Over<Tags...> parameters, Guard&& guard, Matters&&, Action&& action) {
    rule(r, parameters, guard, action);
  }
  template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
  void triggered(const Rule& r, Over<Tags...>, Channel&& channel, Guard&& guard, Action&& action,
                 Unseen&&...) {
    if (!visitor_.wants_rule(next_rule_++)) return;
    read<Tags...>(
        r, Store::Start::variables,
        [&](State& s, const auto&... i) {
          const auto& queue = channel(s, i...);
          return !queue.empty() && typename K::Bool(guard(std::as_const(s), i..., queue.head()));
        },
        [&](State& s, const auto&... i) {
          auto& queue = channel(s, i...);
          const auto message = queue.head();
          K::pop(queue);
          action(s, i..., message);
        });
  }

 private:
  template <class... Tags, class Guard, class Action>
  void read(const Rule& rule, Store::Start from, Guard&& guard, Action&& action) {
    try {
      read_rule<Tags...>(rule, from, guard, action);
    } catch (const Unreadable& why) {
      throw BadInput(fmt::format("the rule \"{}\" cannot be read: {}", rule.name, why.what()));
    }
  }
  template <class... Tags, class Guard, class Action>
  void read_rule(const Rule& rule, Store::Start from, Guard&& guard, Action&& action) {
    Session& session = Session::current();
    Store store(from);
    State state;
    K::bind_to(state, Place{&store, {}, {}, {}});
    session.hold(&store);
    // Braces, unlike a call's parentheses, evaluate from left to right.
    const std::tuple<typename K::template Ix<Tags>...> parameters{
        K::template parameter<Tags>(session.fresh(Tags::name))...};
    ReadRule read{std::string(rule.name),
                  std::string(rule.unit),
                  std::string(rule.source),
                  {},
                  session.truth(true),
                  lemmas(state),
                  {},
                  {},
                  &store};
    std::apply(
        [&](const auto&... i) {
          (read.parameters.push_back({std::string(Tags::name), K::template domain<Tags>(), i.term()}), ...);
          read.guard = guard(state, i...).term();
          session.drop_requirements();
          action(state, i...);
        },
        parameters);
    read.requirements = session.take_requirements();
    read.after = lemmas(state);
    if (from == Store::Start::variables) {
      visitor_.rule(read);
    } else {
      visitor_.start(read);
    }
  }
  std::vector<Term> lemmas(const State& state) const {
    LemmaTerms<K, State> terms{state, {}};
    system_.invariants(terms);
    Session::current().drop_requirements();
    return std::move(terms.terms);
  }

  const System& system_;
  RuleVisitor& visitor_;
  std::size_t next_rule_ = 0;
  std::size_t next_start_ = 0;
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
  template <class Start>
  void start(Start& s) const {
    system_.start(s);
  }
  template <class Rules>
  void rules(Rules& r) const {
    system_.rules(r);
  }
  // The system's own properties come first.
  template <class Invariants>
  void invariants(Invariants& v) const {
    if constexpr (requires { Lemmas<System>::left_to_the_explorer; }) {
      Chosen<Invariants> chosen{v};
      system_.invariants(chosen);
    } else {
      system_.invariants(v);
    }
    Lemmas<System>{system_}.lemmas(v);
  }
  void restore(State& s) const { system_.restore(s); }
  void normalise(State& s) const { system_.normalise(s); }
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s); }

 private:
  // All but the properties that the lemmas leave to the explorer.
  template <class Invariants>
  struct Chosen {
    Invariants& all;
    template <class Predicate>
    void invariant(std::string_view name, Predicate&& predicate) {
      const auto& left = Lemmas<System>::left_to_the_explorer;
      if (std::find(left.begin(), left.end(), name) == left.end()) all.invariant(name, predicate);
    }
  };

  System system_;
};

}  // namespace lockstep
