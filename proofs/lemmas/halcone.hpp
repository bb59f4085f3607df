// Why logical time orders what HALCONE does.
//
// Of one word and one time, whichever they are (logical_time.hpp). The theorem: a copy on a lease that covers
// the time holds what it selects; writes of the word have times in the order in which memory performs them;
// so every read returns what its own time selects, and an RMW what the time just before it does. A read's
// time is the clock of its L1, as far as the lease that answers it covers it; of a read that only looks at
// memory, memory's time; a write's is its wts. Beside that stands what orders the operations of a CU: its
// clock has reached the time of whatever it has been answered, and what synchronizes begins no earlier (under
// `time-carried` whatever it asks).
//
// How many timestamps there are is a size like others: at a number that nobody reaches, time has no end; when
// it ends, "time begins again" is a rule among rules, and what was answered before has no date any more.
#pragma once

#include <string_view>

#include "proofs/lemmas/logical_time.hpp"
#include "spec/memory/halcone.hpp"

namespace lockstep::halcone {

template <class Open>
struct Words : LogicalTimeWords<Open> {
  using Base = LogicalTimeWords<Open>;
  using Base::completes;
  using Base::cu;
  using Base::host;
  using Base::k;
  using Base::protocol;
  using Base::watched_block;
  using typename Base::Agent;
  using typename Base::Block;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::Memory;
  using typename Base::MemoryState;
  using typename Base::Number;
  using typename Base::ThreadIx;
  using typename Base::Value;

  [[nodiscard]] static Value in_memory(const MemoryState& m) { return Base::word(m.memory(watched_block())); }

  // Between a state and the next: a clock ran backwards, as none does within one time.
  [[nodiscard]] Bool began_again(const MemoryState& was, const MemoryState& is) const {
    const Memory p = protocol();
    return Memory::mm(is).latest < Memory::mm(was).latest ||
           Memory::mm(is).cpu_clock < Memory::mm(was).cpu_clock ||
           k().exists(cus, [&](const Cu& c) { return is.clock1(c) < was.clock1(c); }) ||
           k().exists(blocks, [&](const Block& b) {
             return p.memory_time(is, b) < p.memory_time(was, b) || k().exists(agents, [&](const Agent& a) {
               return p.clock2(is, a, b) < p.clock2(was, a, b);
             });
           });
  }
  [[nodiscard]] static Bool moves(const MemoryState& was, const MemoryState& is, const ThreadIx& t,
                                  Stage from, Stage to) {
    return was.transit(t).stage == from && is.transit(t).stage == to;
  }
  // An answer is on its way to the thread.
  [[nodiscard]] static Bool returning(const MemoryState& m, const ThreadIx& t) {
    return m.transit(t).stage == Stage::from_memory || m.transit(t).stage == Stage::from_l2;
  }
  // Memory has performed the thread's request.
  [[nodiscard]] Bool performed(const MemoryState& was, const MemoryState& is, const ThreadIx& t) const {
    return moves(was, is, t, Stage::to_memory, Stage::from_memory) || (host(t) && completes(was, is, t));
  }
  // Its L1 has answered the thread at once.
  [[nodiscard]] Bool hit(const MemoryState& was, const MemoryState& is, const ThreadIx& t) const {
    return !host(t) && was.transit(t).stage == Stage::none && completes(was, is, t);
  }
  [[nodiscard]] Bool acquires_beyond(const MemoryState& m, const ThreadIx& t) const {
    return acquires(m.port(t).request.order) && atomic_beyond_group(m, t);
  }
};

template <class Open>
struct History {
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  using ThreadIx = typename W::ThreadIx;
  using Memory = typename W::Memory;
  using MemoryState = typename W::MemoryState;
  using Time = typename Memory::Time;

  using Ghost = LogicalTimeGhost<K, Time>;
  using Access = typename Ghost::Access;

  const Open& open;

