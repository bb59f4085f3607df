// Why HALCONE keeps its promise at the port (port_theorem.hpp): the default variant, and those whose runs are
// runs of it.
//
// Memory performs every write, and each at a time behind all leases of its block. Points: what is plain or at
// system scope is performed where it is answered; an atomic at agent scope once the clock of its block in its
// agent's L2 has reached the time of its answer, one at work-group scope once its L1's has, too. Until then
// nobody whom it may synchronize with can tell; so several may have their points in one step, in the order of
// their times. A write that memory has performed and that has not had its point is *ahead*.
//
// A copy whose lease reaches the newest write holds it, if no write ahead is earlier than the lease's end.
// Who is ordered behind the newest write has its clocks there; what is published through a block at agent
// scope is in the past of all leases that its L2 may still serve, at system scope in the past of memory.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "proofs/lemmas/halcone.hpp"
#include "proofs/port_theorem.hpp"

namespace lockstep::halcone {

template <class Open>
struct Points {
  using W = Words<Open>;
  using State = typename Open::State;
  using MemoryState = typename Open::MemoryState;
  using K = typename Open::Kind;
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Time = typename Open::Memory::Time;
  static constexpr bool pairs_by_block = true;

  const Open& open;

  [[nodiscard]] static Bool is_dated(const State& before, const State& after, const ThreadIx& t) {
    return !W::returning(before.memory, t) && W::returning(after.memory, t);
  }
  [[nodiscard]] static Number date(const State& after, const ThreadIx& t) {
    return after.memory.transit(t).wts;
  }
  [[nodiscard]] Bool starts_again(const State& before, const State& after) const {
    return W{{open}}.began_again(before.memory, after.memory);
  }
  [[nodiscard]] Bool performed(const Number& time, const State& before, const State& after,
                               const ThreadIx& t) const {
    return W::returning(after.memory, t) && (reached(after.memory, t, time) || starts_again(before, after));
  }
  // What is answered at once is the first.
  [[nodiscard]] static Number turn(const Number& time, const State& before, const ThreadIx& t) {
    const Number after_write = K::select(writes(before.memory, t), Number(0), Number(1));
    return K::select(Open::Memory::in_flight(before.memory, t), time + time + after_write, Number(-1));
  }
  [[nodiscard]] static Bool is_ahead(const State& before, const ThreadIx& t) {
    return W::returning(before.memory, t);
  }
  // The clocks that those look at whom the thread's request may synchronize with are at the time.
  [[nodiscard]] Bool reached(const MemoryState& m, const ThreadIx& t, const Number& time) const {
    const W w{{open}};
    const Bool everywhere = m.port(t).request.order == Order::plain || to_system(m, t);
    const Bool in_l2 = time <= w.protocol().clock2(m, w.agent(t), W::Memory::block(m, t));
    return everywhere || (in_l2 && (beyond_group(m, t) || time <= m.clock1(w.cu(t))));
  }
};

template <class Open>
using PortOf = PortHistory<Open, Points>;

template <class Open>
struct TheoremHistory {
  using Port = PortOf<Open>;
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Memory = typename Open::Memory;

