// Why the Task Vector Machine runs every task once, and continuations last, for any number of cores: a task
// is in one mask from its fork on, its continuation in a mask below those of whatever it has forked, and an
// entry is empty when nobody has forked from it who may yet join.
#pragma once

#include "spec/tasks/tvm.hpp"

namespace lockstep::tvm {

// Lemmas of a machine; `of(state)` is its part of a state.
template <class Machine, class V, class Of>
void machine_lemmas(const Machine& machine, V& v, Of of) {
  using State = typename Machine::State;
  using Entry = typename Machine::Entry;
  using Core = typename Machine::Core;
  using Bool = typename Machine::Bool;
  using MaybeCore = typename Machine::MaybeCore;
  const auto all = [&](std::string_view name, auto claim) {
    v.invariant(name, [machine, of, claim](const auto& s) { return claim(machine, of(s)); });
  };
  const auto each = [&](std::string_view name, auto claim) {
    all(name, [claim](const Machine& m, const State& s) {
      return m.every([&](Core c) { return claim(m, s, s.core(c)); });
    });
  };
  const auto each_parent = [&](std::string_view name, auto claim) {
    all(name, [claim](const Machine& m, const State& s) {
      return m.each_parent(s,
                           [&](const Entry& parent, const Entry& child) { return claim(m, parent, child); });
    });
  };
  each("nobody runs, forks or joins between epochs", [](const Machine&, const State& s, const Entry& e) {
    return s.phase == Phase::executes || (!e.due && !e.forked && !e.joined && !e.ended);
  });
  each("the fork mask holds tasks, the join mask continuations",
       [](const Machine&, const State&, const Entry& e) {
         return (!e.forked || e.holds == Holds::task) && (!e.joined || e.holds == Holds::continuation);
       });
  each("nobody waits for a map", [](const Machine&, const State&, const Entry& e) {
    return e.holds != Holds::map || e.parent == MaybeCore{};
  });
  each("an epoch has room for its join mask", [](const Machine& m, const State& s, const Entry& e) {
    return s.phase != Phase::executes || !e.pushed(m.mask(m.masks() - 1));
  });
  all("who forks has room for both masks", [](const Machine& m, const State& s) {
    const Bool room = m.masks() < 2 ? Bool(false) : !m.has_mask(s, m.masks() - 2);
    return m.every([&](Core c) { return !s.core(c).forked; }) || room;
  });
  all("masks are stacked without a gap", [](const Machine& m, const State& s) {
    Bool stacked(true);
    for (int i = 1; i < m.masks(); ++i) stacked = stacked && (!m.has_mask(s, i) || m.has_mask(s, i - 1));
    return stacked;
  });
  each("the stack is empty when the machine completes", [](const Machine& m, const State& s, const Entry& e) {
    return s.phase != Phase::complete || !e.pushed(m.mask(0));
  });
  each_parent("who has forked, and may join, runs or waits",
              [](const Machine&, const Entry& parent, const Entry&) {
                return parent.due || parent.holds == Holds::continuation;
              });
  each_parent("what a task forks is in the fork mask while it runs, and while it joins",
              [](const Machine&, const Entry& parent, const Entry& child) {
                return !Machine::is_task(child) || child.forked || (!parent.due && !parent.joined);
              });
  each_parent("what a continuation waits for is above it, or runs",
              [](const Machine& m, const Entry& parent, const Entry& child) {
                Bool above = child.due || child.joined || !Machine::is_task(child);
                Bool waits(true);
                for (int i = 0; i < m.masks(); ++i) {
                  waits = waits && (!parent.pushed(m.mask(i)) || above);
                  above = above || child.pushed(m.mask(i));
                }
                return waits;
              });
}

template <class Protocol>
struct Lemmas {
  using State = typename Protocol::State;

  const Protocol& p;

  template <class V>
  void lemmas(V& v) const {
    machine_lemmas(p.machine(), v, [](const State& s) -> const State& { return s; });
  }
};

}  // namespace lockstep::tvm
