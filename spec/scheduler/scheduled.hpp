// Composition: the threads of a program under a scheduler, on a memory system.
//
// A thread's step is handing a request to the port, and the scheduler may hold it back; what memory then does
// with the request is hardware, and what the thread does until its next request nobody can tell. Where memory
// performs every request at once (`performs_at_once`), a request and its performance are one step: issuing
// one commutes with what others do until it is performed.
//
// A scheduler with a monitor watches values go by: there, whatever is performed, and elsewhere what is
// performed where the memory system says that a monitor stands (memory_system.hpp).
#pragma once

#include <boost/describe.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "spec/memory/memory_system.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/claims.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"
#include "spec/program/threads.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// `Info` describes the memory system, Scheduler<K> is one of spec/scheduler.
template <class Info, template <class> class Scheduler, class K>
class ScheduledSystem {
 public:
  using Kind = K;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadsOfProgram = Threads<K, MemoryState>;
  using MachineState = typename ThreadsOfProgram::State;
  using Sched = Scheduler<K>;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using WorkGroup = typename K::template Ix<WorkGroupTag>;

  struct State {
    MachineState machine;
    typename Sched::State scheduler;
    BOOST_DESCRIBE_CLASS(State, (), (machine, scheduler), (), ())
  };

  static constexpr bool performs_at_once = requires { requires Info::performs_at_once; };
  static_assert(HasMonitor<Info> || !Sched::observes);

