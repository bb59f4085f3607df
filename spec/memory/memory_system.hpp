// What every memory system takes, and the words in which its rules speak of a GPU: each has one meaning,
// whichever the system.
//
// A memory system derives from MemorySystem, which holds the choice of faults and variant (choice.hpp), the
// kind and who sits where, and brings in what it uses:
//   using Base = MemorySystem<K, faults, variants>;
//   using Base::Base, Base::k, Base::fault, Base::cu, Base::on_gpu;
//   using typename Base::Bool, typename Base::Cu;
// Its description derives from MemoryInfo.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "spec/kernel/choice.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"

namespace lockstep {

// ---- a thread's request -----------------------------------------------------------------------------------
//
// `s` has the ports of the threads, `t` is one of them. A request means something as long as it is pending,
// which on_gpu and on_cpu ask.

template <class State, class Thread>
auto asks(const State& s, const Thread& t, Operation operation) {
  return s.port(t).request.operation == operation;
}
// Wherever the thread runs.
template <class State, class Thread>
auto waits_for(const State& s, const Thread& t, Operation operation) {
  return s.port(t).pending && asks(s, t, operation);
}
// A store or an RMW.
template <class State, class Thread>
auto writes(const State& s, const Thread& t) {
  return asks(s, t, Operation::store) || asks(s, t, Operation::rmw);
}
// The scope reaches beyond the work-group, which shares one CU. A plain access has a scope that nobody asks
// for, so of what may be plain the next two are asked.
template <class State, class Thread>
auto beyond_group(const State& s, const Thread& t) {
  return !within_work_group(s.port(t).request.scope);
}
template <class State, class Thread>
auto to_system(const State& s, const Thread& t) {
  return s.port(t).request.scope == Scope::system;
}
// An atomic access or a fence whose scope is such: more than one CU, or more than one agent, has to see it.
template <class State, class Thread>
auto atomic_beyond_group(const State& s, const Thread& t) {
  return beyond_group(s, t) && s.port(t).request.order != Order::plain;
}
template <class State, class Thread>
auto atomic_to_system(const State& s, const Thread& t) {
  return to_system(s, t) && s.port(t).request.order != Order::plain;
}

// ---- a memory system --------------------------------------------------------------------------------------

// `first_fault`: how many faults of others come ahead of these.
template <class K, const auto& faults = no_faults, const auto& variants = only_variant,
          unsigned first_fault = 0>
struct MemorySystem : Choice<faults, variants, first_fault> {
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Cu = typename K::template Ix<CuTag>;
  using Agent = typename K::template Ix<AgentTag>;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;
  using Data = typename K::template Array<Value, WordTag>;  // of a block
  using Mask = typename K::template Array<Bool, WordTag>;

  const K& k;
  const Machine<K>& machine;

  MemorySystem(const K& kind, const Machine<K>& who_sits_where, std::uint64_t fault_bits = 0, int variant = 0)
      : Choice<faults, variants, first_fault>{fault_bits, variant}, k(kind), machine(who_sits_where) {}

  [[nodiscard]] Cu cu(ThreadIx t) const { return machine.cu_of(t); }
  [[nodiscard]] Agent agent(ThreadIx t) const { return machine.agent_of(machine.cu_of(t)); }

  // The thread waits for its request, on a GPU or on a CPU.
  template <class State>
  [[nodiscard]] Bool on_gpu(const State& s, ThreadIx t) const {
    return s.port(t).pending && !machine.is_host(t);
  }
  template <class State>
  [[nodiscard]] Bool on_cpu(const State& s, ThreadIx t) const {
    return s.port(t).pending && machine.is_host(t);
  }

  // Of each of two index types.
  template <class First, class Second, class F>
  [[nodiscard]] Bool every(First first, Second second, F&& f) const {
    const K& kind = k;
    return kind.forall(first, [&](typename K::template Ix<First> i) {
      return kind.forall(second, [&](typename K::template Ix<Second> j) { return f(i, j); });
    });
  }
  [[nodiscard]] Value word_of(const Data& data, Word word) const {
    return k.pick(words, word, [&](Word w) { return data(w); });
  }
  void put(Data& data, Word word, const Value& value) const {
    k.at(words, word, [&](Word w) { data(w) = value; });
  }
  [[nodiscard]] Bool same(const Data& a, const Data& b) const {
    return k.forall(words, [&](Word w) { return a(w) == b(w); });
  }
};

// No front of a memory system: a request of a thread of a GPU reaches its cache, or memory, at once. A front
// (mttop.hpp) says which may reach it when.
template <class K>
struct NoFront : MemorySystem<K> {
  using MemorySystem<K>::MemorySystem;
  static constexpr unsigned own_faults = 0;  // those of what stands behind it come after them

  template <class S, class ThreadIx>
  [[nodiscard]] typename K::Bool admits(const S&, const ThreadIx&) const {
    return true;
  }
};

// Where a monitor of waiting atomics can stand (spec/scheduler/waiting_policies.hpp), in words. Unless it
// performs every request at once, the memory system then offers
//   Bool to_be_performed(s, t)  the thread's pending request is an access yet to be performed there
//   Value found(s, t)           what it has found, once a load or an RMW has been performed there
//   Value at_monitor(s, b, w)   the word as it is there, if that is not its final_value
// What is performed elsewhere, as in an L1, nobody there sees.
template <class Info>
concept HasMonitor = requires {
  { Info::monitor } -> std::convertible_to<std::string_view>;
};

// `Tags`: the index types that it has beside the machine's.
template <const auto& faults = no_faults, const auto& variants = only_variant, class... Tags>
struct MemoryInfo : SystemInfo<faults, variants> {
  template <class Capacities>
  using Sizes = MachineSizes<Capacities, Tags...>;
  static constexpr bool is(int variant, NameIn<variants> name) { return variant == name; }
};

}  // namespace lockstep
