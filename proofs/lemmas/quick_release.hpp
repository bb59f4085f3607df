// Why a release on QuickRelease is a release.
//
// One word is watched (client.hpp, Watch): it is 0 at first and never written with 0 again, so a copy is
// older than some write of the word exactly when it holds 0. An L2 *is new* once a write of the word has left
// its wL2, or once an invalidation that a newer memory sent has been delivered to it; an L1 is new once an
// invalidation has been delivered to it after its L2 was new. The theorem: a new cache holds no older copy
// that may be read, and no fill in flight brings one; when a release completes that had a write of the word
// ahead of it, every read cache in its scope is new, and memory too at system scope; the same holds when the
// flush behind a StRel's store is complete, and when a CPU's release is; and what a CU has stored itself it
// never reads older again.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <string_view>

#include "proofs/lemmas/memory.hpp"
#include "spec/memory/quick_release.hpp"

namespace lockstep::quick_release {

// What the lemmas say of a state of the protocol; `Open` is the protocol with the most general client.
template <class Open>
struct Words : MemoryWords<Open> {
  using Base = MemoryWords<Open>;
  using Base::agent;
  using Base::cu;
  using Base::holds;
  using Base::k;
  using Base::open;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::ThreadIx;
  using typename Base::Value;
  using State = typename Open::State;
  using MemoryState = typename Open::MemoryState;
  using Memory = typename Open::Memory;
  using Block = typename Memory::Block;
  using Queue = typename Memory::Queue;
  using Entry = typename Memory::Entry;
  using Up = typename Memory::Up;

  [[nodiscard]] Queue queue(const ThreadIx& t) const { return open.memory().queue_of(t); }

  [[nodiscard]] static Block block() { return Open::watched_block(); }
  [[nodiscard]] static Bool asks(const MemoryState& m, const ThreadIx& t) {
    return m.port(t).request.block == block() && m.port(t).request.word == Open::watched_word();
  }

  // The watched word waits in a write cache, or travels up a link.
  [[nodiscard]] static Bool waits1(const MemoryState& m, const Cu& c) {
    return m.wl1(c, block()).dirty(Open::watched_word());
  }
  [[nodiscard]] static Bool waits2(const MemoryState& m, const Agent& a) {
    return m.wl2(a, block()).dirty(Open::watched_word());
  }
  [[nodiscard]] static Bool waits3(const MemoryState& m) {
    return m.wl3(block()).dirty(Open::watched_word());
  }
  [[nodiscard]] static Bool writes(const Up& m) {
    return m.kind == UpKind::write && m.block == block() && m.mask(Open::watched_word());
  }
  template <class Link>
  [[nodiscard]] static Bool carries(const Link& link) {
    return K::contains(link, [](const Up& m) { return writes(m); });
  }
  // What a CPU or the directory reads of the watched word is new.
  [[nodiscard]] Bool memory_new(const MemoryState& m) const {
    const Home<K> home{k()};
    return home.current(m.home, block(), Open::watched_word()) != Value(0);
  }
  // What comes up after what is on link2 now finds memory new.
  [[nodiscard]] Bool beyond2(const MemoryState& m) const { return waits3(m) || memory_new(m); }

  // Every such message of the thread has a write of the watched word ahead of it.
  template <class Link>
  [[nodiscard]] static Bool behind_write(const Link& link, UpKind kind, const ThreadIx& t) {
    return Base::behind(link, kind, t, [](const Up& m) { return writes(m); });
  }
  // Every such entry of the thread has one of the watched block ahead of it.
  template <class Fifo>
  [[nodiscard]] static Bool behind_entry(const Fifo& fifo, EntryKind kind, const ThreadIx& t) {
    return Base::behind(fifo, kind, t,
                        [](const Entry& e) { return e.kind == EntryKind::write && e.block == block(); });
  }
};

template <class Open>
struct History {
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;
  template <IndexTag Tag>
  using Bits = typename K::template Table<Bool, Tag>;

