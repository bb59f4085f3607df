// Why a mutex of FEAR's rings has one holder: every node's table says whether it is held, but those that an
// update has not come to yet, and while one is on its way nobody gives a mutex away or takes one back.
//
// Nothing is said of words: neither of what an atomic finds, nor of copies.
#pragma once

#include <array>
#include <string_view>

#include "proofs/lemmas/write_through.hpp"
#include "spec/memory/fear.hpp"

namespace lockstep::fear {

template <class System>
struct Lemmas : write_through::LinkLemmas<System> {
  using Base = write_through::LinkLemmas<System>;
  using Base::each_agent;
  using Base::each_thread;
  using Base::k;
  using Base::system;
  using Base::w;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::Open;
  using typename Base::State;
  using typename Base::ThreadIx;
  using Rings = fear::Rings<K>;
  using Node = typename Rings::Node;
  using Mutex = typename Rings::Mutex;
  using Update = typename Rings::Update;
  using Stage = write_through::Stage;
  using ReadStage = write_through::ReadStage;

  // What write-through's caches hold, whoever performs atomics.
  static constexpr std::array left_to_the_explorer{
      std::string_view("a copy in L1 has its CU's newest write on the link"),
      std::string_view("a copy in L2 has its agent's newest write on the link")};

  template <class V>
  void lemmas(V& v) const {
    Base::pending_or_done(v);
    Base::loads_release_nothing(v);
    Base::on_links(v);
    doing(v);
    Base::beyond_l2(v);
    giving_back(v);
    updates(v);
  }

 private:
  [[nodiscard]] auto memory() const { return system.system().memory(); }

  template <class V>
  void doing(V& v) const {
    each_thread(
        v, "what a thread does is its pending request",
        [this](const State&, const auto& m, const ThreadIx& t) {
          const auto& q = m.port(t).request;
          const auto& hold = m.front.atomic(t).hold;
          const Bool takes = atomic_beyond_group(m, t) && q.operation != Operation::fence;
          const Bool synchronizing = m.stage(t) != Stage::idle;
          const Bool reading = m.read(t).stage != ReadStage::none;
          const Bool releasing = m.stage(t) == Stage::releasing || m.stage(t) == Stage::released;
          const Bool drops = m.stage(t) == Stage::invalidating2 || m.stage(t) == Stage::invalidating1;
          const Bool released = (releases(q.order) && m.stage(t) == Stage::released) ||
                                (!releases(q.order) && m.stage(t) == Stage::idle);
          const Bool performing = m.stage(t) == Stage::performing;
          return (!(synchronizing || reading || hold != Hold::none) || (m.port(t).pending && !w().host(t))) &&
                 (!synchronizing || atomic_beyond_group(m, t)) && (!releasing || releases(q.order)) &&
                 (!performing || (takes && to_system(m, t) && hold == Hold::holds)) &&
                 (!drops || hold == Hold::none) && (m.stage(t) != Stage::invalidating2 || to_system(m, t)) &&
                 (hold == Hold::none || (takes && (performing || released))) &&
                 (!reading || q.operation == Operation::load || q.operation == Operation::rmw) &&
                 (!reading || (takes && !to_system(m, t) && hold != Hold::none) ||
                  (!synchronizing && !takes));
        });
  }

  // Of what is counted one by one.
  struct AtMostOne {
    Bool holds{true};
    Bool any{false};
    void count(const Bool& is) {
      holds = holds && !(any && is);
      any = any || is;
    }
  };

  // A mutex on its way back is so once, and held by nobody.
  template <class V>
  void giving_back(V& v) const {
    each_mutex(
        v, "a mutex is on its way back once, and then nobody holds it",
        [this](const auto& m, const Agent& a, const Mutex& mutex) {
          const auto rings = memory();
          const auto carried = [&](const auto& link) {
            return K::contains(
                link, [&](const auto& up) { return up.payload.gives_back && up.payload.mutex == mutex; });
          };
          const Bool once = k().forall(cus, [&](const auto& c) {
            AtMostOne of_link;
            K::for_each_queued(m.link1(c), [&](const auto& up) {
              of_link.count(up.payload.gives_back && up.payload.mutex == mutex);
            });
            const Bool others = k().forall(
                cus, [&](const auto& d) { return c == d || w().agent_of(d) != a || !carried(m.link1(d)); });
            return w().agent_of(c) != a || !of_link.any ||
                   (of_link.holds && others && !m.front.release(a, mutex));
          });
          return once && (!rings.front().given_back(m, a, mutex) || !rings.front().is_held(m, a, mutex));
        });
    v.invariant("only writes give mutexes back, and only on link1", [this](const State& s) {
      const auto& m = s.system.memory;
      return k().forall(cus, [&](const auto& c) { return none_but_writes(m.link1(c)); }) &&
             k().forall(agents, [&](const auto& a) {
               return !K::contains(m.link2(a), [](const auto& up) { return Bool(up.payload.gives_back); });
             });
    });
  }
  template <class Link>
  [[nodiscard]] static Bool none_but_writes(const Link& link) {
    return !K::contains(link, [](const auto& up) {
      return up.payload.gives_back && up.kind != write_through::UpKind::write;
    });
  }

  // On its way from one node to the next, an update has been heard of by those from its origin up to the
  // first of them.
  [[nodiscard]] Bool heard(const Node& origin, const Node& at, const Node& n) const {
    Bool on(true);
    Bool found(false);
    Node here = origin;
    for (int i = 0; i < k().template extent<NodeTag>(); ++i) {
      found = found || (on && here == n);
      on = on && here != at;
      here = memory().front().next(here);
    }
    return found;
  }
  template <class V>
  void updates(V& v) const {
    each_mutex(v, "a busy wire has one update on its way",
               [this](const auto& m, const Agent& a, const Mutex& mutex) {
                 AtMostOne updates;
                 for (int i = 0; i < k().template extent<NodeTag>(); ++i) {
                   K::for_each_queued(
                       m.front.ring(a, K::template constant<NodeTag>(i)),
                       [&](const Update& u) { updates.count(memory().front().same_wire(u.mutex, mutex)); });
                 }
                 return updates.holds;
               });
    each_mutex(v, "who has heard of an update agrees with it, and nobody else",
               [this](const auto& m, const Agent& a, const Mutex& mutex) {
                 return k().forall(nodes, [&](const Node& at) {
                   return !K::contains(m.front.ring(a, at), [&](const Update& u) {
                     return u.mutex == mutex && !k().forall(nodes, [&](const Node& n) {
                       return m.front.status(a, n, mutex).taken == (u.taken == heard(u.origin, at, n));
                     });
                   });
                 });
               });
    each_mutex(v, "an update says whether its mutex is held",
               [this](const auto& m, const Agent& a, const Mutex& mutex) {
                 const auto rings = memory();
                 const Bool held =
                     rings.front().is_held(m, a, mutex) || rings.front().given_back(m, a, mutex);
                 return k().forall(nodes, [&](const Node& at) {
                   return !K::contains(m.front.ring(a, at),
                                       [&](const Update& u) { return u.mutex == mutex && u.taken != held; });
                 });
               });
  }

  template <class V, class Claim>
  void each_mutex(V& v, std::string_view name, Claim claim) const {
    each_agent(v, name, [this, claim](const State&, const auto& m, const Agent& a) {
      return k().forall(mutexes, [&](const Mutex& mutex) { return claim(m, a, mutex); });
    });
  }
};

}  // namespace lockstep::fear
