// A system with a memory of its past: ghost fields that a function of each step brings up to date, so that
// lemmas can speak of what happened before what. The function sees the state before and after, never the
// rule: no transition is written twice.
#pragma once

#include <boost/describe.hpp>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"

namespace lockstep {

// `History<System>` offers State<K> (described) and
//   void step(Ghost&, const System::State& before, const System::State& after) const.
template <class System, template <class> class History>
class WithHistory {
 public:
  using Kind = typename System::Kind;
  using Ghost = typename History<System>::Ghost;
  struct State {
    typename System::State system;
    Ghost ghost;
    BOOST_DESCRIBE_CLASS(State, (), (system, ghost), (), ())
  };

  explicit WithHistory(System system) : system_(std::move(system)) {}
  [[nodiscard]] const Kind& kind() const { return system_.kind(); }
  [[nodiscard]] const System& system() const { return system_; }

  template <class Start>
  void start(Start& s) const {
    Starts<Start> starts{s};
    system_.start(starts);
  }
  template <class Rules>
  void rules(Rules& r) const {
    Steps<Rules> steps{*this, r};
    system_.rules(steps);
  }
  template <class Invariants>
  void invariants(Invariants& v) const {
    RulesOfPart part(
        v, [](auto& s) -> auto& { return s.system; });
    system_.invariants(part);
  }
  void restore(State& s) const { system_.restore(s.system); }
  void normalise(State&) const {}
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s.system); }

 private:
  template <class Reader>
  struct Starts {
    Reader& reader;
    template <class... Tags, class Action>
    void start(Over<Tags...> parameters, Action&& action) {
      reader.start(parameters, [&](State& s, auto... i) { action(s.system, i...); });
    }
  };
  template <class Reader>
  struct Steps {
    const WithHistory& self;
    Reader& reader;

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action) {
      reader.rule(
          rule, parameters, [&](const State& s, const auto&... i) { return guard(s.system, i...); },
          [&](State& s, const auto&... i) { self.step(s, [&] { action(s.system, i...); }); });
    }
    template <class... Tags, class Channel, class Guard, class Action, class... Unseen>
    void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel, Guard&& guard,
                   Action&& action, Unseen&&...) {
      // Consuming the message is part of the step, so it is taken here.
      reader.rule(
          rule, parameters,
          [&](const State& s, const auto&... i) {
            const auto& queue = channel(s.system, i...);
            return !queue.empty() && typename Kind::Bool(guard(s.system, i..., queue.head()));
          },
          [&](State& s, const auto&... i) {
            self.step(s, [&] {
              auto& queue = channel(s.system, i...);
              const auto message = queue.head();
              Kind::pop(queue);
              action(s.system, i..., message);
            });
          });
    }
    template <class... Tags, class Guard, class Matters, class Action>
    void deferrable(const Rule& r, Over<Tags...> parameters, Guard&& guard, Matters&&, Action&& action) {
      rule(r, parameters, guard, action);
    }
  };

  template <class Act>
  void step(State& s, Act&& act) const {
    const auto before = kind().snapshot(s.system, "system");
    act();
    History<System>{system_}.step(s.ghost, before, s.system);
  }

  System system_;
};

}  // namespace lockstep
