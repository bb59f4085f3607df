// Why logical time orders what G-TSC does.
//
// Of one word and one time, whichever they are (logical_time.hpp). The theorem: a copy on a lease that covers
// the time holds what it selects, writes of the word have times in the order in which L2 performs them, so
// every load returns what its own time selects, and an RMW what the time just before it does; and no
// operation's time is before its warp's clock was when it was asked for, which has reached it when it is
// answered. A load's time is its warp's, or the beginning of the lease that answers it if that is later; a
// write's is its wts.
//
// How many timestamps there are is a size like others: at a number that nobody reaches, time has no end; when
// it ends, "time begins again" is a rule among rules, and what was answered before has no date any more.
#pragma once

#include <string_view>

#include "proofs/lemmas/logical_time.hpp"
#include "spec/memory/g_tsc.hpp"

namespace lockstep::g_tsc {

template <class Open>
struct Words : LogicalTimeWords<Open> {
  using Base = LogicalTimeWords<Open>;
  using Base::completes;
  using Base::host;
  using Base::k;
  using Base::protocol;
  using Base::watched_block;
  using typename Base::Block;
  using typename Base::Bool;
  using typename Base::Memory;
  using typename Base::MemoryState;
  using typename Base::Number;
  using typename Base::ThreadIx;
  using typename Base::Value;

  // What a block holds beyond the L1s.
  [[nodiscard]] static auto current(const MemoryState& m, const Block& b, const auto& word) {
    return Base::K::select(m.l2(b).present, Value(m.l2(b).data(word)), Value(m.memory(b)(word)));
  }
  [[nodiscard]] static Value current(const MemoryState& m) {
    return current(m, watched_block(), Open::watched_word());
  }
  // Between a state and the next: what never runs backwards within one time did.
  [[nodiscard]] Bool began_again(const MemoryState& was, const MemoryState& is) const {
    return k().exists(threads, [&](const ThreadIx& t) { return is.warpts(t) < was.warpts(t); }) ||
           k().exists(blocks, [&](const Block& b) {
             return was.l2(b).present && is.l2(b).present && is.l2(b).rts < was.l2(b).rts;
           });
  }
  // L2 has answered the thread.
  [[nodiscard]] static Bool served(const MemoryState& was, const MemoryState& is, const ThreadIx& t) {
    return was.transit(t).stage == Stage::to_l2 && is.transit(t).stage == Stage::from_l2;
  }
  // Its L1 has, at once; or nobody, where the request is a fence.
  [[nodiscard]] static Bool hit(const MemoryState& was, const MemoryState& is, const ThreadIx& t) {
    return was.transit(t).stage == Stage::none && completes(was, is, t);
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
    const Number last_before = g.last;
    Number last = g.last;
    typename K::Value selected = g.selected;
    open.kind().for_each(threads, [&](const ThreadIx& t) {
      const Bool wrote = W::served(was, is, t) && writes(was, t) && W::at_watched(was.port(t).request);
      const Number time = is.transit(t).wts;
      last = K::select(wrote, time, last);
      selected = K::select(wrote && time <= W::watched_time(), W::current(is), selected);
    });
    g.last = K::select(again, Number(1), last);
    g.selected = K::select(again, W::current(is), selected);
    open.kind().for_each(threads,
                         [&](const ThreadIx& t) { date(g.access(t), was, is, t, again, last_before); });
  }

 private:
  static void date(Access& access, const MemoryState& was, const MemoryState& is, const ThreadIx& t,
                   const Bool& again, const Number& last) {
    const Bool hit = W::hit(was, is, t);
    const Bool is_fence = asks(was, t, Operation::fence);
    const Bool answered =
        W::served(was, is, t) || (hit && (!is_fence || acquires(was.port(t).request.order)));
    const Bool taken = was.port(t).done && !is.port(t).done;
    const Bool in_vain =
        was.transit(t).stage == Stage::from_l2 && is.transit(t).stage == Stage::none && is.port(t).pending;
    const Bool leaves = was.transit(t).stage == Stage::none && is.transit(t).stage != Stage::none;
    const Number of_answer = K::select(writes(was, t), Number(is.transit(t).wts),
                                       Memory::later(was.transit(t).time, is.transit(t).wts));
    // A fence that acquires is at the last write's.
    const Number of_hit = K::select(is_fence, last, Number(was.warpts(t)));
    access.time = K::select(answered, K::select(hit, of_hit, of_answer), Number(access.time));
    access.dated = ((access.dated && !taken && !in_vain && !leaves) || answered) && !again;
    access.asked = K::select(again, Number(0),
                             K::select(leaves || (hit && !is_fence), Number(was.warpts(t)),
                                       K::select(hit, Number(0), Number(access.asked))));
  }
};

template <class System>
struct Lemmas : MemoryClaims<System> {
  using Base = MemoryClaims<System>;
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
  using Block = typename W::Block;
  using Memory = typename W::Memory;
  using MemoryState = typename W::MemoryState;
  using Line = typename Memory::Line;

