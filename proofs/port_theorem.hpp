// What is to be proved of a memory system: until the first race, every completed load and RMW returned the
// newest write at its point, and memory that has drained holds the newest write (semantics.md, "What is
// proved of a memory system"). The statement is about one word, which is any word, and about the port alone.
//
// Ghosts stand beside the system that no rule reads. They observe requests and completions, and points that
// the proof of each system chooses; an operation for which it chooses none has its point at its completion.
// From them come the newest write of the word, what each operation had to return, and a race monitor.
//
// The monitor is HRF-indirect's, with release and acquire pairing whatever their locations. It keeps what
// races with the newest write: who is ordered behind it, and where it has been published. It says "raced"
// only where there is a race, but not always:
//   - of two writes it compares each with the one before, and each read with the newest write;
//   - a write races with an earlier read of the word only if that is a load that is not complete.
// So what is proved is stronger than what is asked. It says the same of HRF-indirect where locations have to
// be the same, and of HRF-direct in both readings: they order less, so in them whatever races here races.
// A fence is taken to publish and to take in by itself, as the edges of barriers and kernels do; that orders
// no less than what it does through the atomics next to it. A compare-and-swap counts as a write also where
// it fails: that is an assumption on programs, for people to be told of.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "spec/memory/memory_system.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

// `Open` is a memory system with a client. `Points<Open>{open}` offers
//   Bool performed(const State& before, const State& after, const ThreadIx&) const:
// the step is the point of the thread's request, ahead of its completion.
template <class Open, template <class> class Points>
struct PortHistory {
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct Ghost {
    Bool raced;
    Bool two_at_once;  // two operations had their points in one step, so nothing orders them
    // The newest write: what it wrote, and how.
    Value newest;
    ThreadIx writer;
    Bool atomic;
    Enum<Scope> scope;
    // Who is ordered behind it: every thread is, but these, and every acquire at these scopes comes to be.
    typename K::template Table<Bool, ThreadTag> unordered;
    typename K::template Table<Bool, CuTag> published_to_group;
    typename K::template Table<Bool, AgentTag> published_to_agent;
    Bool published_to_system;
    // Of a thread's request: it has had its point; the newest write there, and that another thread wrote it.
    typename K::template Table<Bool, ThreadTag> pointed;
    typename K::template Table<Value, ThreadTag> expected;
    typename K::template Table<Bool, ThreadTag> from_another;
    BOOST_DESCRIBE_CLASS(Ghost, (),
                         (raced, two_at_once, newest, writer, atomic, scope, unordered, published_to_group,
                          published_to_agent, published_to_system, pointed, expected, from_another),
                         (), ())
  };

  const Open& open;

  void start(Ghost& g, const State& first) const {
    g.newest = open.memory().final_value(first.memory, Open::watched_block(), Open::watched_word());
  }

  // The thread's request has its point in the step; and it writes the word.
  [[nodiscard]] Bool has_point(const Ghost& was, const State& before, const State& after,
                               const ThreadIx& t) const {
    const Bool completes = !before.memory.port(t).done && after.memory.port(t).done;
    return !was.pointed(t) && (completes || Points<Open>{open}.performed(before, after, t));
  }
  [[nodiscard]] Bool has_written(const Ghost& was, const State& before, const State& after,
                                 const ThreadIx& t) const {
    return has_point(was, before, after, t) && at_word(before.memory.port(t).request) &&
           writes(before.memory, t);
  }

  // `was` is a copy of the ghosts as they were.
  void step(Ghost& g, const Ghost& was, const State& before, const State& after) const {
    const K& k = open.kind();
    const auto request = [&](const ThreadIx& t) -> const auto& {
      return before.memory.port(t).request;
    };
    const auto at_point = [&](const ThreadIx& t) { return has_point(was, before, after, t); };
    const auto takes_in = [&](const ThreadIx& t) {
      const auto& q = request(t);
      return at_point(t) && q.operation != Operation::store && acquires(q.order) &&
             published(was, t, q.scope);
    };
    const auto ordered = [&](const ThreadIx& t) { return !was.unordered(t) || takes_in(t); };
    const auto writes_word = [&](const ThreadIx& t) { return has_written(was, before, after, t); };
    const Bool written = k.exists(threads, writes_word);

    // ---- races
    g.raced = was.raced || k.exists(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      const Bool fits = q.order != Order::plain && was.atomic &&
                        same_instance(t, q.scope, was.writer, Enum<Scope>(was.scope));
      return at_point(t) && at_word(q) && !ordered(t) && !fits;
    }) || k.exists(threads, [&](const ThreadIx& t) {
      return loading(before, was, t) && k.exists(threads, [&](const ThreadIx& u) {
        return u != t && writes_word(u) && !fit(request(t), t, request(u), u);
      });
    });
    g.two_at_once = was.two_at_once || k.exists(threads, [&](const ThreadIx& t) {
      return at_point(t) && k.exists(threads, [&](const ThreadIx& u) { return u != t && at_point(u); });
    });

