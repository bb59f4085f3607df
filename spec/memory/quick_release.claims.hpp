// What an explorer may take at once on QuickRelease: invalidations that reach no copy, and what stores and
// releases go through where nobody else uses it.
//
// All that an invalidation that reaches no copy can still do is to hold up a release, or to take a copy that
// came after it, which replacement may take as well. One that reaches rL2 sends others on to the rL1s; it
// waits where one of those would merge with an older one that a fill does not hold up.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

#include "spec/kernel/at_once.hpp"
#include "spec/memory/quick_release.hpp"

namespace lockstep::quick_release {

template <class K>
struct Claims {
  using P = Protocol<K>;
  using Bool = typename K::Bool;
  using State = typename P::State;
  using ThreadIx = typename P::ThreadIx;
  using Cu = typename P::Cu;
  using Agent = typename P::Agent;
  using Block = typename P::Block;
  using Queue = typename P::Queue;

  const P& memory;

  static constexpr std::array<std::string_view, 5> differ{"invalidation1", "invalidation2", "awaited1",
                                                          "awaited2", "read.followed"};

  void at_once(AtOnceList<K, State>& list) const {
    list.at_once("invalidation reaches rL1", over(cus, blocks),
                 [](const State& s, Cu c, Block b) { return !s.rl1(c, b).present; });
    list.at_once("invalidation reaches rL2", over(agents, blocks),
                 [self = *this](const State& s, Agent a, Block b) {
                   return !s.rl2(a, b).present && !self.merges(s, a, b);
                 });
    releases_at_once(list);
  }

  // What a store and a release go through is seen by nobody where nobody else uses it.
  void releases_at_once(AtOnceList<K, State>& list) const {
    if (memory.fault("entry-lost")) return;  // an S-FIFO is not only taken from at its head then
    const auto anywhere = [](const State&, auto) { return Bool(true); };
    const auto alone = [self = *this](const State& s, ThreadIx t) { return self.is_alone(s, t); };
    // Newer data in wL1 excuses an old copy elsewhere.
    list.commutes(
        "store enters wL1", over(threads),
        [self = *this](const State& s, ThreadIx t) { return self.enters_alone(s, t); }, may_mend);
    list.commutes("release queues its marker", over(threads), alone);
    list.commutes("flush follows StRel's store", over(threads), alone);
    list.commutes("S-FIFO1 dequeues a stale entry", over(queues),
                  [self = *this](const State& s, auto q) { return self.all_wait(s, q); });
    list.commutes("S-FIFO1 dequeues an atomic's marker", over(queues), anywhere);
    list.commutes("S-FIFO1 passes a marker on", over(queues), [self = *this](const State& s, auto q) {
      return self.all_wait(s, q) && self.nothing_else_leaves(s, q);
    });
    list.commutes("L2 takes a marker", over(cus), [self = *this](const State& s, Cu c) {
      return self.memory.k.forall(cus, [&](const Cu& other) {
        return other == c || self.agent(other) != self.agent(c) ||
               (self.still(s, other) && self.all_ended(s, other));
      });
    });
    list.commutes("S-FIFO2 dequeues a stale entry", over(agents),
                  [self = *this](const State& s, Agent a) { return self.all_wait(s, a); });
    list.commutes("S-FIFO2 passes a marker on", over(agents), [self = *this](const State& s, Agent a) {
      return self.all_wait(s, a) && self.all_clean(s.wl2, a);
    });
    list.commutes("S-FIFO2 ends an agent's release", over(agents), anywhere);
    list.commutes("wL3 takes a marker", over(agents), [self = *this](const State& s, Agent a) {
      return self.memory.k.forall(agents, [&](const Agent& other) {
        return other == a || (self.still(s, other) && self.all_ended(s, other));
      });
    });
    list.commutes("S-FIFO3 dequeues a stale entry", over(),
                  [self = *this](const State& s) { return self.all_wait(s); });
    list.commutes("S-FIFO3 ends a release", over(), [](const State&) { return Bool(true); });
    list.commutes("release is acknowledged", over(threads), anywhere);
    if (memory.repaired("flush-unacknowledged")) list.commutes("flush is complete", over(threads), anywhere);
    list.commutes("fence completes", over(threads), anywhere);
    list.commutes("CPU passes a fence", over(threads), anywhere);
    if (memory.repaired("host-release-does-not-wait"))
      list.commutes("CPU release waits for its invalidations", over(threads), anywhere);
  }

