// Why write-through caches keep their promise at the port (port_theorem.hpp).
//
// Points: a load that misses its L1 is performed where its read is sent; whatever leaves caches to be
// dropped, before they are; everything else at its completion.
//
// The newest write is on the link of its CU, on that of its agent, or in memory, and the last there. A cache
// is *fresh* if neither a copy in it, nor a fill on its way that it will keep, nor what it would fetch is
// older. Who is ordered behind the newest write has a fresh L1, or is still dropping caches; who may acquire
// at a scope finds the cache that the scope shares fresh.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "proofs/lemmas/write_through.hpp"
#include "proofs/port_theorem.hpp"

namespace lockstep::write_through {

// What the lemmas say beside, of writes of the watched word.
template <class Open>
struct TheoremWords : Words<Open> {
  using Base = Words<Open>;
  using Base::k;
  using typename Base::Bool;
  template <class Memory>
  [[nodiscard]] Bool none_on_link1(const Memory& m) const {
    return k().forall(cus, [&](const auto& c) { return !Base::carries(m.link1(c)); });
  }
  template <class Memory>
  [[nodiscard]] Bool none_on_links(const Memory& m) const {
    return none_on_link1(m) && k().forall(agents, [&](const auto& a) { return !Base::carries(m.link2(a)); });
  }
};

template <class Open>
struct Points {
  using State = typename Open::State;
  using Bool = typename Open::Kind::Bool;
  using ThreadIx = typename Open::Kind::template Ix<ThreadTag>;

  const Open& open;

  [[nodiscard]] Bool performed(const State& before, const State& after, const ThreadIx& t) const {
    const auto& was = before.memory;
    const auto& now = after.memory;
    const Bool sent = was.port(t).request.operation == Operation::load && was.stage(t) == Stage::idle &&
                      was.read(t).stage == ReadStage::none && now.read(t).stage != ReadStage::none;
    return sent || (!drops(was, t) && drops(now, t));
  }
  template <class Memory>
  [[nodiscard]] static Bool drops(const Memory& m, const ThreadIx& t) {
    return m.stage(t) == Stage::invalidating2 || m.stage(t) == Stage::invalidating1;
  }
};

template <class Open>
using PortOf = PortHistory<Open, Points>;

template <class Open>
struct TheoremHistory {
  using Port = PortOf<Open>;
  using W = TheoremWords<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using ThreadIx = typename K::template Ix<ThreadTag>;