  struct Ghost {
    Bits<CuTag> stored;      // the CU has stored to the watched word
    Bits<CuTag> left1;       // such a store has left its wL1
    Bits<CuTag> new1;        // the L1 is new
    Bits<AgentTag> new2;     // the L2 is new
    Bits<ThreadTag> ahead;   // a write of the watched word is ahead of the thread's release
    Bits<ThreadTag> owes;    // such a write is ahead of the flush of the thread's last StRel
    Bits<ThreadTag> wide;    // whose scope is the system
    Bits<ThreadTag> behind;  // such a write is ahead of the thread's RMW
    Bits<ThreadTag> late;    // such a write is ahead of the thread's request, as far as its scope goes
    Bool host_stored;        // a CPU has written the watched word
    Bool host_released;      // and has released it
    BOOST_DESCRIBE_CLASS(Ghost, (),
                         (stored, left1, new1, new2, ahead, owes, wide, behind, late, host_stored,
                          host_released),
                         (), ())
  };

  const Open& open;

  void step(Ghost& g, const State& before_, const State& after_) const {
    const W w{open};
    const K& k = open.kind();
    const auto& before = before_.memory;
    const auto& after = after_.memory;
    using ThreadIx = typename W::ThreadIx;
    const auto completes = [&](const ThreadIx& t) { return before.port(t).pending && after.port(t).done; };
    g.host_released = g.host_released || k.exists(threads, [&](const ThreadIx& t) {
      return w.host(t) && g.late(t) && completes(t) && releases(before.port(t).request.order);
    });
    k.for_each(threads, [&](const ThreadIx& t) {
      const auto& was = before.stage(t);
      const auto& now = after.stage(t);
      const Bool stored = K::select(w.host(t), Bool(g.host_stored), Bool(g.stored(w.cu(t))));
      const Bool starts = was == Stage::idle && (now == Stage::releasing || now == Stage::awaiting);
      g.ahead(t) = (g.ahead(t) && now != Stage::idle && now != Stage::atomic) || (starts && stored);
      const Bool flushes = was == Stage::stored && now == Stage::idle;
      g.owes(t) = K::select(flushes, stored, Bool(g.owes(t)));
      g.wide(t) = K::select(flushes, Bool(to_system(before, t)), Bool(g.wide(t)));
      const Bool taken = before.port(t).done && !after.port(t).done;
      const Bool leaves = was != Stage::atomic && now == Stage::atomic;
      g.behind(t) = (g.behind(t) && !taken) || (leaves && stored);
      const auto& q = after.port(t).request;
      const Bool issues = !before.port(t).pending && after.port(t).pending;
      const Bool atomic = atomic_beyond_group(after, t);
      const Bool seen = (q.scope == Scope::system && w.memory_new(before)) ||
                        (q.scope != Scope::system && g.new2(w.agent(t)));
      g.late(t) = (g.late(t) && !taken) ||
                  (issues && (stored || (!w.host(t) && (g.new1(w.cu(t)) || (atomic && seen)))));
    });
    g.host_stored = g.host_stored || k.exists(threads, [&](const ThreadIx& t) {
      const auto& operation = before.port(t).request.operation;
      return w.host(t) && completes(t) && W::asks(before, t) &&
             (operation == Operation::store || operation == Operation::rmw);
    });
    k.for_each(cus, [&](const auto& c) {
      const Bool delivered = before.invalidation1(c, W::block()) && !after.invalidation1(c, W::block());
      g.new1(c) = g.new1(c) || (delivered && g.new2(w.agent_of(c)));
      g.stored(c) = g.stored(c) || W::waits1(after, c);
      g.left1(c) = g.left1(c) || W::carries(after.link1(c));
    });
    k.for_each(agents, [&](const auto& a) {
      const Bool delivered = before.invalidation2(a, W::block()) && !after.invalidation2(a, W::block());
      g.new2(a) = g.new2(a) || W::carries(after.link2(a)) || (delivered && w.memory_new(before));
    });
  }
};

// What holds of messages and entries whatever is watched; `ghost.wide(t)` is whether the last flush of the
// thread is for the system.
template <class System>
struct PlaceLemmas : MemoryClaims<System> {
  using Base = MemoryClaims<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::k;
  using Base::system;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::Open;
  using typename Base::State;
  using W = Words<Open>;
  using M = typename W::MemoryState;
  using ThreadIx = typename W::ThreadIx;
  using Cu = typename W::Cu;
  using Agent = typename W::Agent;
  using Up = typename W::Up;
  using Entry = typename W::Entry;

