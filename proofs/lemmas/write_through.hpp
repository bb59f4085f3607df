// Why a release on write-through caches is a release, and an acquire an acquire.
//
// One word is watched (client.hpp, Watch): it is 0 at first and never written with 0 again, so a copy is
// older than some write of the word exactly when it holds 0. A cache *is new* once a write of the watched
// word has passed it, or once an acquire has dropped it while what lies behind it was new. The theorem: a new
// cache never again holds an older copy, nor awaits one; when a release completes that had a write of the
// word ahead of it, the cache that its scope shares is new, and memory at system scope; when an acquire
// completes, what was new behind the caches that it drops is new before them.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "proofs/lemmas/memory.hpp"
#include "spec/memory/write_through.hpp"

namespace lockstep::write_through {

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
  using Memory = typename Open::Memory;
  using Block = typename Memory::Block;
  using Up = typename Memory::Up;

  [[nodiscard]] static Bool watched(const Block& b) { return b == Open::watched_block(); }
  // Carries a write of the watched word.
  [[nodiscard]] static Bool writes(const Up& m) {
    return m.kind == UpKind::write && watched(m.block) && m.mask(Open::watched_word());
  }
  template <class Link>
  [[nodiscard]] static Bool carries(const Link& link) {
    return K::contains(link, [](const Up& m) { return writes(m); });
  }
  // A write of the watched word is ahead of every such message of the thread.
  template <class Link>
  [[nodiscard]] static Bool behind_write(const Link& link, UpKind kind, const ThreadIx& t) {
    return Base::behind(link, kind, t, [](const Up& m) { return writes(m); });
  }
  [[nodiscard]] Bool on1(const State& s, UpKind kind, const ThreadIx& t) const {
    return holds(s.memory.link1(cu(t)), kind, t);
  }
  [[nodiscard]] Bool on2(const State& s, UpKind kind, const ThreadIx& t) const {
    return holds(s.memory.link2(agent(t)), kind, t);
  }
  // What a CPU or the directory reads of the watched word is new.
  [[nodiscard]] Bool memory_new(const State& s) const {
    const Home<K> home{k()};
    return home.current(s.memory.home, Open::watched_block(), Open::watched_word()) != Value(0);
  }
};

template <class Open>
struct History {
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Bool = typename K::Bool;

  struct Ghost {
    typename K::template Table<Bool, CuTag> stored;      // the CU has stored to the watched word
    typename K::template Table<Bool, ThreadTag> ahead;   // such a store is ahead of the thread's release
    typename K::template Table<Bool, CuTag> new1;        // the L1 is new
    typename K::template Table<Bool, AgentTag> new2;     // the L2 is new
    typename K::template Table<Bool, ThreadTag> behind;  // the thread's atomic left after such a store
    BOOST_DESCRIBE_CLASS(Ghost, (), (stored, ahead, new1, new2, behind), (), ())
  };

  const Open& open;

  void step(Ghost& g, const State& before, const State& after) const {
    const W w{open};
    const K& k = open.kind();
    using ThreadIx = typename W::ThreadIx;
    const auto left = [&](const ThreadIx& t, Stage stage) {
      return before.memory.stage(t) == stage && after.memory.stage(t) != stage;
    };
    k.for_each(threads, [&](const ThreadIx& t) {
      const auto& now = after.memory.stage(t);
      const Bool starts =
          before.memory.stage(t) == Stage::idle && (now == Stage::releasing || now == Stage::released);
      g.ahead(t) = (g.ahead(t) && now != Stage::idle) || (starts && g.stored(w.cu(t)));
      const Bool leaves = before.memory.stage(t) != Stage::performing && now == Stage::performing;
      const Bool taken = before.memory.port(t).done && !after.memory.port(t).done;
      g.behind(t) = (g.behind(t) && !taken) || (leaves && g.stored(w.cu(t)));
    });
    // An atomic of the thread has written the watched word beyond its L1, or beyond its L2.
    const auto wrote = [&](const ThreadIx& t) {
      const auto& q = before.memory.port(t).request;
      return left(t, Stage::performing) && q.operation != Operation::load && W::watched(q.block) &&
             q.word == Open::watched_word();
    };
    k.for_each(agents, [&](const auto& a) {
      const Bool dropped = k.exists(
          threads, [&](const ThreadIx& t) { return left(t, Stage::invalidating2) && w.agent(t) == a; });
      const Bool passed = k.exists(threads, [&](const ThreadIx& t) {
        return wrote(t) && to_system(before.memory, t) && w.agent(t) == a;
      });
      g.new2(a) =
          g.new2(a) || W::carries(after.memory.link2(a)) || passed || (dropped && w.memory_new(before));
    });
    k.for_each(cus, [&](const auto& c) {
      const Bool dropped =
          k.exists(threads, [&](const ThreadIx& t) { return left(t, Stage::invalidating1) && w.cu(t) == c; });
      const Bool passed = k.exists(threads, [&](const ThreadIx& t) { return wrote(t) && w.cu(t) == c; });
      g.new1(c) =
          g.new1(c) || W::carries(after.memory.link1(c)) || passed || (dropped && g.new2(w.agent_of(c)));
      g.stored(c) = g.stored(c) || W::carries(after.memory.link1(c));
    });
  }
};