  struct Ghost {
    typename Port::Ghost port;
    typename K::template Table<Bool, CuTag> fresh1;
    typename K::template Table<Bool, AgentTag> fresh2;
    BOOST_DESCRIBE_CLASS(Ghost, (), (port, fresh1, fresh2), (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const {
    Port{open}.start(g.port, first);
    open.kind().for_each(cus, [&](const auto& c) { g.fresh1(c) = true; });
    open.kind().for_each(agents, [&](const auto& a) { g.fresh2(a) = true; });
  }

  void step(Ghost& g, const State& before, const State& after) const {
    const K& k = open.kind();
    const W w{open};
    const Port port{open};
    const Ghost was = k.snapshot(g, "ghost");
    port.step(g.port, was.port, before, after);
    const auto writes_at = [&](const ThreadIx& t) {
      return !w.host(t) && port.has_written(was.port, before, after, t);
    };
    const Bool written =
        k.exists(threads, [&](const ThreadIx& t) { return port.has_written(was.port, before, after, t); });
    const auto dropped = [&](const ThreadIx& t, Stage stage) {
      return before.memory.stage(t) == stage && after.memory.stage(t) != stage;
    };
    const Bool passed = w.none_on_link1(after.memory);
    k.for_each(agents, [&](const auto& a) {
      const Bool by_writer = k.exists(threads, [&](const ThreadIx& t) {
        return writes_at(t) && w.agent(t) == a && atomic_beyond_group(before.memory, t);
      });
      const Bool by_drop = w.none_on_links(before.memory) && k.exists(threads, [&](const ThreadIx& t) {
        return w.agent(t) == a && dropped(t, Stage::invalidating2);
      });
      g.fresh2(a) = (written && by_writer) ||
                    (!written && (was.fresh2(a) || (passed && W::carries(after.memory.link2(a))) || by_drop));
    });
    k.for_each(cus, [&](const auto& c) {
      const Bool by_writer =
          k.exists(threads, [&](const ThreadIx& t) { return writes_at(t) && w.cu(t) == c; });
      const Bool by_drop = was.fresh2(w.agent_of(c)) && k.exists(threads, [&](const ThreadIx& t) {
        return w.cu(t) == c && dropped(t, Stage::invalidating1);
      });
      g.fresh1(c) = (written && by_writer) || (!written && (was.fresh1(c) || by_drop));
    });
  }
};

template <class System>
struct TheoremLemmas : LinkLemmas<System> {
  using Base = LinkLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::each_thread_unraced;
  using Base::k;
  using Base::system;
  using Base::w;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::Open;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::Up;
  using typename Base::W;
  using Value = typename K::Value;
  using Port = PortOf<Open>;

  template <class V>
  void lemmas(V& v) const {
    v.keep(PortTheorem<System, PortOf>{system}).theorem(v);
    Base::places(v);
    Base::dirty_lines(v);
    Base::fills(v);
    requests(v);
    atomics(v);
    newest(v);
    knowledge(v);
    loads(v);
  }

 private:
  // ---- requests and atomics, whatever is watched

  template <class V>
  void requests(V& v) const {
    Base::pending_or_done(v);
    Base::loads_release_nothing(v);
    each_thread(v, "an operation has had its point once its load is sent, or caches are to be dropped",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  const Bool sent = m.read(t).stage != ReadStage::none && m.stage(t) == Stage::idle &&
                                    m.port(t).request.operation == Operation::load;
                  return s.ghost.port.pointed(t) == (sent || Points<Open>::drops(m, t) || m.port(t).done);
                });
    each_thread(v, "who drops caches acquires", [](const State&, const auto& m, const ThreadIx& t) {
      return !Points<Open>::drops(m, t) || acquires(m.port(t).request.order);
    });
  }

  // Its L1 drops an atomic's block, and keeps nothing of it until the atomic is performed; likewise its L2,
  // of an atomic for the directory.
  template <class V>
  void atomics(V& v) const {
    each_thread(v, "an atomic on its way leaves nothing of its block in its L1, nor to be put there",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return !on_its_way(m, t) ||
                         (!m.l1(w().cu(t), Open::watched_block()).present &&
                          k().forall(threads, [&](const ThreadIx& u) {
                            const auto& read = m.read(u);
                            const Bool concerned = reads(m, u) && w().cu(u) == w().cu(t) && !read.stale1 &&
                                                   m.stage(u) != Stage::performing;
                            const Bool behind1 =
                                read.stage == ReadStage::to_l2 &&
                                (w().on2(s.system, UpKind::atomic, t) || follows(m.link1(w().cu(t)), u, t));
                            const Bool behind2 = read.stage == ReadStage::to_directory &&
                                                 w().on2(s.system, UpKind::atomic, t) &&
                                                 follows(m.link2(w().agent(t)), u, t);
                            return !concerned || behind1 || behind2;
                          }));
                });
    each_thread(
        v, "an atomic on its way to memory leaves nothing of its block in its L2, nor to be put there",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          return !on_its_way(m, t) || !w().on2(s.system, UpKind::atomic, t) ||
                 (!m.l2(w().agent(t), Open::watched_block()).present &&
                  k().forall(threads, [&](const ThreadIx& u) {
                    const auto& read = m.read(u);
                    const Bool concerned = fills2(m, u) && w().agent(u) == w().agent(t) && !read.stale2;
                    return !concerned ||
                           (read.stage == ReadStage::to_directory && follows(m.link2(w().agent(t)), u, t));
                  }));
        });
  }
  [[nodiscard]] static Bool on_its_way(const auto& m, const ThreadIx& t) {
    return m.stage(t) == Stage::performing && W::watched(m.port(t).request.block);
  }
  // The thread's read of the watched block is in flight; on its way to its L2.
  [[nodiscard]] static Bool reads(const auto& m, const ThreadIx& t) {
    return m.read(t).stage != ReadStage::none && W::watched(m.port(t).request.block);
  }
  [[nodiscard]] static Bool fills2(const auto& m, const ThreadIx& t) {
    return W::watched(m.port(t).request.block) &&
           (m.read(t).stage == ReadStage::to_directory || m.read(t).stage == ReadStage::from_directory);
  }
  // The reader's message, if any, is behind the writer's atomic on the link.
  template <class Link>
  [[nodiscard]] static Bool follows(const Link& link, const ThreadIx& reader, const ThreadIx& writer) {
    return W::behind(link, UpKind::read, reader,
                     [&](const Up& m) { return m.kind == UpKind::atomic && m.thread == writer; });
  }

