// What is to be proved of a memory system: until the first race, every completed load and RMW returned the
// newest write at its point, and memory that has drained holds the newest write (semantics.md, "What is
// proved of a memory system"). The statement is about one word, which is any word, and about the port alone.
//
// Ghosts stand beside the system that no rule reads. They observe requests and completions, and points that
// the proof of each system chooses; an operation for which it chooses none has its point at its completion.
// From them come the newest write of the word, what each operation had to return, and a race monitor.
//
// A system may answer an atomic store ahead of its point: the store is *late* from then on, wherever its
// thread's next requests find it. A late store that a later one of its thread to the same word catches up
// with has its point just ahead of that. Late stores that have become one write have their points in one
// step, in the order in which they were merged.
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
//
// A system may make either of these weaker, for people to be told of, too. Where an atomic's write may be
// performed ahead of what it invalidates, the write itself is published at its own location alone, and what
// is ahead of it everywhere: then nothing is said of the readings in which so_S pairs any locations. And what
// no model judges, relaxed atomics among them, may be left out: who asks for it has raced.
//
// Several operations may have their points in one step, each in its turn. A write that others may see ahead
// of its point races with whoever has its point meanwhile, at the same word and not of its scope instance: it
// has been asked for, so it can no longer be ordered behind them, nor they behind what has had no point.
//
// Release and acquire may pair by the block that they touch, which is more than by location: then any atomic
// write releases, whatever its order, so that a fence ahead of it acts through it; and a fence that acquires
// pairs with whatever has released at its scope. Of so_S that pairs any locations nothing is said then,
// either.
#pragma once

#include <boost/describe.hpp>
#include <string_view>
#include <vector>

#include "spec/memory/memory_system.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

namespace detail {

// A store that is late, and what its thread was ordered behind when it asked. `Way` are the places at which a
// late store may be.
template <class K, class Way>
struct LateStore {
  typename K::Bool pending;
  typename K::template Enum<Way> way;
  typename K::template Ix<BlockTag> block;
  typename K::template Ix<WordTag> word;
  typename K::Value value;
  typename K::template Enum<Scope> scope;
  typename K::Bool knows;    // its thread is ordered behind the newest write, and was when it asked
  typename K::Bool covered;  // another store has been merged over it
  BOOST_DESCRIBE_CLASS(LateStore, (), (pending, way, block, word, value, scope, knows, covered), (), ())
};
template <class K, class Points>
struct LateStores {
  struct Ghost {
    BOOST_DESCRIBE_CLASS(Ghost, (), (), (), ())
  };
};
template <class K, class Points>
requires requires {
  typename Points::Way;
}
struct LateStores<K, Points> {
  struct Ghost {
    typename K::template Table<LateStore<K, typename Points::Way>, ThreadTag> of;
    typename K::Bool out_of_order;  // an atomic had its point while a store of its thread was late
    typename K::Bool releases;      // the newest write is of a release
    BOOST_DESCRIBE_CLASS(Ghost, (), (of, out_of_order, releases), (), ())
  };
};
// Where release and acquire pair by block: what is published through each.
template <class K, bool by_block>
struct PublishedBy {
  BOOST_DESCRIBE_CLASS(PublishedBy, (), (), (), ())
};
template <class K>
struct PublishedBy<K, true> {
  typename K::template Table<typename K::Bool, AgentTag, BlockTag> to_agent;
  typename K::template Table<typename K::Bool, BlockTag> to_system;
  BOOST_DESCRIBE_CLASS(PublishedBy, (), (to_agent, to_system), (), ())
};
// Where several operations may have their points in one step, each in its turn: their times.
template <class K, class Points>
struct Turns {
  BOOST_DESCRIBE_CLASS(Turns, (), (), (), ())
};
template <class K, class Points>
requires requires {
  typename Points::Time;
}
struct Turns<K, Points> {
  typename K::template Table<typename Points::Time, ThreadTag> time;
  BOOST_DESCRIBE_CLASS(Turns, (), (time), (), ())
};

}  // namespace detail

