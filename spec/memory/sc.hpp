// Sequential consistency: one flat memory, every operation atomic and at once. The yardstick: a memory system
// obeys a model when race-free programs can't tell it from this one.
//
// Source: Lamport, "How to make a multiprocessor computer that correctly executes multiprocess programs",
// 1979; as a baseline for GPUs, Hechtman, thesis 2014, ch. 3.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::sc {

template <class K, template <class> class Front = NoFront>
struct Protocol : MemorySystem<K> {
  using Base = MemorySystem<K>;
  using Base::Base, Base::k, Base::machine, Base::fault_bits, Base::variant;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::ThreadIx;

  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Value, BlockTag, WordTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, memory), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b, w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const { return s.memory(b, w); }
  [[nodiscard]] Bool drained(const State&) const { return true; }

  [[nodiscard]] Front<K> front() const { return {k, machine, fault_bits, variant}; }

  void rules(Rules& r) const {
    const auto asked_to = [this](Operation operation) {
      return [this, operation](const State& s, ThreadIx i) {
        return waits_for(s, i, operation) && front().admits(s, i);
      };
    };
    r.rule({.name = "loads", .unit = "memory"}, over(threads), asked_to(Operation::load),
           [](State& s, ThreadIx i) { complete<K>(s.port(i), word(s, i)); });
    r.rule({.name = "stores", .unit = "memory"}, over(threads), asked_to(Operation::store),
           [](State& s, ThreadIx i) {
             word(s, i) = s.port(i).request.a;
             complete<K>(s.port(i));
           });
    r.rule({.name = "performs an RMW", .unit = "memory"}, over(threads), asked_to(Operation::rmw),
           [=, this](State& s, ThreadIx i) {
             const Value old = word(s, i);
             word(s, i) = rmw_result(k, s.port(i).request, old);
             complete<K>(s.port(i), old);
           });
    r.rule({.name = "passes a fence", .unit = "memory"}, over(threads), asked_to(Operation::fence),
           [](State& s, ThreadIx i) { complete<K>(s.port(i)); });
  }

  void invariants(Invariants&) const {}

 private:
  static Value& word(State& s, ThreadIx i) {
    return s.memory(s.port(i).request.block, s.port(i).request.word);
  }
};

struct Info : MemoryInfo<> {
  static constexpr std::string_view name = "sc";
  static constexpr std::string_view what = "one flat memory, every operation atomic and at once";
  static constexpr int place = 0;               // among the systems, where people read of them
  static constexpr bool is_cited_whole = true;  // no rule has a place of its own in the literature
  template <class S>
  static constexpr void default_sizes(S&, int) {}
  template <class K>
  using Memory = Protocol<K>;
  // A request is performed by one rule, whole.
  static constexpr bool performs_at_once = true;
  static constexpr std::string_view monitor = "memory";
};

}  // namespace lockstep::sc
