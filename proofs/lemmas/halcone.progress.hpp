// Why HALCONE answers: a request goes up to memory and comes back, and waits on its way for no more than what
// is further on, or for time to begin again.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "proofs/lemmas/halcone.hpp"

namespace lockstep::halcone {

template <class System>
struct ProgressLemmas : LeaseLemmas<System> {
  using Base = LeaseLemmas<System>;
  using typename Base::Bool;
  using typename Base::MemoryState;
  using typename Base::ThreadIx;

  static constexpr std::array<std::string_view, 3> left_to_the_explorer{
      "no lease of a copy ends after memory's time",
      "copies that may be read at one time are the same",
      "a copy with the newest lease is what memory holds",
  };

  template <class V>
  void lemmas(V& v) const {
    Base::requests(v);
    Base::loads_release_nothing(v);
  }

  template <class R>
  void remaining(R& r) const {
    r.group();
    r.each(over(threads), [](const MemoryState& m, const ThreadIx& t) {
      const Bool waits = m.port(t).pending;
      std::vector<Bool> left{waits};
      Bool before = waits && m.transit(t).stage == Stage::none;
      for (const Stage stage : {Stage::to_l2, Stage::to_memory, Stage::from_memory}) {
        left.push_back(before);
        before = before || (waits && m.transit(t).stage == stage);
      }
      left.push_back(before);
      return left;
    });
    // Whoever is served moves time on, and so may bring others to its end.
    r.group();
    r.each(over(threads), [this](const MemoryState& m, const ThreadIx& t) {
      return std::vector<Bool>{Base::p().asks_memory(m, t) && Base::p().overflows(m, t)};
    });
  }
};

}  // namespace lockstep::halcone