// `Open` is a memory system with a client. `Points<Open>{open}` offers
//   Bool performed(const State& before, const State& after, const ThreadIx&) const:
// the step is the point of the thread's request, ahead of its completion. Where stores may be late, also
//   enum class Way, described, its first member that of no late store;
//   Bool begins(before, after, t): the thread's request, a store, is late from here on;
//   Enum<Way> way(late, before, after, t): where the thread's late store is after the step;
//   Bool arrives(late, before, after, t): the step is its point;
//   Bool covers(late, before, after, t): the step merges another store over it;
// `late` being what is known of it before the step. And, where it makes the monitor weaker,
//   static constexpr bool publishes_own_write_at_its_location = true;
//   static Bool outside(request): no model judges a program that asks so;
//   static constexpr bool pairs_by_block = true.
// Where points come with logical time, so that several may be in one step:
//   using Time;
//   Bool is_dated(before, after, t): from this step on the thread's request has a time;
//   Number date(after, t): which;
//   Bool starts_again(before, after): time does;
//   Bool performed(time, before, after, t), in place of the above;
//   Number turn(time, before, t): of the points of one step, those with less come first;
//   Bool is_ahead(before, t): the thread's write may be seen, if it has not had its point.
template <class Open, template <class> class Points>
struct PortHistory {
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  static constexpr bool has_late = requires { typename Points<Open>::Way; };
  static constexpr bool own_write_apart = requires { Points<Open>::publishes_own_write_at_its_location; };
  static constexpr bool by_block = requires { Points<Open>::pairs_by_block; };
  static constexpr bool in_turns = requires { typename Points<Open>::Time; };
  static_assert(!(in_turns && has_late), "what is late has its point where it arrives");
  using Late = detail::LateStores<K, Points<Open>>;

  struct Ghost {
    Bool raced;
    Bool two_at_once;  // two operations had their points at once, so nothing orders them
    Bool unasked;      // a thread was given a completion that it did not wait for
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
    typename Late::Ghost late;
    detail::PublishedBy<K, by_block> published_by_block;
    detail::Turns<K, Points<Open>> turns;
    BOOST_DESCRIBE_CLASS(Ghost, (),
                         (raced, two_at_once, unasked, newest, writer, atomic, scope, unordered,
                          published_to_group, published_to_agent, published_to_system, pointed, expected,
                          from_another, late, published_by_block, turns),
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
    if constexpr (in_turns) {
      return !was.pointed(t) &&
             (completes || points().performed(time(was, before, after, t), before, after, t));
    } else {
      return !was.pointed(t) && (completes || points().performed(before, after, t));
    }
  }
  // The time of its request, if it has one after the step.
  [[nodiscard]] auto time(const Ghost& was, const State& before, const State& after, const ThreadIx& t) const
      requires(in_turns) {
    using Number = typename K::Number;
    return K::select(points().is_dated(before, after, t), Number(points().date(after, t)),
                     Number(was.turns.time(t)));
  }
  [[nodiscard]] Bool has_written(const Ghost& was, const State& before, const State& after,
                                 const ThreadIx& t) const {
    return has_point(was, before, after, t) && at_word(before.memory.port(t).request) &&
           writes(before.memory, t);
  }
  // Its late store has: where it arrives, or where a later store of the thread catches up with it.
  [[nodiscard]] Bool has_late_point(const Ghost& was, const State& before, const State& after,
                                    const ThreadIx& t) const {
    if constexpr (has_late) {
      const auto& late = was.late.of(t);
      const auto& q = before.memory.port(t).request;
      const Bool caught_up = has_point(was, before, after, t) && writes(before.memory, t) &&
                             q.block == late.block && q.word == late.word;
      return late.pending &&
             (caught_up || begins(before, after, t) || points().arrives(late, before, after, t));
    } else {
      return Bool(false);
    }
  }
  [[nodiscard]] Bool has_written_late(const Ghost& was, const State& before, const State& after,
                                      const ThreadIx& t) const {
    return has_late_point(was, before, after, t) && is_late(was, t);
  }
  // Some write of the word has its point in the step.
  [[nodiscard]] Bool is_written(const Ghost& was, const State& before, const State& after) const {
    return open.kind().exists(threads, [&](const ThreadIx& t) {
      return has_written(was, before, after, t) || has_written_late(was, before, after, t);
    });
  }