  void step(Ghost& g, const State& before, const State& after) const {
    const W w{open};
    const MemoryState& was = before.memory;
    const MemoryState& is = after.memory;
    const Bool again = w.began_again(was, is);
    Number last = g.last;
    typename K::Value selected = g.selected;
    open.kind().for_each(threads, [&](const ThreadIx& t) {
      const Bool wrote = w.performed(was, is, t) && writes(was, t) && W::at_watched(was.port(t).request);
      const Number time = K::select(w.host(t), Number(Memory::mm(is).cpu_clock), Number(is.transit(t).wts));
      last = K::select(wrote, time, last);
      selected = K::select(wrote && time <= W::watched_time(), W::in_memory(is), selected);
    });
    g.last = K::select(again, Number(1), last);
    g.selected = K::select(again, W::in_memory(is), selected);
    open.kind().for_each(threads, [&](const ThreadIx& t) { date(w, g.access(t), was, is, t, again); });
  }

 private:
  static void date(const W& w, Access& access, const MemoryState& was, const MemoryState& is,
                   const ThreadIx& t, const Bool& again) {
    const Bool hit = w.hit(was, is, t);
    const Bool answered =
        hit || w.performed(was, is, t) || W::moves(was, is, t, Stage::to_l2, Stage::from_l2);
    const Bool taken = was.port(t).done && !is.port(t).done;
    const Bool leaves = was.transit(t).stage == Stage::none && is.transit(t).stage != Stage::none;
    const Number clock = was.clock1(w.cu(t));
    const Number time = K::select(w.host(t), time_on_cpu(w, was, is, t),
                                  K::select(hit, time_of_hit(w, was, t), time_of_response(access, is, t)));
    access.time = K::select(answered, time, Number(access.time));
    access.dated = ((access.dated && !taken) || answered) && !again;
    access.asked = K::select(again, Number(0), K::select(leaves || hit, clock, Number(access.asked)));
  }
  // A fence that acquires is at the newest time, others are at none.
  static Number time_of_hit(const W& w, const MemoryState& was, const ThreadIx& t) {
    const Bool moves = w.acquires_beyond(was, t) && Bool(w.protocol().knows_scopes());
    const Number fence = K::select(moves, Number(Memory::mm(was).latest), Number(0));
    return K::select(asks(was, t, Operation::fence), fence, Number(was.clock1(w.cu(t))));
  }
  // The time next to the clock of its L1 that the lease covers; a write's first.
  static Number time_of_response(const Access& access, const MemoryState& is, const ThreadIx& t) {
    const auto& response = is.transit(t);
    const Number nearest = Memory::earlier(Memory::later(access.asked, response.wts), response.rts);
    return K::select(writes(is, t) || response.rts == 0, Number(response.wts), nearest);
  }
  static Number time_on_cpu(const W& w, const MemoryState& was, const MemoryState& is, const ThreadIx& t) {
    const Memory p = w.protocol();
    const Number clock = Memory::mm(is).cpu_clock;
    const Number look = p.carries_time() ? clock : p.memory_time(was, Memory::block(was, t));
    return K::select(writes(was, t), clock, K::select(asks(was, t, Operation::fence), Number(0), look));
  }
};

// What holds of leases, whatever is watched: requests, times, and that copies agree where their leases meet.
template <class System>
struct LeaseLemmas : MemoryClaims<System> {
  using Base = MemoryClaims<System>;
  using Base::each_cu;
  using Base::each_thread;
  using Base::k;
  using Base::system;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::Open;
  using typename Base::State;
  using W = Words<Open>;
  using Number = typename K::Number;
  using ThreadIx = typename W::ThreadIx;
  using Cu = typename W::Cu;
  using Agent = typename W::Agent;
  using Block = typename W::Block;
  using Memory = typename W::Memory;
  using MemoryState = typename W::MemoryState;
  using Line = typename Memory::Line;

