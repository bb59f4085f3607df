// QuickRelease's port (port_theorem.hpp): where its operations have their points, and what is to be known of
// the newest write.
//
// Points: a load that L1 does not answer is performed where the cache that its scope shares sends it on or
// answers it: a plain one, or one within a work-group, where it leaves its L1, an agent's where it leaves the
// link to its L2, a system's where the directory answers it. An RMW within a work-group is performed where it
// leaves its L1, an agent's where its L2 forwards it, a system's at the directory. The store of a StRel is
// late from wL1 on, until its write cache is the one that its scope shares, wL2 or, for the system, memory.
// Everything else is performed at its completion.
//
// A StRel's store and an RMW's write are performed while invalidations that they send are still on their way,
// so they themselves are published at their own location alone. Relaxed atomics wait for no flush, and no
// model that is spoken of judges them, so they are left out.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>

#include "proofs/lemmas/quick_release.hpp"
#include "proofs/port_theorem.hpp"

namespace lockstep::quick_release {

enum class Way : std::uint8_t { none, wl1, link1, wl2, link2, wl3 };
BOOST_DESCRIBE_ENUM(Way, none, wl1, link1, wl2, link2, wl3)

template <class Open>
struct Points {
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Memory = typename Open::Memory;
  using MemoryState = typename Open::MemoryState;
  using Bool = typename K::Bool;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Cu = typename K::template Ix<CuTag>;
  using Agent = typename K::template Ix<AgentTag>;
  using Up = typename Memory::Up;
  using Way = quick_release::Way;
  using AnyWay = typename K::template Enum<Way>;
  using W = Words<Open>;

  const Open& open;

  static constexpr bool publishes_own_write_at_its_location = true;

  template <class Request>
  [[nodiscard]] static Bool outside(const Request& q) {
    const Bool neither = q.order == Order::relaxed || q.order == Order::comm;
    const Bool unreleased = q.operation == Operation::store && q.order != Order::plain && !releases(q.order);
    return neither || unreleased;
  }

  [[nodiscard]] Bool performed(const State& before, const State& after, const ThreadIx& t) const {
    const MemoryState& was = before.memory;
    const MemoryState& now = after.memory;
    const auto& q = was.port(t).request;
    const auto stage = [&](const MemoryState& m, ReadStage at) { return m.read(t).stage == at; };
    const Bool far = q.order != Order::plain;
    const Bool to_agent = far && q.scope == Scope::agent;
    const Bool to_system = far && q.scope == Scope::system;
    const Bool leaves1 = stage(was, ReadStage::none) && !stage(now, ReadStage::none);
    const Bool leaves_link1 = stage(was, ReadStage::to_l2) && !stage(now, ReadStage::to_l2);
    const Bool answered = (stage(was, ReadStage::to_directory) && !stage(now, ReadStage::to_directory)) ||
                          (stage(was, ReadStage::to_l2) && stage(now, ReadStage::from_l2));
    const Bool loads =
        q.operation == Operation::load &&
        ((to_agent && leaves_link1) || (to_system && answered) || (!to_agent && !to_system && leaves1));
    const Bool leaves = was.stage(t) != Stage::atomic && now.stage(t) == Stage::atomic;
    const Bool forwarded = W::holds(was.link1(w().cu(t)), UpKind::atomic, t) &&
                           W::holds(now.link2(w().agent(t)), UpKind::atomic, t);
    const Bool performs =
        q.operation == Operation::rmw && ((to_agent && forwarded) || (!to_agent && !to_system && leaves));
    return loads || performs;
  }

  [[nodiscard]] Bool begins(const State& before, const State& after, const ThreadIx& t) const {
    return before.memory.stage(t) != Stage::stored && after.memory.stage(t) == Stage::stored;
  }
  [[nodiscard]] static AnyWay first_way() { return Way::wl1; }

