// Why write-through caches answer: what each step leaves to do.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "proofs/lemmas/write_through.hpp"

namespace lockstep::write_through {

template <class System>
struct ProgressLemmas : LinkLemmas<System> {
  using Base = LinkLemmas<System>;
  using Base::k;
  using Base::w;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::ThreadIx;
  using typename Base::Up;
  static constexpr bool keeps = Base::W::Memory::keeps;

  static constexpr std::array<std::string_view, 3> left_to_the_explorer{
      "a copy in L1 has its CU's newest write on the link",
      "a copy in L2 has its agent's newest write on the link",
      "a CPU copy is current",
  };

  template <class V>
  void lemmas(V& v) const {
    Base::places(v);
    Base::pending_or_done(v);
    Base::each_thread(v, "a thread that reads nothing has no mark of a read",
                      [](const auto&, const auto& m, const ThreadIx& t) {
                        const auto& read = m.read(t);
                        return read.stage != ReadStage::none || (!read.stale1 && !read.stale2);
                      });
    if constexpr (!keeps) {
      Base::each_thread(
          v, "no marker waits for what L2 has kept",
          [](const auto&, const auto& m, const ThreadIx& t) { return m.stage(t) != Stage::writing_back; });
    }
  }

  template <class R>
  void remaining(R& r) const {
    in_requests(r);
    on_the_way(r);
  }

 protected:
  template <class R>
  void in_requests(R& r) const {
    // A request goes through its stages once.
    r.group();
    r.each(over(threads), [](const auto& m, const ThreadIx& t) {
      std::vector<Bool> left{m.port(t).pending};
      Bool before = m.port(t).pending && m.stage(t) == Stage::idle;
      for (const Stage stage : {Stage::releasing, Stage::writing_back, Stage::released, Stage::performing,
                                Stage::invalidating2}) {
        left.push_back(before);
        before = before || (m.port(t).pending && m.stage(t) == stage);
      }
      left.push_back(before);
      return left;
    });
  }
  template <class R>
  void on_the_way(R& r) const {
    // Who passes an L2 may make a read on its way to be for nothing.
    r.group();
    r.each(over(cus), [this](const auto& m, const Cu& c) {
      return rows_queued(k(), m.link1(c), [](const Up& row) { return row.kind != UpKind::read; });
    });
    // What an L2 keeps it passes on once.
    if constexpr (keeps) {
      r.group();
      r.each(over(agents, blocks, words), [](const auto& m, const Agent& a, const auto& b, const auto& word) {
        return std::vector<Bool>{m.l2(a, b).due, m.l2(a, b).dirty(word)};
      });
    }
    // A read that is for nothing is sent again.
    r.group();
    r.each(over(threads), [](const auto& m, const ThreadIx& t) {
      const auto& read = m.read(t);
      const Bool in_vain = (m.stage(t) == Stage::performing && read.stale2) ||
                           (m.stage(t) != Stage::performing && read.stale1);
      return std::vector<Bool>{read.stage != ReadStage::none && in_vain};
    });
    // A read goes through its stages, where what it is to bring is not there.
    r.group();
    r.each(over(threads), [this](const auto& m, const ThreadIx& t) {
      const auto& q = m.port(t).request;
      const Bool looks_up =
          m.port(t).pending && (q.operation == Operation::load || q.operation == Operation::rmw);
      const Bool in_l2 = m.stage(t) == Stage::performing;
      const Bool there =
          (in_l2 && m.l2(w().agent(t), q.block).present) || (!in_l2 && m.l1(w().cu(t), q.block).present);
      const auto& stage = m.read(t).stage;
      Bool before = looks_up && stage == ReadStage::none && !there;
      std::vector<Bool> left{before};
      for (const ReadStage next :
           {ReadStage::to_l2, ReadStage::to_directory, ReadStage::from_directory, ReadStage::from_l2}) {
        before = before || (looks_up && stage == next);
        left.push_back(before);
      }
      return left;
    });
    const auto any = [](const Up&) { return Bool(true); };
    r.group();
    r.each(over(cus), [=, this](const auto& m, const Cu& c) { return rows_queued(k(), m.link1(c), any); });
    r.group();
    r.each(over(agents),
           [=, this](const auto& m, const Agent& a) { return rows_queued(k(), m.link2(a), any); });
  }
};

}  // namespace lockstep::write_through
