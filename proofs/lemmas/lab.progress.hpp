// Why a write-through hierarchy with LABs answers: beside what it has to do itself, buffered lines go down
// once.
#pragma once

#include <vector>

#include "proofs/lemmas/write_through.progress.hpp"
#include "spec/memory/lab.hpp"

namespace lockstep::lab {

template <class System>
struct ProgressLemmas : write_through::ProgressLemmas<System> {
  using Base = write_through::ProgressLemmas<System>;
  using Base::k;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::ThreadIx;

  template <class V>
  void lemmas(V& v) const {
    Base::lemmas(v);
    Base::each_thread(
        v, "what the LAB takes does not go on", [this](const auto&, const auto& m, const ThreadIx& t) {
          const Bool goes_on =
              m.stage(t) != write_through::Stage::idle || m.read(t).stage != write_through::ReadStage::none;
          return !goes_on || !Base::system.system().memory().front().takes(m, t);
        });
    Base::each_cu(v, "a LAB holds what a thread of its CU has left there",
                  [this](const auto&, const auto& m, const Cu& c) {
                    return !holds_something(m, c) || k().exists(threads, [&](const ThreadIx& t) {
                      return !Base::w().host(t) && Base::w().cu(t) == c;
                    });
                  });
  }

  template <class R>
  void remaining(R& r) const {
    Base::in_requests(r);
    r.group();
    r.each(over(cus, blocks),
           [](const auto& m, const Cu& c, const auto& b) { return std::vector<Bool>{holds(m, c, b)}; });
    r.each(over(cus), [this](const auto& m, const Cu& c) {
      const Bool holds = k().exists(
          blocks, [&](const auto& b) { return m.front.lab(c, b).function != RmwFunction::exchange; });
      return std::vector<Bool>{holds && !m.front.flushing(c)};
    });
    Base::on_the_way(r);
  }

 private:
  [[nodiscard]] static Bool holds(const auto& m, const Cu& c, const auto& b) {
    return m.front.lab(c, b).function != RmwFunction::exchange;
  }
  [[nodiscard]] Bool holds_something(const auto& m, const Cu& c) const {
    return k().exists(blocks, [&](const auto& b) { return holds(m, c, b); });
  }
};

}  // namespace lockstep::lab
