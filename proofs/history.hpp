// A system with a memory of its past: ghost fields that a function of each step brings up to date, so that
// lemmas can speak of what happened before what. The function sees the state before and after, never the
// rule: no transition is written twice.
#pragma once

#include <boost/describe.hpp>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"

namespace lockstep {

// For lemmas that do not speak of the past.
template <class System>
struct NoHistory {
  struct Ghost {
    BOOST_DESCRIBE_CLASS(Ghost, (), (), (), ())
  };
  const System& system;
  void step(Ghost&, const typename System::State&, const typename System::State&) const {}
};

// `History<System>` offers Ghost (described) and
//   void step(Ghost&, const System::State& before, const System::State& after) const,
// and, where a ghost does not begin at its default,
//   void start(Ghost&, const System::State& first) const.
template <class System, template <class> class History>
class WithHistory {
 public:
  using Kind = typename System::Kind;
  using Erased = typename Kind::Erased;
  using Ghost = typename History<System>::Ghost;
  struct State {
    typename System::State system;
    Ghost ghost;
    BOOST_DESCRIBE_CLASS(State, (), (system, ghost), (), ())
  };

  explicit WithHistory(System system) : system_(std::move(system)) {}
  [[nodiscard]] const Kind& kind() const { return system_.kind(); }
  [[nodiscard]] const System& system() const { return system_; }

  void start(StartList<Kind, State>& s) const {
    StartList<Kind, typename System::State> own(kind());
    system_.start(own);
    for (StartValue<Erased> start : own.values()) {
      start.action = ErasedAction<Erased>::template of<State>(
          [this, action = start.action.within(detail::offset_of(&State::system))](
              State& state, const typename Erased::Member* members) {
            action(&state, members);
            if constexpr (requires { History<System>{system_}.start(state.ghost, state.system); })
              History<System>{system_}.start(state.ghost, state.system);
          });
      s.add(std::move(start));
    }
  }
  void rules(RuleList<Kind, State>& r) const {
    RuleList<Kind, typename System::State> own(kind());
    system_.rules(own);
    for (const RuleValue<Erased>& rule : own.values()) {
      RuleValue<Erased> step = rule.within(detail::offset_of(&State::system));
      step.action = ErasedAction<Erased>::template of<State>(
          [this, action = step.action](State& s, const typename Erased::Member* members) {
            const auto before = kind().snapshot(s.system, "system");
            action(&s, members);
            History<System>{system_}.step(s.ghost, before, s.system);
          });
      r.add(std::move(step));
    }
    r.keep(own.kept());
  }
  void invariants(InvariantList<Kind, State>& v) const {
    InvariantList<Kind, typename System::State> own;
    system_.invariants(own);
    v.part(own, &State::system);
  }
  void restore(State& s) const { system_.restore(s.system); }
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s.system); }

 private:
  System system_;
};

}  // namespace lockstep