  struct Ghost {
    typename Port::Ghost port;
    typename Memory::Time last;                          // of the newest write
    typename K::template Table<Value, ThreadTag> wrote;  // what memory held after the thread's write
    BOOST_DESCRIBE_CLASS(Ghost, (), (port, last, wrote), (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const { Port{open}.start(g.port, first); }

  void step(Ghost& g, const State& before, const State& after) const {
    const K& k = open.kind();
    const W w{{open}};
    const Port port{open};
    const Points<Open> points{open};
    const Ghost was = k.snapshot(g, "ghost");
    port.step(g.port, was.port, before, after);
    Bool written(false);
    Number last(0);
    k.for_each(threads, [&](const ThreadIx& t) {
      const Bool writes_now = port.has_written(was.port, before, after, t);
      const Number time = K::select(w.host(t), Number(Memory::mm(after.memory).cpu_clock),
                                    Number(port.time(was.port, before, after, t)));
      last = K::select(writes_now, Memory::later(last, time), last);
      written = written || writes_now;
      const Bool performed = Points<Open>::is_dated(before, after, t);
      const Bool returning = W::returning(after.memory, t) && Port::at_word(after.memory.port(t).request) &&
                             writes(after.memory, t);
      g.wrote(t) = K::select(
          returning, K::select(performed, Value(W::in_memory(after.memory)), Value(was.wrote(t))), Value(0));
    });
    g.last =
        K::select(points.starts_again(before, after), Number(0), K::select(written, last, Number(was.last)));
  }
};

template <class System>
struct TheoremLemmas : LeaseLemmas<System> {
  using Base = LeaseLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::each_thread_unraced;
  using Base::k;
  using Base::system;
  using typename Base::Agent;
  using typename Base::Block;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::Line;
  using typename Base::Memory;
  using typename Base::MemoryState;
  using typename Base::Number;
  using typename Base::Open;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::W;
  using Value = typename K::Value;
  using Port = PortOf<Open>;

  template <class V>
  void lemmas(V& v) const {
    v.keep(PortTheorem<System, PortOf>{system}).theorem(v);
    Base::requests(v);
    Base::times(v);
    if (p().knows_scopes()) Base::latest(v);
    Base::data(v);
    points(v);
    times_of_writes(v);
    writes_ahead(v);
    newest(v);
    reads(v);
    knowledge(v);
    published(v);
  }

 private:
  using Base::each_block;
  using Base::each_copy;
  using Base::implies;
  using Base::leased;
  using Base::p;
  using Base::returning;
  using Base::w;

  [[nodiscard]] Points<Open> point() const { return Points<Open>{system.system()}; }
  [[nodiscard]] static const auto& port(const State& s) { return s.ghost.port; }
  [[nodiscard]] static Number time(const State& s, const ThreadIx& t) { return port(s).turns.time(t); }
  [[nodiscard]] static Number last(const State& s) { return s.ghost.last; }
  [[nodiscard]] Bool is_ahead(const State& s, const ThreadIx& t) const {
    return Port{system.system()}.is_ahead(port(s), s.system, t);
  }
  [[nodiscard]] Bool none_ahead(const State& s) const {
    return !k().exists(threads, [&](const ThreadIx& u) { return is_ahead(s, u); });
  }
  [[nodiscard]] Bool each_ahead(const State& s, auto claim) const {
    return k().forall(threads, [&](const ThreadIx& u) { return !is_ahead(s, u) || claim(u); });
  }
  [[nodiscard]] Number clock1(const MemoryState& m, const ThreadIx& t) const { return m.clock1(w().cu(t)); }
  [[nodiscard]] Number bank(const MemoryState& m, const Agent& a) const {
    return p().clock2(m, a, W::watched_block());
  }

  // Of every lease of the watched block, in a cache or in an answer.
  template <class V>
  void each_lease_unraced(V& v, std::string_view name, auto claim) const {
    v.invariant(name, [this, claim](const State& s) {
      const auto& m = s.system.memory;
      const Block b = W::watched_block();
      const auto of = [&](const auto& held) { return claim(s, held.rts, W::word(held.data)); };
      return port(s).raced ||
             (k().forall(cus, [&](const Cu& c) { return !Base::unlocked(m.l1(c, b)) || of(m.l1(c, b)); }) &&
              k().forall(agents,
                         [&](const Agent& a) { return !Base::unlocked(m.l2(a, b)) || of(m.l2(a, b)); }) &&
              k().forall(threads, [&](const ThreadIx& t) { return !leased(m, t, b) || of(m.transit(t)); }));
    });
  }

  // ---- points and times, whatever is watched

  template <class V>
  void points(V& v) const {
    Base::loads_release_nothing(v);
    each_thread(v, "an operation has had its point once the clocks have reached its time",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return port(s).pointed(t) ==
                         (m.port(t).done || (returning(m, t) && point().reached(m, t, time(s, t))));
                });
    each_thread(v, "the time of an answer is in memory's past, and in its lease",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const auto& answer = m.transit(t);
                  return implies(returning(m, t), time(s, t) <= p().memory_time(m, Memory::block(m, t)) &&
                                                      time(s, t) <= answer.wts &&
                                                      (answer.rts == 0 || time(s, t) <= answer.rts));
                });
    each_thread(v, "the clock of L2 has reached the time of an answer that has left it",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(m.transit(t).stage == Stage::from_l2,
                                 time(s, t) <= p().clock2(m, w().agent(t), Memory::block(m, t)));
                });
    each_thread(v, "only what looks at memory has no lease, and has had its point",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(returning(m, t) && m.transit(t).rts == 0, port(s).pointed(t));
                });
    each_copy(v, "a copy is on a lease", [](const State&, const Line& line, const auto&, const Block&) {
      return !line.present || line.rts != 0;
    });
  }

