// What an explorer may take at once on HALCONE: the replacement of a copy whose lease has run out, and
// requests that miss; and what it may leave for later: replacements that nobody would notice yet.
//
// Every guard asks whether a copy is valid, and clocks never run backwards while it is there, so one whose
// lease has run out is like no copy. A miss stays one where nobody else fetches. A copy on lease is looked at
// by requests for its block alone, and an entry of the TSU by those that MM is to serve.
#pragma once

#include <array>
#include <string_view>

#include "spec/kernel/at_once.hpp"
#include "spec/memory/halcone.hpp"

namespace lockstep::halcone {

template <class K>
struct Claims {
  using P = Protocol<K>;
  using Bool = typename K::Bool;
  using State = typename P::State;
  using Cu = typename P::Cu;
  using Agent = typename P::Agent;
  using Block = typename P::Block;
  using Line = typename P::Line;
  using ThreadIx = typename P::ThreadIx;

  const P& memory;

  static constexpr std::array<std::string_view, 4> differ{"l1", "l2", "transit.wts", "mm.forgotten"};

  void at_once(AtOnceList<K, State>& list) const {
    const auto anywhere = [](const State&, auto) { return Bool(true); };
    list.commutes("fence passes", over(threads), anywhere);
    list.commutes("CPU passes a fence", over(threads), [self = *this](const State& s, ThreadIx t) {
      return Bool(!self.memory.knows_scopes()) || !acquires(s.port(t).request.order);
    });
    const auto alone = [self = *this](const State& s, ThreadIx t) { return self.is_alone(s, t); };
    if (!memory.is("atomic") && !memory.fault("entry-forgotten")) {
      list.commutes("load misses L1", over(threads), alone);
      list.commutes("write misses L1", over(threads), alone);
    }
    const auto alone_beyond = [self = *this](const State& s, ThreadIx t) {
      return self.is_alone_on_agent(s, t);
    };
    // A miss that carries its time moves L2's clock past copies that broke an invariant while they could be
    // read.
    const Mending moves_time = memory.carries_time() ? may_mend : Mending::none;
    list.commutes("read misses L2", over(threads), alone_beyond, moves_time);
    list.commutes("write misses L2", over(threads), alone_beyond, moves_time);
    const auto kept = [self = *this](const Bool& readable) { return readable || Bool(!self.drops_copies()); };
    list.waits("L1 replaces a block", over(cus, blocks), [=, self = *this](const State& s, Cu c, Block b) {
      return kept(self.memory.readable1(s, c, b)) && !self.is_asked_of_l1(s, c, b);
    });
    list.waits("L2 replaces a block", over(agents, blocks),
               [=, self = *this](const State& s, Agent a, Block b) {
                 return kept(self.memory.readable2(s, a, b)) && !self.is_asked_of_l2(s, a, b);
               });
    if (!memory.prints("entry-forgotten")) {
      list.waits("TSU drops an entry", over(blocks),
                 [self = *this](const State& s, Block b) { return !self.is_asked_of_tsu(s, b); });
    }
    if (!drops_copies()) return;
    list.at_once("L1 replaces a block", over(cus, blocks),
                 [self = *this](const State& s, Cu c, Block b) { return !self.memory.readable1(s, c, b); });
    list.at_once(
        "L2 replaces a block", over(agents, blocks),
        [self = *this](const State& s, Agent a, Block b) { return !self.memory.readable2(s, a, b); });
  }

  // As printed a response that ends a lock keeps the words of the copy: that this is never one that has run
  // out would have to be shown first.
  [[nodiscard]] bool drops_copies() const {
    return !memory.fault("expired-copy-read") && !memory.fault("hit-keeps-words") && !memory.printed();
  }

  // What keeps_up rests on, whatever the client does.
  void lemmas(InvariantList<K, State>& v) const {
    v.invariant("who has ended asks for nothing, and what is on its way is asked for",
                [self = *this](const State& s) {
                  return self.memory.k.forall(threads, [&](const ThreadIx& t) {
                    return (!s.port(t).pending || !s.port(t).done) &&
                           (!s.port(t).ended || (!s.port(t).pending && !s.port(t).done)) &&
                           (!P::in_flight(s, t) || (s.port(t).pending && !self.memory.machine.is_host(t) &&
                                                    s.port(t).request.operation != Operation::fence));
                  });
                });
    v.invariant("what is not on its way carries no time and locks nothing, and a request has no lease",
                [self = *this](const State& s) {
                  return self.memory.k.forall(threads, [&](const ThreadIx& t) {
                    const auto& transit = s.transit(t);
                    return (P::in_flight(s, t) || (transit.wts == 0 && !transit.hit1 && !transit.hit2)) &&
                           (transit.stage == Stage::from_memory || transit.stage == Stage::from_l2 ||
                            transit.rts == 0);
                  });
                });
    v.invariant("a copy that is absent holds nothing", [self = *this](const State& s) {
      return self.memory.k.forall(blocks, [&](const Block& b) {
        return self.memory.k.forall(cus, [&](const Cu& c) {
          return s.l1(c, b).present || self.empty(s.l1(c, b));
        }) && self.memory.k.forall(agents, [&](const Agent& a) {
          return s.l2(a, b).present || self.empty(s.l2(a, b));
        });
      });
    });
  }