  [[nodiscard]] TheoremWords<Open> tw() const { return {{{system.system()}}}; }

  // ---- where values of the watched word are

  // The last write of the watched word on a link, ahead of the thread's read if it is there.
  struct Last {
    Bool any;
    Value value;
    [[nodiscard]] Bool is(const Value& x) const { return any && value == x; }
    [[nodiscard]] Bool is_or(const Value& x, const Bool& otherwise) const {
      return (any && value == x) || (!any && otherwise);
    }
  };
  template <class Link>
  [[nodiscard]] static Last last(const Link& link) {
    Last found{Bool(false), Value(0)};
    K::for_each_queued(link, [&](const Up& m) {
      const Bool hit = W::writes(m);
      found.value = K::select(hit, Value(m.data(Open::watched_word())), found.value);
      found.any = found.any || hit;
    });
    return found;
  }
  template <class Link>
  [[nodiscard]] static Last last_ahead(const Link& link, const ThreadIx& t) {
    Last found{Bool(false), Value(0)};
    Bool passed(false);
    K::for_each_queued(link, [&](const Up& m) {
      passed = passed || (m.kind == UpKind::read && m.thread == t);
      const Bool hit = W::writes(m) && !passed;
      found.value = K::select(hit, Value(m.data(Open::watched_word())), found.value);
      found.any = found.any || hit;
    });
    return found;
  }
  [[nodiscard]] Value in_memory(const State& s) const {
    const Home<K> home{k()};
    return home.current(s.system.memory.home, Open::watched_block(), Open::watched_word());
  }
  [[nodiscard]] Bool none2_but(const auto& m, const Agent& a) const {
    return k().forall(agents, [&](const Agent& b) { return a == b || !W::carries(m.link2(b)); });
  }
  // A read of the thread beyond its L2 brings x; any read in flight does.
  [[nodiscard]] Bool brings2(const State& s, const auto& m, const ThreadIx& t, const Value& x) const {
    const auto& read = m.read(t);
    return (read.stage == ReadStage::to_directory &&
            last_ahead(m.link2(w().agent(t)), t).is_or(x, in_memory(s) == x)) ||
           (read.stage == ReadStage::from_directory && read.data(Open::watched_word()) == x);
  }
  [[nodiscard]] Bool brings1(const State& s, const auto& m, const ThreadIx& t, const Value& x) const {
    const auto& read = m.read(t);
    return (read.stage == ReadStage::to_l2 &&
            last_ahead(m.link1(w().cu(t)), t).is_or(x, gives2(s, m, w().agent(t), x))) ||
           brings2(s, m, t, x) || (read.stage == ReadStage::from_l2 && read.data(Open::watched_word()) == x);
  }
  // Whoever reads from the L2 is given x, now and later.
  [[nodiscard]] Bool gives2(const State& s, const auto& m, const Agent& a, const Value& x) const {
    const auto& line = m.l2(a, Open::watched_block());
    return (!line.present || line.data(Open::watched_word()) == x) &&
           last(m.link2(a)).is_or(x, in_memory(s) == x) && k().forall(threads, [&](const ThreadIx& t) {
             const Bool concerned = fills2(m, t) && w().agent(t) == a && !m.read(t).stale2;
             return !concerned || brings2(s, m, t, x);
           });
  }
  [[nodiscard]] Bool in_reach(const auto& m) const { return tw().none_on_links(m); }
  // A read of the thread in flight brings the newest write.
  [[nodiscard]] Bool brings_newest(const State& s, const auto& m, const ThreadIx& t) const {
    const Value x = s.ghost.port.newest;
    const auto& read = m.read(t);
    return (read.stage == ReadStage::to_l2 &&
            last_ahead(m.link1(w().cu(t)), t).is_or(x, s.ghost.fresh2(w().agent(t)))) ||
           brings2(s, m, t, x) || (read.stage == ReadStage::from_l2 && read.data(Open::watched_word()) == x);
  }

