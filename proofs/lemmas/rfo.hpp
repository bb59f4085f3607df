// Why read for ownership keeps caches coherent: what the directory believes of a cache follows from what the
// cache holds and what is under way between the two, and while the directory works on a request, how far that
// has come says who has the block.
//
// The theorem: a block has a single writer or many readers; every copy that may be read is current, as is
// what L2 or else memory holds unless some cache has written it; so a load or RMW returns what the last write
// has left when it completes, which with one access of a thread at a time is sequential consistency. The
// ghost is what the newest writes have left of each block.
#pragma once

#include <boost/describe.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proofs/lemmas/memory.hpp"
#include "spec/memory/rfo.hpp"

namespace lockstep::rfo {

template <class Open>
struct Words {
  using Memory = typename Open::Memory;
  using State = typename Open::MemoryState;
  using K = typename Open::Kind;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using Block = typename Memory::Block;
  using Word = typename Memory::Word;
  using Cache = typename Memory::Cache;
  using Cluster = typename Memory::Cluster;
  using Data = typename Memory::Data;
  template <class E>
  using Enum = typename K::template Enum<E>;

  // How far a transaction has come.
  [[nodiscard]] static Bool recalls(const State& s, const Block& b) {
    return s.mshr(b).transaction == Transaction::recall;
  }
  [[nodiscard]] static Bool reads(const State& s, const Block& b) {
    return s.mshr(b).transaction == Transaction::read;
  }
  [[nodiscard]] static Bool writes(const State& s, const Block& b) {
    return s.mshr(b).transaction == Transaction::write;
  }
  [[nodiscard]] static Bool waits(const State& s, const Block& b) { return s.mshr(b).step == Step::waits; }
  // The requester has what it asked for.
  [[nodiscard]] static Bool done(const State& s, const Block& b) {
    return s.mshr(b).step == Step::done || s.mshr(b).step == Step::done_with_owner;
  }

  // Who may write: it is the owner, or will be known as one.
  [[nodiscard]] static Bool given(const State& s, const Block& b) {
    return done(s, b) && (writes(s, b) || s.mshr(b).exclusive);
  }
};

template <class Open>
struct History {
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;
  using Block = typename W::Block;
  using Word = typename W::Word;
  using Cache = typename W::Cache;
  using Value = typename K::Value;

  struct Ghost {
    typename K::template Table<typename W::Data, BlockTag> newest;
    typename K::template Table<Value, ThreadTag> found;  // at a thread's access, when it completed
    typename K::template Table<Value, ThreadTag> left;   // there, by that access
    BOOST_DESCRIBE_CLASS(Ghost, (), (newest, found, left), (), ())
  };

  const Open& open;

  // `g` has these ghosts, among others or not.
  template <class G>
  void step(G& g, const State& before, const State& after) const {
    const K& k = open.kind();
    const auto completes = [&](const auto& t) {
      return before.memory.port(t).pending && !after.memory.port(t).pending;
    };
    const auto newest = [&](const auto& t) {
      const auto& q = before.memory.port(t).request;
      return k.pick(words, q.word, [&](const Word& w) { return Value(g.newest(q.block)(w)); });
    };
    k.for_each(threads, [&](const auto& t) { k.when(completes(t), [&] { g.found(t) = newest(t); }); });
    k.for_each(blocks, [&](const Block& b) {
      k.for_each(words, [&](const Word& w) {
        const auto writes = [&](const auto& t) {
          const auto& q = before.memory.port(t).request;
          return completes(t) && lockstep::writes(before.memory, t) && q.block == b && q.word == w;
        };
        k.when(k.exists(threads, writes), [&] { g.newest(b)(w) = of_the_writer(after, b, w); });
      });
    });
    k.for_each(threads, [&](const auto& t) {
      k.when(completes(t), [&] { g.left(t) = newest(t); });
      k.when(before.memory.port(t).done && !after.memory.port(t).done, [&] {
        g.found(t) = Value(0);
        g.left(t) = Value(0);
      });
    });
  }