    // ---- what is ordered: a write is known to its thread alone, and where it releases
    const auto publishes = [&](const ThreadIx& t) {
      const auto& q = request(t);
      return at_point(t) && q.operation != Operation::load && releases(q.order) &&
             (writes_word(t) || (!written && ordered(t)));
    };
    k.for_each(cus, [&](const auto& c) {
      g.published_to_group(c) =
          (was.published_to_group(c) && !written) || k.exists(threads, [&](const ThreadIx& t) {
            return publishes(t) && request(t).scope == Scope::wg && !host(t) && cu(t) == c;
          });
    });
    k.for_each(agents, [&](const auto& a) {
      g.published_to_agent(a) =
          (was.published_to_agent(a) && !written) || k.exists(threads, [&](const ThreadIx& t) {
            return publishes(t) && request(t).scope == Scope::agent && !host(t) && agent(t) == a;
          });
    });
    g.published_to_system =
        (was.published_to_system && !written) || k.exists(threads, [&](const ThreadIx& t) {
          return publishes(t) && request(t).scope == Scope::system;
        });
    k.for_each(threads, [&](const ThreadIx& t) {
      g.unordered(t) = (written && !writes_word(t)) || (!written && was.unordered(t) && !takes_in(t));
    });

    // ---- what was newest at each point, and what is now
    k.for_each(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      const Bool taken = before.memory.port(t).done && !after.memory.port(t).done;
      g.pointed(t) = (was.pointed(t) || at_point(t)) && !taken;
      k.when(at_point(t) && at_word(q) && q.operation != Operation::store, [&] {
        g.expected(t) = was.newest;
        g.from_another(t) = was.writer != t;
      });
      k.when(taken, [&] {
        g.expected(t) = Value(0);
        g.from_another(t) = false;
      });
      k.when(writes_word(t), [&] {
        g.newest = K::select(q.operation == Operation::store, Value(q.a), rmw_result(k, q, was.newest));
        g.writer = t;
        g.atomic = q.order != Order::plain;
        g.scope = q.scope;
      });
    });
  }

  // ---- what lemmas speak of, too

  template <class Request>
  [[nodiscard]] static Bool at_word(const Request& q) {
    return q.operation != Operation::fence && q.block == Open::watched_block() &&
           q.word == Open::watched_word();
  }
  // An acquire of the thread at that scope is ordered behind the newest write.
  [[nodiscard]] Bool published(const Ghost& g, const ThreadIx& t, const Enum<Scope>& scope) const {
    return (scope == Scope::system && g.published_to_system) ||
           (!host(t) && ((scope == Scope::agent && g.published_to_agent(agent(t))) ||
                         (scope == Scope::wg && g.published_to_group(cu(t)))));
  }
  // Both name the same set of threads, at one level. CPUs have no group and no agent, and a wave is a thread.
  [[nodiscard]] Bool same_instance(const ThreadIx& t, const Enum<Scope>& of_t, const ThreadIx& u,
                                   const Enum<Scope>& of_u) const {
    const Bool placed = !host(t) && !host(u);
    return of_t == of_u && (t == u || of_t == Scope::system ||
                            (placed && ((of_t == Scope::agent && agent(t) == agent(u)) ||
                                        (of_t == Scope::wg && cu(t) == cu(u)))));
  }
  // The thread's load of the word has had its point and is not complete.
  [[nodiscard]] static Bool loading(const State& s, const Ghost& g, const ThreadIx& t) {
    const auto& port = s.memory.port(t);
    return g.pointed(t) && port.pending && at_word(port.request) && port.request.operation == Operation::load;
  }

 private:
  [[nodiscard]] Bool host(const ThreadIx& t) const { return open.machine().is_host(t); }
  [[nodiscard]] auto cu(const ThreadIx& t) const { return open.machine().cu_of(t); }
  [[nodiscard]] auto agent(const ThreadIx& t) const { return open.machine().agent_of(cu(t)); }
  template <class Request>
  [[nodiscard]] Bool fit(const Request& a, const ThreadIx& t, const Request& b, const ThreadIx& u) const {
    return a.order != Order::plain && b.order != Order::plain && same_instance(t, a.scope, u, b.scope);
  }
};

// The statement itself. `System` is the memory system with its client and a history whose ghost has, as
// `port`, that of `History`.
template <class System, template <class> class History>
struct PortTheorem {
  using State = typename System::State;
  using K = typename System::Kind;
  using Bool = typename K::Bool;
  using ThreadIx = typename K::template Ix<ThreadTag>;

  const System& system;

  template <class V>
  void theorem(V& v) const {
    using Open = std::remove_cvref_t<decltype(system.system())>;
    using H = History<Open>;
    const auto& open = system.system();
    v.invariant("until the first race, a completed load or RMW returned the newest write at its point",
                [&open](const State& s) {
                  return s.ghost.port.raced || open.kind().forall(threads, [&](const ThreadIx& t) {
                    const auto& port = s.system.memory.port(t);
                    const auto& q = port.request;
                    const Bool returns =
                        q.operation == Operation::load || (q.operation == Operation::rmw && q.returns);
                    return !port.done || !returns || !H::at_word(q) ||
                           port.result == s.ghost.port.expected(t);
                  });
                });
    v.invariant("until the first race, memory that has drained holds the newest write",
                [&open](const State& s) {
                  const auto memory = open.memory();
                  return s.ghost.port.raced || !memory.drained(s.system.memory) ||
                         memory.final_value(s.system.memory, Open::watched_block(), Open::watched_word()) ==
                             s.ghost.port.newest;
                });
    v.invariant("a completed operation has had its point, in a step of its own", [&open](const State& s) {
      return !s.ghost.port.two_at_once && open.kind().forall(threads, [&](const ThreadIx& t) {
        return !s.system.memory.port(t).done || s.ghost.port.pointed(t);
      });
    });
  }
};

}  // namespace lockstep