 protected:
  [[nodiscard]] W w() const { return W{system.system()}; }
  [[nodiscard]] Memory p() const { return system.system().memory(); }
  [[nodiscard]] static Bool implies(const Bool& a, const Bool& b) { return !a || b; }
  [[nodiscard]] static Bool unlocked(const Line& line) { return line.present && !line.locked; }
  [[nodiscard]] static Bool returning(const MemoryState& m, const ThreadIx& t) { return W::returning(m, t); }
  [[nodiscard]] Bool leased(const MemoryState& m, const ThreadIx& t, const Block& b) const {
    return p().brings(m, t, b) && m.transit(t).rts != 0;
  }
  [[nodiscard]] Bool each_block(auto claim) const {
    return k().forall(blocks, [&](const Block& b) { return claim(b); });
  }
  // Of every copy of every block, with the clock of its cache.
  template <class V>
  void each_copy(V& v, std::string_view name, auto claim) const {
    v.invariant(name, [this, claim](const State& s) {
      const auto& m = s.system.memory;
      return each_block([&](const Block& b) {
        return k().forall(cus, [&](const Cu& c) { return claim(s, m.l1(c, b), m.clock1(c), b); }) &&
               k().forall(agents,
                          [&](const Agent& a) { return claim(s, m.l2(a, b), p().clock2(m, a, b), b); });
      });
    });
  }

  template <class V>
  void latest(V& v) const {
    v.invariant("no lease ends after the latest", [this](const State& s) {
      const auto& m = s.system.memory;
      return Memory::mm(m).forgotten <= Memory::mm(m).latest &&
             each_block([&](const Block& b) { return p().memory_time(m, b) <= Memory::mm(m).latest; });
    });
  }

  template <class V>
  void requests(V& v) const {
    each_thread(v, "what is in flight is what a GPU thread waits for",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  return implies(Memory::in_flight(m, t), p().on_gpu(m, t) && !asks(m, t, Operation::fence));
                });
    Base::pending_or_done(v);
    each_thread(v, "who has locked a block is a store in flight",
                [](const State&, const auto& m, const ThreadIx& t) {
                  const auto& transit = m.transit(t);
                  return implies(transit.hit1 || transit.hit2,
                                 Memory::in_flight(m, t) && asks(m, t, Operation::store)) &&
                         implies(transit.hit2,
                                 transit.stage == Stage::to_memory || transit.stage == Stage::from_memory);
                });
    each_thread(v, "memory gives leases, and one to every store that has locked a block",
                [](const State&, const auto& m, const ThreadIx& t) {
                  const auto& transit = m.transit(t);
                  return implies(!returning(m, t), transit.rts == 0) &&
                         implies(returning(m, t) && (transit.hit1 || transit.hit2), transit.rts != 0);
                });
    each_thread(v, "a block is locked by one store", [this](const State&, const auto& m, const ThreadIx& t) {
      const Block b = Memory::block(m, t);
      const auto alone = [&](auto holds) {
        return k().forall(threads,
                          [&](const ThreadIx& u) { return u == t || !holds(u) || Memory::block(m, u) != b; });
      };
      return implies(m.transit(t).hit1, m.l1(w().cu(t), b).locked && alone([&](const ThreadIx& u) {
                                          return m.transit(u).hit1 && w().cu(u) == w().cu(t);
                                        })) &&
             implies(m.transit(t).hit2, m.l2(w().agent(t), b).locked && alone([&](const ThreadIx& u) {
                                          return m.transit(u).hit2 && w().agent(u) == w().agent(t);
                                        }));
    });
  }

  template <class V>
  void times(V& v) const {
    each_copy(v, "no copy's lease ends after memory's time",
              [this](const State& s, const Line& line, const auto&, const Block& b) {
                return !line.present || line.rts <= p().memory_time(s.system.memory, b);
              });
    each_copy(v, "a copy's lease has begun by its cache's clock",
              [](const State&, const Line& line, const auto& clock, const Block&) {
                return !line.present || line.wts <= clock;
              });
  }