  [[nodiscard]] W w() const { return W{system.system()}; }

  // Where the messages of a thread are, and what it is doing meanwhile.
  template <class V>
  void places(V& v) const {
    v.invariant("a dirty CPU line is present", [this](const State& s) {
      return k().forall(blocks, [&](const auto& b) {
        const auto& line = s.system.memory.home.cpu(b);
        return !line.dirty || line.present;
      });
    });
    each_thread(v, "a read on its way to L2 is on its CU's link",
                [this](const State&, const M& m, const ThreadIx& t) {
                  return (m.read(t).stage == ReadStage::to_l2) ==
                         W::holds(m.link1(w().cu(t)), UpKind::read, t);
                });
    each_thread(v, "a read on its way to the directory is on its agent's link",
                [this](const State&, const M& m, const ThreadIx& t) {
                  return (m.read(t).stage == ReadStage::to_directory) ==
                         W::holds(m.link2(w().agent(t)), UpKind::read, t);
                });
    each_thread(v, "a thread that releases has its marker in one place",
                [this](const State&, const M& m, const ThreadIx& t) {
                  return one_place(m, t, EntryKind::marker, UpKind::marker) &&
                         (m.stage(t) == Stage::releasing) == travels(m, t, EntryKind::marker, UpKind::marker);
                });
    each_thread(v, "a flush is in one place", [this](const State&, const M& m, const ThreadIx& t) {
      return one_place(m, t, EntryKind::flush, UpKind::flush) &&
             (m.flushing(t) || !travels(m, t, EntryKind::flush, UpKind::flush));
    });
    each_thread(v, "an RMW in flight is on one link", [this](const State&, const M& m, const ThreadIx& t) {
      const Bool on1 = W::holds(m.link1(w().cu(t)), UpKind::atomic, t);
      const Bool on2 = W::holds(m.link2(w().agent(t)), UpKind::atomic, t);
      return (m.stage(t) == Stage::atomic) == (on1 || on2) && !(on1 && on2);
    });
    v.invariant("an S-FIFO1 holds entries of its own CU", [this](const State& s) {
      return k().forall(queues, [&](const auto& q) {
        return own_entries(s, s.system.memory.fifo1(q), [&](const ThreadIx& t) { return w().queue(t) == q; });
      });
    });
    each_agent(v, "an S-FIFO2 holds entries of its own agent",
               [this](const State& s, const M& m, const Agent& a) {
                 return own_entries(s, m.fifo2(a), [&](const ThreadIx& t) { return w().agent(t) == a; });
               });
    v.invariant("S-FIFO3 holds entries of agents", [this](const State& s) {
      return own_entries(s, s.system.memory.fifo3, [](const ThreadIx&) { return Bool(true); });
    });
    each_cu(v, "link1 carries messages of its own CU, each once",
            [this](const State& s, const M& m, const Cu& c) {
              return own_messages(s, m, m.link1(c), [&](const ThreadIx& t) { return w().cu(t) == c; });
            });
    each_agent(v, "link2 carries messages of its own agent, each once",
               [this](const State& s, const M& m, const Agent& a) {
                 return own_messages(s, m, m.link2(a), [&](const ThreadIx& t) { return w().agent(t) == a; });
               });
    each_thread(v, "what a thread does is its pending request",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool busy = m.stage(t) != Stage::idle;
                  const Bool reading = m.read(t).stage != ReadStage::none;
                  const Bool releasing = m.stage(t) == Stage::releasing || m.stage(t) == Stage::stored;
                  const Bool releases_now =
                      releasing || m.stage(t) == Stage::awaiting || m.stage(t) == Stage::released;
                  return (!(busy || reading) || m.port(t).pending) && (!reading || (!busy && !w().host(t))) &&
                         (!reading || q.operation == Operation::load) &&
                         (!releases_now || (releases(q.order) && (w().host(t) || beyond_group(m, t)))) &&
                         (!releases_now || !m.flushing(t)) && (!busy || q.operation != Operation::load) &&
                         (m.stage(t) != Stage::stored || q.operation == Operation::store) &&
                         (m.stage(t) != Stage::atomic || q.operation == Operation::rmw) &&
                         (!w().host(t) || (!releasing && m.stage(t) != Stage::atomic && !m.flushing(t)));
                });
    each_thread(v, "a read that is not in flight has no marks",
                [](const State&, const M& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return (read.stage != ReadStage::none || !read.poisoned) &&
                         (!read.followed || read.stage == ReadStage::from_directory ||
                          read.stage == ReadStage::from_l2);
                });
    Base::pending_or_done(v);
  }

