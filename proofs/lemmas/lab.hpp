// Why no update that a LAB buffers is lost, or performed twice.
//
// One word is watched (client.hpp, Watch): nobody writes it but by updates of one function that commute, and
// those are issued for ever. The ghost is what they come to as they are issued. The theorem: what memory
// holds, with what every flushed line on a link and every line of a LAB still has to add, is what the ghost
// says.
#pragma once

#include <boost/describe.hpp>

#include "proofs/lemmas/memory.hpp"
#include "proofs/lemmas/write_through.hpp"
#include "spec/memory/lab.hpp"

namespace lockstep::lab {

template <class Open>
struct Words : write_through::Words<Open> {
  using Base = write_through::Words<Open>;
  using Base::k;
  using Base::open;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::Up;
  using typename Base::Value;

  template <class Request>
  [[nodiscard]] static Bool at_watched(const Request& q) {
    return Base::watched(q.block) && q.word == Open::watched_word();
  }
  // An update of the word, by whatever thread.
  template <class Request>
  [[nodiscard]] Bool updates(const Request& q) const {
    return q.operation == Operation::rmw && q.order == Order::comm && q.function == open.updated_by();
  }
  // Either function has zero for identity, so that what changes nothing is zero.
  [[nodiscard]] Value joined(const Value& total, const Value& more) const {
    return open.updated_by() == RmwFunction::add ? total + more : total ^ more;
  }
  [[nodiscard]] Value carried(const Up& m) const {
    return K::select(Base::writes(m), Value(m.data(Open::watched_word())), Value(0));
  }
  // Memory, messages and buffers together.
  [[nodiscard]] Value held(const State& s) const {
    const Home<K> home{k()};
    Value total = home.current(s.memory.home, Open::watched_block(), Open::watched_word());
    const auto add = [&](const Up& m) { total = joined(total, carried(m)); };
    k().for_each(agents, [&](const auto& a) { K::for_each_queued(s.memory.link2(a), add); });
    k().for_each(cus, [&](const auto& c) {
      K::for_each_queued(s.memory.link1(c), add);
      const auto& line = s.memory.front.lab(c, Open::watched_block());
      total = joined(total, K::select(line.updated(Open::watched_word()),
                                      Value(line.run(Open::watched_word())), Value(0)));
    });
    return total;
  }
};

template <class Open>
struct History {
  using W = Words<Open>;
  using K = typename Open::Kind;
  using State = typename Open::State;

  struct Ghost {
    typename K::Value issued;
    BOOST_DESCRIBE_CLASS(Ghost, (), (issued), (), ())
  };

  const Open& open;

  // An update has been issued when its thread may go on.
  void step(Ghost& g, const State& before, const State& after) const {
    const W w{open};
    typename K::Value issued = g.issued;
    open.kind().for_each(threads, [&](const auto& t) {
      const auto& port = before.memory.port(t);
      const typename K::Bool completes = port.pending && !after.memory.port(t).pending;
      const typename K::Value operand = port.request.a;
      issued = K::select(completes && W::at_watched(port.request) && w.updates(port.request),
                         w.joined(issued, operand), issued);
    });
    g.issued = issued;
  }
};

template <class System>
struct Lemmas : write_through::LinkLemmas<System> {
  using Base = write_through::LinkLemmas<System>;
  using Base::each_agent;
  using Base::each_cu;
  using Base::each_thread;
  using Base::k;
  using Base::system;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::K;
  using typename Base::Open;
  using typename Base::State;
  using typename Base::ThreadIx;
  using typename Base::Up;
  using W = Words<Open>;

  template <class V>
  void lemmas(V& v) const {
    v.invariant("memory, messages and buffers together hold exactly the updates that were issued",
                [this](const State& s) { return w().held(s.system) == s.ghost.issued; });
    Base::places(v);
    Base::dirty_lines(v);
    Base::fills(v);
    each_thread(v, "the watched word is read and updated, and nothing else",
                [this](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  return !m.port(t).pending || !W::at_watched(q) || q.operation == Operation::load ||
                         q.operation == Operation::fence ||
                         (w().updates(q) && q.scope == Scope::agent && !q.returns);
                });
    each_thread(v, "an update of a GPU thread never leaves as an atomic",
                [](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  const Bool under_way = m.stage(t) != write_through::Stage::idle ||
                                         m.read(t).stage != write_through::ReadStage::none;
                  return !under_way || q.order != Order::comm;
                });
    each_thread(v, "a request that is an update is one that the LAB takes",
                [](const State&, const auto& m, const ThreadIx& t) {
                  const auto& q = m.port(t).request;
                  return !m.port(t).pending || q.order != Order::comm ||
                         (q.operation == Operation::rmw && q.scope == Scope::agent && !q.returns &&
                          (q.function == RmwFunction::add || q.function == RmwFunction::bit_xor));
                });
    each_cu(v, "what link1 carries for the watched word is its updates",
            [this](const State&, const auto& m, const Cu& c) { return only_updates(m.link1(c)); });
    each_agent(v, "what link2 carries for the watched word is its updates",
               [this](const State&, const auto& m, const Agent& a) { return only_updates(m.link2(a)); });
    each_cu(v, "what the LAB holds for the watched word is its updates",
            [this](const State&, const auto& m, const Cu& c) {
              const auto& line = m.front.lab(c, Open::watched_block());
              return !line.updated(Open::watched_word()) || line.function == system.system().updated_by();
            });
  }

 private:
  [[nodiscard]] W w() const { return W{system.system()}; }
  template <class Link>
  [[nodiscard]] Bool only_updates(const Link& link) const {
    return !K::contains(link, [this](const Up& m) {
      return W::writes(m) && m.payload.function != system.system().updated_by();
    });
  }
};

}  // namespace lockstep::lab