  // What two leases hold where they meet, whatever the word.
  template <class V>
  void data(V& v) const {
    const auto newest = [this](const State& s, const auto& held, const Block& b) {
      const auto& m = s.system.memory;
      return held.rts < p().memory_time(m, b) || p().same(held.data, m.memory(b));
    };
    each_copy(v, "a copy on the newest lease is what memory holds",
              [newest](const State& s, const Line& line, const auto&, const Block& b) {
                return !unlocked(line) || newest(s, line, b);
              });
    each_thread(v, "a response with the newest lease is what memory holds",
                [this, newest](const State& s, const auto& m, const ThreadIx& t) {
                  const Block b = Memory::block(m, t);
                  return implies(leased(m, t, b), newest(s, m.transit(t), b));
                });
    each_copy(v, "copies agree where their leases meet",
              [this](const State& s, const Line& line, const auto&, const Block& b) {
                const auto& m = s.system.memory;
                return !unlocked(line) || (k().forall(cus, [&](const Cu& c) {
                  return !unlocked(m.l1(c, b)) || meet(line, m.l1(c, b));
                }) && k().forall(agents, [&](const Agent& a) {
                  return !unlocked(m.l2(a, b)) || meet(line, m.l2(a, b));
                }));
              });
    each_copy(v, "copies and responses agree where their leases meet",
              [this](const State& s, const Line& line, const auto&, const Block& b) {
                const auto& m = s.system.memory;
                return !unlocked(line) || k().forall(threads, [&](const ThreadIx& t) {
                  return !leased(m, t, b) || meet(line, m.transit(t));
                });
              });
    each_thread(v, "responses agree where their leases meet",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const Block b = Memory::block(m, t);
                  return !leased(m, t, b) || k().forall(threads, [&](const ThreadIx& u) {
                    return !leased(m, u, b) || meet(m.transit(t), m.transit(u));
                  });
                });
  }
  [[nodiscard]] Bool meet(const auto& a, const auto& b) const {
    return Memory::earlier(a.rts, b.rts) < Memory::later(a.wts, b.wts) || p().same(a.data, b.data);
  }
};

template <class System>
struct Lemmas : LeaseLemmas<System> {
  using Base = LeaseLemmas<System>;
  using Base::each_thread;
  using Base::k;
  using typename Base::Block;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::Line;
  using typename Base::Memory;
  using typename Base::MemoryState;
  using typename Base::Number;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::W;

  template <class V>
  void lemmas(V& v) const {
    theorem(v);
    synchronization(v);
    Base::requests(v);
    Base::times(v);
    Base::data(v);
  }

 private:
  using Base::each_block;
  using Base::each_copy;
  using Base::implies;
  using Base::leased;
  using Base::p;
  using Base::returning;
  using Base::unlocked;
  using Base::w;
  [[nodiscard]] Bool answered(const State& s, const ThreadIx& t) const {
    return s.ghost.access(t).dated && (returning(s.system.memory, t) || s.system.memory.port(t).done);
  }