  ScheduledSystem(K kind, Machine<K> machine, WorkGroupOrder<K> order, std::shared_ptr<const Program> program,
                  SchedulerSetup setup, std::uint64_t fault_bits, int variant)
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        order_(std::move(order)),
        program_(std::move(program)),
        counted_(*program_),
        setup_(setup),
        fault_bits_(fault_bits),
        variant_(variant) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, *program_, counted_}; }
  [[nodiscard]] Sched scheduler() const { return {k_, machine_, order_, setup_}; }

  void start(StartList<K, State>& s) const {
    const auto with = [&](int slots) {
      s.start(over(), [this, slots](State& state) {
        for (const Location& location : program_->locations) {
          memory().initialise(state.machine.memory, K::template constant<BlockTag>(location.block),
                              K::template constant<WordTag>(location.word), Value(location.initial_value));
        }
        threads_of_program().start(state.machine);
        scheduler().start(state.scheduler, slots);
      });
    };
    if (!setup_.any_slots) return with(setup_.slots);
    for (int slots = 1; slots <= k_.extent(work_groups); ++slots) with(slots);
  }

  void rules(RuleList<K, State>& r) const {
    const Sched& sched = r.keep(scheduler());
    RuleList<K, MachineState> of_threads(k_);
    of_threads.keep(threads_of_program()).rules(of_threads);
    hold_back(of_threads, sched, r);
    RuleList<K, MemoryState> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    perform(of_memory, sched, r);
    const auto part = [](auto& s) -> auto& {
      return s.scheduler;
    };
    const auto live = [this](const State& s, WorkGroup w) { return is_live(s, w); };
    if constexpr (Sched::observes) {
      sched.rules(r, part, live, [this](const State& s, auto b, auto w, const Value& v) {
        return at_monitor(s, b, w) == v;
      });
    } else {
      sched.rules(r, part, live);
    }
  }

  void assertions(InvariantList<K, State>& v) const {
    claims(v, *this, [](const State& s) -> const MachineState& { return s.machine; });
  }
  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, MemoryState> of_memory;
    of_memory.keep(memory()).invariants(of_memory);
    InvariantList<K, MachineState> of_machine;
    of_machine.part(of_memory, &MachineState::memory);
    v.part(of_machine, &State::machine);
  }

  void restore(State& s) const { threads_of_program().restore(s.machine); }

  // As of a system without scheduler (system.hpp).
  [[nodiscard]] auto proper_end(const State& s) const {
    const Bool ended = k_.forall(threads, [&](auto t) { return s.machine.port(t).ended; }) &&
                       memory().drained(s.machine.memory);
    if constexpr (requires { K::truth(ended); }) {
      return K::truth(ended);
    } else {
      return ended;
    }
  }
  [[nodiscard]] Value final_value(const State& s, const Location& location) const {
    return memory().final_value(s.machine.memory, K::template constant<BlockTag>(location.block),
                                K::template constant<WordTag>(location.word));
  }

  // Whether the scheduler owes the thread its execution.
  [[nodiscard]] Bool owes(const State& s, ThreadIx i) const {
    return scheduler().owes(s.scheduler, i, [&](WorkGroup w) { return is_live(s, w); });
  }

 private:
  [[nodiscard]] Bool is_live(const State& s, WorkGroup w) const {
    return k_.exists(threads, [&](ThreadIx i) {
      return !machine_.is_host(i) && machine_.work_group_of(i) == w && !s.machine.port(i).ended;
    });
  }

  using Rules = RuleList<K, State>;
  using Erased = typename K::Erased;
  using Member = typename Erased::Member;

  // The rules of threads, on the whole state: those that ask something of memory wait for the scheduler.
  void hold_back(const RuleList<K, MachineState>& of_threads, const Sched& sched, Rules& r) const {
    const std::size_t machine = detail::offset_of(&State::machine);
    const std::size_t first = r.values().size();
    for (const typename Rules::Value& own : of_threads.values()) {
      typename Rules::Value held = own.within(machine);
      if (own.rule.asks) {
        const ThreadIx t = K::template constant<ThreadTag>(own.rule.thread);
        const bool waits = own.rule.instruction->waits;
        held.rule.own_move = false;
        held.guard = ErasedGuard<Erased>::template of<K, State>(
            [guard = held.guard, &sched, t](const State& s, const Member* m) {
              return Bool(guard(&s, m)) && sched.may_issue(s.scheduler, t);
            });
        held.action = ErasedAction<Erased>::template of<State>(
            [this, action = held.action, &sched, t, waits](State& s, const Member* m) {
              static_cast<void>(this);  // which only schedulers that observe need
              action(&s, m);
              sched.issued(s.scheduler, t, waits);
              if constexpr (Sched::observes) {
                k_.when(sched.skips(s.scheduler, t), [&] {
                  complete<K>(s.machine.port(t), sched.expected(s.machine.port(t).request));
                  sched.skipped(s.scheduler, t);
                });
              }
            });
      }
      r.add(std::move(held));
    }
    for (const RuleSplit& split : of_threads.splits()) r.add(split.within(machine, first));
    r.keep(of_threads.kept());
  }

  // The rules of memory, on the whole state: the scheduler sees what is performed.
  void perform(const RuleList<K, MemoryState>& of_memory, const Sched& sched, Rules& r) const {
    const std::size_t memory = detail::offset_of(&State::machine) + detail::offset_of(&MachineState::memory);
    for (const typename Rules::Value& own : of_memory.values()) {
      typename Rules::Value seen = own.within(memory);
      const bool of_thread = own.parameters.size() == 1 && own.parameters.front().name == ThreadTag::name;
      if (performs_at_once && of_thread) {
        seen.rule.own_move = true;
        seen.action = ErasedAction<Erased>::template of<State>(
            [this, action = seen.action, &sched](State& s, const Member* m) {
              static_cast<void>(sched);
              const ThreadIx i = K::template member<ThreadTag>(m[0]);
              const Value old = word_asked(s, i);
              action(&s, m);
              if constexpr (Sched::observes) {
                sched.performed(s.scheduler, i, s.machine.port(i).request, old, word_asked(s, i));
              }
            });
      } else if constexpr (!performs_at_once && Sched::observes) {
        seen.action = ErasedAction<Erased>::template of<State>(
            [this, action = seen.action, &sched](State& s, const Member* m) {
              watch(s, sched, [&] { action(&s, m); });
            });
      }
      r.add(std::move(seen));
    }
    r.keep(of_memory.kept());
  }

  // What the step of a memory system performs where the monitor stands, the monitor sees.
  template <class Step>
  void watch(State& s, const Sched& sched, Step&& step) const {
    struct Seen {
      Bool ahead;  // it is to be performed there
      Value old;
    };
    typename K::template Table<Seen, ThreadTag> before{};
    const auto ahead = [&](ThreadIx i) {
      return s.machine.port(i).pending && memory().to_be_performed(s.machine.memory, i);
    };
    k_.for_each(threads, [&](ThreadIx i) {
      before(i).ahead = ahead(i);
      before(i).old = word_asked(s, i);
    });
    step();
    k_.for_each(threads, [&](ThreadIx i) {
      const auto& port = s.machine.port(i);
      const auto& q = port.request;
      k_.when(before(i).ahead && !ahead(i), [&] {
        const Bool stores = q.operation == Operation::store;
        const Value old = K::select(stores, Value(before(i).old), memory().found(s.machine.memory, i));
        const Value written = K::select(stores, Value(q.a), rmw_result(k_, q, old));
        sched.performed(s.scheduler, i, q, old, K::select(q.operation == Operation::load, old, written));
      });
      k_.when(!port.pending, [&] { s.scheduler.waits(i) = false; });
    });
  }
  [[nodiscard]] Value word_asked(const State& s, ThreadIx i) const {
    const auto& q = s.machine.port(i).request;
    return at_monitor(s, q.block, q.word);
  }
  template <class B, class W>
  [[nodiscard]] Value at_monitor(const State& s, const B& b, const W& w) const {
    if constexpr (requires { memory().at_monitor(s.machine.memory, b, w); }) {
      return memory().at_monitor(s.machine.memory, b, w);
    } else {
      return memory().final_value(s.machine.memory, b, w);
    }
  }

  K k_;
  Machine<K> machine_;
  WorkGroupOrder<K> order_;
  std::shared_ptr<const Program> program_;
  CountedBarriers counted_;
  SchedulerSetup setup_;
  std::uint64_t fault_bits_;
  int variant_;
};

}  // namespace lockstep
