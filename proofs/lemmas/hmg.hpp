// Why copies of HMG's GPUs are what memory holds, though nobody acknowledges an invalidation: a copy is known
// to its home, or an invalidation is on the one link that brings what it might be kept from; and what a GPU
// has written beyond its copy is on its way to memory, or there.
//
// Of GPUs of one module. The theorem: of every word of a copy in an L2 the newest write on its way to memory
// is what the copy holds; if none is, it holds what memory does, or an invalidation is on its way to it.
#pragma once

#include <string_view>

#include "proofs/lemmas/memory.hpp"
#include "spec/memory/hmg_monolithic.hpp"

namespace lockstep::hmg_monolithic {

template <class System>
struct Lemmas : MemoryClaims<System> {
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
  using Words = MemoryWords<Open>;
  using Memory = typename Open::Memory;
  using M = typename Open::MemoryState;
  using ThreadIx = typename Words::ThreadIx;
  using Agent = typename Words::Agent;
  using Block = typename Memory::Block;
  using Word = typename Memory::Word;
  using Value = typename K::Value;
  using Up = typename Memory::Up;
  using Down = typename Memory::Down;
  using UpKind = hmg::UpKind;
  using DownKind = hmg::DownKind;
  using ReadStage = hmg::ReadStage;
  using Stage = hmg::Stage;

  template <class V>
  void lemmas(V& v) const {
    copies(v);
    Base::pending_or_done(v);
    Base::loads_release_nothing(v);
    doing(v);
    places(v);
    addresses(v);
    fetched(v);
  }

 private:
  [[nodiscard]] Words w() const { return Words{system.system()}; }
  [[nodiscard]] Memory memory() const { return system.system().memory(); }

  // Of what is in another GPU's memory.
  [[nodiscard]] bool keeps_nothing() const { return memory().is("rdma"); }

  // ---- what is on a link ----

  [[nodiscard]] static Bool changes(const Up& m, const Block& b) {
    return (m.kind == UpKind::write || m.kind == UpKind::atomic) && m.block == b;
  }
  // Behind the thread's read, wherever that is: on the link, or no longer there.
  template <class Link>
  [[nodiscard]] static Bool changes_behind(const Link& link, const Block& b, const ThreadIx& t) {
    Bool found(false);
    K::for_each_queued(link, [&](const Up& m) {
      found = found && !(m.kind == UpKind::read && m.thread == t);
      found = found || changes(m, b);
    });
    return found;
  }
  template <class Link>
  [[nodiscard]] static Bool invalidates(const Link& link, const Block& b) {
    return K::contains(link, [&](const Down& m) { return m.kind == DownKind::invalidation && m.block == b; });
  }
  template <class Link>
  [[nodiscard]] static Bool invalidates_behind(const Link& link, const Block& b, const ThreadIx& t) {
    Bool found(false);
    K::for_each_queued(link, [&](const Down& m) {
      found = found && !(m.kind == DownKind::fill && m.thread == t);
      found = found || (m.kind == DownKind::invalidation && m.block == b);
    });
    return found;
  }
  template <class F>
  [[nodiscard]] Bool to_some(F&& f) const {
    return k().exists(agents, f);
  }

  // ---- the theorem ----