  // A CPU's release is for the whole system.
  [[nodiscard]] Bool wide(const M& m, const ThreadIx& t) const { return w().host(t) || to_system(m, t); }
  [[nodiscard]] Bool travels(const M& m, const ThreadIx& t, EntryKind entry, UpKind message) const {
    return W::holds(m.fifo1(w().queue(t)), entry, t) || W::holds(m.link1(w().cu(t)), message, t) ||
           W::holds(m.fifo2(w().agent(t)), entry, t) || W::holds(m.link2(w().agent(t)), message, t) ||
           W::holds(m.fifo3, entry, t);
  }
  // The thread's read of the watched block is in flight.
  [[nodiscard]] static Bool reads(const M& m, const ThreadIx& t) {
    return m.read(t).stage != ReadStage::none && m.port(t).request.block == W::block();
  }
  // The thread's load is performed beyond L1.
  [[nodiscard]] static Bool passes(const M& m, const ThreadIx& t) { return atomic_beyond_group(m, t); }

 private:
  [[nodiscard]] Bool one_place(const M& m, const ThreadIx& t, EntryKind entry, UpKind message) const {
    const std::array<Bool, 5> at{W::holds(m.fifo1(w().queue(t)), entry, t),
                                 W::holds(m.link1(w().cu(t)), message, t),
                                 W::holds(m.fifo2(w().agent(t)), entry, t),
                                 W::holds(m.link2(w().agent(t)), message, t), W::holds(m.fifo3, entry, t)};
    Bool one(true);
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) one = one && !(at[i] && at[j]);
    }
    return one;
  }
  // Of a flush the scope is remembered, of a marker it is the request's.
  [[nodiscard]] Bool scope_fits(const State& s, const ThreadIx& t, const Bool& marker,
                                const auto& scope) const {
    const Bool asked = s.system.memory.port(t).request.scope == Scope::system;
    const Bool to_system = (marker && asked) || (!marker && s.ghost.wide(t));
    return (scope == Scope::system && to_system) || (scope == Scope::agent && !to_system);
  }
  template <class Fifo, class Here>
  [[nodiscard]] Bool own_entries(const State& s, const Fifo& fifo, Here&& here) const {
    Bool all(true);
    K::for_each_queued(fifo, [&](const Entry& e) {
      const Bool marker = e.kind == EntryKind::marker;
      const Bool scoped = marker || e.kind == EntryKind::flush;
      all = all &&
            (!scoped || (here(e.thread) && !w().host(e.thread) && scope_fits(s, e.thread, marker, e.scope)));
    });
    return all && k().forall(threads, [&](const ThreadIx& t) {
      return W::once(fifo, EntryKind::marker, t) && W::once(fifo, EntryKind::flush, t);
    });
  }
  template <class Link, class Here>
  [[nodiscard]] Bool own_messages(const State& s, const M& m, const Link& link, Here&& here) const {
    Bool all(true);
    K::for_each_queued(link, [&](const Up& message) {
      const Bool marker = message.kind == UpKind::marker;
      const Bool scoped = marker || message.kind == UpKind::flush;
      const Bool addressed = message.kind == UpKind::read || message.kind == UpKind::atomic;
      all = all && (message.kind == UpKind::write ||
                    (here(message.thread) && !w().host(message.thread) &&
                     (!addressed || message.block == m.port(message.thread).request.block) &&
                     (!scoped || scope_fits(s, message.thread, marker, message.scope))));
    });
    return all && k().forall(threads, [&](const ThreadIx& t) {
      return W::once(link, UpKind::marker, t) && W::once(link, UpKind::flush, t) &&
             W::once(link, UpKind::read, t) && W::once(link, UpKind::atomic, t);
    });
  }
};