  // Nobody else uses the thread's CU, which holds nothing of its block.
  [[nodiscard]] Bool enters_alone(const State& s, const ThreadIx& t) const {
    const Block b = s.port(t).request.block;
    return is_alone(s, t) && !memory.dirty(s.wl1(cu(t), b)) && memory.k.forall(queues, [&](const Queue& q) {
      return memory.cu_of(q) != cu(t) || !P::lists(s.fifo1(q), b);
    });
  }

  // What keeps_up rests on, whatever the client does.
  void lemmas(InvariantList<K, State>& v) const {
    const K& k = memory.k;
    v.invariant("what is awaited is on its way", [=, self = *this](const State& s) {
      return k.forall(threads, [&](const ThreadIx& t) {
        return k.forall(blocks, [&](const Block& b) {
          return k.forall(cus, [&](const Cu& c) { return !s.awaited1(t, c, b) || s.invalidation1(c, b); }) &&
                 k.forall(agents,
                          [&](const Agent& a) { return !s.awaited2(t, a, b) || s.invalidation2(a, b); });
        });
      });
    });
    v.invariant("a copy that is absent holds nothing", [=, self = *this](const State& s) {
      return k.forall(blocks, [&](const Block& b) {
        return k.forall(cus, [&](const Cu& c) { return s.rl1(c, b).present || self.empty(s.rl1(c, b)); }) &&
               k.forall(agents,
                        [&](const Agent& a) { return s.rl2(a, b).present || self.empty(s.rl2(a, b)); });
      });
    });
    v.invariant("a request is pending or done, and what is on its way for it is what it asks for",
                [=, self = *this](const State& s) {
                  return k.forall(threads, [&](const ThreadIx& t) {
                    const auto asks = [&](Operation operation) {
                      return s.port(t).pending && s.port(t).request.operation == operation;
                    };
                    return (!s.port(t).pending || !s.port(t).done) &&
                           (!s.port(t).ended || (!s.port(t).pending && !s.port(t).done)) &&
                           (!s.flushing(t) || self.may_flush(s, t)) &&
                           (s.read(t).stage == ReadStage::none ||
                            (asks(Operation::load) && !self.memory.machine.is_host(t))) &&
                           (!s.read(t).followed || self.memory.repaired("fill-overtaken")) &&
                           (!s.read(t).followed || s.read(t).stage == ReadStage::from_directory ||
                            s.read(t).stage == ReadStage::from_l2) &&
                           (s.stage(t) != Stage::stored || asks(Operation::store)) &&
                           (s.stage(t) != Stage::atomic || asks(Operation::rmw)) &&
                           (s.stage(t) == Stage::idle || (s.port(t).pending && !asks(Operation::load))) &&
                           (!asks(Operation::load) || !releases(s.port(t).request.order)) &&
                           (!self.memory.machine.is_host(t) || s.stage(t) == Stage::idle ||
                            s.stage(t) == Stage::awaiting || s.stage(t) == Stage::released);
                  });
                });
    v.invariant("what a link carries, or an S-FIFO holds, is of threads of its own that wait for it",
                [=, self = *this](const State& s) {
                  return k.forall(threads, [&](const ThreadIx& t) { return self.waits(s, t); }) &&
                         self.all_placed(s);
                });
    v.invariant("a release is in one place, and so is a read or an RMW", [=, self = *this](const State& s) {
      return k.forall(threads, [&](const ThreadIx& t) {
        const Cu c = self.cu(t);
        const Agent a = self.memory.machine.agent_of(c);
        const auto q = self.queue(t);
        const Bool on1 = holds(s.link1(c), UpKind::marker, t);
        const Bool on2 = holds(s.link2(a), UpKind::marker, t);
        return at_most_one({holds(s.fifo1(q), EntryKind::marker, t), on1,
                            holds(s.fifo2(a), EntryKind::marker, t), on2,
                            holds(s.fifo3, EntryKind::marker, t)}) &&
               at_most_one({holds(s.link1(c), UpKind::atomic, t), holds(s.link2(a), UpKind::atomic, t)}) &&
               once(s.fifo1(q), EntryKind::marker, t) && once(s.fifo2(a), EntryKind::marker, t) &&
               once(s.fifo3, EntryKind::marker, t) && once(s.link1(c), UpKind::marker, t) &&
               once(s.link2(a), UpKind::marker, t) && once(s.link1(c), UpKind::atomic, t) &&
               once(s.link2(a), UpKind::atomic, t) && once(s.link1(c), UpKind::read, t) &&
               once(s.link2(a), UpKind::read, t);
      });
    });
  }

