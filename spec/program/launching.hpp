// Launches as a kind of client, beside threads: a host that launches kernels on chiplets and accesses memory
// itself in between, and the kernels. Either every client there may be (AnyLaunches), or a sequence of
// launches that is given (LaunchSystem). Both are compositions with the memory system as one state with one
// set of rules: there is no second copy of what a launch does.
//
// A memory system with a port for launches lists its rules in one list with what may be asked of it, in the
// order in which the paper tells them:
//   r.rule(rule, parameters, guard, action)                          its own
//   r.asked(LaunchRequest::launches, rule, parameters, guard, action)   a request; the guard: it is taken now
// and says of a state what a sequence may observe:
//   may_see_stale(s), has_lost(s)            what has gone wrong
//   is_acquired(s, c), is_released(s, c)     operations are on their way to chiplet c, or acknowledged
//   lists(s, d, c, n)                        the table has structure d in chiplet c in state n of
//   listed_states
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/kernel/rules.hpp"
#include "spec/program/launches.hpp"

namespace lockstep {

// What a client asks at the port.
enum class LaunchRequest : std::uint8_t {
  // Over (structure, chiplet, word): the next kernel may access the word there, by this structure's label.
  labels_read,
  labels_write,
  // Over (structure).
  host_reads,
  host_writes,
  // Over (): what was labelled, or asked by the host, is complete; or a kernel without labels.
  launches,
  launches_unlabelled,
  ends,      // over (): the kernel, or the host, is done
  overlaps,  // over (): the kernel goes on while the next one is labelled
  // Over (chiplet, chiplet whose cache serves it, word): a running kernel's accesses.
  loads,
  stores,
  host_stores,  // over (word)
};
inline constexpr std::size_t launch_requests = static_cast<std::size_t>(LaunchRequest::host_stores) + 1;
// What a running kernel does of its own accord, in any order.
constexpr bool is_access(LaunchRequest request) {
  return request >= LaunchRequest::loads;
}

// ---- every client ----------------------------------------------------------------------------------------

// Lists rules and requests alike; `places`, if there are any, get the place of each request's rule.
template <class K, class State>
class RulesAndRequests {
 public:
  using Places = std::array<std::size_t, launch_requests>;

  explicit RulesAndRequests(RuleList<K, State>& r, Places* places = nullptr) : r_(r), places_(places) {}

  template <class... Tags, class Guard, class Action>
  void rule(const Rule& rule, Over<Tags...> over, Guard guard, Action action) {
    r_.rule(rule, over, std::move(guard), std::move(action));
  }
  template <class... Tags, class Guard, class Action>
  void asked(LaunchRequest request, const Rule& rule, Over<Tags...> over, Guard guard, Action action) {
    if (places_ != nullptr) (*places_)[static_cast<std::size_t>(request)] = r_.values().size();
    r_.rule(rule, over, std::move(guard), std::move(action));
  }

 private:
  RuleList<K, State>& r_;
  Places* places_;
};

// Any request, whenever it is taken. What holds here holds for every sequence.
template <class MemoryType>
struct AnyLaunches : MemoryType {
  using K = typename MemoryType::Kind;
  using State = typename MemoryType::State;
  using MemoryType::MemoryType;

  void start(StartList<K, State>& s) const {
    s.start(over(), [](State&) {});
  }
  void rules(RuleList<K, State>& r) const {
    RulesAndRequests<K, State> all(r);
    MemoryType::rules(all);
  }
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return false; }
};

// ---- one sequence ----------------------------------------------------------------------------------------

// One request of a sequence.
struct LaunchAct {
  LaunchRequest request = LaunchRequest::launches;
  std::vector<int> members;  // of the request's parameters
  int launch = 0;            // that it belongs to
};
// Of the launch of that number. The last two say that it is complete, and end it, or let it go on.
inline std::vector<LaunchAct> acts_of(const Launch& one, int number = 0, bool overlaps = false) {
  using Request = LaunchRequest;
  std::vector<LaunchAct> acts;
  for (const LaunchLabel& label : one.labels) {
    acts.push_back({label.write ? Request::labels_write : Request::labels_read,
                    {label.structure, label.chiplet, label.word},
                    number});
  }
  if (one.kind == Launch::Kind::host_reads) acts.push_back({Request::host_reads, {one.structure}, number});
  if (one.kind == Launch::Kind::host_writes) acts.push_back({Request::host_writes, {one.structure}, number});
  const bool unlabelled = one.kind == Launch::Kind::unlabelled;
  acts.push_back({unlabelled ? Request::launches_unlabelled : Request::launches, {}, number});
  acts.push_back({overlaps && one.goes_on ? Request::overlaps : Request::ends, {}, number});
  return acts;
}
inline std::vector<LaunchAct> acts_of(const Launches& launches, bool overlaps) {
  std::vector<LaunchAct> acts;
  for (std::size_t i = 0; i < launches.launches.size(); ++i) {
    const std::vector<LaunchAct> next = acts_of(launches.launches[i], static_cast<int>(i), overlaps);
    acts.insert(acts.end(), next.begin(), next.end());
  }
  return acts;
}
inline constexpr int most_acts = (1 << 15) - 1;