  // A write begins behind all leases that its block has had.
  template <class V>
  void times_of_writes(V& v) const {
    each_thread(v, "no lease reaches into the past of a write and beyond it",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const Block b = Memory::block(m, t);
                  const auto apart = [&](const auto& held, const Number& wts) {
                    return held.rts < time(s, t) || time(s, t) <= wts;
                  };
                  return implies(returning(m, t) && writes(m, t), k().forall(cus, [&](const Cu& c) {
                    return !m.l1(c, b).present || apart(m.l1(c, b), m.l1(c, b).wts);
                  }) && k().forall(agents, [&](const Agent& a) {
                    return !m.l2(a, b).present || apart(m.l2(a, b), m.l2(a, b).wts);
                  }) && k().forall(threads, [&](const ThreadIx& u) {
                    return !leased(m, u, b) || apart(m.transit(u), time(s, u));
                  }));
                });
    each_thread(v, "an L1's lease reaches a write only if the clock of its L2 has",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const Block b = Memory::block(m, t);
                  return implies(returning(m, t) && writes(m, t), k().forall(cus, [&](const Cu& c) {
                    const Line& line = m.l1(c, b);
                    return !line.present || line.rts < time(s, t) ||
                           time(s, t) <= p().clock2(m, w().agent_of(c), b);
                  }));
                });
    each_thread(v, "no two writes ahead of their points are at one time",
                [this](const State& s, const auto&, const ThreadIx& t) {
                  return implies(is_ahead(s, t), each_ahead(s, [&](const ThreadIx& u) {
                                   return u == t || time(s, u) != time(s, t);
                                 }));
                });
    v.invariant("the newest write is in memory's past", [this](const State& s) {
      return last(s) <= p().memory_time(s.system.memory, W::watched_block());
    });
  }

  // ---- until the first race: what was written, and where

  template <class V>
  void writes_ahead(V& v) const {
    each_thread_unraced(v, "a write ahead is later than the newest",
                        [this](const State& s, const auto&, const ThreadIx& t) {
                          return implies(is_ahead(s, t), last(s) < time(s, t));
                        });
    each_thread_unraced(v, "a store ahead has written what it was asked to, an RMW what its function gives",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          const auto& q = m.port(t).request;
                          const Value wrote = s.ghost.wrote(t);
                          return implies(is_ahead(s, t),
                                         wrote == K::select(q.operation == Operation::store, Value(q.a),
                                                            rmw_result(k(), q, Value(m.port(t).result))));
                        });
    each_thread_unraced(
        v, "an RMW ahead returns what the write before it wrote",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const Value result = m.port(t).result;
          const auto before = [&](const ThreadIx& u) { return time(s, u) < time(s, t); };
          const Bool is_first = each_ahead(s, [&](const ThreadIx& u) { return !before(u); });
          return implies(is_ahead(s, t) && asks(m, t, Operation::rmw),
                         implies(is_first, result == port(s).newest) && each_ahead(s, [&](const ThreadIx& u) {
                           const Bool is_previous = before(u) && each_ahead(s, [&](const ThreadIx& x) {
                                                      return !before(x) || time(s, x) <= time(s, u);
                                                    });
                           return !is_previous || result == s.ghost.wrote(u);
                         }));
        });
    each_thread_unraced(v, "memory holds what the last write ahead wrote",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          const Bool is_latest =
                              each_ahead(s, [&](const ThreadIx& u) { return time(s, u) <= time(s, t); });
                          return implies(is_ahead(s, t) && is_latest, W::in_memory(m) == s.ghost.wrote(t));
                        });
    v.invariant("or the newest write, if none is ahead", [this](const State& s) {
      return port(s).raced || !none_ahead(s) || W::in_memory(s.system.memory) == port(s).newest;
    });
  }

  template <class V>
  void newest(V& v) const {
    each_lease_unraced(v, "a lease between the newest write and those ahead is of the newest",
                       [this](const State& s, const Number& rts, const Value& held) {
                         const Bool between = last(s) <= rts && each_ahead(s, [&](const ThreadIx& u) {
                                                return rts < time(s, u);
                                              });
                         return implies(between, held == port(s).newest);
                       });
    each_lease_unraced(v, "a lease that reaches a write ahead, but none behind that, is of it",
                       [this](const State& s, const Number& rts, const Value& held) {
                         return each_ahead(s, [&](const ThreadIx& u) {
                           const Bool of = time(s, u) <= rts && each_ahead(s, [&](const ThreadIx& x) {
                                             return time(s, x) <= time(s, u) || rts < time(s, x);
                                           });
                           return implies(of, held == s.ghost.wrote(u));
                         });
                       });
    v.invariant(
        "the clocks of an atomic's scope have reached it if it is the newest write", [this](const State& s) {
          const auto& g = port(s);
          const auto& m = s.system.memory;
          const Bool placed = g.atomic && !w().host(g.writer) && g.scope != Scope::system;
          return g.raced || implies(placed, last(s) <= bank(m, w().agent(g.writer)) &&
                                                (g.scope == Scope::agent || last(s) <= clock1(m, g.writer)));
        });
  }

  template <class V>
  void reads(V& v) const {
    each_thread_unraced(
        v, "an answer that has had its point brings what was newest there",
        [](const State& s, const auto& m, const ThreadIx& t) {
          const Bool at = returning(m, t) && port(s).pointed(t) && Port::at_word(m.port(t).request);
          const Value expected = port(s).expected(t);
          return implies(at && asks(m, t, Operation::load), W::word(m.transit(t).data) == expected) &&
                 implies(at && asks(m, t, Operation::rmw), m.port(t).result == expected);
        });
  }

  // ---- who is ordered behind the newest write, and where it is published

  template <class V>
  void knowledge(V& v) const {
    each_thread_unraced(
        v, "who is ordered behind the newest write has a clock there, or is about to",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const auto& q = m.port(t).request;
          const Bool brings = returning(m, t) && port(s).pointed(t) && last(s) <= m.transit(t).wts;
          const Bool brings2 =
              brings && m.transit(t).stage == Stage::from_memory &&
              (q.block == W::watched_block() || (atomic_to_system(m, t) && acquires(q.order)));
          return port(s).unordered(t) || w().host(t) ||
                 ((last(s) <= clock1(m, t) || brings) && (last(s) <= bank(m, w().agent(t)) || brings2));
        });
    each_thread_unraced(v, "the clock of the CPUs has reached what one of them is ordered behind",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          return port(s).unordered(t) || !w().host(t) || last(s) <= Memory::mm(m).cpu_clock;
                        });
    each_thread_unraced(v, "an atomic write carries the time of what its thread is ordered behind",
                        [](const State& s, const auto& m, const ThreadIx& t) {
                          const Bool going =
                              m.transit(t).stage == Stage::to_l2 || m.transit(t).stage == Stage::to_memory;
                          const Bool carries = writes(m, t) && atomic_beyond_group(m, t);
                          return port(s).unordered(t) || !carries ||
                                 (implies(going, last(s) <= m.transit(t).wts) &&
                                  implies(returning(m, t) && !port(s).pointed(t), last(s) <= time(s, t)));
                        });
  }

  template <class V>
  void published(V& v) const {
    each_cu(v, "what is published to a group is in its L1's past, and in L2's",
            [this](const State& s, const auto& m, const Cu& c) {
              return port(s).raced || !port(s).published_to_group(c) ||
                     (last(s) <= m.clock1(c) && last(s) <= bank(m, w().agent_of(c)));
            });
    each_agent(v, "what is published to an agent is in its L2's past",
               [this](const State& s, const auto& m, const Agent& a) {
                 return port(s).raced || !port(s).published_to_agent(a) || last(s) <= bank(m, a);
               });
    each_agent(v,
               "what is published through a block to an agent is in the past of all that L2 may serve of it",
               [this](const State& s, const auto& m, const Agent& a) {
                 return port(s).raced || each_block([&](const Block& b) {
                          const Line& line = m.l2(a, b);
                          const Bool served = line.present && p().clock2(m, a, b) <= line.rts;
                          return !port(s).published_by_block.to_agent(a, b) ||
                                 (last(s) <= bank(m, a) && last(s) <= p().clock2(m, a, b) &&
                                  last(s) <= p().memory_time(m, b) && (!served || last(s) <= line.wts));
                        });
               });
    v.invariant("what is published through a block to the system is in memory's past of it",
                [this](const State& s) {
                  return port(s).raced || each_block([&](const Block& b) {
                           return !port(s).published_by_block.to_system(b) ||
                                  last(s) <= p().memory_time(s.system.memory, b);
                         });
                });
  }
};

}  // namespace lockstep::halcone