  // `was` is a copy of the ghosts as they were.
  void step(Ghost& g, const Ghost& was, const State& before, const State& after) const {
    if constexpr (in_turns) {
      const K& k = open.kind();
      for (int turn = 0; turn < k.template extent<ThreadTag>(); ++turn) {
        const Ghost so_far = k.snapshot(g, "ghost.port");
        const std::vector<Bool> has_turn = turns(so_far, before, after);
        step_of(g, so_far, before, after, [&](const ThreadIx& t) {
          Bool is(false);
          for (std::size_t i = 0; i < has_turn.size(); ++i)
            is = is || (has_turn[i] && t == K::template constant<ThreadTag>(static_cast<int>(i)));
          return is;
        });
      }
      k.for_each(threads, [&](const ThreadIx& t) {
        g.turns.time(t) = K::select(points().starts_again(before, after), typename K::Number(0),
                                    time(was, before, after, t));
      });
    } else {
      step_of(g, was, before, after, [](const ThreadIx&) { return Bool(true); });
    }
  }

  // ---- what lemmas speak of, too

  // No model judges a program that asks so.
  template <class Request>
  [[nodiscard]] static Bool outside(const Request& q) {
    if constexpr (requires { Points<Open>::outside(q); }) {
      return Points<Open>::outside(q);
    } else {
      return Bool(false);
    }
  }
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
  // The request, an acquire, is.
  template <class Request>
  [[nodiscard]] Bool published_to(const Ghost& g, const ThreadIx& t, const Request& q) const {
    if constexpr (by_block) {
      const auto& through = g.published_by_block;
      const Bool here = (q.scope == Scope::system && through.to_system(q.block)) ||
                        (!host(t) && ((q.scope == Scope::agent && through.to_agent(agent(t), q.block)) ||
                                      (q.scope == Scope::wg && g.published_to_group(cu(t)))));
      return (q.operation != Operation::fence && here) ||
             (q.operation == Operation::fence && published(g, t, q.scope));
    } else {
      return published(g, t, q.scope);
    }
  }
  // The thread's write of the word may be seen and has not had its point.
  [[nodiscard]] Bool is_ahead(const Ghost& g, const State& s, const ThreadIx& t) const requires(in_turns) {
    return !g.pointed(t) && at_word(s.memory.port(t).request) && writes(s.memory, t) &&
           points().is_ahead(s, t);
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
  // The thread has a late store; has one to the word; what an operation of the thread at its point finds
  // newest.
  [[nodiscard]] static Bool has_late_store(const Ghost& g, const ThreadIx& t) {
    return of_late(
        g, t, [](const auto& late) { return late.pending; }, Bool(false));
  }
  [[nodiscard]] static Bool is_late(const Ghost& g, const ThreadIx& t) {
    const auto to_word = [](const auto& late) {
      return late.pending && late.block == Open::watched_block() && late.word == Open::watched_word();
    };
    return of_late(g, t, to_word, Bool(false));
  }
  [[nodiscard]] static Value newest_for(const Ghost& g, const ThreadIx& t) {
    const auto newest = [&](const auto& late) {
      return K::select(is_late(g, t), Value(late.value), Value(g.newest));
    };
    return of_late(g, t, newest, Value(g.newest));
  }
  // Two atomics do not race if their scope instances are one.
  [[nodiscard]] Bool fits_newest(const Ghost& g, const auto& request, const ThreadIx& t) const {
    return request.order != Order::plain && g.atomic &&
           same_instance(t, request.scope, g.writer, Enum<Scope>(g.scope));
  }

 private:
  // Whose point is the next, of those that the step still has.
  [[nodiscard]] std::vector<Bool> turns(const Ghost& was, const State& before, const State& after) const
      requires(in_turns) {
    const auto thread = [](int i) { return K::template constant<ThreadTag>(i); };
    const auto at_point = [&](int i) { return has_point(was, before, after, thread(i)); };
    const auto turn = [&](int i) {
      return typename K::Number(points().turn(time(was, before, after, thread(i)), before, thread(i)));
    };
    const int n = open.kind().template extent<ThreadTag>();
    std::vector<Bool> has_turn;
    for (int i = 0; i < n; ++i) {
      Bool first = at_point(i);
      for (int j = 0; j < n; ++j) {
        const Bool earlier = j < i ? turn(j) <= turn(i) : turn(j) < turn(i);
        if (j != i) first = first && !(at_point(j) && earlier);
      }
      has_turn.push_back(first);
    }
    return has_turn;
  }
  // Who has its point and its turn.
  template <class Turn>
  void step_of(Ghost& g, const Ghost& was, const State& before, const State& after,
               const Turn& has_turn) const {
    const K& k = open.kind();
    const auto request = [&](const ThreadIx& t) -> const auto& {
      return before.memory.port(t).request;
    };
    const auto at_point = [&](const ThreadIx& t) { return has_point(was, before, after, t) && has_turn(t); };
    const auto takes_in = [&](const ThreadIx& t) {
      const auto& q = request(t);
      return at_point(t) && q.operation != Operation::store && acquires(q.order) &&
             (published_to(was, t, q) || published_here(was, t, q));
    };
    const auto ordered = [&](const ThreadIx& t) { return !was.unordered(t) || takes_in(t); };
    const auto writes_word = [&](const ThreadIx& t) {
      return has_written(was, before, after, t) && has_turn(t);
    };
    // A late store whose write stays the newest.
    const auto writes_word_late = [&](const ThreadIx& t) {
      return has_written_late(was, before, after, t) && !is_covered(was, t) && !writes_word(t);
    };
    const Bool written = k.exists(threads, [&](const ThreadIx& t) {
      return writes_word(t) || has_written_late(was, before, after, t);
    });

    // ---- races
    g.raced = was.raced || k.exists(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      return at_point(t) && at_word(q) && !ordered(t) && !fits_newest(was, q, t);
    }) || k.exists(threads, [&](const ThreadIx& t) {
      return loading(before, was, t) && k.exists(threads, [&](const ThreadIx& u) {
        return u != t && writes_word(u) && !fit(request(t), t, request(u), u);
      });
    });
    if constexpr (in_turns) {
      g.raced = g.raced || k.exists(threads, [&](const ThreadIx& t) {
        return at_point(t) && at_word(request(t)) && k.exists(threads, [&](const ThreadIx& u) {
          return u != t && is_ahead(was, before, u) && !fit(request(t), t, request(u), u);
        });
      });
    }
    g.two_at_once = was.two_at_once || k.exists(threads, [&](const ThreadIx& t) {
      return at_point(t) && k.exists(threads, [&](const ThreadIx& u) {
        return u != t && (at_point(u) || has_late_point(was, before, after, u));
      });
    });

    g.unasked = was.unasked || k.exists(threads, [&](const ThreadIx& t) {
      return !before.memory.port(t).pending && !before.memory.port(t).done && after.memory.port(t).done;
    });

    // ---- what is ordered: a write is known to its thread alone, and where it releases
    const auto publishes = [&](const ThreadIx& t) {
      const auto& q = request(t);
      const Bool own = own_write_apart ? Bool(false) : writes_word(t);
      const Bool through_block =
          by_block ? q.operation != Operation::fence && q.order != Order::plain : Bool(false);
      return at_point(t) && q.operation != Operation::load && (releases(q.order) || through_block) &&
             (own || (!written && ordered(t)));
    };
    const auto publishes_late = [&](const ThreadIx& t) {
      const Bool own = own_write_apart ? Bool(false) : writes_word_late(t);
      return has_late_point(was, before, after, t) && (own || (!written && knows(was, t)));
    };
    const auto publishes_to = [&](const ThreadIx& t, Scope scope) {
      return (publishes(t) && request(t).scope == scope) ||
             (publishes_late(t) && late_scope(was, t) == scope);
    };
    k.for_each(cus, [&](const auto& c) {
      g.published_to_group(c) =
          (was.published_to_group(c) && !written) || k.exists(threads, [&](const ThreadIx& t) {
            return publishes_to(t, Scope::wg) && !host(t) && cu(t) == c;
          });
    });
    k.for_each(agents, [&](const auto& a) {
      g.published_to_agent(a) =
          (was.published_to_agent(a) && !written) || k.exists(threads, [&](const ThreadIx& t) {
            return publishes_to(t, Scope::agent) && !host(t) && agent(t) == a;
          });
    });
    g.published_to_system =
        (was.published_to_system && !written) ||
        k.exists(threads, [&](const ThreadIx& t) { return publishes_to(t, Scope::system); });
    if constexpr (by_block) publish_by_block(g, was, before, written, publishes);
    k.for_each(threads, [&](const ThreadIx& t) {
      g.unordered(t) = (written && !writes_word(t) && !writes_word_late(t)) ||
                       (!written && was.unordered(t) && !takes_in(t));
    });

    // ---- what was newest at each point, and what is now
    k.for_each(threads, [&](const ThreadIx& t) {
      k.when(writes_word_late(t), [&] {
        g.newest = late_value(was, t);
        g.writer = t;
        g.atomic = true;
        g.scope = late_scope(was, t);
        if constexpr (own_write_apart) g.late.releases = true;
      });
    });
    k.for_each(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      const Bool taken = before.memory.port(t).done && !after.memory.port(t).done;
      const Value newest = newest_for(was, t);
      g.pointed(t) = (was.pointed(t) || at_point(t) || begins(before, after, t)) && !taken;
      k.when(at_point(t) && at_word(q) && q.operation != Operation::store, [&] {
        g.expected(t) = newest;
        g.from_another(t) = was.writer != t && !is_late(was, t);
      });
      k.when(taken, [&] {
        g.expected(t) = Value(0);
        g.from_another(t) = false;
      });
      k.when(writes_word(t), [&] {
        g.newest = K::select(q.operation == Operation::store, Value(q.a), rmw_result(k, q, newest));
        g.writer = t;
        g.atomic = q.order != Order::plain;
        g.scope = q.scope;
        if constexpr (own_write_apart) g.late.releases = releases(q.order);
      });
    });
    if constexpr (has_late) step_late(g, was, before, after, written);
    g.raced = g.raced || k.exists(threads, [&](const ThreadIx& t) {
      return !before.memory.port(t).pending && after.memory.port(t).pending &&
             outside(after.memory.port(t).request);
    });
  }