  template <class V>
  void copies(V& v) const {
    each_agent(v, "a copy's words are the newest on their way, or memory's, or invalidated",
               [this](const State&, const auto& m, const Agent& a) {
                 return k().forall(blocks, [&](const Block& b) {
                   const Bool comes = to_some([&](const Agent& g) { return invalidates(m.down(g, a), b); });
                   return !m.l2(a, b).present || k().forall(words, [&](const Word& word) {
                     Bool written(false);
                     Value last(0);
                     k().for_each(agents, [&](const Agent& g) {
                       K::for_each_queued(m.up(a, g), [&](const Up& up) {
                         const Bool hit = up.kind == UpKind::write && up.block == b && up.mask(word);
                         written = written || hit;
                         last = K::select(hit, Value(up.data(word)), last);
                       });
                     });
                     return K::select(written, last == m.l2(a, b).data(word),
                                      comes || m.l2(a, b).data(word) == m.memory(b)(word));
                   });
                 });
               });
    each_agent(v, "a copy is of another GPU's memory, with no atomic on its way there",
               [this](const State&, const auto& m, const Agent& a) {
                 return k().forall(blocks, [&](const Block& b) {
                   return !m.l2(a, b).present ||
                          (m.owner(b).has() && !Memory::owns(m, a, b) && !to_some([&](const Agent& g) {
                             return K::contains(m.up(a, g), [&](const Up& up) {
                               return up.kind == UpKind::atomic && up.block == b;
                             });
                           }));
                 });
               });
  }

  // ---- messages and their threads ----

  [[nodiscard]] Bool on_link1(const M& m, UpKind kind, const ThreadIx& t) const {
    return Words::holds(m.link1(w().cu(t)), kind, t);
  }
  [[nodiscard]] Bool on_up(const M& m, UpKind kind, const ThreadIx& t) const {
    return to_some([&](const Agent& g) { return Words::holds(m.up(w().agent(t), g), kind, t); });
  }
  [[nodiscard]] Bool on_down(const M& m, const ThreadIx& t) const {
    return to_some([&](const Agent& g) { return Words::holds(m.down(g, w().agent(t)), DownKind::fill, t); });
  }

  template <class V>
  void doing(V& v) const {
    each_thread(v, "what a thread does is its pending request",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool synchronizing = m.stage(t) != Stage::idle;
                  const Bool reading = m.read(t).stage != ReadStage::none;
                  const Bool performing = m.stage(t) == Stage::performing;
                  const Bool invalidating = m.stage(t) == Stage::invalidating;
                  const Bool beyond = atomic_beyond_group(m, t);
                  const Bool fetches =
                      m.read(t).stage == ReadStage::to_system || m.read(t).stage == ReadStage::from_system;
                  return (!(synchronizing || reading) || (m.port(t).pending && !w().host(t))) &&
                         (!synchronizing || beyond) && (!performing || writes(m, t)) &&
                         (!synchronizing || performing || invalidating || releases(q.order)) &&
                         (!reading || q.operation == Operation::load || q.operation == Operation::rmw) &&
                         (!reading || q.operation != Operation::rmw || !beyond || performing) &&
                         (!reading || !synchronizing ||
                          (Bool(!keeps_nothing()) && performing && fetches && q.operation == Operation::rmw &&
                           !to_system(m, t)));
                });
  }

