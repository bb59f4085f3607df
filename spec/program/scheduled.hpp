// Composition: the threads of a program under a scheduler, on a memory system.
//
// A thread's step is handing a request to the port, and the scheduler may hold it back; what memory then does
// with the request is hardware, and what the thread does until its next request nobody can tell. Where memory
// performs every request at once (`performs_at_once`), a request and its performance are one step: issuing
// one commutes with what others do until it is performed. Only there can a scheduler watch values go by.
#pragma once

#include <boost/describe.hpp>
#include <memory>
#include <type_traits>
#include <utility>

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
  static_assert(performs_at_once || !Sched::observes);

  ScheduledSystem(K kind, Machine<K> machine, WorkGroupOrder<K> order, std::shared_ptr<const Program> program,
                  SchedulerSetup setup, std::uint64_t fault_bits, int variant)
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        order_(std::move(order)),
        program_(std::move(program)),
        setup_(setup),
        fault_bits_(fault_bits),
        variant_(variant) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, *program_}; }
  [[nodiscard]] Sched scheduler() const { return {k_, machine_, order_, setup_}; }

  template <class Start>
  void start(Start& s) const {
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

  template <class Rules>
  void rules(Rules& r) const {
    const Sched sched = scheduler();
    const ThreadsOfProgram threads = threads_of_program();
    HeldBack<Rules> held{r, *this, sched};
    threads.rules(held);
    Performed<Rules> performed{r, *this, sched};
    const Memory m = memory();
    m.rules(performed);
    const auto part = [](auto& s) -> auto& {
      return s.scheduler;
    };
    const auto live = [this](const State& s, WorkGroup w) { return is_live(s, w); };
    if constexpr (Sched::observes) {
      sched.rules(r, part, live, [this](const State& s, auto b, auto w, const Value& v) {
        return memory().final_value(s.machine.memory, b, w) == v;
      });
    } else {
      sched.rules(r, part, live);
    }
  }

  template <class Assertions>
  void assertions(Assertions& v) const {
    claims(v, *this, [](const State& s) -> const MachineState& { return s.machine; });
  }
  template <class Invariants>
  void invariants(Invariants& v) const {
    RulesOfPart part(v, MemoryPart{});
    const Memory m = memory();
    m.invariants(part);
  }

  void restore(State& s) const { threads_of_program().restore(s.machine); }
  void normalise(State&) const {}

  [[nodiscard]] auto proper_end(const State& s) const {
    return K::truth(k_.forall(threads, [&](auto t) { return s.machine.port(t).ended; }) &&
                    memory().drained(s.machine.memory));
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

  // The rules of threads, on the whole state: those that ask something of memory wait for the scheduler.
  template <class Rules>
  struct HeldBack {
    Rules& reader;
    const ScheduledSystem& self;
    const Sched& sched;

    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action) {
      if (!rule.asks) {
        reader.rule(
            rule, parameters, [&](const State& s, auto... i) { return guard(s.machine, i...); },
            [&](State& s, auto... i) { action(s.machine, i...); });
        return;
      }
      if constexpr (sizeof...(Tags) == 0) {
        const ThreadIx t = K::template constant<ThreadTag>(rule.thread);
        Rule held = rule;
        held.urgency = Urgency::none;
        reader.rule(
            held, parameters,
            [&, t](const State& s) { return guard(s.machine) && sched.may_issue(s.scheduler, t); },
            [&, t](State& s) {
              action(s.machine);
              sched.issued(s.scheduler, t, rule.instruction->waits);
              if constexpr (Sched::observes) {
                self.k_.when(sched.skips(s.scheduler, t), [&] {
                  complete<K>(s.machine.port(t), sched.expected(s.machine.port(t).request));
                  sched.skipped(s.scheduler, t);
                });
              }
            });
      }
    }
    template <class Counter, class Case>
    void split(Counter&& counter, int cases, Case&& one) {
      reader.split([&](const State& s) { return counter(s.machine); }, cases, one);
    }
  };

  struct MemoryPart {
    auto& operator()(auto& s) const { return s.machine.memory; }
  };
  // The rules of memory, on the whole state: the scheduler sees what is performed.
  template <class Rules>
  struct Performed : RulesOfPart<Rules, MemoryPart> {
    using OfMemory = RulesOfPart<Rules, MemoryPart>;
    Rules& reader;
    const ScheduledSystem& self;
    const Sched& sched;
    Performed(Rules& r, const ScheduledSystem& system, const Sched& scheduler)
        : OfMemory(r, {}), reader(r), self(system), sched(scheduler) {}

    using OfMemory::rule;
    template <class Guard, class Action>
    void rule(const Rule& rule, Over<ThreadTag> parameters, Guard&& guard, Action&& action) {
      if constexpr (!performs_at_once) {
        OfMemory::rule(rule, parameters, guard, action);
      } else {
        Rule at_once = rule;
        at_once.urgency = Urgency::local;
        reader.rule(
            at_once, parameters, [&](const State& s, ThreadIx i) { return guard(s.machine.memory, i); },
            [&](State& s, ThreadIx i) {
              const Value old = self.word_asked(s, i);
              action(s.machine.memory, i);
              if constexpr (Sched::observes) {
                sched.performed(s.scheduler, i, s.machine.port(i).request, old, self.word_asked(s, i));
              }
            });
      }
    }
  };

  [[nodiscard]] Value word_asked(const State& s, ThreadIx i) const {
    const auto& q = s.machine.port(i).request;
    return memory().final_value(s.machine.memory, q.block, q.word);
  }

  K k_;
  Machine<K> machine_;
  WorkGroupOrder<K> order_;
  std::shared_ptr<const Program> program_;
  SchedulerSetup setup_;
  std::uint64_t fault_bits_;
  int variant_;
};

}  // namespace lockstep