  // Ahead lacks nothing but copies that cannot be read, and the time of a dropped entry that whatever is
  // dropped next is later than. When time begins again it leaves its mark on requests that are on their way;
  // none can tell who left later.
  [[nodiscard]] Bool keeps_up(const State& behind, const State& ahead) const {
    const K& k = memory.k;
    const Bool as_late = k.forall(threads, [&](const ThreadIx& t) {
      const auto& slow = behind.transit(t);
      const auto& fast = ahead.transit(t);
      return slow.wts == fast.wts || ((slow.stage == Stage::to_l2 || slow.stage == Stage::to_memory) &&
                                      slow.wts <= 1 && fast.wts <= 1 &&
                                      !Bool(memory.carries_time() || memory.prints("entry-forgotten") ||
                                            memory.prints("overflow-forgets-leases")) &&
                                      begun_again(behind));
    });
    const auto lacks = [&](const Line& has, const Line& line, const Bool& readable) {
      return same(has, line) ||
             (Bool(drops_copies()) && empty(line) && !line.present && !has.locked && !readable);
    };
    const Bool as_forgotten =
        P::mm(behind).forgotten == P::mm(ahead).forgotten || (outlasted(behind) && outlasted(ahead));
    return as_late && as_forgotten && k.forall(blocks, [&](const Block& b) {
      return k.forall(cus, [&](const Cu& c) {
        return lacks(behind.l1(c, b), ahead.l1(c, b), memory.readable1(behind, c, b));
      }) && k.forall(agents, [&](const Agent& a) {
        return lacks(behind.l2(a, b), ahead.l2(a, b), memory.readable2(behind, a, b));
      });
    });
  }

 private:
  // Nobody else on the thread's CU, or on its agent, will ask for anything, nor is anything on its way there.
  [[nodiscard]] Bool is_alone(const State& s, const ThreadIx& t) const {
    return memory.k.forall(threads, [&](const ThreadIx& other) {
      return other == t || memory.machine.is_host(other) || memory.cu(other) != memory.cu(t) ||
             s.port(other).ended;
    });
  }
  [[nodiscard]] Bool is_alone_on_agent(const State& s, const ThreadIx& t) const {
    return memory.k.forall(threads, [&](const ThreadIx& other) {
      return other == t || memory.machine.is_host(other) || memory.agent(other) != memory.agent(t) ||
             s.port(other).ended;
    });
  }
  [[nodiscard]] Bool is_asked_of_l1(const State& s, const Cu& c, const Block& b) const {
    return memory.k.exists(threads, [&](const ThreadIx& t) {
      return memory.on_gpu(s, t) && s.port(t).request.operation != Operation::fence && memory.cu(t) == c &&
             P::block(s, t) == b;
    });
  }
  [[nodiscard]] Bool is_asked_of_l2(const State& s, const Agent& a, const Block& b) const {
    return memory.k.exists(threads, [&](const ThreadIx& t) {
      return P::in_flight(s, t) && s.transit(t).stage != Stage::from_l2 && memory.agent(t) == a &&
             P::block(s, t) == b;
    });
  }
  // Where a block comes that the TSU does not know, or will not know by then, the latest entry that it has
  // dropped matters.
  [[nodiscard]] Bool is_asked_of_tsu(const State& s, const Block& b) const {
    return memory.k.exists(threads, [&](const ThreadIx& t) {
      const Block asked = P::block(s, t);
      const Bool first = is_first_to_go(s, asked);
      return memory.asks_memory(s, t) &&
             ((asked == b && !first) || (!(asked == b) && (first || !s.tsu(asked).present)));
    });
  }
  // The entry is the earliest of all and later than any that was dropped: when its block comes again it is as
  // if it had not been dropped.
  [[nodiscard]] Bool is_first_to_go(const State& s, const Block& b) const {
    return outlasted(s) && memory.k.forall(blocks, [&](const Block& other) {
      return other == b ||
             (s.tsu(other).memts >= s.tsu(b).memts && s.tsu(other).memts > memory.read_lease(other));
    });
  }
  // All blocks have entries, and none is, or will be, earlier than any that was dropped.
  [[nodiscard]] Bool outlasted(const State& s) const {
    if (memory.prints("entry-forgotten") || memory.prints("overflow-forgets-leases")) return Bool(false);
    return memory.k.forall(
        blocks, [&](const Block& b) { return s.tsu(b).present && s.tsu(b).memts >= P::mm(s).forgotten; });
  }
  // Memory's time is no earlier than where time begins again.
  [[nodiscard]] Bool begun_again(const State& s) const {
    return memory.k.forall(blocks, [&](const Block& b) { return memory.memory_time(s, b) >= 1; }) &&
           P::mm(s).forgotten >= 1;
  }
  [[nodiscard]] Bool empty(const Line& line) const {
    return !line.locked && line.wts == 0 && line.rts == 0 &&
           memory.k.forall(words, [&](const auto& w) { return line.data(w) == typename K::Value(0); });
  }
  [[nodiscard]] Bool same(const Line& a, const Line& b) const {
    return a.present == b.present && a.locked == b.locked && a.wts == b.wts && a.rts == b.rts &&
           memory.same(a.data, b.data);
  }
};

}  // namespace lockstep::halcone