 private:
  // What the one cache that may write then holds. That the writer's is that one is for a lemma to say.
  [[nodiscard]] static Value of_the_writer(const State& after, const Block& b, const Word& w) {
    const auto& m = after.memory;
    const auto copy = [&](const Cache& cache) {
      return K::select(cache.host, Value(m.cpu(typename W::Cluster{}, b).data(w)),
                       Value(m.l1(cache.cu, b).data(w)));
    };
    return K::select(W::recalls(m, b) || W::given(m, b), copy(m.mshr(b).requester), copy(m.entry(b).owner));
  }
};

template <class System>
struct Lemmas {
  using State = typename System::State;
  using Open = std::remove_cvref_t<decltype(std::declval<System>().system())>;
  using W = Words<Open>;
  using K = typename W::K;
  using P = typename W::Memory;
  using M = typename W::State;
  using Bool = typename W::Bool;
  using Block = typename W::Block;
  using Cache = typename W::Cache;
  using Cluster = typename W::Cluster;
  using Data = typename W::Data;
  using Value = typename W::Value;
  template <class E>
  using Enum = typename W::template Enum<E>;
  using Copy = Enum<CopyState>;

  const System& system;

  template <class V>
  void lemmas(V& v) const {
    data(v);
    misses(v);
    write_backs(v);
    directory(v);
    messages(v);
    copies(v);
  }

 private:
  [[nodiscard]] const K& k() const { return system.kind(); }
  [[nodiscard]] P p() const { return system.system().memory(); }
  [[nodiscard]] static Bool implies(const Bool& a, const Bool& b) { return !a || b; }

  // ---- claims ---------------------------------------------------------------------------------------------

  template <class V, class Claim>
  void each_block(V& v, std::string_view name, Claim claim) const {
    v.invariant(name, [this, claim](const State& s) {
      return k().forall(blocks, [&](const Block& b) { return claim(s, s.system.memory, b); });
    });
  }
  // Of each cache and block.
  template <class V, class Claim>
  void each(V& v, std::string_view name, Claim claim) const {
    each_block(v, name, [this, claim](const State& s, const M& m, const Block& b) {
      return k().forall(cus, [&](const auto& c) { return claim(s, m, c, b); }) &&
             k().forall(clusters, [&](const auto& c) { return claim(s, m, c, b); });
    });
  }

  // ---- caches ---------------------------------------------------------------------------------------------

  template <class C>
  [[nodiscard]] static Bool requests(const M& m, const C& c, const Block& b) {
    return !P::idle(m, b) && !W::recalls(m, b) && P::is(m.mshr(b).requester, c);
  }
  template <class C>
  [[nodiscard]] static Bool owns(const M& m, const C& c, const Block& b) {
    return P::owned(m, b) && P::is(m.entry(b).owner, c);
  }
  // Of what f says of the cache that is named.
  template <class F>
  [[nodiscard]] static auto of(const Cache& cache, F&& f) {
    using T = std::remove_cvref_t<decltype(f(Cluster{}))>;
    return K::select(cache.host, T(f(Cluster{})), T(f(cache.cu)));
  }
  [[nodiscard]] static Enum<Reply> reply(const M& m, const Block& b) {
    return of(m.mshr(b).requester, [&](const auto& c) { return Enum<Reply>(P::messages(m, c, b).reply); });
  }
  [[nodiscard]] static Copy copy_of(const M& m, const Cache& cache, const Block& b) {
    return of(cache, [&](const auto& c) { return copy(m, c, b); });
  }

  // A block that the directory has not yet taken back counts as the cache's.
  template <class C>
  [[nodiscard]] static Bool is_held(const M& m, const C& c, const Block& b) {
    return P::held(m, c, b).waits && P::messages(m, c, b).forward != Forward::Put_Ack;
  }
  template <class C>
  [[nodiscard]] static Copy copy(const M& m, const C& c, const Block& b) {
    return K::select(is_held(m, c, b), Copy(P::held(m, c, b).state), Copy(P::line(m, c, b).state));
  }
  [[nodiscard]] static Bool may_write(const Copy& copy) {
    return copy == CopyState::E || copy == CopyState::M;
  }
  [[nodiscard]] static Bool forwarded(const auto& message, Forward what) { return message.forward == what; }
  [[nodiscard]] static Bool asks_to_get(const auto& request) {
    return request == Request::GetS || request == Request::GetM || request == Request::Upgrade;
  }

  // ---- the theorem ----------------------------------------------------------------------------------------

  // A cache has written what neither L2 nor memory has.
  [[nodiscard]] static Bool elsewhere(const M& m, const Block& b) {
    const Bool returned = of(m.mshr(b).requester, [&](const auto& c) {
      return P::messages(m, c, b).acknowledgement == Acknowledgement::with_data ||
             (P::messages(m, c, b).forward == Forward::Recall && P::dirty(copy(m, c, b)));
    });
    return (W::recalls(m, b) && returned) || (P::owned(m, b) && P::dirty(copy_of(m, m.entry(b).owner, b))) ||
           (W::given(m, b) && P::dirty(copy_of(m, m.mshr(b).requester, b))) ||
           (W::writes(m, b) && (reply(m, b) == Reply::modified || reply(m, b) == Reply::upgraded));
  }