  // Ahead there are fewer invalidations on their way, and fewer that somebody awaits, but for those that rL2
  // has sent on already; a fill that is held back by one of these holds nobody up.
  [[nodiscard]] Bool keeps_up(const State& behind, const State& ahead) const {
    const K& k = memory.k;
    const Bool sends_on(!memory.fault("cpu-write-not-broadcast"));
    const auto fewer = [&](const auto& of_ahead, const auto& of_behind) {
      return k.forall(agents, [&](const Agent& a) { return !of_ahead(a) || of_behind(a); });
    };
    const auto fewer_or_sent_on = [&](const auto& of_ahead, const auto& of_behind, const auto& at_agent) {
      return k.forall(cus, [&](const Cu& c) {
        return !of_ahead(c) || of_behind(c) || (sends_on && at_agent(memory.machine.agent_of(c)));
      });
    };
    const Bool fewer_sent = k.forall(blocks, [&](const Block& b) {
      const auto at1 = [&](const State& s) { return [&](const Cu& c) { return s.invalidation1(c, b); }; };
      const auto at2 = [&](const State& s) { return [&](const Agent& a) { return s.invalidation2(a, b); }; };
      return fewer(at2(ahead), at2(behind)) && fewer_or_sent_on(at1(ahead), at1(behind), at2(behind));
    });
    const Bool fewer_awaited = k.forall(threads, [&](const ThreadIx& t) {
      return k.forall(blocks, [&](const Block& b) {
        const auto at1 = [&](const State& s) { return [&](const Cu& c) { return s.awaited1(t, c, b); }; };
        const auto at2 = [&](const State& s) { return [&](const Agent& a) { return s.awaited2(t, a, b); }; };
        return fewer(at2(ahead), at2(behind)) && fewer_or_sent_on(at1(ahead), at1(behind), at2(behind));
      });
    });
    return fewer_sent && fewer_awaited && k.forall(threads, [&](const ThreadIx& t) {
      const auto& slow = behind.read(t);
      const auto& fast = ahead.read(t);
      return (slow.stage != ReadStage::from_directory || fast.followed == slow.followed) &&
             (slow.stage != ReadStage::from_l2 || !fast.followed || slow.followed ||
              (sends_on && holds_nobody_up(behind, ahead, t)));
    });
  }