  template <class V>
  void theorem(V& v) const {
    each_copy(v, "a copy on a lease that covers the watched time holds what it selects",
              [](const State& s, const Line& line, const auto&, const Block& b) {
                return !(b == W::watched_block() && unlocked(line) && W::covers(line, W::watched_time())) ||
                       W::word(line.data) == s.ghost.selected;
              });
    each_thread(v, "so does a response", [this](const State& s, const auto& m, const ThreadIx& t) {
      return implies(leased(m, t, W::watched_block()) && W::covers(m.transit(t), W::watched_time()),
                     W::word(m.transit(t).data) == s.ghost.selected);
    });
    v.invariant("memory holds what any time since the last write selects", [](const State& s) {
      return implies(s.ghost.last <= W::watched_time(), W::in_memory(s.system.memory) == s.ghost.selected);
    });
    v.invariant("the last write is no later than memory's time", [this](const State& s) {
      return s.ghost.last <= p().memory_time(s.system.memory, W::watched_block());
    });
    each_thread(v, "a load returns what its time selects",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(m.port(t).done && reads(s, t, Operation::load, W::watched_time()),
                                 m.port(t).result == s.ghost.selected);
                });
    each_thread(v, "a response to a load brings what its time selects",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(returning(m, t) && reads(s, t, Operation::load, W::watched_time()),
                                 W::word(m.transit(t).data) == s.ghost.selected);
                });
    each_thread(v, "an RMW returns what the time just before it selects",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(answered(s, t) && reads(s, t, Operation::rmw, W::watched_time() + 1),
                                 m.port(t).result == s.ghost.selected);
                });
    each_thread(v, "the time of what has been answered is in memory's past",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(answered(s, t) && !asks(m, t, Operation::fence),
                                 s.ghost.access(t).time <= p().memory_time(m, Memory::block(m, t)));
                });
  }
  // The thread's last operation was one of the watched word, at the time.
  [[nodiscard]] static Bool reads(const State& s, const ThreadIx& t, Operation operation,
                                  const Number& time) {
    const MemoryState& m = s.system.memory;
    const auto& access = s.ghost.access(t);
    return access.dated && access.time == time && asks(m, t, operation) && W::at_watched(m.port(t).request);
  }

  template <class V>
  void synchronization(V& v) const {
    each_thread(v, "the clock of a CU has reached the time of what it was answered",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const Number time = s.ghost.access(t).time;
                  const Number clock = m.clock1(w().cu(t));
                  return implies(
                      !w().host(t) && answered(s, t),
                      time <= K::select(m.port(t).done, clock, Memory::later(clock, m.transit(t).wts)));
                });
    each_thread(v, "no request has left after its CU's clock",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return w().host(t) || s.ghost.access(t).asked <= m.clock1(w().cu(t));
                });
    each_thread(
        v, "what synchronizes is no earlier than its CU's clock was",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const auto& access = s.ghost.access(t);
          const Bool ordered = Bool(p().carries_time()) || (writes(m, t) && atomic_beyond_group(m, t));
          const Bool going = m.transit(t).stage == Stage::to_l2 || m.transit(t).stage == Stage::to_memory;
          return implies(ordered && !w().host(t) && !asks(m, t, Operation::fence),
                         implies(going, access.asked <= m.transit(t).wts) &&
                             implies(answered(s, t), access.asked <= access.time));
        });
    if (!p().knows_scopes()) return;
    // An acquire that hits a copy on lease is at a time that its L2 has long reached.
    const bool looks = !p().is("polls-leases");
    each_thread(v, "an acquire at system scope moves the clocks of all banks",
                [this, looks](const State& s, const auto& m, const ThreadIx& t) {
                  const Bool acquired = (m.port(t).done || m.transit(t).stage == Stage::from_l2) &&
                                        s.ghost.access(t).dated && !w().host(t) &&
                                        acquires(m.port(t).request.order) && atomic_to_system(m, t) &&
                                        (Bool(looks) || !asks(m, t, Operation::load));
                  return implies(acquired, each_block([&](const Block& b) {
                                   return s.ghost.access(t).time <= p().clock2(m, w().agent(t), b);
                                 }));
                });
    each_thread(v, "memory's answer to what synchronizes is at its time",
                [this, looks](const State& s, const auto& m, const ThreadIx& t) {
                  const auto& response = m.transit(t);
                  const Bool alone = asks(m, t, Operation::load) && atomic_to_system(m, t);
                  return implies(response.stage == Stage::from_memory,
                                 implies(alone && Bool(looks), response.rts == 0) &&
                                     implies(s.ghost.access(t).dated && (writes(m, t) || response.rts == 0),
                                             s.ghost.access(t).time <= response.wts));
                });
    Base::latest(v);
  }
};

}  // namespace lockstep::halcone