  // What is said of the thread's late store, where stores can be late.
  template <class Say, class Otherwise>
  [[nodiscard]] static Otherwise of_late(const Ghost& g, const ThreadIx& t, const Say& say,
                                         const Otherwise& otherwise) {
    if constexpr (has_late) {
      return Otherwise(say(g.late.of(t)));
    } else {
      return otherwise;
    }
  }
  [[nodiscard]] Points<Open> points() const { return Points<Open>{open}; }
  [[nodiscard]] Bool begins(const State& before, const State& after, const ThreadIx& t) const {
    if constexpr (has_late) {
      return points().begins(before, after, t);
    } else {
      return Bool(false);
    }
  }
  [[nodiscard]] static Bool is_covered(const Ghost& g, const ThreadIx& t) {
    return of_late(
        g, t, [](const auto& late) { return late.covered; }, Bool(false));
  }
  [[nodiscard]] static Bool knows(const Ghost& g, const ThreadIx& t) {
    return of_late(
        g, t, [](const auto& late) { return late.knows; }, Bool(false));
  }
  [[nodiscard]] static Value late_value(const Ghost& g, const ThreadIx& t) {
    return of_late(
        g, t, [](const auto& late) { return late.value; }, Value(0));
  }
  [[nodiscard]] static Enum<Scope> late_scope(const Ghost& g, const ThreadIx& t) {
    return of_late(
        g, t, [](const auto& late) { return late.scope; }, Enum<Scope>(Scope::system));
  }
  // The newest write is an atomic of that very word, and the request an acquire of its scope instance.
  template <class Request>
  [[nodiscard]] Bool published_here(const Ghost& g, const ThreadIx& t, const Request& q) const {
    if constexpr (own_write_apart) {
      return g.late.releases && at_word(q) && fits_newest(g, q, t);
    } else {
      return Bool(false);
    }
  }

