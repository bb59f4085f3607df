// Composition: the threads of a program on a memory system, as one state with one set of rules.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "spec/kernel/rules.hpp"
#include "spec/program/claims.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"
#include "spec/program/threads.hpp"

namespace lockstep {

// `Info` describes the memory system (its name, faults, variants, sizes and Memory<K>).
template <class Info, class K>
class System {
 public:
  using Kind = K;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadsOfProgram = Threads<K, MemoryState>;
  using State = typename ThreadsOfProgram::State;

  // The kind comes with the sizes of the run; see checker/systems for how they follow from the program.
  System(K kind, Machine<K> machine, std::shared_ptr<const Program> program, std::uint64_t fault_bits,
         int variant)
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        program_(std::move(program)),
        counted_(*program_),
        fault_bits_(fault_bits),
        variant_(variant) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const Machine<K>& machine() const { return machine_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, *program_, counted_}; }

  void start(StartList<K, State>& s) const {
    s.start(over(), [this](State& state) {
      for (const Location& location : program_->locations) {
        memory().initialise(state.memory, K::template constant<BlockTag>(location.block),
                            K::template constant<WordTag>(location.word),
                            typename K::Value(location.initial_value));
      }
      threads_of_program().start(state);
    });
  }

  void rules(RuleList<K, State>& r) const {
    client_rules(r);
    memory_rules(r);
  }
  void client_rules(RuleList<K, State>& r) const { r.keep(threads_of_program()).rules(r); }
  // The same for every program at the same sizes.
  void memory_rules(RuleList<K, State>& r) const {
    RuleList<K, MemoryState> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    r.part(of_memory, &State::memory);
  }

  void assertions(InvariantList<K, State>& v) const {
    claims(v, *this, [](const State& s) -> const State& { return s; });
  }

  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, MemoryState> of_memory;
    of_memory.keep(memory()).invariants(of_memory);
    v.part(of_memory, &State::memory);
  }

  void restore(State& s) const { threads_of_program().restore(s); }

  // A bool where the kind's truths are; else what it takes.
  [[nodiscard]] auto proper_end(const State& s) const {
    const typename K::Bool ended =
        k_.forall(threads, [&](auto t) { return s.port(t).ended; }) && memory().drained(s.memory);
    if constexpr (requires { K::truth(ended); }) {
      return K::truth(ended);
    } else {
      return ended;
    }
  }

  // The final value of a location; meaningful at a proper end.
  [[nodiscard]] typename K::Value final_value(const State& s, const Location& location) const {
    return memory().final_value(s.memory, K::template constant<BlockTag>(location.block),
                                K::template constant<WordTag>(location.word));
  }

 private:
  K k_;
  Machine<K> machine_;
  std::shared_ptr<const Program> program_;
  CountedBarriers counted_;
  std::uint64_t fault_bits_;
  int variant_;
};

}  // namespace lockstep