// Terms that a sequence observes (Launches::observed).
struct TermTag : FixedNumbered<"term", 64> {};

// The sizes of a memory system with those of its sequence.
template <class Sizes>
struct LaunchSizesOf;
template <class Capacities, class... Tags>
struct LaunchSizesOf<SizesWithin<Capacities, Tags...>> {
  using type = SizesWithin<Capacities, Tags..., TermTag>;
};
template <class Info, class Capacities>
using LaunchSizes = typename LaunchSizesOf<typename Info::template Sizes<Capacities>>::type;

// The greatest number that a term may come to.
inline int greatest_of(const LaunchTerm& term, const Launches& launches) {
  switch (term.kind) {
    case LaunchTerm::Kind::acquires:
    case LaunchTerm::Kind::releases:
      // Of the whole sequence, before launches and at the ends of kernels.
      return launches.chiplets * (term.launch < 0 ? 2 * static_cast<int>(launches.launches.size()) : 1);
    case LaunchTerm::Kind::state:
      return static_cast<int>(listed_states.size()) - 1;
    default:
      return 1;
  }
}

// The requests come in the sequence's order, each when it is taken; everything else is free: a kernel
// accesses any part of what its labels allow. What is observed is noted beside it.
template <class Info, class KindType>
class LaunchSystem {
 public:
  using Kind = KindType;
  using K = KindType;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using Memory = typename Info::template Launched<K>;
  using MemoryState = typename Memory::State;

  struct State {
    MemoryState memory;
    typename K::template Int<0, most_acts> position;   // the act that comes next
    typename K::template Array<Value, TermTag> noted;  // of the terms, up to now
    BOOST_DESCRIBE_CLASS(State, (), (memory, position, noted), (), ())
  };

  LaunchSystem(Memory memory, std::shared_ptr<const Launches> launches)
      : memory_(std::move(memory)),
        launches_(std::move(launches)),
        acts_(acts_of(*launches_, memory_.overlaps())) {
    for (std::size_t i = 0; i < acts_.size(); ++i) {
      if (i == 0 || acts_[i].launch != acts_[i - 1].launch) first_act_.push_back(static_cast<int>(i));
    }
    first_act_.push_back(static_cast<int>(acts_.size()));
  }

  [[nodiscard]] const K& kind() const { return memory_.kind(); }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const Launches& launches() const { return *launches_; }
  [[nodiscard]] const std::vector<LaunchAct>& acts() const { return acts_; }

  void start(StartList<K, State>& s) const {
    s.start(over(), [this](State& state) { note_mishaps(state); });
  }