  // The write of a late store's word moves on as a whole.
  template <class Late>
  [[nodiscard]] AnyWay way(const Late& late, const State& before, const State& after,
                           const ThreadIx& t) const {
    AnyWay next = late.way;
    const auto goes = [&](Way from, Way to, const Bool& leaves) {
      next = K::select(late.way == from && leaves, AnyWay(to), next);
    };
    goes(Way::wl1, Way::link1, leaves1(late, before.memory, after.memory, w().cu(t)));
    goes(Way::link1, Way::wl2, arrives2(late, before.memory, after.memory, w().cu(t)));
    goes(Way::wl2, Way::link2, leaves2(late, before.memory, after.memory, w().agent(t)));
    goes(Way::link2, Way::wl3, arrives3(late, before.memory, after.memory, w().agent(t)));
    return next;
  }
  template <class Late>
  [[nodiscard]] Bool arrives(const Late& late, const State& before, const State& after,
                             const ThreadIx& t) const {
    const Bool at2 = late.way == Way::link1 && arrives2(late, before.memory, after.memory, w().cu(t));
    const Bool at_memory = late.way == Way::wl3 && dirty(before.memory.wl3(late.block), late) &&
                           !dirty(after.memory.wl3(late.block), late);
    return (late.scope != Scope::system && at2) || at_memory;
  }
  template <class Late>
  [[nodiscard]] Bool covers(const Late& late, const State& before, const State& after,
                            const ThreadIx& t) const {
    const MemoryState& was = before.memory;
    const MemoryState& now = after.memory;
    const Bool at1 = k().exists(threads, [&](const ThreadIx& u) {
      const auto& q = was.port(u).request;
      const Bool completes = !was.port(u).done && now.port(u).done && was.stage(u) != Stage::stored;
      return was.port(u).pending && !w().host(u) && w().cu(u) == w().cu(t) &&
             q.operation == Operation::store && q.block == late.block && q.word == late.word &&
             (begins(before, after, u) || completes);
    });
    const Bool at2 = k().exists(
        cus, [&](const Cu& c) { return w().agent_of(c) == w().agent(t) && arrives2(late, was, now, c); });
    const Bool at3 = k().exists(agents, [&](const Agent& a) { return arrives3(late, was, now, a); });
    return (late.way == Way::wl1 && at1) || (late.way == Way::wl2 && at2) || (late.way == Way::wl3 && at3);
  }

  // Its word waits or travels where it is said to be.
  template <class Late>
  [[nodiscard]] Bool is_there(const Late& late, const MemoryState& m, const ThreadIx& t) const {
    const auto at = [&](Way way, const Bool& there) { return late.way != way || there; };
    const Cu c = w().cu(t);
    const Agent a = w().agent(t);
    return at(Way::none, Bool(false)) && at(Way::wl1, dirty(m.wl1(c, late.block), late)) &&
           at(Way::link1, carries(m.link1(c), late)) && at(Way::wl2, dirty(m.wl2(a, late.block), late)) &&
           at(Way::link2, carries(m.link2(a), late)) && at(Way::wl3, dirty(m.wl3(late.block), late));
  }

 private:
  [[nodiscard]] W w() const { return W{open}; }
  [[nodiscard]] const K& k() const { return open.kind(); }

  // Of the late store's word; a link carries one message.
  template <class Line, class Late>
  [[nodiscard]] Bool dirty(const Line& line, const Late& late) const {
    return open.memory().word_dirty(line, late.word);
  }
  template <class Link, class Late>
  [[nodiscard]] Bool carries(const Link& link, const Late& late) const {
    return K::contains(link, [&](const Up& m) {
      return m.kind == UpKind::write && m.block == late.block &&
             k().pick(words, late.word, [&](const auto& i) { return m.mask(i); });
    });
  }
  template <class Late>
  [[nodiscard]] Bool leaves1(const Late& late, const MemoryState& was, const MemoryState& now,
                             const Cu& c) const {
    return dirty(was.wl1(c, late.block), late) && !dirty(now.wl1(c, late.block), late);
  }
  template <class Late>
  [[nodiscard]] Bool arrives2(const Late& late, const MemoryState& was, const MemoryState& now,
                              const Cu& c) const {
    return carries(was.link1(c), late) && !carries(now.link1(c), late);
  }
  template <class Late>
  [[nodiscard]] Bool leaves2(const Late& late, const MemoryState& was, const MemoryState& now,
                             const Agent& a) const {
    return dirty(was.wl2(a, late.block), late) && !dirty(now.wl2(a, late.block), late);
  }
  template <class Late>
  [[nodiscard]] Bool arrives3(const Late& late, const MemoryState& was, const MemoryState& now,
                              const Agent& a) const {
    return carries(was.link2(a), late) && !carries(now.link2(a), late);
  }
};

template <class Open>
using PortOf = PortHistory<Open, Points>;

// Where performed writes of the watched word are on their way. A store that is late has not been performed:
// what it has left in a write cache or on a link is not one of them.
template <class Open>
struct PerformedWrites : Words<Open> {
  using W = Words<Open>;
  using Port = PortOf<Open>;
  using Ghost = typename Port::Ghost;
  using typename W::Agent;
  using typename W::Bool;
  using typename W::Cu;
  using typename W::K;
  using typename W::MemoryState;
  using typename W::ThreadIx;
  using typename W::Up;
  using typename W::Value;
  using W::agent;
  using W::agent_of;
  using W::cu;
  using W::holds;
  using W::host;
  using W::k;