  template <class V>
  void data(V& v) const {
    v.invariant("what completes has found the newest write there, and left its own", [this](const State& s) {
      return k().forall(threads, [&](const auto& t) {
        const auto& port = s.system.memory.port(t);
        const auto& q = port.request;
        const Value found = s.ghost.found(t);
        const Value left = K::select(q.operation == Operation::rmw, rmw_result(k(), q, found), Value(q.a));
        return implies(port.done && q.operation != Operation::fence,
                       (q.operation == Operation::store || port.result == found) &&
                           s.ghost.left(t) == K::select(q.operation == Operation::load, found, left));
      });
    });
    each(v, "every copy is current", [this](const State& s, const M& m, const auto& c, const Block& b) {
      const auto& line = P::line(m, c, b);
      const auto& held = P::held(m, c, b);
      const Data& newest = s.ghost.newest(b);
      return implies(line.state != CopyState::I, p().same(line.data, newest)) &&
             implies(is_held(m, c, b) && held.state != CopyState::I, p().same(held.data, newest));
    });
    each_block(v, "L2, or memory, is current, unless a cache has written the block",
               [this](const State& s, const M& m, const Block& b) {
                 return elsewhere(m, b) || p().same(p().behind(m, b), s.ghost.newest(b));
               });
    each(v, "what is sent is current", [this](const State& s, const M& m, const auto& c, const Block& b) {
      const auto& message = P::messages(m, c, b);
      return implies((message.reply != Reply::none && message.reply != Reply::upgraded) ||
                         message.acknowledgement == Acknowledgement::with_data,
                     p().same(message.data, s.ghost.newest(b)));
    });
    each_block(v, "a clean block of L2 is memory's", [this](const State&, const M& m, const Block& b) {
      return !m.l2(b).present || m.l2(b).dirty || p().same(m.l2(b).data, m.home.memory(b));
    });
    each_block(v, "a dirty block of L2 is there",
               [](const State&, const M& m, const Block& b) { return !m.l2(b).dirty || m.l2(b).present; });
    each_block(v, "L2 has nothing dirty of a block that is owned, or given to a writer",
               [](const State&, const M& m, const Block& b) {
                 const Bool left = W::writes(m, b) && (W::done(m, b) || reply(m, b) != Reply::none);
                 return !m.l2(b).dirty || (!P::owned(m, b) && !m.mshr(b).exclusive && !left);
               });
  }

  // ---- caches and threads ---------------------------------------------------------------------------------