  template <class Publishes>
  void publish_by_block(Ghost& g, const Ghost& was, const State& before, const Bool& written,
                        const Publishes& publishes) const requires(by_block) {
    const K& k = open.kind();
    const auto through = [&](const ThreadIx& t, const auto& b, Scope scope) {
      const auto& q = before.memory.port(t).request;
      return publishes(t) && q.operation != Operation::fence && q.block == b && q.scope == scope;
    };
    k.for_each(blocks, [&](const auto& b) {
      k.for_each(agents, [&](const auto& a) {
        g.published_by_block.to_agent(a, b) =
            (was.published_by_block.to_agent(a, b) && !written) || k.exists(threads, [&](const ThreadIx& t) {
              return through(t, b, Scope::agent) && !host(t) && agent(t) == a;
            });
      });
      g.published_by_block.to_system(b) =
          (was.published_by_block.to_system(b) && !written) ||
          k.exists(threads, [&](const ThreadIx& t) { return through(t, b, Scope::system); });
    });
  }

  // Late stores come and go; and they race as soon as they are asked for: with the newest write, with loads
  // on their way and with each other, and whoever has its point meanwhile races with them.
  void step_late(Ghost& g, const Ghost& was, const State& before, const State& after,
                 const Bool& written) const requires(has_late) {
    const K& k = open.kind();
    const auto request = [&](const ThreadIx& t) -> const auto& {
      return before.memory.port(t).request;
    };
    const auto begins_now = [&](const ThreadIx& t) { return begins(before, after, t); };
    const auto at_point = [&](const ThreadIx& t) { return has_point(was, before, after, t); };
    const auto fits_late = [&](const ThreadIx& t, const ThreadIx& u) {
      const auto& q = request(t);
      return q.order != Order::plain && same_instance(t, q.scope, u, Enum<Scope>(was.late.of(u).scope));
    };
    g.raced = g.raced || k.exists(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      return (begins_now(t) || at_point(t)) && at_word(q) && k.exists(threads, [&](const ThreadIx& u) {
        return u != t && is_late(was, u) && !fits_late(t, u);
      });
    }) || k.exists(threads, [&](const ThreadIx& t) {
      const auto& q = request(t);
      const Bool races =
          (was.unordered(t) && !fits_newest(was, q, t)) || k.exists(threads, [&](const ThreadIx& u) {
            return u != t && loading(before, was, u) && !fit(request(u), u, q, t);
          });
      return begins_now(t) && at_word(q) && races;
    });
    g.late.out_of_order = was.late.out_of_order || k.exists(threads, [&](const ThreadIx& t) {
      return was.late.of(t).pending && (begins_now(t) || (at_point(t) && request(t).order != Order::plain));
    });
    k.for_each(threads, [&](const ThreadIx& t) {
      const auto& late = was.late.of(t);
      const auto& q = request(t);
      auto& now = g.late.of(t);
      const Bool stays = late.pending && !has_late_point(was, before, after, t);
      now.way = points().way(late, before, after, t);
      now.knows = late.knows && !written;
      now.covered = late.covered || points().covers(late, before, after, t);
      k.when(!stays, [&] { now = {}; });
      k.when(begins_now(t), [&] {
        now.pending = true;
        now.way = points().first_way();
        now.block = q.block;
        now.word = q.word;
        now.value = q.a;
        now.scope = q.scope;
        now.knows = !was.unordered(t);
      });
    });
  }
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
                  const Bool holds = memory.final_value(s.system.memory, Open::watched_block(),
                                                        Open::watched_word()) == s.ghost.port.newest;
                  return s.ghost.port.raced || !memory.drained(s.system.memory) || some_ahead(open, s) ||
                         (holds && !open.kind().exists(threads, [&](const ThreadIx& t) {
                           return H::has_late_store(s.ghost.port, t);
                         }));
                });
    if constexpr (H::has_late) {
      v.invariant("until the first race, the points of a thread's atomics are in its order",
                  [](const State& s) { return s.ghost.port.raced || !s.ghost.port.late.out_of_order; });
    }
    v.invariant("nothing completes that was not asked for",
                [](const State& s) { return !s.ghost.port.unasked; });
    const std::string_view point = H::in_turns
                                       ? "a completed operation has had its point, in its turn"
                                       : "a completed operation has had its point, in a step of its own";
    v.invariant(point, [&open](const State& s) {
      return !s.ghost.port.two_at_once && open.kind().forall(threads, [&](const ThreadIx& t) {
        return !s.system.memory.port(t).done || s.ghost.port.pointed(t);
      });
    });
  }

 private:
  // Memory has performed a write that has not had its point.
  [[nodiscard]] static Bool some_ahead(const auto& open, const State& s) {
    using H = History<std::remove_cvref_t<decltype(open)>>;
    if constexpr (H::in_turns) {
      return open.kind().exists(
          threads, [&](const ThreadIx& t) { return H{open}.is_ahead(s.ghost.port, s.system, t); });
    } else {
      return Bool(false);
    }
  }
};

}  // namespace lockstep
