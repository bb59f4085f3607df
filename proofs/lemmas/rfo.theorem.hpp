// Why read for ownership keeps its promise at the port (port_theorem.hpp), and more than that: whatever
// races, every load and RMW returns the newest write at its point, which is its completion.
//
// What the newest writes have left of each block is a ghost of the lemmas for copies and messages (rfo.hpp);
// at the watched word it is what counts as newest at the port.
#pragma once

#include <boost/describe.hpp>

#include "proofs/lemmas/rfo.hpp"
#include "proofs/port_theorem.hpp"

namespace lockstep::rfo {

template <class Open>
struct Points {
  using State = typename Open::State;
  using Bool = typename Open::Kind::Bool;
  using ThreadIx = typename Open::Kind::template Ix<ThreadTag>;

  const Open& open;

  // None ahead of its completion.
  [[nodiscard]] Bool performed(const State&, const State&, const ThreadIx&) const { return Bool(false); }
};

template <class Open>
using PortOf = PortHistory<Open, Points>;

template <class Open>
struct TheoremHistory {
  using Port = PortOf<Open>;
  using Copies = History<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;

  struct Ghost {
    typename Port::Ghost port;
    decltype(Copies::Ghost::newest) newest;
    decltype(Copies::Ghost::found) found;
    decltype(Copies::Ghost::left) left;
    BOOST_DESCRIBE_CLASS(Ghost, (), (port, newest, found, left), (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const {
    Port{open}.start(g.port, first);
    open.kind().for_each(blocks, [&](const auto& b) {
      open.kind().for_each(
          words, [&](const auto& w) { g.newest(b)(w) = open.memory().final_value(first.memory, b, w); });
    });
  }
  void step(Ghost& g, const State& before, const State& after) const {
    const Ghost was = open.kind().snapshot(g, "ghost");
    Port{open}.step(g.port, was.port, before, after);
    Copies{open}.step(g, before, after);
  }
};

template <class System>
struct TheoremLemmas : Lemmas<System> {
  using Base = Lemmas<System>;
  using Base::system;
  using typename Base::Bool;
  using typename Base::Open;
  using typename Base::State;
  using Port = PortOf<Open>;

  template <class V>
  void lemmas(V& v) const {
    v.keep(PortTheorem<System, PortOf>{system}).theorem(v);
    Base::lemmas(v);
    const auto each_thread = [&](std::string_view name, auto claim) {
      v.invariant(name, [this, claim](const State& s) {
        return system.kind().forall(threads,
                                    [&](const auto& t) { return claim(s, s.system.memory.port(t), t); });
      });
    };
    each_thread("whatever races, a completed load or RMW returned the newest write at its point",
                [](const State& s, const auto& port, const auto& t) {
                  const Bool returns =
                      Port::at_word(port.request) && port.request.operation != Operation::store;
                  return !port.done || !returns || port.result == s.ghost.port.expected(t);
                });
    v.invariant("what is newest at the port is what the newest writes have left of the word",
                [](const State& s) {
                  return s.ghost.port.newest == s.ghost.newest(Open::watched_block())(Open::watched_word());
                });
    each_thread("what was expected of an operation is what was found", [](const State& s, const auto& port,
                                                                          const auto& t) {
      const Bool returns = Port::at_word(port.request) && port.request.operation != Operation::store;
      return !port.done || !returns || s.ghost.port.expected(t) == s.ghost.found(t);
    });
    each_thread("an operation has its point where it completes",
                [](const State& s, const auto& port, const auto& t) {
                  return s.ghost.port.pointed(t) == port.done && !(port.pending && port.done);
                });
  }
};

}  // namespace lockstep::rfo