// What holds of messages and fills whatever is watched; the lemmas of systems with a front share it.
template <class System>
struct LinkLemmas : MemoryClaims<System> {
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
  using ThreadIx = typename W::ThreadIx;
  using Cu = typename W::Cu;
  using Agent = typename W::Agent;
  using Up = typename W::Up;

  [[nodiscard]] W w() const { return W{system.system()}; }

  // Where the messages of a thread are, and what it is doing meanwhile.
  template <class V>
  void places(V& v) const {
    on_links(v);
    doing(v);
    beyond_l2(v);
  }
  template <class V>
  void on_links(V& v) const {
    each_thread(v, "a read on its way to L2 is on its CU's link",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return (m.read(t).stage == ReadStage::to_l2) == w().on1(s.system, UpKind::read, t);
                });
    each_thread(v, "a read on its way to the directory is on its agent's link",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return (m.read(t).stage == ReadStage::to_directory) == w().on2(s.system, UpKind::read, t);
                });
    each_thread(v, "a thread that releases has its marker on a link",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return has_marker(m, t) ==
                         (w().on1(s.system, UpKind::marker, t) || w().on2(s.system, UpKind::marker, t));
                });
    if constexpr (W::Memory::keeps) {
      each_thread(v, "a marker that L2 has not seen is on link1",
                  [this](const State& s, const auto& m, const ThreadIx& t) {
                    return m.stage(t) != Stage::releasing || w().on1(s.system, UpKind::marker, t);
                  });
    }
    each_thread(v, "a thread that performs an atomic has it on a link",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return (m.stage(t) == Stage::performing) ==
                         (w().on1(s.system, UpKind::atomic, t) || w().on2(s.system, UpKind::atomic, t));
                });
    each_cu(v, "link1 carries messages of its own CU, each once",
            [this](const State&, const auto& m, const Cu& c) {
              return own(m, m.link1(c), [&](const ThreadIx& t) { return w().cu(t) == c; });
            });
    each_agent(v, "link2 carries messages of its own agent, each once",
               [this](const State&, const auto& m, const Agent& a) {
                 return own(m, m.link2(a), [&](const ThreadIx& t) { return w().agent(t) == a; });
               });
    each_thread(v, "a marker or atomic is on one link",
                [this](const State& s, const auto&, const ThreadIx& t) {
                  const auto once = [&](UpKind kind) {
                    return !w().on1(s.system, kind, t) || !w().on2(s.system, kind, t);
                  };
                  return once(UpKind::marker) && once(UpKind::atomic);
                });
  }
  template <class V>
  void doing(V& v) const {
    each_thread(v, "what a thread does is its pending request",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool beyond = atomic_beyond_group(m, t);
                  const Bool synchronizing = m.stage(t) != Stage::idle;
                  const Bool reading = m.read(t).stage != ReadStage::none;
                  const Bool releasing = has_marker(m, t) || m.stage(t) == Stage::released;
                  return (!(synchronizing || reading) || (m.port(t).pending && !w().host(t))) &&
                         (!synchronizing || beyond) && (!releasing || releases(q.order)) &&
                         (!reading || !synchronizing ||
                          (m.stage(t) == Stage::performing && q.operation != Operation::store &&
                           q.scope != Scope::system &&
                           (m.read(t).stage == ReadStage::to_directory ||
                            m.read(t).stage == ReadStage::from_directory))) &&
                         (!reading || synchronizing ||
                          (!beyond && (q.operation == Operation::load || q.operation == Operation::rmw))) &&
                         (m.stage(t) != Stage::performing || q.operation != Operation::fence) &&
                         (m.stage(t) != Stage::invalidating2 || q.scope == Scope::system);
                });
  }
  template <class V>
  void beyond_l2(V& v) const {
    each_thread(v, "only an atomic for the directory is on link2",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return (!w().on2(s.system, UpKind::atomic, t) ||
                          (to_system(m, t) && m.read(t).stage == ReadStage::none)) &&
                         (!w().on2(s.system, UpKind::marker, t) || m.port(t).request.scope == Scope::system);
                });
  }
  template <class V>
  void dirty_lines(V& v) const {
    v.invariant("a dirty CPU line is present", [this](const State& s) {
      return k().forall(blocks, [&](const auto& b) {
        const auto& line = s.system.memory.home.cpu(b);
        return !line.dirty || line.present;
      });
    });
  }
  template <class V>
  void fills(V& v) const {
    each_thread(v, "no write follows a read that L1 is to cache",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return read.stage == ReadStage::none || read.stale1 || m.stage(t) == Stage::performing ||
                         !written_since(m.link1(w().cu(t)), m.port(t).request.block, t);
                });
    each_thread(v, "no write follows a read that L2 is to cache",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return (read.stage != ReadStage::to_directory && read.stage != ReadStage::from_directory) ||
                         read.stale2 || !written_since(m.link2(w().agent(t)), m.port(t).request.block, t);
                });
  }

 private:
  [[nodiscard]] static Bool has_marker(const auto& m, const ThreadIx& t) {
    const Bool releases = m.stage(t) == Stage::releasing;
    if constexpr (W::Memory::keeps) {
      return releases || m.stage(t) == Stage::writing_back;
    } else {
      return releases;
    }
  }
  template <class Memory, class Link, class Here>
  [[nodiscard]] Bool own(const Memory& m, const Link& link, Here&& here) const {
    Bool all(true);
    K::for_each_queued(link, [&](const Up& message) {
      const Bool addressed = message.kind == UpKind::read || message.kind == UpKind::atomic;
      all = all && (message.kind == UpKind::write ||
                    (here(message.thread) && !w().host(message.thread) &&
                     (!addressed || message.block == m.port(message.thread).request.block)));
    });
    return all && once(link);
  }
  // No thread has two messages of a kind on the link.
  template <class Link>
  [[nodiscard]] Bool once(const Link& link) const {
    return k().forall(threads, [&](const ThreadIx& t) {
      return W::once(link, UpKind::marker, t) && W::once(link, UpKind::read, t) &&
             W::once(link, UpKind::atomic, t);
    });
  }

  // The link carries a write of the block that is not ahead of the thread's read.
  template <class Link>
  [[nodiscard]] static Bool written_since(const Link& link, const typename W::Block& b, const ThreadIx& t) {
    Bool found(false);
    K::for_each_queued(link, [&](const Up& m) {
      found = found && !(m.kind == UpKind::read && m.thread == t);
      found = found || (m.kind == UpKind::write && m.block == b);
    });
    // A write ahead of the read was forgotten when the read came by.
    return found;
  }
};

