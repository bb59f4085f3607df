// Why QuickRelease keeps its promise at the port (port_theorem.hpp).
//
// Writes of the word that have been performed and are not in memory yet are in the caches and on the links of
// one CU and its agent, the newest one nearest to the CU: whoever writes is ordered behind the newest write,
// so that has been drained as far as their scopes differ. Stores that are late may be anywhere besides, but
// only where the newest write has reached what shares their scope.
//
// Who is ordered behind the newest write has a fresh L1: it shows that write or a later one, and so does what
// is on its way to it. An L2 becomes fresh when the write passes it, or when an invalidation arrives that
// memory sent with it; an L1, when an invalidation arrives from an L2 that is fresh. A release waits for the
// invalidations that its scope still lacks. An access that passes caches leaves nothing older in them.
//
// A link carries one message, which many lemmas rest on: what is on a link has nothing ahead of it there.
#pragma once

#include <string_view>

#include "proofs/lemmas/quick_release.port.hpp"

namespace lockstep::quick_release {

template <class System>
struct TheoremLemmas : PlaceLemmas<System> {
  using Base = PlaceLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::each_thread_unraced;
  using Base::k;
  using Base::system;
  using Base::travels;
  using Base::w;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::M;
  using typename Base::Open;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::Up;
  using typename Base::W;
  using Value = typename K::Value;
  using Port = PortOf<Open>;

  static constexpr auto left_to_the_explorer = Lemmas<System>::left_to_the_explorer;

  template <class V>
  void lemmas(V& v) const {
    v.keep(PortTheorem<System, PortOf>{system}).theorem(v);
    Base::places(v);
    requests(v);
    late_stores(v);
    far(v);
    newest(v);
    caches(v);
    late_copies(v);
    invalidations(v);
    knowledge(v);
    releases_on_their_way(v);
    loads(v);
  }

 private:
  // ---- requests, whatever is watched

  template <class V>
  void requests(V& v) const {
    Base::loads_release_nothing(v);
    each_thread(v, "an operation has had its point where its load or RMW is on its way past it",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return s.ghost.port.pointed(t) ==
                         (m.port(t).done || m.stage(t) == Stage::stored || sent(m, t) || forwarded(m, t));
                });
    each_thread(v, "an RMW in flight has an entry in its S-FIFO1",
                [this](const State&, const M& m, const ThreadIx& t) {
                  return m.stage(t) != Stage::atomic || W::holds(m.fifo1(w().queue(t)), EntryKind::atomic, t);
                });
    each_thread_unraced(v, "nobody asks for what no model judges",
                        [](const State&, const M& m, const ThreadIx& t) {
                          return !m.port(t).pending || !Port::outside(m.port(t).request);
                        });
    each_thread(
        v, "who synchronizes has no flush on its way", [](const State& s, const M& m, const ThreadIx& t) {
          const auto& q = m.port(t).request;
          const Bool judged = q.order != Order::plain && !Port::outside(q);
          return !m.flushing(t) || !judged ||
                 (m.read(t).stage == ReadStage::none && m.stage(t) == Stage::idle) || s.ghost.port.raced;
        });
  }
  // A load past its point, and an RMW.
  [[nodiscard]] Bool sent(const M& m, const ThreadIx& t) const {
    const auto& q = m.port(t).request;
    const auto& stage = m.read(t).stage;
    const Bool far = q.order != Order::plain && !within_work_group(q.scope);
    const Bool back = stage == ReadStage::from_directory || stage == ReadStage::from_l2;
    return stage != ReadStage::none &&
           (!far || back || (q.scope == Scope::agent && stage == ReadStage::to_directory));
  }
  [[nodiscard]] Bool forwarded(const M& m, const ThreadIx& t) const {
    const auto& q = m.port(t).request;
    const Bool far = q.order != Order::plain && !within_work_group(q.scope);
    return m.stage(t) == Stage::atomic &&
           (!far || (q.scope == Scope::agent && W::holds(m.link2(w().agent(t)), UpKind::atomic, t)));
  }

  // ---- late stores: where they are, and that a flush is behind them

  [[nodiscard]] static const auto& late(const State& s, const ThreadIx& t) { return s.ghost.port.late.of(t); }
  [[nodiscard]] static Bool is_late(const State& s, const ThreadIx& t) {
    return Port::is_late(s.ghost.port, t);
  }

