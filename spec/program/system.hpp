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

// Which blocks a program may still read, from each place in it: what lies in a read cache beyond that is
// dead.
class FutureReads {
 public:
  using Blocks = std::uint32_t;  // a set, one bit a block

  explicit FutureReads(const Program& program) {
    for (const Thread& thread : program.threads) from_.push_back(of_thread(program, thread));
  }
  [[nodiscard]] Blocks from(std::size_t thread, std::size_t pc) const {
    const auto& at = from_[thread];
    return pc < at.size() ? at[pc] : 0;
  }

 private:
  static std::vector<Blocks> of_thread(const Program& program, const Thread& thread) {
    const std::size_t n = thread.code.size();
    std::vector<Blocks> at(n + 1, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t pc = n; pc-- > 0;) {
        const Instruction& i = thread.code[pc];
        Blocks blocks = i.opcode == Opcode::jump ? 0 : at[pc + 1];
        if (i.opcode == Opcode::jump || i.opcode == Opcode::branch)
          blocks |= at[static_cast<std::size_t>(i.target)];
        if (i.opcode == Opcode::load || i.opcode == Opcode::rmw) {
          blocks |= Blocks{1} << program.locations[static_cast<std::size_t>(i.location)].block;
        }
        changed |= blocks != at[pc];
        at[pc] = blocks;
      }
    }
    return at;
  }
  std::vector<std::vector<Blocks>> from_;
};

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
  // `memory_observed`: whether somebody will read final_value; if not, what is in memory when all threads
  // have ended is dead.
  System(K kind, Machine<K> machine, std::shared_ptr<const Program> program, std::uint64_t fault_bits,
         int variant, bool memory_observed)
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        program_(std::move(program)),
        future_(*program_),
        fault_bits_(fault_bits),
        variant_(variant),
        memory_observed_(memory_observed) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const Machine<K>& machine() const { return machine_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, *program_}; }

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
    r.keep(threads_of_program()).rules(r);
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

  void normalise(State& s) const {
    if (!memory_observed_ && K::truth(k_.forall(threads, [&](auto t) { return s.port(t).ended; }))) {
      s.memory = MemoryState{};
      k_.for_each(threads, [&](auto t) { s.port(t).ended = true; });
      return;
    }
    Wanted wanted{};
    for (int t = 0; t < static_cast<int>(program_->threads.size()); ++t) {
      const auto i = K::template constant<ThreadTag>(t);
      if (K::truth(s.port(i).ended)) continue;
      const auto blocks = future_.from(static_cast<std::size_t>(t), s.context(i).pc.v);
      if (K::truth(machine_.is_host(i))) continue;
      wanted.cu[machine_.cu_of(i).v] |= blocks;
      wanted.agent[machine_.agent_of(machine_.cu_of(i)).v] |= blocks;
    }
    memory().normalise(s.memory, wanted);
  }

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
  struct Wanted {
    std::array<FutureReads::Blocks, CuTag::capacity> cu;
    std::array<FutureReads::Blocks, AgentTag::capacity> agent;
    template <class Ix, class B>
    [[nodiscard]] bool by_cu(Ix c, B b) const {
      return ((cu[c.v] >> b.v) & 1U) != 0;
    }
    template <class Ix, class B>
    [[nodiscard]] bool by_agent(Ix a, B b) const {
      return ((agent[a.v] >> b.v) & 1U) != 0;
    }
  };

  K k_;
  Machine<K> machine_;
  std::shared_ptr<const Program> program_;
  FutureReads future_;
  std::uint64_t fault_bits_;
  int variant_;
  bool memory_observed_;
};

}  // namespace lockstep