  template <class V>
  void lemmas(V& v) const {
    theorem(v);
    requests(v);
    times(v);
    newest_copies(v);
    versions(v);
    renewals(v);
  }

 private:
  [[nodiscard]] W w() const { return W{system.system()}; }
  [[nodiscard]] Memory p() const { return system.system().memory(); }
  [[nodiscard]] static Bool implies(const Bool& a, const Bool& b) { return !a || b; }

  template <class V>
  void each_copy(V& v, std::string_view name, auto claim) const {
    v.invariant(name, [this, claim](const State& s) {
      const auto& m = s.system.memory;
      return k().forall(cus, [&](const Cu& c) {
        return k().forall(blocks, [&](const Block& b) { return claim(s, m, m.l1(c, b), c, b); });
      });
    });
  }
  template <class V>
  void each_block(V& v, std::string_view name, auto claim) const {
    v.invariant(name, [this, claim](const State& s) {
      return k().forall(blocks, [&](const Block& b) { return claim(s, s.system.memory, b); });
    });
  }

  [[nodiscard]] static Bool asking(const MemoryState& m, const ThreadIx& t) {
    return m.transit(t).stage == Stage::to_l2;
  }
  // An answer of this time.
  [[nodiscard]] static Bool answered(const MemoryState& m, const ThreadIx& t) {
    return m.transit(t).stage == Stage::from_l2 && m.transit(t).rts != 0;
  }
  [[nodiscard]] static Bool brings(const MemoryState& m, const ThreadIx& t) {
    return answered(m, t) && m.transit(t).brings;
  }
  // L2 has told a store that hit no more than its times: what L1 holds is right.
  [[nodiscard]] static Bool acknowledged(const MemoryState& m, const ThreadIx& t) {
    return answered(m, t) && m.transit(t).hit && !m.transit(t).brings;
  }
  [[nodiscard]] static Bool renews(const MemoryState& m, const ThreadIx& t) {
    return answered(m, t) && asks(m, t, Operation::load) && !m.transit(t).brings;
  }
  [[nodiscard]] const Line& copy(const MemoryState& m, const ThreadIx& t) const {
    return m.l1(w().cu(t), Memory::block(m, t));
  }

  // ---- the theorem ----