template <class System>
struct Lemmas : PlaceLemmas<System> {
  using Base = PlaceLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::k;
  using Base::passes;
  using Base::reads;
  using Base::travels;
  using Base::w;
  using Base::wide;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::M;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::Up;
  using typename Base::W;

  // These compare every word of every copy with memory: what the theorem says of the watched word they say of
  // all words at once, in terms of data instead of what is ahead of what. The explorer judges them.
  static constexpr std::array<std::string_view, 2> left_to_the_explorer{
      "a copy in rL1 is current, or newer data waits above it, or its invalidation is on the way",
      "a copy in rL2 is current, or newer data waits above it, or its invalidation is on the way",
  };

  template <class V>
  void lemmas(V& v) const {
    theorem(v);
    progress_of_writes(v);
    progress_of_releases(v);
    progress_of_reads(v);
    invalidations(v);
    Base::places(v);
    requests(v);
  }

 private:
  // Every read cache in the scope is new: of one agent, or of all, and memory then too.
  [[nodiscard]] Bool visible(const State& s, const Agent& home, const Bool& wide) const {
    return k().forall(agents, [&](const Agent& a) { return (a != home && !wide) || s.ghost.new2(a); }) &&
           k().forall(cus,
                      [&](const Cu& c) { return (w().agent_of(c) != home && !wide) || s.ghost.new1(c); }) &&
           (!wide || w().memory_new(s.system.memory));
  }
  // The same, once the invalidations that the thread awaits have been delivered.
  [[nodiscard]] Bool will_be_visible(const State& s, const ThreadIx& t, const Agent& home,
                                     const Bool& wide) const {
    const M& m = s.system.memory;
    return k().forall(agents, [&](const Agent& a) {
      return (a != home && !wide) || s.ghost.new2(a) || (wide && m.awaited2(t, a, W::block()));
    }) && k().forall(cus, [&](const Cu& c) {
      return (w().agent_of(c) != home && !wide) || s.ghost.new1(c) || m.awaited1(t, c, W::block()) ||
             (wide && m.awaited2(t, w().agent_of(c), W::block()));
    }) && (!wide || w().memory_new(m));
  }