  // A store to the word that is late is at that place.
  template <class Here>
  [[nodiscard]] Bool late_at(const Ghost& g, Way way, Here here) const {
    return k().exists(threads, [&](const ThreadIx& t) {
      return Port::is_late(g, t) && g.late.of(t).way == way && here(t);
    });
  }
  [[nodiscard]] Bool late_of(const Ghost& g, Way way, const Cu& c) const {
    return late_at(g, way, [&](const ThreadIx& t) { return cu(t) == c; });
  }
  [[nodiscard]] Bool late_of(const Ghost& g, Way way, const Agent& a) const {
    return late_at(g, way, [&](const ThreadIx& t) { return agent(t) == a; });
  }
  // The thread's RMW of the word has had its point and is not performed yet; and is on that link.
  [[nodiscard]] static Bool is_under_way(const MemoryState& m, const Ghost& g, const ThreadIx& t) {
    return m.stage(t) == Stage::atomic && g.pointed(t) && Port::at_word(m.port(t).request);
  }
  template <class Link>
  [[nodiscard]] Bool carries_rmw(const MemoryState& m, const Ghost& g, const Link& link) const {
    return k().exists(
        threads, [&](const ThreadIx& t) { return is_under_way(m, g, t) && holds(link, UpKind::atomic, t); });
  }
  // In wL1, on link1, at either; in wL2, on link2, at either; in wL3.
  [[nodiscard]] Bool in1(const MemoryState& m, const Ghost& g, const Cu& c) const {
    return W::waits1(m, c) && !late_of(g, Way::wl1, c);
  }
  [[nodiscard]] Bool on1(const MemoryState& m, const Ghost& g, const Cu& c) const {
    return (W::carries(m.link1(c)) && !late_of(g, Way::link1, c)) || carries_rmw(m, g, m.link1(c));
  }
  [[nodiscard]] Bool at1(const MemoryState& m, const Ghost& g, const Cu& c) const {
    return in1(m, g, c) || on1(m, g, c);
  }
  [[nodiscard]] Bool in2(const MemoryState& m, const Ghost& g, const Agent& a) const {
    return W::waits2(m, a) && !late_of(g, Way::wl2, a);
  }
  [[nodiscard]] Bool on2(const MemoryState& m, const Ghost& g, const Agent& a) const {
    return (W::carries(m.link2(a)) && !late_of(g, Way::link2, a)) || carries_rmw(m, g, m.link2(a));
  }
  [[nodiscard]] Bool at2(const MemoryState& m, const Ghost& g, const Agent& a) const {
    return in2(m, g, a) || on2(m, g, a);
  }
  [[nodiscard]] Bool in3(const MemoryState& m, const Ghost& g) const {
    return W::waits3(m) && !late_at(g, Way::wl3, [](const ThreadIx&) { return Bool(true); });
  }
  // Nothing is at level 1; nor at level 2; all is in memory.
  [[nodiscard]] Bool none1(const MemoryState& m, const Ghost& g) const {
    return k().forall(cus, [&](const Cu& c) { return !at1(m, g, c); });
  }
  [[nodiscard]] Bool none2(const MemoryState& m, const Ghost& g) const {
    return none1(m, g) && k().forall(agents, [&](const Agent& a) { return !at2(m, g, a); });
  }
  [[nodiscard]] Bool in_reach(const MemoryState& m, const Ghost& g) const {
    return none2(m, g) && !in3(m, g);
  }
};

// What comes of the newest write. A cache is *fresh* if whoever reads from it, now or later, is given nothing
// older; an L2 has *told* its L1s if it is fresh and has sent them invalidations since. A value that is late
// and meant for the system may be read before it is performed: it is not older.
template <class Open>
struct TheoremHistory {
  using Port = PortOf<Open>;
  using C = PerformedWrites<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  struct Ghost {
    typename Port::Ghost port;
    typename K::template Table<Bool, ThreadTag> wide;     // the thread's last flush is for the system
    typename K::template Table<Value, ThreadTag> leaves;  // what the thread's RMW has written at its point
    typename K::template Table<Bool, CuTag> fresh1;
    typename K::template Table<Bool, AgentTag> fresh2;
    typename K::template Table<Bool, AgentTag> told;
    BOOST_DESCRIBE_CLASS(Ghost, (), (port, wide, leaves, fresh1, fresh2, told), (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const {
    Port{open}.start(g.port, first);
    open.kind().for_each(cus, [&](const auto& c) { g.fresh1(c) = true; });
    open.kind().for_each(agents, [&](const auto& a) {
      g.fresh2(a) = true;
      g.told(a) = true;
    });
  }

  void step(Ghost& g, const State& before_, const State& after_) const {
    const K& k = open.kind();
    const C w{{{open}}};
    const Port port{open};
    const Ghost was = k.snapshot(g, "ghost");
    port.step(g.port, was.port, before_, after_);
    const auto& before = before_.memory;
    const auto& after = after_.memory;
    k.for_each(threads, [&](const ThreadIx& t) {
      const Bool flushes = before.stage(t) == Stage::stored && after.stage(t) == Stage::idle;
      g.wide(t) = K::select(flushes, Bool(to_system(before, t)), Bool(was.wide(t)));
      const Bool leaves = port.has_written(was.port, before_, after_, t) &&
                          before.port(t).request.operation == Operation::rmw;
      g.leaves(t) = K::select(leaves, Value(g.port.newest), Value(was.leaves(t)));
      k.when(before.port(t).done && !after.port(t).done, [&] { g.leaves(t) = Value(0); });
    });

    const Bool written = port.is_written(was.port, before_, after_);
    const auto writes = [&](const auto& kind_of_write) {
      return k.exists(threads, [&](const ThreadIx& t) {
        return written && g.port.writer == t && !w.host(t) && kind_of_write(t);
      });
    };
    const auto late = [&](const ThreadIx& t) {
      return port.has_written_late(was.port, before_, after_, t) &&
             !port.has_written(was.port, before_, after_, t);
    };
    // A far write was performed beyond L1; a late one for the system left its L2 before.
    const auto far = [&](const ThreadIx& t) {
      return late(t) ||
             (before.port(t).request.operation == Operation::rmw && atomic_beyond_group(before, t));
    };
    const auto late_for_system = [&](const ThreadIx& t) {
      return late(t) && was.port.late.of(t).scope == Scope::system;
    };
    // A load or RMW of the block that passes caches has its point.
    const auto passes = [&](const ThreadIx& t) {
      const auto& q = before.port(t).request;
      const Bool reads = q.operation == Operation::load || q.operation == Operation::rmw;
      return !w.host(t) && reads && q.block == C::block() && atomic_beyond_group(before, t) &&
             port.has_point(was.port, before_, after_, t);
    };
    const Bool reached = w.in_reach(before, was.port);
    const Bool passed = w.none1(after, g.port);
    k.for_each(agents, [&](const auto& a) {
      const Bool delivered = before.invalidation2(a, C::block()) && !after.invalidation2(a, C::block());
      const Bool by_writer = writes([&](const ThreadIx& t) { return w.agent(t) == a && far(t); });
      const Bool by_passing = reached && k.exists(threads, [&](const ThreadIx& t) {
        return w.agent(t) == a && to_system(before, t) && passes(t);
      });
      g.fresh2(a) = by_writer || (!written && (was.fresh2(a) || (passed && w.at2(after, g.port, a)) ||
                                               (reached && delivered) || by_passing));
      const Bool leaves = w.in2(before, was.port, a) && !w.in2(after, g.port, a);
      const Bool tells = leaves || (delivered && !w.in2(before, was.port, a));
      const Bool told_late = writes([&](const ThreadIx& t) { return w.agent(t) == a && late_for_system(t); });
      g.told(a) = told_late || (!written && (was.told(a) || (g.fresh2(a) && tells)));
    });
    k.for_each(cus, [&](const auto& c) {
      const auto a = w.agent_of(c);
      const Bool pending = before.invalidation1(c, C::block());
      const Bool delivered = pending && !after.invalidation1(c, C::block());
      const Bool by_writer = writes([&](const ThreadIx& t) {
        return w.cu(t) == c || (w.agent(t) == a && late_for_system(t) && !pending);
      });
      const Bool by_passing = k.exists(threads, [&](const ThreadIx& t) {
        const Bool finds = K::select(to_system(before, t), reached, Bool(was.fresh2(a)));
        return w.cu(t) == c && passes(t) && finds;
      });
      g.fresh1(c) = by_writer || (!written && (was.fresh1(c) || (delivered && was.told(a)) || by_passing));
    });
  }
};

}  // namespace lockstep::quick_release