  template <class V>
  void theorem(V& v) const {
    each_copy(v, "a copy on a lease that covers the watched time holds what it selects",
              [](const State& s, const auto&, const Line& line, const Cu&, const Block& b) {
                return implies(b == W::watched_block() && line.present && !line.locked &&
                                   W::covers(line, W::watched_time()),
                               W::word(line.data) == s.ghost.selected);
              });
    each_thread(v, "so does an answer", [this](const State& s, const auto& m, const ThreadIx& t) {
      return implies(Memory::block(m, t) == W::watched_block() && W::covers(m.transit(t), W::watched_time()),
                     implies(brings(m, t), W::word(m.transit(t).data) == s.ghost.selected) &&
                         implies(acknowledged(m, t), W::word(copy(m, t).data) == s.ghost.selected));
    });
    v.invariant("L2, or memory, holds what any time since the last write selects", [](const State& s) {
      return implies(s.ghost.last <= W::watched_time(), W::current(s.system.memory) == s.ghost.selected);
    });
    v.invariant("the last write is no later than its block",
                [this](const State& s) { return s.ghost.last <= from(s.system.memory, W::watched_block()); });
    each_thread(v, "a load returns what its time selects",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(m.port(t).done && reads(s, t, Operation::load, W::watched_time()),
                                 m.port(t).result == s.ghost.selected);
                });
    each_thread(v, "an RMW returns what the time just before it selects",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(reads(s, t, Operation::rmw, W::watched_time() + 1),
                                 m.port(t).result == s.ghost.selected);
                });
    each_thread(v, "the time of what has been answered is no later than its block's",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(s.ghost.access(t).dated && !asks(m, t, Operation::fence),
                                 s.ghost.access(t).time <= p().ends(m, Memory::block(m, t)));
                });
    each_thread(v, "an answer's lease covers the time of its load",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return implies(s.ghost.access(t).dated && asks(m, t, Operation::load) &&
                                     m.transit(t).stage == Stage::from_l2,
                                 answered(m, t) && W::covers(m.transit(t), s.ghost.access(t).time));
                });
    each_thread(v, "a warp's clock has reached the time of what it was answered",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  const auto& access = s.ghost.access(t);
                  const Number clock = m.warpts(t);
                  return implies(access.dated,
                                 access.time <= K::select(m.port(t).done, clock,
                                                          Memory::later(clock, m.transit(t).wts)));
                });
    each_thread(v, "no operation's time is before its warp's clock was",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  const auto& access = s.ghost.access(t);
                  return implies(asking(m, t), access.asked <= m.transit(t).time) &&
                         implies(access.dated, access.asked <= access.time);
                });
    v.invariant("no write is later than the latest", [this](const State& s) {
      return Bool(p().is("as-told")) || s.ghost.last <= Memory::times(s.system.memory).latest;
    });
  }
  // The thread's last operation was one of the watched word, at the time.
  [[nodiscard]] static Bool reads(const State& s, const ThreadIx& t, Operation operation,
                                  const Number& time) {
    const MemoryState& m = s.system.memory;
    const auto& access = s.ghost.access(t);
    return access.dated && access.time == time && asks(m, t, operation) && W::at_watched(m.port(t).request);
  }

  // ---- who asks for what ----

  template <class V>
  void requests(V& v) const {
    Base::pending_or_done(v);
    each_thread(
        v, "what is in flight is what a thread waits for",
        [](const State& s, const auto& m, const ThreadIx& t) {
          return implies(Memory::in_flight(m, t), m.port(t).pending && !asks(m, t, Operation::fence)) &&
                 implies(s.ghost.access(t).dated, m.transit(t).stage == Stage::from_l2 || m.port(t).done);
        });
    each_thread(v, "who has locked a block is a store in flight, alone",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const Bool alone = k().forall(threads, [&](const ThreadIx& u) {
                    return u == t || !m.transit(u).hit || w().cu(u) != w().cu(t) ||
                           Memory::block(m, u) != Memory::block(m, t);
                  });
                  return implies(m.transit(t).hit, Memory::in_flight(m, t) && asks(m, t, Operation::store) &&
                                                       !w().host(t) && copy(m, t).present &&
                                                       copy(m, t).locked && alone &&
                                                       (asking(m, t) || answered(m, t)));
                });
    each_thread(v, "a request has its warp's time, and nothing of an answer",
                [](const State&, const auto& m, const ThreadIx& t) {
                  return implies(m.transit(t).stage != Stage::from_l2,
                                 m.transit(t).rts == 0 && !m.transit(t).brings) &&
                         implies(asking(m, t), m.transit(t).time <= m.warpts(t));
                });
    each_thread(
        v, "an answer brings data to loads, and to stores that hit",
        [this](const State&, const auto& m, const ThreadIx& t) {
          return implies(m.transit(t).brings,
                         asks(m, t, Operation::load) || m.transit(t).hit || m.transit(t).rts == 0) &&
                 implies(w().host(t) && asking(m, t), m.transit(t).wts == 0) &&
                 implies(w().host(t) && m.transit(t).stage == Stage::from_l2 && asks(m, t, Operation::load),
                         m.transit(t).brings);
        });
    if (p().is("cu-clock")) {
      each_thread(
          v, "the warps of a CU have one clock", [this](const State&, const auto& m, const ThreadIx& t) {
            return k().forall(threads, [&](const ThreadIx& u) {
              return w().host(t) || w().host(u) || w().cu(t) != w().cu(u) || m.warpts(t) == m.warpts(u);
            });
          });
    }
    each_block(v, "what L2 fetches it does not hold", [](const State&, const auto& m, const Block& b) {
      return implies(m.l2(b).fetching, !m.l2(b).present);
    });
    each_block(v, "a block that is not dirty is what memory holds",
               [this](const State&, const auto& m, const Block& b) {
                 return implies(m.l2(b).present && !m.l2(b).dirty, p().same(m.l2(b).data, m.memory(b)));
               });
  }

  // ---- leases ----

  template <class V>
  void times(V& v) const {
    const auto orderly = [](const auto& lease) { return Number(1) <= lease.wts && lease.wts <= lease.rts; };
    each_block(v, "a block in L2 has a lease", [orderly](const State&, const auto& m, const Block& b) {
      return implies(m.l2(b).present, orderly(m.l2(b)));
    });
    each_copy(v, "no copy's lease ends after its block's",
              [this, orderly](const State&, const auto& m, const Line& line, const Cu&, const Block& b) {
                return implies(line.present, orderly(line) && line.rts <= p().ends(m, b));
              });
    each_thread(v, "no answer's lease does", [this, orderly](const State&, const auto& m, const ThreadIx& t) {
      return implies(answered(m, t),
                     orderly(m.transit(t)) && m.transit(t).rts <= p().ends(m, Memory::block(m, t)));
    });
  }

  // A block has been what it is since then.
  [[nodiscard]] Number from(const MemoryState& m, const Block& b) const {
    return K::select(m.l2(b).present, Number(m.l2(b).wts), p().ends(m, b));
  }
  [[nodiscard]] Bool is_current(const MemoryState& m, const Block& b, const auto& data) const {
    return k().forall(words, [&](const auto& word) { return data(word) == W::current(m, b, word); });
  }
  template <class V>
  void newest_copies(V& v) const {
    each_copy(v, "a copy on the newest lease is what L2, or memory, holds",
              [this](const State&, const auto& m, const Line& line, const Cu&, const Block& b) {
                return implies(line.present && !line.locked,
                               line.rts < from(m, b) || is_current(m, b, line.data));
              });
    each_thread(v, "so is an answer with the newest lease",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const Block b = Memory::block(m, t);
                  return m.transit(t).rts < from(m, b) ||
                         (implies(brings(m, t), is_current(m, b, m.transit(t).data)) &&
                          implies(acknowledged(m, t), is_current(m, b, copy(m, t).data)));
                });
    each_thread(v, "so is, but for its word, what a store has hit",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Line& line = copy(m, t);
                  return implies(m.transit(t).hit && asking(m, t),
                                 m.transit(t).wts == line.wts &&
                                     (line.rts < from(m, q.block) || k().forall(words, [&](const auto& word) {
                                       return line.data(word) == K::select(word == q.word,
                                                                           typename K::Value(q.a),
                                                                           W::current(m, q.block, word));
                                     })));
                });
  }

  // What answers of a version hold: what they bring, or what L1 has of it.
  [[nodiscard]] Bool answers_hold(const MemoryState& m, const ThreadIx& t, auto claim) const {
    return implies(brings(m, t), claim(m.transit(t).data)) &&
           implies(acknowledged(m, t), claim(copy(m, t).data));
  }
  template <class V>
  void versions(V& v) const {
    each_copy(
        v, "copies and answers of one version are the same",
        [this](const State&, const auto& m, const Line& line, const Cu&, const Block& b) {
          return k().forall(threads, [&](const ThreadIx& t) {
            return implies(
                line.present && !line.locked && Memory::block(m, t) == b && line.wts == m.transit(t).wts,
                answers_hold(m, t, [&](const auto& data) { return p().same(line.data, data); }));
          });
        });
    each_thread(v, "answers of one version are the same",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  return k().forall(threads, [&](const ThreadIx& u) {
                    return implies(
                        Memory::block(m, t) == Memory::block(m, u) && m.transit(t).wts == m.transit(u).wts,
                        answers_hold(m, t, [&](const auto& one) {
                          return answers_hold(m, u, [&](const auto& other) { return p().same(one, other); });
                        }));
                  });
                });
  }

  // What a renewal finds in L1, if it is the version that was asked about, is what the new lease is of.
  template <class V>
  void renewals(V& v) const {
    const auto right = [this](const State& s, const ThreadIx& t, const auto& data) {
      const MemoryState& m = s.system.memory;
      const Block b = Memory::block(m, t);
      return (m.transit(t).rts < from(m, b) || is_current(m, b, data)) &&
             implies(b == W::watched_block() && W::covers(m.transit(t), W::watched_time()),
                     W::word(data) == s.ghost.selected);
    };
    each_thread(v, "a copy that is renewed is what the new lease is of",
                [this, right](const State& s, const auto& m, const ThreadIx& t) {
                  const Line& line = copy(m, t);
                  return implies(renews(m, t) && !w().host(t) && line.present && !line.locked &&
                                     line.wts == m.transit(t).wts,
                                 right(s, t, line.data));
                });
    each_thread(v, "so is an answer of the version that is renewed",
                [this, right](const State& s, const auto& m, const ThreadIx& t) {
                  return k().forall(threads, [&](const ThreadIx& u) {
                    return implies(renews(m, t) && Memory::block(m, t) == Memory::block(m, u) &&
                                       m.transit(t).wts == m.transit(u).wts,
                                   answers_hold(m, u, [&](const auto& data) { return right(s, t, data); }));
                  });
                });
  }
};

}  // namespace lockstep::g_tsc