  template <class V>
  void theorem(V& v) const {
    each_thread(v, "when a release completes, every read cache in its scope is new",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const Bool done = m.stage(t) == Stage::released || m.stage(t) == Stage::stored;
                  return !s.ghost.ahead(t) || !done || visible(s, w().agent(t), wide(m, t));
                });
    each_thread(v, "when the flush behind a StRel's store completes, every read cache in its scope is new",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.owes(t) || m.flushing(t) || visible(s, w().agent(t), Bool(s.ghost.wide(t)));
                });
    v.invariant("when a CPU has released, every read cache is new", [this](const State& s) {
      return !s.ghost.host_released || (k().forall(agents, [&](const Agent& a) {
        return Bool(s.ghost.new2(a));
      }) && k().forall(cus, [&](const Cu& c) { return Bool(s.ghost.new1(c)); }));
    });
    each_cu(v, "an L1 that is new, or has sent its own write on, lets no older copy be read",
            [](const State& s, const M& m, const Cu& c) {
              const auto& line = m.rl1(c, W::block());
              return (!s.ghost.new1(c) && !s.ghost.left1(c)) || !line.present || line.written ||
                     W::is_new(line.data);
            });
    each_agent(v, "an L2 that is new holds no older copy", [](const State& s, const M& m, const Agent& a) {
      const auto& line = m.rl2(a, W::block());
      return !s.ghost.new2(a) || !line.present || W::is_new(line.data);
    });
    each_thread(v, "a load sees what was in its scope, or stored by its own CU, before it",
                [](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.late(t) || !m.port(t).done ||
                         m.port(t).request.operation != Operation::load || !W::asks(m, t) ||
                         m.port(t).result != typename K::Value(0);
                });
    each_thread(v, "an RMW sees what its own CU has stored before it",
                [](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.behind(t) || !m.port(t).done || !W::asks(m, t) ||
                         m.port(t).result != typename K::Value(0);
                });
  }

  // Where a write of the watched word has come to, and that it is never the first value.
  template <class V>
  void progress_of_writes(V& v) const {
    each_cu(v, "wL1's watched word is new", [](const State&, const M& m, const Cu& c) {
      return (!W::waits1(m, c) || W::is_new(m.wl1(c, W::block()).data)) && new_data(m.link1(c));
    });
    each_agent(v, "wL2's watched word is new", [](const State&, const M& m, const Agent& a) {
      return (!W::waits2(m, a) || W::is_new(m.wl2(a, W::block()).data)) && new_data(m.link2(a));
    });
    v.invariant("wL3's watched word is new", [](const State& s) {
      const M& m = s.system.memory;
      return !W::waits3(m) || W::is_new(m.wl3(W::block()).data);
    });
    each_cu(
        v, "what a CU has stored waits in wL1 or has left it", [](const State& s, const M& m, const Cu& c) {
          return (!s.ghost.stored(c) || W::waits1(m, c) || s.ghost.left1(c)) &&
                 (!W::waits1(m, c) || s.ghost.stored(c)) && (!W::carries(m.link1(c)) || s.ghost.left1(c)) &&
                 (!s.ghost.left1(c) || s.ghost.stored(c));
        });
    each_cu(v, "what has left wL1 is on its link, in wL2, or beyond",
            [this](const State& s, const M& m, const Cu& c) {
              const Agent a = w().agent_of(c);
              return !s.ghost.left1(c) || W::carries(m.link1(c)) || W::waits2(m, a) || s.ghost.new2(a);
            });
    each_agent(v, "behind a new L2 a write is on its link, in wL3, or in memory",
               [this](const State& s, const M& m, const Agent& a) {
                 return (!s.ghost.new2(a) || W::carries(m.link2(a)) || w().beyond2(m)) &&
                        (!W::carries(m.link2(a)) || s.ghost.new2(a));
               });
    v.invariant("what waits in wL3 has come from an L2 that is new", [this](const State& s) {
      return !W::waits3(s.system.memory) ||
             k().exists(agents, [&](const Agent& a) { return Bool(s.ghost.new2(a)); });
    });
    v.invariant("a CPU's write is in memory", [this](const State& s) {
      return (!s.ghost.host_stored || w().memory_new(s.system.memory)) &&
             (!s.ghost.host_released || s.ghost.host_stored);
    });
  }
  template <class Link>
  [[nodiscard]] static Bool new_data(const Link& link) {
    return !K::contains(link, [](const Up& m) { return W::writes(m) && !W::is_new(m.data); });
  }

  // How far a marker or a flush has come, and what it has left behind.
  template <class V>
  void progress_of_releases(V& v) const {
    each_thread(v, "a release's marker drives the writes ahead of it",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.ahead(t) || w().host(t) || m.stage(t) != Stage::releasing ||
                         drives(s, m, t, EntryKind::marker, UpKind::marker, wide(m, t));
                });
    each_thread(v, "a flush drives the writes ahead of it",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.owes(t) || !m.flushing(t) ||
                         drives(s, m, t, EntryKind::flush, UpKind::flush, Bool(s.ghost.wide(t)));
                });
    each_thread(v, "a marker that is out waits for invalidations",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.ahead(t) || m.stage(t) != Stage::awaiting ||
                         will_be_visible(s, t, w().agent(t), wide(m, t));
                });
    each_thread(v, "a flush that is out waits for invalidations",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.owes(t) || !m.flushing(t) ||
                         travels(m, t, EntryKind::flush, UpKind::flush) ||
                         will_be_visible(s, t, w().agent(t), Bool(s.ghost.wide(t)));
                });
    each_thread(v, "a thread with writes ahead of its release has a release",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return (!s.ghost.ahead(t) || (m.stage(t) != Stage::idle && m.stage(t) != Stage::atomic)) &&
                         (!s.ghost.ahead(t) || w().host(t) || s.ghost.stored(w().cu(t))) &&
                         (!s.ghost.ahead(t) || !w().host(t) || s.ghost.host_stored) &&
                         (!s.ghost.owes(t) || s.ghost.stored(w().cu(t))) &&
                         (!s.ghost.owes(t) || !w().host(t));
                });
    each_thread(v, "an RMW's message is behind the writes ahead of it",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const Agent a = w().agent(t);
                  return !s.ghost.behind(t) || m.stage(t) != Stage::atomic || !W::asks(m, t) ||
                         ((W::behind_write(m.link1(w().cu(t)), UpKind::atomic, t) || W::waits2(m, a) ||
                           s.ghost.new2(a)) &&
                          (W::behind_write(m.link2(a), UpKind::atomic, t) || w().beyond2(m)));
                });
    each_thread(v, "a thread has writes ahead of its RMW while it has one",
                [](const State& s, const M& m, const ThreadIx& t) {
                  return !s.ghost.behind(t) || m.stage(t) == Stage::atomic ||
                         (m.port(t).done && m.port(t).request.operation == Operation::rmw);
                });
  }
  [[nodiscard]] Bool drives(const State& s, const M& m, const ThreadIx& t, EntryKind entry, UpKind message,
                            const Bool& to_system) const {
    const Cu c = w().cu(t);
    const Agent a = w().agent(t);
    const auto& fifo1 = m.fifo1(w().queue(t));
    const Bool in1 = s.ghost.left1(c) || (W::waits1(m, c) && W::behind_entry(fifo1, entry, t));
    const Bool on1 =
        s.ghost.left1(c) && (W::behind_write(m.link1(c), message, t) || W::waits2(m, a) || s.ghost.new2(a));
    const Bool in2 = s.ghost.new2(a) || (W::waits2(m, a) && W::behind_entry(m.fifo2(a), entry, t));
    const Bool on2 = s.ghost.new2(a) && (W::behind_write(m.link2(a), message, t) || w().beyond2(m));
    const Bool in3 =
        s.ghost.new2(a) && (w().memory_new(m) || (W::waits3(m) && W::behind_entry(m.fifo3, entry, t)));
    const Bool far = W::holds(m.link2(a), message, t) || W::holds(m.fifo3, entry, t);
    return (!W::holds(fifo1, entry, t) || in1) && (!W::holds(m.link1(c), message, t) || on1) &&
           (!W::holds(m.fifo2(a), entry, t) || in2) && (!W::holds(m.link2(a), message, t) || on2) &&
           (!W::holds(m.fifo3, entry, t) || in3) && (!far || to_system);
  }

  // What the read brings must not be old: a cache that is new will take it, or the load was late.
  [[nodiscard]] Bool trusted(const State& s, const M& m, const ThreadIx& t) const {
    const auto& read = m.read(t);
    const Bool beyond = read.stage == ReadStage::to_directory || read.stage == ReadStage::from_directory;
    const Bool for1 = !passes(m, t) && (s.ghost.left1(w().cu(t)) || s.ghost.new1(w().cu(t)));
    const Bool for2 = beyond && s.ghost.new2(w().agent(t));
    return s.ghost.late(t) || (!read.poisoned && (for1 || for2));
  }
  template <class V>
  void progress_of_reads(V& v) const {
    each_thread(v, "no fill in flight brings an older copy to a cache that is new",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  const Bool matters = read.stage == ReadStage::from_directory ||
                                       (read.stage == ReadStage::from_l2 && (!passes(m, t) || W::asks(m, t)));
                  return !reads(m, t) || !trusted(s, m, t) || !matters || W::is_new(read.data);
                });
    each_thread(v, "a read for a new L1 is behind a write, or finds an L2 that knows",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const Agent a = w().agent(t);
                  return !reads(m, t) || m.read(t).stage != ReadStage::to_l2 || !trusted(s, m, t) ||
                         W::behind_write(m.link1(w().cu(t)), UpKind::read, t) || W::waits2(m, a) ||
                         s.ghost.new2(a) || (wide(m, t) && passes(m, t) && w().memory_new(m));
                });
    each_thread(v, "a read for a new cache is behind a write, or finds memory new",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  return !reads(m, t) || m.read(t).stage != ReadStage::to_directory || !trusted(s, m, t) ||
                         W::behind_write(m.link2(w().agent(t)), UpKind::read, t) || w().beyond2(m);
                });
    each_thread(
        v, "a late request of a thread is its own", [this](const State& s, const M& m, const ThreadIx& t) {
          const Bool seen = (wide(m, t) && w().memory_new(m)) || (!wide(m, t) && s.ghost.new2(w().agent(t)));
          const Bool on_gpu = s.ghost.stored(w().cu(t)) || s.ghost.new1(w().cu(t)) || (passes(m, t) && seen);
          const Bool on_cpu = s.ghost.host_stored && (m.stage(t) == Stage::idle || s.ghost.ahead(t));
          return !s.ghost.late(t) || ((m.port(t).pending || m.port(t).done) &&
                                      ((w().host(t) && on_cpu) || (!w().host(t) && on_gpu)));
        });
  }

  // That invalidations are sent in time, and stay behind the fills that they follow.
  template <class V>
  void invalidations(V& v) const {
    each_agent(v, "when memory is new, an L2 is or will be told",
               [this](const State& s, const M& m, const Agent& a) {
                 return !w().memory_new(m) || s.ghost.new2(a) || m.invalidation2(a, W::block());
               });
    each_cu(v, "when an L2 is new, an L1 is or will be told",
            [this](const State& s, const M& m, const Cu& c) {
              return (!s.ghost.new2(w().agent_of(c)) || s.ghost.new1(c) || m.invalidation1(c, W::block())) &&
                     (!s.ghost.new1(c) || s.ghost.new2(w().agent_of(c)));
            });
    each_thread(v, "an older fill on its way to an L2 that will be told is ahead of that",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return !reads(m, t) || read.stage != ReadStage::from_directory || read.poisoned ||
                         W::is_new(read.data) || read.followed || !w().memory_new(m);
                });
    each_thread(v, "an older fill on its way to an L1 that will be told is ahead of that",
                [this](const State& s, const M& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return !reads(m, t) || read.stage != ReadStage::from_l2 || read.poisoned || passes(m, t) ||
                         W::is_new(read.data) || read.followed || !s.ghost.new2(w().agent(t));
                });
  }

  template <class V>
  void requests(V& v) const {
    each_thread(v, "a request exchanges, releases with its writes, and writes no first value",
                [](const State&, const M& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool writes = q.operation == Operation::store || q.operation == Operation::rmw;
                  return !m.port(t).pending || (q.function == RmwFunction::exchange &&
                                                (q.operation != Operation::load || !releases(q.order)) &&
                                                (!W::asks(m, t) || !writes || q.a != typename K::Value(0)));
                });
  }
};

}  // namespace lockstep::quick_release
