// What is stated of QuickRelease's port (port_theorem.hpp), and the first lemmas for it: where late stores
// are. Those that say where the newest write is, and who reads it, are not written, so the promise itself is
// not proved.
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
#include <string_view>

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

template <class Open>
struct TheoremHistory {
  using Port = PortOf<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  struct Ghost {
    typename Port::Ghost port;
    typename K::template Table<Bool, ThreadTag> wide;  // the thread's last flush is for the system
    BOOST_DESCRIBE_CLASS(Ghost, (), (port, wide), (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const { Port{open}.start(g.port, first); }
  void step(Ghost& g, const State& before, const State& after) const {
    const Ghost was = open.kind().snapshot(g, "ghost");
    Port{open}.step(g.port, was.port, before, after);
    open.kind().for_each(threads, [&](const ThreadIx& t) {
      const Bool flushes = before.memory.stage(t) == Stage::stored && after.memory.stage(t) == Stage::idle;
      g.wide(t) = K::select(flushes, Bool(to_system(before.memory, t)), Bool(was.wide(t)));
    });
  }
};

template <class System>
struct TheoremLemmas : PlaceLemmas<System> {
  using Base = PlaceLemmas<System>;
  using Base::each_thread;
  using Base::k;
  using Base::system;
  using Base::travels;
  using Base::w;
  using typename Base::Agent;
  using typename Base::Bool;
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
  }

 private:
  // ---- requests, whatever is watched

  template <class V>
  void requests(V& v) const {
    each_thread(v, "a load releases nothing", [](const State&, const M& m, const ThreadIx& t) {
      const auto& q = m.port(t).request;
      return !m.port(t).pending || q.operation != Operation::load || !releases(q.order);
    });
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
      const auto at = [&](Way way, const Bool& there) { return it.way != way || there; };
      return !it.pending ||
             (!w().host(t) && it.way != Way::none && !within_work_group(it.scope) &&
              (it.scope == Scope::system || it.way == Way::wl1 || it.way == Way::link1) &&
              (!is_late(s, t) ||
               (at(Way::wl1, W::waits1(m, w().cu(t))) && at(Way::link1, W::carries(m.link1(w().cu(t)))) &&
                at(Way::wl2, W::waits2(m, w().agent(t))) &&
                at(Way::link2, W::carries(m.link2(w().agent(t)))) && at(Way::wl3, W::waits3(m)))));
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
                  return !it.pending || ((to_come || flushes) && (!is_late(s, t) || drives(s, m, t)));
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
    const auto& way = late(s, t).way;
    const Agent a = w().agent(t);
    const auto& fifo1 = m.fifo1(w().queue(t));
    const Bool beyond1 = way != Way::wl1;
    const Bool beyond2 = beyond1 && way != Way::link1;
    const Bool beyond3 = beyond2 && way != Way::wl2;
    return (!W::holds(fifo1, EntryKind::flush, t) || beyond1 ||
            W::behind_entry(fifo1, EntryKind::flush, t)) &&
           (!W::holds(m.link1(w().cu(t)), UpKind::flush, t) || beyond2) &&
           (!W::holds(m.fifo2(a), EntryKind::flush, t) ||
            (beyond2 && (beyond3 || W::behind_entry(m.fifo2(a), EntryKind::flush, t)))) &&
           (!W::holds(m.link2(a), UpKind::flush, t) || way == Way::wl3) &&
           (!W::holds(m.fifo3, EntryKind::flush, t) ||
            (way == Way::wl3 && W::behind_entry(m.fifo3, EntryKind::flush, t)));
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
  template <class V, class Claim>
  void each_thread_unraced(V& v, std::string_view name, Claim claim) const {
    each_thread(v, name, [claim](const State& s, const auto& m, const ThreadIx& t) {
      return s.ghost.port.raced || claim(s, m, t);
    });
  }
};

}  // namespace lockstep::quick_release