  // A rule for each act comes first, in order, then those of memory.
  void rules(RuleList<K, State>& r) const {
    r.split([](const State& s) { return s.position; }, static_cast<int>(acts_.size()),
            [&](int at) {
              Act act{*this, r, at};
              memory_.rules(act);
            });
    Free rest{*this, r};
    memory_.rules(rest);
  }

  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, MemoryState> of_memory;
    memory_.invariants(of_memory);
    v.part(of_memory, &State::memory);
  }

  void restore(State&) const {}
  // A bool where the kind's truths are; else what it takes.
  [[nodiscard]] auto proper_end(const State& s) const {
    const Bool ended = s.position == static_cast<int>(acts_.size());
    if constexpr (requires { K::truth(ended); }) {
      return K::truth(ended);
    } else {
      return ended;
    }
  }

 private:
  using TermKind = LaunchTerm::Kind;

  // The rule of the act at one position.
  struct Act {
    const LaunchSystem& system;
    RuleList<K, State>& r;
    int at;

    template <class... Tags, class Guard, class Action>
    void rule(const Rule&, Over<Tags...>, Guard&&, Action&&) {}
    template <class... Tags, class Guard, class Action>
    void asked(LaunchRequest request, Rule rule, Over<Tags...> parameters, Guard guard, Action action) {
      const LaunchAct& act = system.acts_[static_cast<std::size_t>(at)];
      if (act.request != request) return;
      // It will come, whatever the rule says of clients in general.
      rule.fairness = Fairness::fair;
      rule.name = r.keep(text(rule.name, act, {Tags::name...}));
      r.rule(
          rule, over(),
          [guard = std::move(guard), parameters, &act, at = at](const State& s) {
            return s.position == at && with_members(parameters, act, [&](const auto&... members) {
                     return guard(s.memory, members...);
                   });
          },
          [action = std::move(action), parameters, &act, at = at, &system = system](State& s) {
            with_members(parameters, act, [&](const auto&... members) { action(s.memory, members...); });
            s.position = at + 1;
            system.note_act(s, act);
          });
    }
    // "labels a chiplet's range R (structure 0, chiplet 1, word 0) for K0"
    [[nodiscard]] std::string text(std::string_view name, const LaunchAct& act,
                                   const std::vector<std::string_view>& parameters) const {
      std::string all(name);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        all.append(i == 0 ? " (" : ", ").append(parameters[i]).append(" ");
        all += std::to_string(act.members.at(i)) + (i + 1 == parameters.size() ? ")" : "");
      }
      return all + " for " + system.launches_->launches[static_cast<std::size_t>(act.launch)].name;
    }
    template <class... Tags, class F>
    static auto with_members(Over<Tags...>, const LaunchAct& act, F&& f) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return f(K::template constant<Tags>(act.members.at(I))...);
      }
      (std::index_sequence_for<Tags...>{});
    }
  };

  // What is not the sequence's.
  struct Free {
    const LaunchSystem& system;
    RuleList<K, State>& r;

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...> parameters, Guard guard, Action action) {
      r.rule(
          rule, parameters,
          [guard = std::move(guard)](const State& s, const auto&... members) {
            return guard(s.memory, members...);
          },
          [action = std::move(action), &system = system](State& s, const auto&... members) {
            action(s.memory, members...);
            system.note_mishaps(s);
          });
    }
    template <class... Tags, class Guard, class Action>
    void asked(LaunchRequest request, const Rule& rule, Over<Tags...> parameters, Guard guard,
               Action action) {
      if (is_access(request)) this->rule(rule, parameters, std::move(guard), std::move(action));
    }
  };

  static auto chiplet(int c) { return K::template constant<typename Memory::ChipletTag>(c); }
  static auto structure(int d) { return K::template constant<typename Memory::StructureTag>(d); }

  // Calls f(where it is noted, term) for each term.
  template <class F>
  void for_each_term(State& s, F&& f) const {
    const std::vector<LaunchTerm>& terms = launches_->observed;
    for (std::size_t t = 0; t < terms.size(); ++t)
      f(s.noted(K::template constant<TermTag>(static_cast<int>(t))), terms[t]);
  }
  // Whether a state belongs to a launch: the act that comes next does.
  [[nodiscard]] Bool is_at(const State& s, int launch) const {
    if (launch < 0) return Bool(true);
    const auto at = static_cast<std::size_t>(launch);
    return s.position >= typename K::Number(first_act_[at]) &&
           s.position < typename K::Number(first_act_[at + 1]);
  }

  void note_mishaps(State& s) const {
    for_each_term(s, [&](Value& noted, const LaunchTerm& term) {
      if (term.kind != TermKind::stale && term.kind != TermKind::lost) return;
      K::when(noted == Value(0) && is_at(s, term.launch), [&] {
        const Bool happened =
            term.kind == TermKind::stale ? memory_.may_see_stale(s.memory) : memory_.has_lost(s.memory);
        K::when(happened, [&] { noted = Value(1); });
      });
    });
  }
  // Operations are issued as a launch is taken up, and where its kernel ends; the table is that of the launch
  // until then.
  void note_act(State& s, const LaunchAct& act) const {
    const bool ends = act.request == LaunchRequest::ends || act.request == LaunchRequest::overlaps;
    const bool taken_up =
        act.request == LaunchRequest::launches || act.request == LaunchRequest::launches_unlabelled;
    for_each_term(s, [&](Value& noted, const LaunchTerm& term) {
      const bool whole = term.launch < 0;
      const bool of_it = whole || term.launch == act.launch;
      const bool issues = taken_up || (ends && whole);
      if (!of_it) return;
      if (term.kind == TermKind::state && ends) {
        for (int n = 0; n < static_cast<int>(listed_states.size()); ++n) {
          K::when(memory_.lists(s.memory, structure(term.structure), chiplet(term.chiplet), n),
                  [&] { noted = Value(n); });
        }
      }
      if (!issues) return;
      if (term.kind == TermKind::acquire)
        K::when(memory_.is_acquired(s.memory, chiplet(term.chiplet)), [&] { noted = Value(1); });
      if (term.kind == TermKind::release)
        K::when(memory_.is_released(s.memory, chiplet(term.chiplet)), [&] { noted = Value(1); });
      for (int c = 0; c < launches_->chiplets; ++c) {
        if (term.kind == TermKind::acquires)
          K::when(memory_.is_acquired(s.memory, chiplet(c)), [&] { noted = noted + Value(1); });
        if (term.kind == TermKind::releases)
          K::when(memory_.is_released(s.memory, chiplet(c)), [&] { noted = noted + Value(1); });
      }
    });
    note_mishaps(s);
  }

  Memory memory_;
  std::shared_ptr<const Launches> launches_;
  std::vector<LaunchAct> acts_;
  std::vector<int> first_act_;  // of each launch, and one behind the last
};

}  // namespace lockstep