 private:
  // Nobody else on the thread's CU will ask for anything.
  [[nodiscard]] Bool is_alone(const State& s, const ThreadIx& t) const {
    if (memory.fault("marker-overtakes")) return Bool(false);
    return memory.k.forall(threads, [&](const ThreadIx& other) {
      return other == t || memory.machine.is_host(other) || cu(other) != cu(t) || s.port(other).ended;
    });
  }
  // Whoever sends there waits for a release that is behind what the S-FIFO holds, or has ended; nothing else
  // is on its way to it. At a CU's L1, at an agent's L2, at L3.
  template <class Fifo>
  [[nodiscard]] Bool waits_in(const State& s, const Fifo& fifo, const ThreadIx& t) const {
    return memory.machine.is_host(t) || s.port(t).ended || holds(fifo, EntryKind::marker, t);
  }
  [[nodiscard]] Bool all_wait(const State& s, const Queue& q) const {
    return memory.k.forall(
        threads, [&](const ThreadIx& t) { return cu(t) != memory.cu_of(q) || waits_in(s, s.fifo1(q), t); });
  }
  [[nodiscard]] Bool all_wait(const State& s, const Agent& a) const {
    const K& k = memory.k;
    return k.forall(cus, [&](const Cu& c) { return agent(c) != a || still(s, c); }) &&
           k.forall(threads,
                    [&](const ThreadIx& t) { return agent(cu(t)) != a || waits_in(s, s.fifo2(a), t); });
  }
  [[nodiscard]] Bool all_wait(const State& s) const {
    const K& k = memory.k;
    return k.forall(agents, [&](const Agent& a) { return still(s, a); }) &&
           k.forall(threads, [&](const ThreadIx& t) { return waits_in(s, s.fifo3, t); });
  }
  [[nodiscard]] Bool all_ended(const State& s, const Cu& c) const {
    return memory.k.forall(threads, [&](const ThreadIx& t) {
      return memory.machine.is_host(t) || cu(t) != c || s.port(t).ended;
    });
  }
  [[nodiscard]] Bool all_ended(const State& s, const Agent& a) const {
    return memory.k.forall(cus, [&](const Cu& c) { return agent(c) != a || all_ended(s, c); });
  }
  // Nothing leaves it unless a thread does something.
  [[nodiscard]] Bool still(const State& s, const Cu& c) const {
    return s.link1(c).empty() && all_clean(s.wl1, c) && memory.k.forall(queues, [&](const Queue& q) {
      return memory.cu_of(q) != c || !P::has_marker(s.fifo1(q));
    });
  }
  [[nodiscard]] Bool still(const State& s, const Agent& a) const {
    return s.link2(a).empty() && all_clean(s.wl2, a) && !P::has_marker(s.fifo2(a)) &&
           memory.k.forall(cus, [&](const Cu& c) { return agent(c) != a || still(s, c); });
  }
  template <class Lines, class Place>
  [[nodiscard]] Bool all_clean(const Lines& lines, const Place& at) const {
    return memory.k.forall(blocks, [&](const Block& b) { return !memory.dirty(lines(at, b)); });
  }
  // Nothing but this queue's entries is to leave its CU.
  [[nodiscard]] Bool nothing_else_leaves(const State& s, const Queue& q) const {
    return all_clean(s.wl1, memory.cu_of(q)) && memory.k.forall(queues, [&](const Queue& other) {
      return other == q || memory.cu_of(other) != memory.cu_of(q) || s.fifo1(other).empty();
    });
  }
  [[nodiscard]] Bool empty(const typename P::ReadLine& line) const {
    return !line.written &&
           memory.k.forall(words, [&](const auto& w) { return line.data(w) == typename K::Value(0); });
  }
  [[nodiscard]] Cu cu(const ThreadIx& t) const { return memory.machine.cu_of(t); }
  [[nodiscard]] Agent agent(const Cu& c) const { return memory.machine.agent_of(c); }
  [[nodiscard]] Queue queue(const ThreadIx& t) const { return memory.queue_of(t); }
  template <class Fifo, class Kind>
  [[nodiscard]] static Bool holds(const Fifo& queue, Kind kind, const ThreadIx& t) {
    return K::contains(queue, [&](const auto& row) { return row.kind == kind && row.thread == t; });
  }
  template <class Fifo, class Kind>
  [[nodiscard]] static Bool once(const Fifo& queue, Kind kind, const ThreadIx& t) {
    Bool once(true);
    Bool seen(false);
    K::for_each_queued(queue, [&](const auto& row) {
      const Bool is = row.kind == kind && row.thread == t;
      once = once && !(seen && is);
      seen = seen || is;
    });
    return once;
  }
  [[nodiscard]] static Bool at_most_one(std::initializer_list<Bool> truths) {
    Bool one(true);
    for (const Bool* a = truths.begin(); a != truths.end(); ++a) {
      for (const Bool* b = truths.begin(); b != a; ++b) one = one && !(*a && *b);
    }
    return one;
  }
  // Its last StRel is over, and it has not begun to release anew.
  [[nodiscard]] Bool may_flush(const State& s, const ThreadIx& t) const {
    return Bool(memory.repaired("flush-unacknowledged")) && !memory.machine.is_host(t) &&
           (s.stage(t) == Stage::idle || s.stage(t) == Stage::atomic);
  }
  // What is said of a thread by what travels for it.
  [[nodiscard]] Bool waits(const State& s, const ThreadIx& t) const {
    const Agent a = memory.machine.agent_of(cu(t));
    const auto if_any = [](const Bool& any, const Bool& then) { return !any || then; };
    const Bool releasing = s.stage(t) == Stage::releasing;
    const Bool atomic = s.stage(t) == Stage::atomic;
    return if_any(holds(s.fifo1(queue(t)), EntryKind::marker, t), releasing) &&
           if_any(holds(s.fifo2(a), EntryKind::marker, t), releasing) &&
           if_any(holds(s.fifo3, EntryKind::marker, t), releasing) &&
           if_any(holds(s.link1(cu(t)), UpKind::marker, t), releasing) &&
           if_any(holds(s.link2(a), UpKind::marker, t), releasing) &&
           (Bool(!memory.repaired("flush-unacknowledged")) || s.flushing(t) ||
            (!holds(s.fifo1(queue(t)), EntryKind::flush, t) && !holds(s.fifo2(a), EntryKind::flush, t) &&
             !holds(s.fifo3, EntryKind::flush, t) && !holds(s.link1(cu(t)), UpKind::flush, t) &&
             !holds(s.link2(a), UpKind::flush, t))) &&
           if_any(holds(s.link1(cu(t)), UpKind::atomic, t), atomic) &&
           if_any(holds(s.link2(a), UpKind::atomic, t), atomic) &&
           if_any(holds(s.link1(cu(t)), UpKind::read, t), s.read(t).stage == ReadStage::to_l2) &&
           if_any(holds(s.link2(a), UpKind::read, t), s.read(t).stage == ReadStage::to_directory);
  }
  [[nodiscard]] Bool all_placed(const State& s) const {
    const K& k = memory.k;
    Bool all(true);
    const auto own = [&](const auto& queue, auto plain, auto&& here) {
      K::for_each_queued(queue, [&](const auto& row) {
        all = all && (row.kind == plain || (!memory.machine.is_host(row.thread) && here(row.thread)));
      });
    };
    k.for_each(queues, [&](const auto& q) {
      own(s.fifo1(q), EntryKind::write, [&](const ThreadIx& t) { return queue(t) == q; });
    });
    k.for_each(cus, [&](const Cu& c) {
      own(s.link1(c), UpKind::write, [&](const ThreadIx& t) { return cu(t) == c; });
    });
    k.for_each(agents, [&](const Agent& a) {
      const auto here = [&](const ThreadIx& t) { return memory.machine.agent_of(cu(t)) == a; };
      own(s.fifo2(a), EntryKind::write, here);
      own(s.link2(a), UpKind::write, here);
    });
    own(s.fifo3, EntryKind::write, [](const ThreadIx&) { return Bool(true); });
    return all;
  }
  // Sending an invalidation on to the rL1s would put a fill before one that is on its way already.
  [[nodiscard]] Bool merges(const State& s, const Agent& a, const Block& b) const {
    const K& k = memory.k;
    return exists_asking(k, s.port, b, [&](const ThreadIx& t) {
      const Cu c = memory.machine.cu_of(t);
      return !memory.machine.is_host(t) && memory.machine.agent_of(c) == a &&
             s.read(t).stage == ReadStage::from_l2 && !s.read(t).followed && s.invalidation1(c, b);
    });
  }
  // The thread's fill holds up an invalidation that has been sent on early: nobody awaits it but those who
  // await what it was sent by.
  [[nodiscard]] Bool holds_nobody_up(const State& behind, const State& ahead, const ThreadIx& t) const {
    const K& k = memory.k;
    const Cu c = memory.machine.cu_of(t);
    const Agent a = memory.machine.agent_of(c);
    const Block b = behind.port(t).request.block;
    return (!ahead.invalidation1(c, b) || behind.invalidation2(a, b)) &&
           k.forall(threads, [&](const ThreadIx& other) {
             return !ahead.awaited1(other, c, b) || behind.awaited2(other, a, b);
           });
  }
};

}  // namespace lockstep::quick_release