  // ---- until the first race

  template <class V>
  void newest(V& v) const {
    each_cu(v, "the newest write is the last on its CU's link, and no other CU's link has a write",
            [this](const State& s, const auto& m, const Cu& c) {
              const auto& g = s.ghost.port;
              return g.raced || !W::carries(m.link1(c)) ||
                     (last(m.link1(c)).is(g.newest) && !w().host(g.writer) && w().cu(g.writer) == c &&
                      none2_but(m, w().agent_of(c)) &&
                      k().forall(cus, [&](const Cu& d) { return c == d || !W::carries(m.link1(d)); }));
            });
    each_agent(v, "or the last on its agent's link, and no other agent's link has a write",
               [this](const State& s, const auto& m, const Agent& a) {
                 const auto& g = s.ghost.port;
                 return g.raced || !W::carries(m.link2(a)) ||
                        (none2_but(m, a) && !w().host(g.writer) && w().agent(g.writer) == a &&
                         (!tw().none_on_link1(m) || last(m.link2(a)).is(g.newest)));
               });
    v.invariant("or in memory, if no link has a write", [this](const State& s) {
      return s.ghost.port.raced || !in_reach(s.system.memory) || in_memory(s) == s.ghost.port.newest;
    });
    v.invariant("an atomic write has reached what its scope shares", [this](const State& s) {
      const auto& g = s.ghost.port;
      const Bool placed = !w().host(g.writer);
      return g.raced || !g.atomic ||
             ((g.scope != Scope::wg || !placed || s.ghost.fresh1(w().cu(g.writer))) &&
              (g.scope != Scope::agent || !placed || s.ghost.fresh2(w().agent(g.writer))) &&
              (g.scope != Scope::system || in_reach(s.system.memory)));
    });
    v.invariant("its writer is ordered behind the newest write",
                [](const State& s) { return !s.ghost.port.unordered(s.ghost.port.writer); });
    each_cu(v, "a fresh L1 holds no older copy, and fetches none",
            [this](const State& s, const auto& m, const Cu& c) {
              const auto& line = m.l1(c, Open::watched_block());
              return s.ghost.port.raced || !s.ghost.fresh1(c) ||
                     ((!line.present || line.data(Open::watched_word()) == s.ghost.port.newest) &&
                      (W::carries(m.link1(c)) || s.ghost.fresh2(w().agent_of(c))));
            });
    each_thread_unraced(
        v, "a fresh L1 is brought no older copy", [this](const State& s, const auto& m, const ThreadIx& t) {
          return !s.ghost.fresh1(w().cu(t)) || w().host(t) || !reads(m, t) || m.read(t).stale1 ||
                 m.stage(t) == Stage::performing || brings_newest(s, m, t);
        });
    each_agent(v, "a fresh L2 holds no older copy, and fetches none",
               [this](const State& s, const auto& m, const Agent& a) {
                 const auto& line = m.l2(a, Open::watched_block());
                 return s.ghost.port.raced || !s.ghost.fresh2(a) ||
                        ((!line.present || line.data(Open::watched_word()) == s.ghost.port.newest) &&
                         tw().none_on_link1(m) && none2_but(m, a));
               });
    each_thread_unraced(v, "a fresh L2 is brought no older copy",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          return !s.ghost.fresh2(w().agent(t)) || w().host(t) || !fills2(m, t) ||
                                 m.read(t).stale2 || brings2(s, m, t, Value(s.ghost.port.newest));
                        });
  }