  template <class V>
  void places(V& v) const {
    each_thread(v, "a thread that sends a release has its marker on the link of its L1",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  return w().host(t) || ((m.stage(t) == Stage::releasing) == on_link1(m, UpKind::marker, t) &&
                                         Words::once(m.link1(w().cu(t)), UpKind::marker, t));
                });
    each_agent(v, "a sharer is another GPU than the owner",
               [this](const State&, const auto& m, const Agent& a) {
                 return k().forall(blocks, [&](const Block& b) {
                   return !m.sharer(a, b) || (m.owner(b).has() && !Memory::owns(m, a, b));
                 });
               });
    each_thread(v, "a read is where its stage says", [this](const State&, const auto& m, const ThreadIx& t) {
      const auto& stage = m.read(t).stage;
      return w().host(t) || ((stage == ReadStage::to_module) == on_link1(m, UpKind::read, t) &&
                             (stage == ReadStage::to_system) == on_up(m, UpKind::read, t) &&
                             (stage == ReadStage::from_system) == on_down(m, t));
    });
    each_thread(v, "a read is on its way to, or back from, another GPU's memory",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& stage = m.read(t).stage;
                  return stage != ReadStage::to_home && stage != ReadStage::from_home &&
                         (stage == ReadStage::none || m.owner(m.port(t).request.block).has());
                });
    each_thread(v, "an atomic that is performed is on a link",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const Bool at_l2 = on_link1(m, UpKind::atomic, t);
                  const Bool beyond = on_up(m, UpKind::atomic, t);
                  return w().host(t) ||
                         ((m.stage(t) == Stage::performing) == (at_l2 || beyond) && !(at_l2 && beyond) &&
                          (!beyond || to_system(m, t) || Bool(keeps_nothing())) &&
                          (!beyond || m.read(t).stage == ReadStage::none));
                });
  }

  // Of a message that is a thread's: it is the thread's own request, once.
  template <class Memory2, class Link, class Here>
  [[nodiscard]] Bool are_requests(const Memory2& m, const Link& link, Here here) const {
    Bool all(true);
    K::for_each_queued(link, [&](const Up& up) {
      const Bool asks = up.kind == UpKind::read || up.kind == UpKind::atomic;
      all = all && (up.kind == UpKind::write || (here(up.thread) && !w().host(up.thread))) &&
            (!asks || up.block == m.port(up.thread).request.block) &&
            (up.kind == UpKind::marker || m.owner(up.block).has());
    });
    return all && k().forall(threads, [&](const ThreadIx& t) {
      return Words::once(link, UpKind::read, t) && Words::once(link, UpKind::atomic, t);
    });
  }

  template <class V>
  void addresses(V& v) const {
    each_cu(v, "an L1 sends what its own threads ask for",
            [this](const State&, const auto& m, const auto& c) {
              return are_requests(m, m.link1(c), [&](const ThreadIx& t) { return w().cu(t) == c; });
            });
    each_agent(v, "a GPU sends what its own threads ask for to the block's owner",
               [this](const State&, const auto& m, const Agent& a) {
                 return k().forall(agents, [&](const Agent& g) {
                   return are_requests(m, m.up(a, g), [&](const ThreadIx& t) { return w().agent(t) == a; }) &&
                          !K::contains(m.up(a, g), [&](const Up& up) {
                            return up.kind != UpKind::marker && (g == a || !Memory::owns(m, g, up.block));
                          });
                 });
               });
    each_agent(v, "the block's owner answers and invalidates others",
               [this](const State&, const auto& m, const Agent& a) {
                 return k().forall(agents, [&](const Agent& g) {
                   const auto& link = m.down(g, a);
                   return !K::contains(link, [&](const Down& down) {
                     const Bool fill = down.kind == DownKind::fill;
                     return (down.kind != DownKind::marker && (g == a || !Memory::owns(m, g, down.block))) ||
                            (fill && (w().agent(down.thread) != a || w().host(down.thread) ||
                                      down.block != m.port(down.thread).request.block));
                   }) && k().forall(threads, [&](const ThreadIx& t) {
                     return Words::once(link, DownKind::fill, t);
                   });
                 });
               });
  }

  // ---- what is fetched ----

  template <class V>
  void fetched(V& v) const {
    each_thread(v, "nothing that changes the block follows a read that is to be kept",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  const Bool away =
                      read.stage == ReadStage::to_system || read.stage == ReadStage::from_system;
                  return !away || read.stale3 || !to_some([&](const Agent& g) {
                    return changes_behind(m.up(w().agent(t), g), m.port(t).request.block, t);
                  });
                });
    if (keeps_nothing()) return;
    each_thread(v, "what is to be kept is memory's, and known, or an invalidation follows it",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& read = m.read(t);
                  const Block b = m.port(t).request.block;
                  const Agent a = w().agent(t);
                  const Bool follows =
                      to_some([&](const Agent& g) { return invalidates_behind(m.down(g, a), b, t); });
                  return read.stage != ReadStage::from_system || read.stale3 || follows ||
                         (m.sharer(a, b) && k().forall(words, [&](const Word& word) {
                           return read.data(word) == m.memory(b)(word);
                         }));
                });
  }
};

}  // namespace lockstep::hmg_monolithic