template <class System>
struct Lemmas : LinkLemmas<System> {
  using Base = LinkLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::k;
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

  template <class V>
  void lemmas(V& v) const {
    theorem(v);
    Base::places(v);
    requests(v);
    words_of_links(v);
    copies(v);
  }

 private:
  template <class V>
  void theorem(V& v) const {
    each_thread(v, "a complete release has the writes ahead of it where its scope sees them",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const Bool done = s.ghost.ahead(t) && m.stage(t) == Stage::released;
                  return !done ||
                         (s.ghost.new2(w().agent(t)) && (!to_system(m, t) || w().memory_new(s.system)));
                });
    each_agent(v, "an L2 that is new holds no older copy", [](const State& s, const auto& m, const Agent& a) {
      const auto& line = m.l2(a, Open::watched_block());
      return !s.ghost.new2(a) || !line.present || W::is_new(line.data);
    });
    each_cu(v, "an L1 that is new holds no older copy", [](const State& s, const auto& m, const Cu& c) {
      const auto& line = m.l1(c, Open::watched_block());
      return !s.ghost.new1(c) || !line.present || W::is_new(line.data);
    });
    each_thread(v, "an atomic sees what its own CU has stored before it",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  const Bool performed = m.stage(t) == Stage::invalidating2 ||
                                         m.stage(t) == Stage::invalidating1 || m.port(t).done;
                  return !s.ghost.behind(t) || !performed || !looks(m, t) ||
                         m.port(t).result != typename K::Value(0);
                });
    each_thread(v, "no fill in flight would bring an older copy to a cache that is new",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  return !reads(m, t) || !trusted(s, m, t) || W::is_new(read.data) ||
                         (read.stage != ReadStage::from_directory && read.stage != ReadStage::from_l2);
                });
  }

  // The thread's atomic reads the watched word.
  [[nodiscard]] static Bool looks(const auto& m, const ThreadIx& t) {
    const auto& q = m.port(t).request;
    return q.operation != Operation::store && q.operation != Operation::fence && W::watched(q.block) &&
           q.word == Open::watched_word();
  }
  // The thread's read of the watched block is in flight.
  [[nodiscard]] Bool reads(const auto& m, const ThreadIx& t) const {
    return m.read(t).stage != ReadStage::none && W::watched(m.port(t).request.block);
  }
  // Some cache that is new will take what the read brings.
  [[nodiscard]] Bool trusted(const State& s, const auto& m, const ThreadIx& t) const {
    const auto& read = m.read(t);
    const Bool to1 = s.ghost.new1(w().cu(t)) && !read.stale1 && m.stage(t) != Stage::performing;
    const Bool to2 = s.ghost.new2(w().agent(t)) && !read.stale2 && read.stage != ReadStage::from_l2 &&
                     read.stage != ReadStage::to_l2;
    return to1 || to2;
  }

  template <class V>
  void requests(V& v) const {
    each_thread(v, "a request exchanges, and never writes the watched word's first value",
                [](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool first = W::watched(q.block) && q.word == Open::watched_word();
                  const Bool writes = q.operation == Operation::store || q.operation == Operation::rmw;
                  return !m.port(t).pending || (q.function == RmwFunction::exchange &&
                                                (!first || !writes || q.a != typename K::Value(0)));
                });
  }

  // Where a write of the watched word has come to.
  template <class V>
  void words_of_links(V& v) const {
    const auto new_data = [](const auto& link) {
      return !K::contains(link, [](const Up& m) { return W::writes(m) && !W::is_new(m.data); });
    };
    each_cu(v, "writes of the watched word on link1 are new",
            [new_data](const State&, const auto& m, const Cu& c) { return new_data(m.link1(c)); });
    each_agent(v, "writes of the watched word on link2 are new",
               [new_data](const State&, const auto& m, const Agent& a) { return new_data(m.link2(a)); });
    each_cu(v, "a CU that has stored has its write on the link or behind it",
            [this](const State& s, const auto& m, const Cu& c) {
              return !s.ghost.stored(c) || W::carries(m.link1(c)) || s.ghost.new2(w().agent_of(c));
            });
    each_cu(v, "a write on link1 makes its L1 new", [](const State& s, const auto& m, const Cu& c) {
      return !W::carries(m.link1(c)) || (s.ghost.new1(c) && s.ghost.stored(c));
    });
    each_cu(v, "an L1 that is new has a write on its link, or an L2 that is new",
            [this](const State& s, const auto& m, const Cu& c) {
              return !s.ghost.new1(c) || W::carries(m.link1(c)) || s.ghost.new2(w().agent_of(c));
            });
    each_agent(v, "a write on link2 makes its L2 new", [](const State& s, const auto& m, const Agent& a) {
      return !W::carries(m.link2(a)) || s.ghost.new2(a);
    });
    each_agent(v, "an L2 that is new has a write on its link, or memory is new",
               [this](const State& s, const auto& m, const Agent& a) {
                 return !s.ghost.new2(a) || W::carries(m.link2(a)) || w().memory_new(s.system);
               });
    each_thread(
        v, "a marker with a write ahead of it is behind it",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          return !s.ghost.ahead(t) ||
                 ((W::behind_write(m.link1(w().cu(t)), UpKind::marker, t) || s.ghost.new2(w().agent(t))) &&
                  (W::behind_write(m.link2(w().agent(t)), UpKind::marker, t) || w().memory_new(s.system)) &&
                  (w().on1(s.system, UpKind::marker, t) || s.ghost.new2(w().agent(t))));
        });
    each_thread(
        v, "an atomic with a write ahead of it is behind it",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          return !s.ghost.behind(t) ||
                 ((W::behind_write(m.link1(w().cu(t)), UpKind::atomic, t) || s.ghost.new2(w().agent(t))) &&
                  (W::behind_write(m.link2(w().agent(t)), UpKind::atomic, t) || w().memory_new(s.system)));
        });
    each_thread(v, "a thread has what its atomic leaves behind",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return !s.ghost.behind(t) || m.stage(t) == Stage::performing ||
                         m.stage(t) == Stage::invalidating2 || m.stage(t) == Stage::invalidating1 ||
                         m.port(t).done;
                });
    Base::pending_or_done(v);
    each_thread(v, "a release of a thread that is idle is over",
                [](const State& s, const auto& m, const ThreadIx& t) {
                  return !s.ghost.ahead(t) || m.stage(t) != Stage::idle;
                });
  }

  // The thread's atomic is about to write the watched word.
  [[nodiscard]] static Bool will_write(const auto& m, const ThreadIx& t) {
    const auto& q = m.port(t).request;
    return m.stage(t) == Stage::performing && q.operation != Operation::load && W::watched(q.block) &&
           q.word == Open::watched_word();
  }
  // The reader's message, if any, is behind the writer's atomic on the link.
  template <class Link>
  [[nodiscard]] static Bool follows(const Link& link, const ThreadIx& reader, const ThreadIx& writer) {
    return W::behind(link, UpKind::read, reader,
                     [&](const Up& m) { return m.kind == UpKind::atomic && m.thread == writer; });
  }

  // What copies and fills hold.
  template <class V>
  void copies(V& v) const {
    Base::dirty_lines(v);
    each_thread(
        v, "an atomic that will write leaves no older copy in its L1",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const auto& line = m.l1(w().cu(t), Open::watched_block());
          return !will_write(m, t) ||
                 ((!line.present || W::is_new(line.data)) && k().forall(threads, [&](const ThreadIx& u) {
                   const auto& read = m.read(u);
                   const Bool concerned = reads(m, u) && w().cu(u) == w().cu(t) && !read.stale1 &&
                                          m.stage(u) != Stage::performing;
                   const Bool behind1 =
                       read.stage == ReadStage::to_l2 &&
                       (w().on2(s.system, UpKind::atomic, t) || follows(m.link1(w().cu(t)), u, t));
                   const Bool behind2 = read.stage == ReadStage::to_directory &&
                                        w().on2(s.system, UpKind::atomic, t) &&
                                        follows(m.link2(w().agent(t)), u, t);
                   const Bool current = read.stage == ReadStage::from_l2 && W::is_new(read.data);
                   return !concerned || behind1 || behind2 || current;
                 }));
        });
    each_thread(
        v, "an atomic that will write in memory leaves no older copy in its L2",
        [this](const State& s, const auto& m, const ThreadIx& t) {
          const auto& line = m.l2(w().agent(t), Open::watched_block());
          return !will_write(m, t) || !w().on2(s.system, UpKind::atomic, t) ||
                 ((!line.present || W::is_new(line.data)) && k().forall(threads, [&](const ThreadIx& u) {
                   const auto& read = m.read(u);
                   const Bool concerned = reads(m, u) && w().agent(u) == w().agent(t) && !read.stale2 &&
                                          read.stage != ReadStage::to_l2 && read.stage != ReadStage::from_l2;
                   return !concerned ||
                          (read.stage == ReadStage::to_directory && follows(m.link2(w().agent(t)), u, t));
                 }));
        });
    Base::fills(v);
    each_thread(v, "a read for a new L1 finds a write ahead of it, or an L2 that is new",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return !reads(m, t) || m.read(t).stage != ReadStage::to_l2 || !s.ghost.new1(w().cu(t)) ||
                         m.read(t).stale1 || W::behind_write(m.link1(w().cu(t)), UpKind::read, t) ||
                         s.ghost.new2(w().agent(t));
                });
    each_thread(v, "a read for a new cache finds a write ahead of it, or memory new",
                [this](const State& s, const auto& m, const ThreadIx& t) {
                  return !reads(m, t) || m.read(t).stage != ReadStage::to_directory || !trusted(s, m, t) ||
                         W::behind_write(m.link2(w().agent(t)), UpKind::read, t) || w().memory_new(s.system);
                });
  }
};

}  // namespace lockstep::write_through