  template <class V>
  void misses(V& v) const {
    each(v, "a miss is of a thread that waits for it",
         [this](const State&, const M& m, const auto& c, const Block& b) {
           const auto& miss = P::miss(m, c, b);
           const auto& port = m.port(miss.thread);
           const Bool loads = lockstep::asks(m, miss.thread, Operation::load);
           return implies(
               miss.asked != Request::none,
               port.pending && port.request.block == b && here(c, miss.thread) &&
                   K::select(miss.asked == Request::GetS, loads, Bool(lockstep::writes(m, miss.thread))));
         });
    each(v, "a cache has no copy of what it asks for, unless for an upgrade",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& asked = P::miss(m, c, b).asked;
           const auto& copy = P::line(m, c, b).state;
           return implies(asked == Request::GetS || asked == Request::GetM, copy == CopyState::I) &&
                  implies(asked == Request::Upgrade, !may_write(copy)) && asked != Request::PutE &&
                  asked != Request::PutM;
         });
    each(v, "a request to get a block is that of a miss",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& request = P::messages(m, c, b).request;
           return implies(asks_to_get(request), P::miss(m, c, b).asked == request);
         });
    each(v, "a miss is asked for, or is being worked on",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& asked = P::miss(m, c, b).asked;
           const auto& request = P::messages(m, c, b).request;
           const Bool worked_on = requests(m, c, b) && !W::done(m, b);
           return implies(asked != Request::none, worked_on || request == asked) &&
                  implies(worked_on, request == Request::none &&
                                         K::select(W::reads(m, b), Bool(asked == Request::GetS),
                                                   asked == Request::GetM || asked == Request::Upgrade));
         });
    each(v, "who asks for an upgrade and has lost its copy is known no more",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const Bool lost =
               P::messages(m, c, b).request == Request::Upgrade && P::line(m, c, b).state == CopyState::I;
           return !lost || (!P::sharer(m, c, b) && (W::writes(m, b) || !owns(m, c, b)) &&
                            !(requests(m, c, b) && W::done(m, b)));
         });
  }

  template <class V>
  void write_backs(V& v) const {
    each(v, "a block that is written back is no more in the cache, nor asked for",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return implies(P::held(m, c, b).waits,
                          P::line(m, c, b).state == CopyState::I && P::miss(m, c, b).asked == Request::none);
         });
    each(v, "a write-back is under way, or its acknowledgement is",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Bool puts = message.request == Request::PutE || message.request == Request::PutM;
           return puts == is_held(m, c, b) &&
                  implies(forwarded(message, Forward::Put_Ack),
                          P::held(m, c, b).waits && message.request == Request::none);
         });
    each(v, "what is written back is what the request says",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& request = P::messages(m, c, b).request;
           const auto& state = P::held(m, c, b).state;
           return implies(request == Request::PutE, !P::dirty(state)) &&
                  implies(request == Request::PutM, P::dirty(state) || state == CopyState::I);
         });
    each(v, "who has written a block back is known no more",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return implies(forwarded(P::messages(m, c, b), Forward::Put_Ack),
                          !P::sharer(m, c, b) && !owns(m, c, b) && !requests(m, c, b));
         });
  }

  // ---- the directory --------------------------------------------------------------------------------------

  template <class V>
  void directory(V& v) const {
    each_block(v, "what the directory does says how far it may be",
               [](const State&, const M& m, const Block& b) {
                 const auto& mshr = m.mshr(b);
                 return implies(P::idle(m, b), mshr.step == Step::answers && !mshr.exclusive) &&
                        implies(W::recalls(m, b), W::waits(m, b) && !mshr.exclusive &&
                                                      m.entry(b).state == Known::I && !m.l2(b).present) &&
                        implies(mshr.step == Step::fetched, m.l2(b).present) &&
                        implies(mshr.step == Step::done_with_owner, W::reads(m, b) && P::owned(m, b)) &&
                        implies(mshr.exclusive,
                                W::reads(m, b) && !P::owned(m, b) && (W::waits(m, b) || W::done(m, b))) &&
                        implies(mshr.step == Step::answers || mshr.step == Step::fetched,
                                P::idle(m, b) || !P::owned(m, b));
               });
    each(v, "a sharer is known beside none that may write",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& state = m.entry(b).state;
           return implies(P::sharer(m, c, b), (state == Known::S || state == Known::O) && !W::writes(m, b) &&
                                                  !m.mshr(b).exclusive && !owns(m, c, b));
         });
    each(v, "who owns a block asks for it only to upgrade",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return implies(owns(m, c, b) && requests(m, c, b),
                          W::writes(m, b) && (W::done(m, b) || reply(m, b) == Reply::upgraded));
         });
    each(v, "an owner has the block when it is looked for there",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Copy has = copy(m, c, b);
           const Bool asked = forwarded(message, Forward::GetS) || forwarded(message, Forward::GetM);
           return implies(owns(m, c, b) && (P::idle(m, b) || asked),
                          K::select(m.entry(b).state == Known::O, Bool(has == CopyState::O), may_write(has)));
         });
    each(v, "who was given a block to write has it",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const Copy has = copy(m, c, b);
           return implies(requests(m, c, b) && W::given(m, b),
                          K::select(W::writes(m, b), Bool(has == CopyState::M), may_write(has)));
         });
    each(v, "an owner that has answered has the block no more, or beside a reader",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const Copy has = copy(m, c, b);
           const Enum<Reply> sent = reply(m, b);
           const Bool gone =
               W::writes(m, b) && !requests(m, c, b) && (W::done(m, b) || sent == Reply::modified);
           const Bool shared = W::reads(m, b) && (m.mshr(b).step == Step::done || sent == Reply::shared);
           const Bool stays = W::reads(m, b) &&
                              (m.mshr(b).step == Step::done_with_owner || sent == Reply::shared_with_owner);
           return implies(owns(m, c, b), implies(gone, has == CopyState::I) &&
                                             implies(shared, has == CopyState::I || has == CopyState::S) &&
                                             implies(stays, has == CopyState::O));
         });
  }

  // ---- messages -------------------------------------------------------------------------------------------

  template <class V>
  void messages(V& v) const {
    each(v, "an owner is asked once, for the request that is worked on",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Bool asked =
               owns(m, c, b) && !requests(m, c, b) && W::waits(m, b) && reply(m, b) == Reply::none;
           return implies(forwarded(message, Forward::GetS), asked && W::reads(m, b)) &&
                  implies(forwarded(message, Forward::GetM), asked && W::writes(m, b));
         });
    each(v, "who is told to lose a copy owes an acknowledgement",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const auto& sent = message.acknowledgement;
           const Bool recalled = W::recalls(m, b) && P::is(m.mshr(b).requester, c);
           return (sent == Acknowledgement::awaited) ==
                      (forwarded(message, Forward::Inv) || forwarded(message, Forward::Recall)) &&
                  implies(forwarded(message, Forward::Recall) || sent == Acknowledgement::with_data,
                          recalled);
         });
    each(v, "where one cache may write, no sharer is told to lose a copy",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return !forwarded(P::messages(m, c, b), Forward::Inv) || m.entry(b).state != Known::EM;
         });
    each(v, "acknowledgements are for a writer, or the directory",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return implies(P::messages(m, c, b).acknowledgement != Acknowledgement::none,
                          W::recalls(m, b) || (W::writes(m, b) && !W::done(m, b) && !requests(m, c, b)));
         });
    each(v, "a reply is to the requester, who waits",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& sent = P::messages(m, c, b).reply;
           const Bool to_write = sent == Reply::modified || sent == Reply::upgraded;
           return implies(sent != Reply::none, requests(m, c, b) && W::waits(m, b) &&
                                                   K::select(to_write, W::writes(m, b), W::reads(m, b)) &&
                                                   m.mshr(b).exclusive == (sent == Reply::exclusive));
         });
    each(v, "a reply is what its sender had to give",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& sent = P::messages(m, c, b).reply;
           const Copy has = P::line(m, c, b).state;
           return implies(sent == Reply::shared_with_owner, P::owned(m, b)) &&
                  implies(sent == Reply::modified, P::owned(m, b) || !m.l2(b).present) &&
                  implies(sent == Reply::upgraded,
                          has != CopyState::I && !m.l2(b).present &&
                              K::select(P::owned(m, b), owns(m, c, b), Bool(has == CopyState::S)));
         });
  }

  // ---- copies ---------------------------------------------------------------------------------------------

  template <class V>
  void copies(V& v) const {
    each(v, "who may write is the only one that the directory knows of",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Bool still =
               P::idle(m, b) || forwarded(message, Forward::GetS) || forwarded(message, Forward::GetM);
           return implies(may_write(copy(m, c, b)),
                          (owns(m, c, b) && m.entry(b).state == Known::EM && still) ||
                              (requests(m, c, b) && W::given(m, b)) || forwarded(message, Forward::Recall));
         });
    each(v, "beside a shared copy that is recalled none may write",
         [](const State&, const M& m, const auto& c, const Block& b) {
           return implies(W::recalls(m, b) && copy(m, c, b) == CopyState::S,
                          !may_write(copy_of(m, m.mshr(b).requester, b)));
         });
    each(v, "a dirty copy beside readers is the owner's",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Bool stays = W::reads(m, b) && (m.mshr(b).step == Step::done_with_owner ||
                                                 reply(m, b) == Reply::shared_with_owner);
           const Bool known =
               m.entry(b).state == Known::O &&
               (P::idle(m, b) || forwarded(message, Forward::GetS) || forwarded(message, Forward::GetM) ||
                (requests(m, c, b) && message.reply == Reply::upgraded));
           return implies(copy(m, c, b) == CopyState::O,
                          (owns(m, c, b) && (stays || known)) || forwarded(message, Forward::Recall));
         });
    each(v, "who has a shared copy is known, or hears that it loses it",
         [](const State&, const M& m, const auto& c, const Block& b) {
           const auto& message = P::messages(m, c, b);
           const Bool owned = owns(m, c, b) && W::reads(m, b) &&
                              (m.mshr(b).step == Step::done || reply(m, b) == Reply::shared);
           const Bool gets = requests(m, c, b) && K::select(W::reads(m, b), W::done(m, b), !W::done(m, b));
           return implies(copy(m, c, b) == CopyState::S,
                          P::sharer(m, c, b) || owned || gets || forwarded(message, Forward::Inv));
         });
  }

  [[nodiscard]] Bool here(const typename P::Cu& c, const auto& t) const {
    return !system.system().machine().is_host(t) && system.system().machine().cu_of(t) == c;
  }
  [[nodiscard]] Bool here(const Cluster&, const auto& t) const {
    return system.system().machine().is_host(t);
  }
};

}  // namespace lockstep::rfo
