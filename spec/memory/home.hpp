// The far end that GPU protocols share: main memory with its memory-side L3, behind a stateless (null)
// directory that also probes the CPU cluster.
//
// A memory-side L3 caches memory for whoever asks, so it is one with memory here. The CPUs are kept coherent
// among themselves by an ordinary write-back protocol with a single writer and execute in order without store
// buffers; for its threads such a cluster behaves as one cache, which is how it stands here: a line is
// absent, clean or dirty, fetching and owning it is one step, and it stays until it is invalidated. The
// directory probes it before GPU data is read from or written to memory (thesis 4.3.1, "the CPUs perform
// stores as normal with coherent write-back caches"; 4.4.1 for the null directory and the L3).
#pragma once

#include <boost/describe.hpp>

#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"

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
