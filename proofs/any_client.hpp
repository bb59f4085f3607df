// A memory system with a client that may do anything the port admits: at any moment any idle thread asks for
// any operation, at any place, with any operands, order, scope and function, or ends. Values are words of
// any content, those in memory at the start among them.
//
// What it may begin, a program need not: a real thread may wait at a barrier, or for a kernel to end. What it
// may always do is to take an answer.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"

namespace lockstep {

template <class Info, class K>
class AnyClient {
 public:
  using Kind = K;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  struct State {
    MemoryState memory;
    BOOST_DESCRIBE_CLASS(State, (), (memory), (), ())
  };

  AnyClient(K kind, Machine<K> machine, std::uint64_t fault_bits, int variant)
      : k_(std::move(kind)), machine_(std::move(machine)), fault_bits_(fault_bits), variant_(variant) {}

  // Whether a rule is the client's, and whether it begins something.
  static bool is_of_client(const Rule& rule) { return rule.unit == client; }
  static bool begins(const Rule& rule) { return is_of_client(rule) && rule.name != takes; }

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Machine<K>& machine() const { return machine_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }

  void start(StartList<K, State>& list) const {
    list.start(over(), [this](State& s) {
      k_.for_each(blocks, [&](const auto& b) {
        k_.for_each(words, [&](const auto& w) {
          typename K::Value content;
          K::make_anything(content, "content " + b.term().to_string() + " " + w.term().to_string());
          memory().initialise(s.memory, b, w, content);
        });
      });
    });
  }

  void rules(RuleList<K, State>& list) const {
    const auto idle = [](const State& s, ThreadIx t) {
      const auto& port = s.memory.port(t);
      return !port.pending && !port.done && !port.ended;
    };
    list.rule({.name = "asks for anything", .unit = client}, over(threads), idle, [](State& s, ThreadIx t) {
      auto& port = s.memory.port(t);
      K::make_anything(port.request, "asked");
      // A load releases nothing (semantics of the port: an sc load is an acquire).
      K::when(port.request.operation == Operation::load && releases(port.request.order),
              [&] { port.request.order = Order::plain; });
      port.pending = true;
    });
    list.rule(
        {.name = takes, .unit = client}, over(threads),
        [](const State& s, ThreadIx t) { return s.memory.port(t).done; },
        [](State& s, ThreadIx t) {
          s.memory.port(t).done = false;
          s.memory.port(t).result = typename K::Value(0);
        });
    list.rule({.name = "ends", .unit = client}, over(threads), idle,
              [](State& s, ThreadIx t) { s.memory.port(t).ended = true; });
    RuleList<K, MemoryState> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    list.part(of_memory, &State::memory);
  }

 private:
  static constexpr std::string_view client = "thread";
  static constexpr std::string_view takes = "takes its completion";

  K k_;
  Machine<K> machine_;
  std::uint64_t fault_bits_;
  int variant_;
};

// With the memory system's own properties, which is what a proof reads.
template <class Info, class K>
class AskedAnything : public AnyClient<Info, K> {
 public:
  using State = typename AnyClient<Info, K>::State;
  using AnyClient<Info, K>::AnyClient;
  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, typename AnyClient<Info, K>::MemoryState> of_memory;
    of_memory.keep(this->memory()).invariants(of_memory);
    v.part(of_memory, &State::memory);
  }
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return false; }
};

}  // namespace lockstep