  template <class V>
  void knowledge(V& v) const {
    each_thread_unraced(
        v, "who is ordered behind the newest write has a fresh L1, or drops it",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const Bool dropping = (m.stage(t) == Stage::invalidating2 && in_reach(m)) ||
                                (m.stage(t) == Stage::invalidating1 && s.ghost.fresh2(w().agent(t)));
          return s.ghost.port.unordered(t) || w().host(t) || s.ghost.fresh1(w().cu(t)) || dropping;
        });
    each_thread_unraced(v, "a CPU that is ordered behind the newest write finds it in memory",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          return s.ghost.port.unordered(t) || !w().host(t) || in_reach(m);
                        });
    each_cu(v, "what is published to a group is fresh in its L1",
            [](const State& s, const auto&, const Cu& c) {
              return s.ghost.port.raced || !s.ghost.port.published_to_group(c) || s.ghost.fresh1(c);
            });
    each_agent(v, "what is published to an agent is fresh in its L2",
               [](const State& s, const auto&, const Agent& a) {
                 return s.ghost.port.raced || !s.ghost.port.published_to_agent(a) || s.ghost.fresh2(a);
               });
    v.invariant("what is published to the system is in memory", [this](const State& s) {
      return s.ghost.port.raced || !s.ghost.port.published_to_system || in_reach(s.system.memory);
    });
    each_thread_unraced(v, "a marker is behind what its thread is ordered behind",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          return s.ghost.port.unordered(t) || pushes(s, m, t, UpKind::marker);
                        });
    each_thread_unraced(v, "an atomic is behind what its thread is ordered behind",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          return s.ghost.port.unordered(t) || pushes(s, m, t, UpKind::atomic);
                        });
    each_thread_unraced(v, "what a thread that has released is ordered behind is where its scope sees it",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          const Bool released =
                              m.stage(t) == Stage::released ||
                              (m.stage(t) == Stage::performing && releases(m.port(t).request.order));
                          return s.ghost.port.unordered(t) || !released ||
                                 (s.ghost.fresh2(w().agent(t)) && (!to_system(m, t) || in_reach(m)));
                        });
  }
  // The newest write is ahead of the message, or has gone further.
  [[nodiscard]] Bool pushes(const State& s, const auto& m, const ThreadIx& t, UpKind kind) const {
    return (W::behind_write(m.link1(w().cu(t)), kind, t) || s.ghost.fresh2(w().agent(t))) &&
           (W::behind_write(m.link2(w().agent(t)), kind, t) || in_reach(m)) &&
           (!w().on2(s.system, kind, t) || s.ghost.fresh2(w().agent(t)));
  }

  template <class V>
  void loads(V& v) const {
    each_thread_unraced(v, "a read in flight brings what was newest where it was sent",
                        [this](const State& s, const auto& m, const ThreadIx& t) {
                          const Bool sent =
                              Port::loading(s.system, s.ghost.port, t) && m.stage(t) == Stage::idle;
                          return !sent || w().host(t) || brings1(s, m, t, Value(s.ghost.port.expected(t)));
                        });
    each_thread_unraced(
        v, "while a load is in flight no link but its own has a write",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const Bool sent = Port::loading(s.system, s.ghost.port, t) && m.stage(t) == Stage::idle;
          return !sent || w().host(t) || (none2_but(m, w().agent(t)) && k().forall(cus, [&](const Cu& c) {
            return c == w().cu(t) || !W::carries(m.link1(c));
          }));
        });
    each_thread_unraced(v, "a result that is to be handed over is the expected one",
                        [](const State& s, const auto& m, const ThreadIx& t) {
                          const auto& q = m.port(t).request;
                          return !Points<Open>::drops(m, t) || !Port::at_word(q) ||
                                 q.operation == Operation::store ||
                                 m.port(t).result == s.ghost.port.expected(t);
                        });
  }
};

}  // namespace lockstep::write_through
