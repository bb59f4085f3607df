// The far end that GPU protocols share: main memory with its memory-side L3, behind a stateless (null)
// directory that also probes the CPU cluster.
//
// A memory-side L3 caches memory for whoever asks, so it is one with memory here. The CPUs are kept coherent
// among themselves by an ordinary write-back protocol with a single writer and execute in order without store
// buffers; for its threads such a cluster behaves as one cache, which is how it stands here: a line is
// absent, clean or dirty, fetching and owning it is one step, and it stays until it is invalidated. The
// directory probes it before GPU data is read from or written to memory (thesis 4.3.1, "the CPUs perform
// stores as normal with coherent write-back caches"; 4.4.1 for the null directory and the L3). What CPUs do
// is stated here once, for every memory system with such a home.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "spec/memory/memory_system.hpp"

namespace lockstep {

template <class K>
struct Home {
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;
  using Data = typename K::template Array<Value, WordTag>;
  using Mask = typename K::template Array<Bool, WordTag>;

  struct Line {
    Bool present;
    Bool dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, dirty, data), (), ())
  };
  struct State {
    typename K::template Table<Line, BlockTag> cpu;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (cpu, memory), (), ())
  };

  // Where a paper tells of what CPUs do.
  struct Sources {
    std::string_view load;
    std::string_view store;
    std::string_view rmw;
    std::string_view fence;
  };

  const K& k;

  // What a CPU would read: the cluster's copy, else memory.
  [[nodiscard]] Value current(const State& s, Block b, Word w) const {
    return k.select(s.cpu(b).present, s.cpu(b).data(w), s.memory(b)(w));
  }

  // A GPU read reaches the directory: a dirty CPU line is written back and stays as a clean copy.
  Data read(State& s, Block b) const {
    write_back(s, b);
    return s.memory(b);
  }

  // GPU data reaches memory: the CPU cluster's copy goes first, "before the line is written to the L3 cache
  // or main memory" (4.3.1).
  void write(State& s, Block b, const Mask& mask, const Data& data, bool invalidate_cpu = true) const {
    write_back(s, b);
    if (invalidate_cpu) s.cpu(b) = Line{};
    k.for_each(words, [&](Word w) { k.when(mask(w), [&] { s.memory(b)(w) = data(w); }); });
  }

  Value cpu_load(State& s, Block b, Word w) const {
    fetch(s, b);
    return k.pick(words, w, [&](Word i) { return s.cpu(b).data(i); });
  }
  void cpu_store(State& s, Block b, Word w, const Value& value) const {
    fetch(s, b);
    k.at(words, w, [&](Word i) { s.cpu(b).data(i) = value; });
    s.cpu(b).dirty = true;
  }

  // A CPU's access is one step, in a memory system whose state has this one as `home`. `ready(s, t)`: what
  // the thread's request has to wait for, but for a load, has happened; `passes(s, t, wrote)` is what comes
  // of it in the memory system, of a write or of a fence.
  template <class Rules, class System, class Ready, class Passes>
  void cpu_rules(Rules& r, const System& system, const Sources& sources, Ready ready, Passes passes) const {
    using S = typename Rules::State;
    using ThreadIx = typename K::template Ix<ThreadTag>;
    const auto asks_now = [&system, ready](const S& s, ThreadIx t, Operation operation) {
      return system.on_cpu(s, t) && asks(s, t, operation) && ready(s, t);
    };
    r.rule(
        {.name = "CPU loads", .unit = "CPU", .source = sources.load}, over(threads),
        [&system](const S& s, ThreadIx t) { return system.on_cpu(s, t) && asks(s, t, Operation::load); },
        [home = *this](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          complete<K>(s.port(t), home.cpu_load(s.home, q.block, q.word));
        });
    r.rule(
        {.name = "CPU stores", .unit = "CPU", .source = sources.store}, over(threads),
        [asks_now](const S& s, ThreadIx t) { return asks_now(s, t, Operation::store); },
        [home = *this, passes](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          home.cpu_store(s.home, q.block, q.word, q.a);
          passes(s, t, true);
          complete<K>(s.port(t));
        });
    r.rule(
        {.name = "CPU performs an RMW", .unit = "CPU", .source = sources.rmw}, over(threads),
        [asks_now](const S& s, ThreadIx t) { return asks_now(s, t, Operation::rmw); },
        [home = *this, passes](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const Value old = home.cpu_load(s.home, q.block, q.word);
          home.cpu_store(s.home, q.block, q.word, rmw_result(home.k, q, old));
          passes(s, t, true);
          complete<K>(s.port(t), old);
        });
    r.rule(
        {.name = "CPU passes a fence", .unit = "CPU", .source = sources.fence}, over(threads),
        [asks_now](const S& s, ThreadIx t) { return asks_now(s, t, Operation::fence); },
        [passes](S& s, ThreadIx t) {
          passes(s, t, false);
          complete<K>(s.port(t));
        });
  }

  template <class Invariants>
  void invariants(Invariants& v) const {
    v.invariant("a CPU copy is current", [k = &k](const auto& s) {
      return k->forall(blocks, [&](Block b) {
        return !s.home.cpu(b).present || s.home.cpu(b).dirty ||
               k->forall(words, [&](Word w) { return s.home.cpu(b).data(w) == s.home.memory(b)(w); });
      });
    });
  }

 private:
  void fetch(State& s, Block b) const {
    k.when(!s.cpu(b).present, [&] {
      s.cpu(b).present = true;
      s.cpu(b).data = s.memory(b);
    });
  }
  void write_back(State& s, Block b) const {
    k.when(s.cpu(b).dirty, [&] {
      s.memory(b) = s.cpu(b).data;
      s.cpu(b).dirty = false;
    });
  }
};

}  // namespace lockstep
