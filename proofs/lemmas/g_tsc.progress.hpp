// Why G-TSC answers: a renewal that finds another copy than it was asked for asks again, and that copy was
// brought by somebody who has been answered, or time has begun again and there is none.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "proofs/lemmas/g_tsc.hpp"

namespace lockstep::g_tsc {

template <class System>
struct ProgressLemmas : MemoryClaims<System> {
  using Base = MemoryClaims<System>;
  using Base::each_thread;
  using Base::k;
  using typename Base::Bool;
  using typename Base::Open;
  using typename Base::State;
  using W = Words<Open>;
  using Number = typename System::Kind::Number;
  using ThreadIx = typename W::ThreadIx;
  using Block = typename W::Block;
  using Memory = typename W::Memory;
  using M = typename W::MemoryState;
  using Line = typename Memory::Line;

  static constexpr std::array<std::string_view, 3> left_to_the_explorer{
      "no lease of a copy ends after its block's",
      "a copy whose lease reaches the last write is what L2 holds",
      "copies of one version are the same",
  };

  template <class V>
  void lemmas(V& v) const {
    Base::pending_or_done(v);
    Base::loads_release_nothing(v);
    each_thread(v, "what is in flight is what a thread waits for",
                [](const State&, const M& m, const ThreadIx& t) {
                  return !Memory::in_flight(m, t) || (m.port(t).pending && !asks(m, t, Operation::fence));
                });
    each_thread(v, "who has locked a block is a store in flight, alone",
                [this](const State&, const M& m, const ThreadIx& t) {
                  const Bool alone = k().forall(threads, [&](const ThreadIx& u) {
                    return u == t || !m.transit(u).hit || w().cu(u) != w().cu(t) ||
                           Memory::block(m, u) != Memory::block(m, t);
                  });
                  return !m.transit(t).hit || (Memory::in_flight(m, t) && asks(m, t, Operation::store) &&
                                               !w().host(t) && copy(m, t).locked && alone);
                });
    each_thread(v, "an answer alone brings data", [](const State&, const M& m, const ThreadIx& t) {
      return !m.transit(t).brings || m.transit(t).stage == Stage::from_l2;
    });
    v.invariant("a version of L2's is none", [this](const State& s) {
      return k().forall(blocks, [&](const Block& b) {
        const auto& line = s.system.memory.l2(b);
        return !line.present || (!line.fetching && Number(1) <= line.wts && Number(1) <= line.rts);
      });
    });
  }

  template <class R>
  void remaining(R& r) const {
    r.group();
    r.each(over(threads), [](const M& m, const ThreadIx& t) {
      const Bool waits = m.port(t).pending;
      const Bool writes = waits && !asks(m, t, Operation::load);
      const auto& stage = m.transit(t).stage;
      return std::vector<Bool>{waits, writes && stage == Stage::none,
                               writes && (stage == Stage::none || stage == Stage::to_l2)};
    });
    // A renewal that will find another copy: one that was brought meanwhile.
    r.group();
    r.each(over(threads), [this](const M& m, const ThreadIx& t) {
      return std::vector<Bool>{in_flight_for_times(m, t) && copy(m, t).present &&
                               copy(m, t).wts != m.transit(t).wts};
    });
    // A load that asks for no version is answered with data.
    r.group();
    r.each(over(threads), [this](const M& m, const ThreadIx& t) {
      const auto& transit = m.transit(t);
      const Bool renews = in_flight_for_times(m, t) && (transit.stage == Stage::from_l2 || transit.wts != 0);
      return std::vector<Bool>{
          renews || (loads(m, t) && !w().host(t) && transit.stage == Stage::none && copy(m, t).present)};
    });
    r.group();
    r.each(over(threads), [](const M& m, const ThreadIx& t) {
      const auto& stage = m.transit(t).stage;
      return std::vector<Bool>{loads(m, t) && stage == Stage::none,
                               loads(m, t) && (stage == Stage::none || stage == Stage::to_l2)};
    });
    r.group();
    r.each(over(blocks), [](const M& m, const Block& b) {
      const Bool absent = !m.l2(b).present && !m.l2(b).fetching;
      return std::vector<Bool>{absent, absent || m.l2(b).fetching};
    });
    r.group();
    r.each(over(threads), [this](const M& m, const ThreadIx& t) {
      return std::vector<Bool>{m.transit(t).stage == Stage::to_l2 && m.l2(Memory::block(m, t)).present &&
                               Base::system.system().memory().overflows(m, t)};
    });
  }

 private:
  [[nodiscard]] W w() const { return W{Base::system.system()}; }
  [[nodiscard]] const Line& copy(const M& m, const ThreadIx& t) const {
    return m.l1(w().cu(t), Memory::block(m, t));
  }
  [[nodiscard]] static Bool loads(const M& m, const ThreadIx& t) {
    return m.port(t).pending && asks(m, t, Operation::load);
  }
  // A load that passes an L1, and that no data have been found for yet.
  [[nodiscard]] Bool in_flight_for_times(const M& m, const ThreadIx& t) const {
    return loads(m, t) && !w().host(t) && Memory::in_flight(m, t) && !m.transit(t).brings;
  }
};

}  // namespace lockstep::g_tsc
