// Why QuickRelease answers: what each step leaves to do. Writes, markers and flushes go down, level by level,
// and none comes up again; a read and a release go through their stages once.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <string_view>
#include <vector>

#include "proofs/lemmas/quick_release.hpp"

namespace lockstep::quick_release {

// Whether the last flush of each thread is for the system.
template <class Open>
struct FlushHistory {
  using K = typename Open::Kind;
  using Bool = typename K::Bool;
  struct Ghost {
    typename K::template Table<Bool, ThreadTag> wide;
    BOOST_DESCRIBE_CLASS(Ghost, (), (wide), (), ())
  };
  const Open& open;
  void step(Ghost& g, const typename Open::State& before, const typename Open::State& after) const {
    open.kind().for_each(threads, [&](const auto& t) {
      const Bool flushes = before.memory.stage(t) == Stage::stored && after.memory.stage(t) == Stage::idle;
      g.wide(t) = K::select(flushes, Bool(to_system(before.memory, t)), Bool(g.wide(t)));
    });
  }
};

template <class System>
struct ProgressLemmas : PlaceLemmas<System> {
  using Base = PlaceLemmas<System>;
  using Base::k;
  using typename Base::Agent;
  using typename Base::Bool;
  using typename Base::Cu;
  using typename Base::Entry;
  using typename Base::M;
  using typename Base::ThreadIx;
  using typename Base::Up;

  static constexpr std::array<std::string_view, 5> left_to_the_explorer{
      "the written bit of rL1 is set while wL1 is newer",
      "the written bit of rL2 is set while wL2 is newer",
      "a copy in rL1 is current, or newer data waits above it, or its invalidation is on the way",
      "a copy in rL2 is current, or newer data waits above it, or its invalidation is on the way",
      "a CPU copy is current",
  };

  template <class V>
  void lemmas(V& v) const {
    Base::places(v);
    Base::loads_release_nothing(v);
    const auto of_rmw = [](const Entry& e) { return e.kind == EntryKind::atomic; };
    Base::each_agent(v, "an S-FIFO2 holds nothing of an RMW",
                     [of_rmw](const auto&, const M& m, const Agent& a) {
                       return !System::Kind::contains(m.fifo2(a), of_rmw);
                     });
    v.invariant("S-FIFO3 holds nothing of an RMW",
                [of_rmw](const auto& s) { return !System::Kind::contains(s.system.memory.fifo3, of_rmw); });
  }

  template <class R>
  void remaining(R& r) const {
    r.group();
    r.each(over(threads), [](const M& m, const ThreadIx& t) {
      const Bool waits = m.port(t).pending;
      std::vector<Bool> left{waits};
      Bool before = waits && m.stage(t) == Stage::idle;
      for (const Stage stage : {Stage::releasing, Stage::awaiting, Stage::released}) {
        left.push_back(before);
        before = before || (waits && m.stage(t) == stage);
      }
      left.push_back(before);
      const Bool loads = waits && m.port(t).request.operation == Operation::load;
      Bool read = loads && m.read(t).stage == ReadStage::none;
      for (const ReadStage stage : {ReadStage::to_l2, ReadStage::to_directory, ReadStage::from_directory}) {
        left.push_back(read);
        read = read || (loads && m.read(t).stage == stage);
      }
      left.push_back(read);
      return left;
    });
    r.group();
    r.each(over(threads), [](const M& m, const ThreadIx& t) { return std::vector<Bool>{m.flushing(t)}; });
    const auto entry = [](const Entry&) { return Bool(true); };
    const auto message = [](const Up&) { return Bool(true); };
    r.group();
    r.each(over(cus, blocks, words), [](const M& m, const Cu& c, const auto& b, const auto& w) {
      return std::vector<Bool>{m.wl1(c, b).dirty(w)};
    });
    r.each(over(queues),
           [=, this](const M& m, const auto& q) { return rows_queued(k(), m.fifo1(q), entry); });
    r.group();
    r.each(over(cus), [=, this](const M& m, const Cu& c) { return rows_queued(k(), m.link1(c), message); });
    r.group();
    r.each(over(agents, blocks, words), [](const M& m, const Agent& a, const auto& b, const auto& w) {
      return std::vector<Bool>{m.wl2(a, b).dirty(w)};
    });
    r.each(over(agents),
           [=, this](const M& m, const Agent& a) { return rows_queued(k(), m.fifo2(a), entry); });
    r.group();
    r.each(over(agents),
           [=, this](const M& m, const Agent& a) { return rows_queued(k(), m.link2(a), message); });
    r.group();
    r.each(over(blocks, words),
           [](const M& m, const auto& b, const auto& w) { return std::vector<Bool>{m.wl3(b).dirty(w)}; });
    r.each(over(), [=, this](const M& m) { return rows_queued(k(), m.fifo3, entry); });
    r.group();
    r.each(over(agents, blocks), [](const M& m, const Agent& a, const auto& b) {
      return std::vector<Bool>{m.invalidation2(a, b)};
    });
    r.group();
    r.each(over(cus, blocks),
           [](const M& m, const Cu& c, const auto& b) { return std::vector<Bool>{m.invalidation1(c, b)}; });
  }
};

}  // namespace lockstep::quick_release