  template <class V>
  void late_stores(V& v) const {
    each_thread(v, "a late store is on its way", [this](const State& s, const M& m, const ThreadIx& t) {
      const auto& it = late(s, t);
      const Bool near = it.way == Way::wl1 || it.way == Way::link1;
      return !it.pending ||
             (!w().host(t) && !within_work_group(it.scope) && (it.scope == Scope::system || near) &&
              Points<Open>{system.system()}.is_there(it, m, t));
    });
    each_thread(v, "what is not late is not remembered", [](const State& s, const M&, const ThreadIx& t) {
      const auto& it = late(s, t);
      return it.pending || (it.way == Way::none && !it.covered && !it.knows);
    });
    each_thread(v, "a flush is behind its late store, or still to be queued",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const auto& it = late(s, t);
                  const auto& q = m.port(t).request;
                  const Bool asks = m.port(t).pending && q.block == it.block && q.word == it.word &&
                                    q.a == it.value && q.scope == it.scope;
                  const Bool to_come = m.stage(t) == Stage::stored && asks;
                  const Bool flushes = m.flushing(t) && travels(m, t, EntryKind::flush, UpKind::flush) &&
                                       (it.scope == Scope::system) == s.ghost.wide(t);
                  return !it.pending || ((to_come || flushes) && drives(s, m, t));
                });
    each_thread(
        v, "a late store that nothing covers is what its place holds",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const auto& it = late(s, t);
          const auto at = [&](Way way, const Value& data) { return it.way != way || data == it.value; };
          const Agent a = w().agent(t);
          return !is_late(s, t) || it.covered ||
                 (at(Way::wl1, data(m.wl1(w().cu(t), W::block()))) &&
                  at(Way::link1, last(m.link1(w().cu(t)))) && at(Way::wl2, data(m.wl2(a, W::block()))) &&
                  at(Way::link2, last(m.link2(a))) && at(Way::wl3, data(m.wl3(W::block()))));
        });
    each_thread(v, "what a late store knows its thread is ordered behind",
                [](const State& s, const M&, const ThreadIx& t) {
                  return !late(s, t).knows || !s.ghost.port.unordered(t);
                });
  }
  // Wherever the flush has come to, the late store is ahead of it.
  [[nodiscard]] Bool drives(const State& s, const M& m, const ThreadIx& t) const {
    const auto& it = late(s, t);
    const Agent a = w().agent(t);
    const auto& fifo1 = m.fifo1(w().queue(t));
    const auto behind = [&](const auto& fifo) {
      return W::behind(fifo, EntryKind::flush, t,
                       [&](const auto& e) { return e.kind == EntryKind::write && e.block == it.block; });
    };
    const Bool beyond1 = it.way != Way::wl1;
    const Bool beyond2 = beyond1 && it.way != Way::link1;
    const Bool beyond3 = beyond2 && it.way != Way::wl2;
    return (!W::holds(fifo1, EntryKind::flush, t) || beyond1 || behind(fifo1)) &&
           (!W::holds(m.link1(w().cu(t)), UpKind::flush, t) || beyond2) &&
           (!W::holds(m.fifo2(a), EntryKind::flush, t) || (beyond2 && (beyond3 || behind(m.fifo2(a))))) &&
           (!W::holds(m.link2(a), UpKind::flush, t) || it.way == Way::wl3) &&
           (!W::holds(m.fifo3, EntryKind::flush, t) || (it.way == Way::wl3 && behind(m.fifo3)));
  }

  // ---- accesses that pass caches, and what they leave there

  [[nodiscard]] PerformedWrites<Open> performed() const { return {{{system.system()}}}; }
  [[nodiscard]] static const auto& port(const State& s) { return s.ghost.port; }
  // The thread's RMW of the word has had its point and is not performed yet.
  [[nodiscard]] static Bool under_way(const State& s, const M& m, const ThreadIx& t) {
    return PerformedWrites<Open>::is_under_way(m, port(s), t);
  }
  [[nodiscard]] static Bool of_block(const M& m, const ThreadIx& t) {
    return m.port(t).request.block == W::block();
  }
  // The thread's read of the block is in flight, to be cached in its L1; in its L2.
  [[nodiscard]] static Bool fills1(const M& m, const ThreadIx& t) {
    return Base::reads(m, t) && !m.read(t).poisoned && !atomic_beyond_group(m, t);
  }
  [[nodiscard]] static Bool fills2(const M& m, const ThreadIx& t) {
    const auto& stage = m.read(t).stage;
    return Base::reads(m, t) && !m.read(t).poisoned && !atomic_to_system(m, t) &&
           (stage == ReadStage::to_directory || stage == ReadStage::from_directory);
  }
  // An RMW of the block, or a load that passes caches at that level and all nearer ones, is on the link.
  template <class Link>
  [[nodiscard]] Bool passing(const M& m, const Link& link, const ThreadIx& t, const Bool& load) const {
    const Bool rmw = W::holds(link, UpKind::atomic, t);
    return of_block(m, t) && (rmw || (load && W::holds(link, UpKind::read, t)));
  }
  // A late store of that value waits in that wL2.
  [[nodiscard]] Bool waits_late2(const State& s, const Agent& a, const Value& x) const {
    return k().exists(threads, [&](const ThreadIx& t) {
      return is_late(s, t) && late(s, t).way == Way::wl2 && w().agent(t) == a && late(s, t).value == x;
    });
  }
  template <class Line>
  [[nodiscard]] static Bool readable(const Line& copy) {
    return copy.present && !copy.written;
  }

  template <class V>
  void far(V& v) const {
    each_thread(v, "what passes an L1 leaves nothing of its block there, nor to be put there",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const Cu c = w().cu(t);
                  return !passing(m, m.link1(c), t, atomic_beyond_group(m, t)) ||
                         (!m.rl1(c, W::block()).present && k().forall(threads, [&](const ThreadIx& u) {
                           return w().cu(u) != c || !fills1(m, u);
                         }));
                });
    each_thread(v, "what passes an L2 leaves nothing of its block there, nor to be put there",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const Agent a = w().agent(t);
                  return !passing(m, m.link2(a), t, atomic_to_system(m, t)) ||
                         (!m.rl2(a, W::block()).present && k().forall(threads, [&](const ThreadIx& u) {
                           return w().agent(u) != a || !fills2(m, u);
                         }));
                });
    each_thread_unraced(
        v, "and its L1 is given nothing but what waits in that L2",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const Agent a = w().agent(t);
          const Cu c = w().cu(t);
          const auto& g = port(s);
          const Bool concerned = passing(m, m.link2(a), t, atomic_to_system(m, t)) && atomic_to_system(m, t);
          const Bool nearer = performed().at2(m, g, a) || k().exists(cus, [&](const Cu& d) {
            return w().agent_of(d) == a && performed().at1(m, g, d);
          });
          return !concerned || nearer ||
                 ((!readable(m.rl1(c, W::block())) || waits_late2(s, a, data(m.rl1(c, W::block())))) &&
                  k().forall(threads, [&](const ThreadIx& u) {
                    return w().cu(u) != c || !fills1(m, u) || m.read(u).stage != ReadStage::from_l2 ||
                           waits_late2(s, a, data(m.read(u)));
                  }));
        });
    each_thread_unraced(v, "what passes L1s is behind what its thread is ordered behind",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& g = port(s);
                          const Agent a = w().agent(t);
                          const Bool load = atomic_beyond_group(m, t);
                          const Bool far2 = passing(m, m.link2(a), t, load) && !g.pointed(t);
                          const Bool far1 = passing(m, m.link1(w().cu(t)), t, load) && !g.pointed(t);
                          return g.unordered(t) ||
                                 ((!far1 || s.ghost.fresh2(a)) &&
                                  (!far2 || (s.ghost.fresh2(a) && !performed().at2(m, g, a))));
                        });
    each_thread_unraced(
        v, "an RMW that has had its point will find what it expects",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const Agent a = w().agent(t);
          const Value x = port(s).expected(t);
          return !under_way(s, m, t) ||
                 ((!W::holds(m.link1(w().cu(t)), UpKind::atomic, t) || beyond1(s, m, a) == x) &&
                  (!W::holds(m.link2(a), UpKind::atomic, t) || beyond2(m) == x));
        });
    each_thread_unraced(
        v, "while an RMW that has had its point is under way, what was written since is behind it",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const auto& g = port(s);
          const Agent a = w().agent(t);
          const Cu c = w().cu(t);
          const Bool on2 = W::holds(m.link2(a), UpKind::atomic, t);
          const Bool behind =
              K::select(on2, !performed().none1(m, g) || performed().in2(m, g, a), performed().in1(m, g, c));
          return !under_way(s, m, t) || g.writer == t || behind;
        });
    each_thread(
        v, "a late store has its point ahead of an RMW of its thread",
        [](const State& s, const M& m, const ThreadIx& t) { return !is_late(s, t) || !under_way(s, m, t); });
    each_thread_unraced(v, "an RMW that has had its point leaves what it computes",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const Value old = port(s).expected(t);
                          return !under_way(s, m, t) ||
                                 s.ghost.leaves(t) == rmw_result(k(), m.port(t).request, old);
                        });
    each_thread_unraced(
        v, "while an RMW that wrote last is under way, who else is ordered behind it waits behind it",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const auto& g = port(s);
          const Bool wrote_last = under_way(s, m, t) && g.writer == t;
          const Agent a = w().agent(t);
          const Cu c = w().cu(t);
          const Bool on2 = W::holds(m.link2(a), UpKind::atomic, t);
          const Bool unpublished = !g.published_to_system && k().forall(cus, [&](const Cu& d) {
            return !g.published_to_group(d);
          }) && k().forall(agents, [&](const Agent& b) { return !g.published_to_agent(b); });
          const Bool own_copies =
              !on2 || (!m.rl1(c, W::block()).present && k().forall(threads, [&](const ThreadIx& u) {
                return w().cu(u) != c || !fills1(m, u) || m.read(u).stage == ReadStage::to_l2;
              }));
          return !wrote_last || (!performed().in1(m, g, c) &&
                                 (!on2 || (performed().none1(m, g) && !performed().in2(m, g, a))) &&
                                 unpublished && own_copies && k().forall(threads, [&](const ThreadIx& u) {
                                   const Bool waits = on2 && W::holds(m.link1(c), UpKind::read, u) &&
                                                      Port::at_word(m.port(u).request);
                                   return !late(s, u).knows && (u == t || g.unordered(u) || waits);
                                 }));
        });
  }

  // ---- where the newest write is

  // What memory holds of the word; what is found from link2 on; from an L2's write cache on; what a link that
  // carries a performed write leaves there.
  [[nodiscard]] Value in_memory(const M& m) const {
    const Home<K> home{k()};
    return home.current(m.home, W::block(), Open::watched_word());
  }
  [[nodiscard]] Value beyond2(const M& m) const {
    return K::select(W::waits3(m), data(m.wl3(W::block())), in_memory(m));
  }
  template <class Link>
  [[nodiscard]] Value beyond_link(const State& s, const M& m, const Link& link,
                                  const Value& otherwise) const {
    Value found = K::select(W::carries(link), last(link), otherwise);
    k().for_each(threads, [&](const ThreadIx& t) {
      const Bool rmw = under_way(s, m, t) && W::holds(link, UpKind::atomic, t);
      found = K::select(rmw, Value(s.ghost.leaves(t)), found);
    });
    return found;
  }
  [[nodiscard]] Value beyond1(const State& s, const M& m, const Agent& a) const {
    return K::select(W::waits2(m, a), data(m.wl2(a, W::block())), beyond_link(s, m, m.link2(a), beyond2(m)));
  }
  // What performed writes alone make of it.
  [[nodiscard]] Value performed3(const State& s, const M& m) const {
    return K::select(performed().in3(m, port(s)), data(m.wl3(W::block())), in_memory(m));
  }

  template <class V>
  void newest(V& v) const {
    each_cu(v, "a performed write at an L1 is of the newest one's CU, and no other is but beyond it",
            [this](const State& s, const M& m, const Cu& c) {
              const auto& g = port(s);
              const Value x = g.newest;
              const Bool ends = K::select(performed().in1(m, g, c), data(m.wl1(c, W::block())) == x,
                                          beyond_link(s, m, m.link1(c), Value(0)) == x);
              return g.raced || !performed().at1(m, g, c) ||
                     (!w().host(g.writer) && w().cu(g.writer) == c && ends &&
                      k().forall(cus, [&](const Cu& d) { return d == c || !performed().at1(m, g, d); }) &&
                      none2_but(s, m, w().agent_of(c)));
            });
    each_agent(v, "a performed write at an L2 is of the newest one's agent, and no other is but beyond it",
               [this](const State& s, const M& m, const Agent& a) {
                 const auto& g = port(s);
                 const Value x = g.newest;
                 const Bool ends = K::select(performed().in2(m, g, a), data(m.wl2(a, W::block())) == x,
                                             beyond_link(s, m, m.link2(a), Value(0)) == x);
                 return g.raced || !performed().at2(m, g, a) ||
                        (!w().host(g.writer) && w().agent(g.writer) == a && none2_but(s, m, a) &&
                         (!performed().none1(m, g) || ends));
               });
    v.invariant(
        "no CPU writes after a performed write in wL3, which is the newest if none is nearer",
        [this](const State& s) {
          const M& m = s.system.memory;
          const auto& g = port(s);
          return g.raced || !performed().in3(m, g) ||
                 (!w().host(g.writer) && (!performed().none2(m, g) || data(m.wl3(W::block())) == g.newest));
        });
    v.invariant("memory holds the newest write if none is on its way", [this](const State& s) {
      const M& m = s.system.memory;
      return port(s).raced || !performed().in_reach(m, port(s)) || in_memory(m) == port(s).newest;
    });
    v.invariant("an atomic write has reached what its scope shares", [this](const State& s) {
      const auto& g = port(s);
      const Bool placed = !w().host(g.writer);
      return g.raced || !g.atomic ||
             ((g.scope != Scope::wg || !placed || s.ghost.fresh1(w().cu(g.writer))) &&
              (g.scope != Scope::agent || !placed || s.ghost.fresh2(w().agent(g.writer))) &&
              (g.scope != Scope::system || performed().in_reach(s.system.memory, g)));
    });
    each_thread_unraced(v, "the newest write has reached what shares the scope of a late store",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& it = late(s, t);
                          return !is_late(s, t) ||
                                 K::select(it.scope == Scope::system, performed().in_reach(m, port(s)),
                                           Bool(s.ghost.fresh2(w().agent(t))));
                        });
    each_thread_unraced(v, "stores that are late at once have one scope",
                        [this](const State& s, const M&, const ThreadIx& t) {
                          return k().forall(threads, [&](const ThreadIx& u) {
                            const Bool both = is_late(s, t) && is_late(s, u) && u != t;
                            return !both ||
                                   (late(s, t).scope == late(s, u).scope &&
                                    (late(s, t).scope == Scope::system || w().agent(t) == w().agent(u)));
                          });
                        });
    v.invariant("its writer is ordered behind the newest write",
                [](const State& s) { return port(s).raced || !port(s).unordered(port(s).writer); });
  }
  [[nodiscard]] Bool none2_but(const State& s, const M& m, const Agent& a) const {
    return k().forall(agents, [&](const Agent& b) { return a == b || !performed().at2(m, port(s), b); });
  }

  // ---- what caches show

  // A store that is late and for the system writes that.
  [[nodiscard]] Bool is_late_value(const State& s, const Value& x) const {
    return k().exists(threads, [&](const ThreadIx& t) {
      return is_late(s, t) && late(s, t).scope == Scope::system && late(s, t).value == x;
    });
  }
  [[nodiscard]] Bool is_current(const State& s, const Value& x) const {
    return x == port(s).newest || is_late_value(s, x);
  }
  // The newest write is beyond both levels, or in wL3.
  [[nodiscard]] Bool finds3(const State& s, const M& m) const { return performed3(s, m) == port(s).newest; }
  // A read in flight brings the newest write, or a later one, from level 2 on; from L2.
  [[nodiscard]] Bool brings2(const State& s, const M& m, const ThreadIx& t) const {
    const auto& read = m.read(t);
    return (read.stage == ReadStage::to_directory && finds3(s, m)) ||
           (read.stage == ReadStage::from_directory && is_current(s, data(read)));
  }
  [[nodiscard]] Bool brings1(const State& s, const M& m, const ThreadIx& t) const {
    const auto& read = m.read(t);
    return brings2(s, m, t) || (read.stage == ReadStage::to_l2 && s.ghost.fresh2(w().agent(t))) ||
           (read.stage == ReadStage::from_l2 && is_current(s, data(read)));
  }

  template <class V>
  void caches(V& v) const {
    each_cu(v, "a fresh L1 holds no older copy, and fetches none",
            [this](const State& s, const M& m, const Cu& c) {
              const auto& copy = m.rl1(c, W::block());
              return port(s).raced || !s.ghost.fresh1(c) ||
                     ((!readable(copy) || is_current(s, data(copy))) &&
                      (performed().at1(m, port(s), c) || s.ghost.fresh2(w().agent_of(c))));
            });
    each_thread_unraced(v, "a fresh L1 is brought no older copy",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          return !s.ghost.fresh1(w().cu(t)) || !fills1(m, t) ||
                                 performed().in1(m, port(s), w().cu(t)) || brings1(s, m, t);
                        });
    each_agent(v, "a fresh L2 holds no older copy, and fetches none",
               [this](const State& s, const M& m, const Agent& a) {
                 const auto& copy = m.rl2(a, W::block());
                 return port(s).raced || !s.ghost.fresh2(a) ||
                        ((!readable(copy) || is_current(s, data(copy))) && performed().none1(m, port(s)) &&
                         none2_but(s, m, a) && (performed().at2(m, port(s), a) || finds3(s, m)));
               });
    each_thread_unraced(
        v, "a fresh L2 is brought no older copy", [this](const State& s, const M& m, const ThreadIx& t) {
          const Agent a = w().agent(t);
          return !s.ghost.fresh2(a) || !fills2(m, t) || performed().in2(m, port(s), a) || brings2(s, m, t);
        });
  }

  // ---- what caches show of stores that are late

  // Another late store of the agent is behind it.
  [[nodiscard]] Bool is_or_behind(const State& s, const ThreadIx& t, const Value& x) const {
    const auto& it = late(s, t);
    return x == it.value || k().exists(threads, [&](const ThreadIx& u) {
      const auto& other = late(s, u);
      const Bool behind = (other.way == Way::wl2 && (it.way == Way::link2 || it.way == Way::wl3)) ||
                          (other.way == Way::link2 && it.way == Way::wl3);
      return u != t && is_late(s, u) && behind && w().agent(u) == w().agent(t) && other.value == x;
    });
  }
  // The read brings the late store, or one behind it: it is behind the store's message, which is alone on
  // link1.
  [[nodiscard]] Bool brings_or_behind(const State& s, const M& m, const ThreadIx& t,
                                      const ThreadIx& reader) const {
    const auto& read = m.read(reader);
    const Bool back = read.stage == ReadStage::from_directory || read.stage == ReadStage::from_l2;
    return !at(s, t, Way::link1) &&
           (read.stage == ReadStage::to_l2 || (read.stage == ReadStage::to_directory && at(s, t, Way::wl3)) ||
            (back && is_or_behind(s, t, data(read))));
  }
  [[nodiscard]] Bool is_last(const State& s, const ThreadIx& t) const {
    return is_late(s, t) && !late(s, t).covered;
  }
  [[nodiscard]] Bool at(const State& s, const ThreadIx& t, Way way) const { return late(s, t).way == way; }
  [[nodiscard]] Bool beyond_wl2(const State& s, const ThreadIx& t) const {
    return at(s, t, Way::link2) || at(s, t, Way::wl3);
  }
  [[nodiscard]] Bool same_place(const State& s, const ThreadIx& t, const ThreadIx& u) const {
    const Bool level1 = at(s, t, Way::wl1) || at(s, t, Way::link1);
    const Bool level2 = at(s, t, Way::wl2) || at(s, t, Way::link2);
    return late(s, t).way == late(s, u).way && (!level1 || w().cu(t) == w().cu(u)) &&
           (!level2 || w().agent(t) == w().agent(u));
  }

  template <class V>
  void late_copies(V& v) const {
    each_thread_unraced(v, "of late stores at one place all but the last are covered",
                        [this](const State& s, const M&, const ThreadIx& t) {
                          return !is_late(s, t) ||
                                 K::select(late(s, t).covered,
                                           k().exists(threads,
                                                      [&](const ThreadIx& u) {
                                                        return u != t && is_last(s, u) && same_place(s, t, u);
                                                      }),
                                           k().forall(threads, [&](const ThreadIx& u) {
                                             return u == t || !is_last(s, u) || !same_place(s, t, u);
                                           }));
                        });
    each_thread_unraced(v, "the L1 of a late store shows nothing older",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& copy = m.rl1(w().cu(t), W::block());
                          return !is_last(s, t) || !readable(copy) || is_or_behind(s, t, data(copy));
                        });
    each_thread_unraced(
        v, "nor is it brought anything older", [this](const State& s, const M& m, const ThreadIx& t) {
          return !is_last(s, t) || at(s, t, Way::wl1) || k().forall(threads, [&](const ThreadIx& u) {
            return w().cu(u) != w().cu(t) || !fills1(m, u) || brings_or_behind(s, m, t, u);
          });
        });
    each_thread_unraced(v, "the L2 behind which a store is late shows nothing older, nor is it brought any",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const Agent a = w().agent(t);
                          const auto& copy = m.rl2(a, W::block());
                          return !is_last(s, t) || (!at(s, t, Way::wl2) && !beyond_wl2(s, t)) ||
                                 ((!readable(copy) || is_or_behind(s, t, data(copy))) &&
                                  (at(s, t, Way::wl2) || k().forall(threads, [&](const ThreadIx& u) {
                                    return w().agent(u) != a || !fills2(m, u) || brings_or_behind(s, m, t, u);
                                  })));
                        });
    each_thread_unraced(v, "the other L1s of that agent show nothing older, or will be told",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const Agent a = w().agent(t);
                          return !is_last(s, t) || !beyond_wl2(s, t) || (k().forall(cus, [&](const Cu& c) {
                            const auto& copy = m.rl1(c, W::block());
                            return w().agent_of(c) != a || m.invalidation1(c, W::block()) ||
                                   !readable(copy) || is_or_behind(s, t, data(copy));
                          }) && k().forall(threads, [&](const ThreadIx& u) {
                            const auto& read = m.read(u);
                            const Bool follows = read.stage == ReadStage::from_l2 && read.followed;
                            return w().agent(u) != a || !fills1(m, u) || brings_or_behind(s, m, t, u) ||
                                   follows;
                          }));
                        });
  }

  // ---- invalidations are sent in time, and stay behind the fills that they follow

  template <class V>
  void invalidations(V& v) const {
    each_thread(v, "a fill that is followed has an invalidation behind it",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return !read.followed || !of_block(m, t) ||
                         K::select(read.stage == ReadStage::from_l2,
                                   Bool(m.invalidation1(w().cu(t), W::block())),
                                   Bool(m.invalidation2(w().agent(t), W::block())));
                });
    each_agent(v, "an L2 that has told its L1s is fresh, and one that is fresh tells them",
               [this](const State& s, const M& m, const Agent& a) {
                 const auto& g = port(s);
                 const Bool will = performed().in2(m, g, a) || performed().carries_rmw(m, g, m.link2(a)) ||
                                   m.invalidation2(a, W::block());
                 return g.raced || ((!s.ghost.told(a) || (s.ghost.fresh2(a) && !performed().in2(m, g, a))) &&
                                    (!s.ghost.fresh2(a) || s.ghost.told(a) || will));
               });
    each_cu(v, "an L1 that has been told is fresh, or will be when that arrives",
            [this](const State& s, const M& m, const Cu& c) {
              return port(s).raced || !s.ghost.told(w().agent_of(c)) || s.ghost.fresh1(c) ||
                     m.invalidation1(c, W::block());
            });
    each_thread_unraced(v, "an older fill on its way to an L1 that has been told is ahead of that",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& read = m.read(t);
                          return !s.ghost.told(w().agent(t)) || !fills1(m, t) || brings1(s, m, t) ||
                                 (read.stage == ReadStage::from_l2 && read.followed);
                        });
    each_agent(v, "when the newest write is in memory, an L2 is fresh or will be told",
               [this](const State& s, const M& m, const Agent& a) {
                 return port(s).raced || !performed().in_reach(m, port(s)) || s.ghost.fresh2(a) ||
                        m.invalidation2(a, W::block());
               });
    each_thread_unraced(v, "and an older fill on its way to it is ahead of that",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& read = m.read(t);
                          return !performed().in_reach(m, port(s)) || !fills2(m, t) || brings2(s, m, t) ||
                                 (read.stage == ReadStage::from_directory && read.followed);
                        });
  }

  // ---- who is ordered behind the newest write, and where it is published

  [[nodiscard]] Bool visible_in(const State& s, const Agent& a) const {
    return s.ghost.told(a) &&
           k().forall(cus, [&](const Cu& c) { return w().agent_of(c) != a || s.ghost.fresh1(c); });
  }
  [[nodiscard]] Bool visible(const State& s, const M& m, const Agent& home, const Bool& wide) const {
    return k().forall(agents, [&](const Agent& a) { return (a != home && !wide) || visible_in(s, a); }) &&
           (!wide || performed().in_reach(m, port(s)));
  }
  // The same, once the invalidations that the thread awaits have been delivered.
  [[nodiscard]] Bool will_be_visible(const State& s, const M& m, const ThreadIx& t, const Bool& wide) const {
    const Agent home = w().agent(t);
    return k().forall(agents, [&](const Agent& a) {
      const Bool awaited = m.awaited2(t, a, W::block());
      const Bool told = s.ghost.told(a) && k().forall(cus, [&](const Cu& c) {
        return w().agent_of(c) != a || s.ghost.fresh1(c) || m.awaited1(t, c, W::block());
      });
      const Bool will_be_told = awaited && (wide || s.ghost.fresh2(a)) && !performed().in2(m, port(s), a);
      return (a != home && !wide) || told || will_be_told;
    }) && (!wide || performed().in_reach(m, port(s)));
  }

  template <class V>
  void knowledge(V& v) const {
    each_thread_unraced(v, "who is ordered behind the newest write has a fresh L1",
                        [this](const State& s, const M&, const ThreadIx& t) {
                          return port(s).unordered(t) || w().host(t) || s.ghost.fresh1(w().cu(t));
                        });
    each_thread_unraced(v, "a CPU that is ordered behind the newest write finds it in memory",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          return port(s).unordered(t) || !w().host(t) || performed().in_reach(m, port(s));
                        });
    each_cu(v, "what is published to a group is fresh in its L1", [](const State& s, const M&, const Cu& c) {
      return port(s).raced || !port(s).published_to_group(c) || s.ghost.fresh1(c);
    });
    each_agent(v, "what is published to an agent is fresh in its caches",
               [this](const State& s, const M&, const Agent& a) {
                 return port(s).raced || !port(s).published_to_agent(a) || visible_in(s, a);
               });
    v.invariant("what is published to the system is fresh in all caches, and in memory",
                [this](const State& s) {
                  const M& m = s.system.memory;
                  return port(s).raced || !port(s).published_to_system ||
                         (performed().in_reach(m, port(s)) &&
                          k().forall(agents, [&](const Agent& a) { return visible_in(s, a); }));
                });
    each_thread_unraced(v, "what a thread that has released is ordered behind is fresh in its scope",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& q = m.port(t).request;
                          const Bool rmw = m.stage(t) == Stage::atomic && releases(q.order) &&
                                           beyond_group(m, t) && !port(s).pointed(t);
                          return port(s).unordered(t) || (m.stage(t) != Stage::released && !rmw) ||
                                 visible(s, m, w().agent(t), this->wide(m, t));
                        });
    each_thread_unraced(v, "what a late store knows is fresh in its scope",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          return !late(s, t).knows ||
                                 visible(s, m, w().agent(t), late(s, t).scope == Scope::system);
                        });
    each_thread_unraced(v, "who waits for invalidations waits for those that its scope lacks",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          return port(s).unordered(t) || m.stage(t) != Stage::awaiting ||
                                 will_be_visible(s, m, t, this->wide(m, t));
                        });
  }

  // A marker is behind what its thread is ordered behind.
  template <class V>
  void releases_on_their_way(V& v) const {
    each_thread_unraced(
        v, "a marker is behind what its thread is ordered behind",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const auto& g = port(s);
          const Cu c = w().cu(t);
          const Agent a = w().agent(t);
          const auto& fifo1 = m.fifo1(w().queue(t));
          const auto marker = EntryKind::marker;
          const Bool fresh2 = s.ghost.fresh2(a);
          const Bool beyond = fresh2 && performed().none2(m, g);
          const Bool in1 = !performed().in1(m, g, c) || W::behind_entry(fifo1, marker, t);
          const Bool in2 = fresh2 && (!performed().in2(m, g, a) || W::behind_entry(m.fifo2(a), marker, t));
          const Bool in3 = beyond && (!performed().in3(m, g) || W::behind_entry(m.fifo3, marker, t));
          return g.unordered(t) || ((!W::holds(fifo1, marker, t) || in1) &&
                                    (!W::holds(m.link1(c), UpKind::marker, t) || fresh2) &&
                                    (!W::holds(m.fifo2(a), marker, t) || in2) &&
                                    (!W::holds(m.link2(a), UpKind::marker, t) || beyond) &&
                                    (!W::holds(m.fifo3, marker, t) || in3));
        });
  }

  // ---- loads past their points

  template <class V>
  void loads(V& v) const {
    each_thread_unraced(v, "a load in flight brings what was newest at its point",
                        [this](const State& s, const M& m, const ThreadIx& t) {
                          const auto& read = m.read(t);
                          const Value x = port(s).expected(t);
                          const Bool brings = (read.stage == ReadStage::to_l2 && gives2(s, m, t, x)) ||
                                              (read.stage == ReadStage::to_directory && beyond2(m) == x) ||
                                              ((read.stage == ReadStage::from_directory ||
                                                read.stage == ReadStage::from_l2) &&
                                               data(read) == x);
                          return !Port::loading(s.system, port(s), t) || w().host(t) || brings;
                        });
    each_thread_unraced(
        v, "while a load is in flight no write is on its way but on its own",
        [this](const State& s, const M& m, const ThreadIx& t) {
          const auto& g = port(s);
          const auto& stage = m.read(t).stage;
          const Bool concerned = Port::loading(s.system, g, t) && !w().host(t) &&
                                 (stage == ReadStage::to_l2 || stage == ReadStage::to_directory);
          return !concerned ||
                 (k().forall(cus, [&](const Cu& c) { return c == w().cu(t) || !performed().at1(m, g, c); }) &&
                  none2_but(s, m, w().agent(t)) && k().forall(threads, [&](const ThreadIx& u) {
                    return u == t || !is_late(s, u) ||
                           (stage == ReadStage::to_directory && late(s, u).scope == Scope::agent &&
                            w().agent(u) == w().agent(t));
                  }));
        });
  }
  // Whoever reads from the thread's L2 is given x, now and later.
  [[nodiscard]] Bool gives2(const State& s, const M& m, const ThreadIx& t, const Value& x) const {
    const Agent a = w().agent(t);
    const auto& copy = m.rl2(a, W::block());
    return (!readable(copy) || data(copy) == x) && beyond1(s, m, a) == x &&
           k().forall(threads, [&](const ThreadIx& u) {
             const auto& read = m.read(u);
             const Bool brings = (read.stage == ReadStage::to_directory && beyond2(m) == x) ||
                                 (read.stage == ReadStage::from_directory && data(read) == x);
             return w().agent(u) != a || !fills2(m, u) || W::waits2(m, a) || brings;
           });
  }

  template <class Line>
  [[nodiscard]] static Value data(const Line& line) {
    return line.data(Open::watched_word());
  }
  // A link carries one message.
  template <class Link>
  [[nodiscard]] static Value last(const Link& link) {
    Value found(0);
    K::for_each_queued(link, [&](const Up& m) { found = m.data(Open::watched_word()); });
    return found;
  }
};

}  // namespace lockstep::quick_release
