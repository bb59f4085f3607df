// What an instruction does: the threads of a program, each executing in order, one memory operation at a
// time, and beside it those that it has handed to its slots.
//
// A thread's own steps (moves, branches, handing a request to the port, taking its completion) are local: no
// other thread and no memory system can tell when they happen.
#pragma once

#include <boost/describe.hpp>
#include <memory>

#include "spec/kernel/rules.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"
#include "spec/program/program.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

// A barrier or kernel edge passes through these phases; every other instruction stays in `running`.
enum class Phase : std::uint8_t {
  running,
  waiting,    // arrived at a barrier, its release is complete
  departing,  // the barrier has opened; an acquire is due
};
BOOST_DESCRIBE_ENUM(Phase, running, waiting, departing)

// Acquire and release are sequentially consistent themselves (semantics.md, "Operations"), so sc asks a
// memory system for nothing more.
constexpr Order order_asked(const Instruction& at) {
  if (at.order != Order::sc) return at.order;
  if (at.opcode == Opcode::load) return Order::acquire;
  return at.opcode == Opcode::store ? Order::release : Order::acq_rel;
}

// `MemoryState` is the memory system's part of the state; it holds the ports.
template <class K, class MemoryState>
struct Threads {
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using RegisterIx = typename K::template Ix<RegisterTag>;

  struct Context {
    typename K::template Int<0, max_instructions> pc;
    typename K::template Enum<Phase> phase;
    typename K::template Array<Value, RegisterTag> registers;
    Bool failed;  // an assertion of the thread did not hold
    BOOST_DESCRIBE_CLASS(Context, (), (pc, phase, registers, failed), (), ())
  };
  struct State {
    typename K::template Table<Context, ThreadTag> context;
    MemoryState memory;
    [[nodiscard]] const Port<K>& port(ThreadIx i) const { return memory.port(i); }
    [[nodiscard]] Port<K>& port(ThreadIx i) { return memory.port(i); }
    BOOST_DESCRIBE_CLASS(State, (), (context, memory), (), ())
  };

  const K& k;
  const Machine<K>& machine;
  const Program& program;
  const CountedBarriers& counted;

  [[nodiscard]] int count() const { return static_cast<int>(program.threads.size()); }
  [[nodiscard]] const Thread& thread(int t) const { return program.threads[static_cast<std::size_t>(t)]; }
  [[nodiscard]] static ThreadIx thread_index(int t) { return K::template constant<ThreadTag>(t); }
  [[nodiscard]] bool is_slot(int t) const { return thread(t).slot_of >= 0; }
  // Whose code a thread or a slot executes.
  [[nodiscard]] int executor(int t) const { return is_slot(t) ? thread(t).slot_of : t; }
  [[nodiscard]] const std::vector<Instruction>& code_of(int t) const { return thread(executor(t)).code; }

  void start(State& s) const {
    for (int t = 0; t < count(); ++t) {
      Context& context = s.context(thread_index(t));
      const auto& initial = thread(t).initial_values;
      for (std::size_t r = 0; r < initial.size(); ++r) {
        context.registers(K::template constant<RegisterTag>(static_cast<int>(r))) = Value(initial[r]);
      }
      if (is_slot(t)) {
        context.phase = Phase::waiting;  // no barrier waits for it
      } else if (thread(t).code.empty()) {
        end(s, t);
      }
    }
  }

  template <class Rules>
  void rules(Rules& r) const {
    for (int t = 0; t < count(); ++t) {
      const ThreadIx i = thread_index(t);
      r.split([i](const State& s) { return s.context(i).pc; }, static_cast<int>(code_of(t).size()),
              [&](int pc) { rules_of(r, t, pc); });
    }
    barrier_rules(r);
  }

  // The rules of one thread where it stands, for a reader that knows which thread it wants.
  template <class Rules>
  void rules_of(Rules& r, int t, int pc) const {
    if (pc >= static_cast<int>(code_of(t).size())) return;
    if (is_slot(t)) {
      rules_of_slot(r, t, pc);
    } else {
      rules_at(r, thread(t), t, thread_index(t), pc);
    }
  }
  // The rules of work-groups, for a reader that knows that the program has barriers.
  template <class Rules>
  void rules_of_work_groups(Rules& r) const {
    barrier_opens(r);
  }

  // Recomputes the requests, which are not stored.
  void restore(State& s) const requires requires(State& state) { state.context(ThreadIx{}).pc.v; }
  {
    for (int t = 0; t < count(); ++t) {
      const ThreadIx i = thread_index(t);
      if (!K::truth(s.port(i).pending)) continue;
      const std::size_t pc = s.context(i).pc.v;
      if (pc >= code_of(t).size()) continue;  // nobody asked
      const Instruction& at = code_of(t)[pc];
      if (is_slot(t)) {
        request_of_slot(s, i, at);
      } else {
        request(s, i, at, at.opcode == Opcode::barrier && K::truth(s.context(i).phase == Phase::departing));
      }
    }
  }
  // The same for kinds whose program counter is no number of the machine.
  void restore(State& s) const {
    for (int t = 0; t < count(); ++t) {
      const ThreadIx i = thread_index(t);
      k.when(s.port(i).pending, [&] {
        for (int pc = 0; pc < static_cast<int>(code_of(t).size()); ++pc) {
          const Instruction& at = code_of(t)[static_cast<std::size_t>(pc)];
          if (is_slot(t) && !executes(t, at)) continue;
          k.when(s.context(i).pc == pc, [&] {
            if (is_slot(t)) {
              request_of_slot(s, i, at);
            } else {
              request_again(s, i, at);
            }
          });
        }
      });
    }
  }

 private:
  // The rules of one instruction, where its thread is at `pc`.
  template <class Rules>
  void rules_at(Rules& r, const Thread& self, int t, ThreadIx i, int pc) const {
    const Instruction& at = self.code[static_cast<std::size_t>(pc)];
    const auto here = [i, pc](const State& s) { return s.context(i).pc == pc && !s.port(i).ended; };
    const auto idle = [i, here](const State& s) { return here(s) && !s.port(i).pending && !s.port(i).done; };
    const auto answered = [i, here](const State& s) {
      return here(s) && s.port(i).done && !s.port(i).pending;
    };
    const auto named = [&](std::string_view name, bool asks = false) {
      return Rule{.name = name,
                  .unit = "thread",
                  .source = {},
                  .own_move = true,
                  .instruction = &at,
                  .thread = t,
                  .asks = asks};
    };
    const auto next = [this, i, t, pc](State& s) { go(s, i, t, pc + 1); };

    if (at.slot > 0) {
      const int slot = first_slot(t) + at.slot - 1;
      r.rule(
          named("issues", true), over(),
          [this, here, slot](const State& s) { return here(s) && is_free(s, slot); },
          [this, i, slot, pc, next, &at](State& s) {
            issue(s, i, thread_index(slot), at, pc);
            next(s);
          });
      return;
    }
    switch (at.opcode) {
      case Opcode::load:
      case Opcode::store:
      case Opcode::rmw:
      case Opcode::fence:
      case Opcode::kernel_end:
        r.rule(named("issues", true), over(), idle, [this, i, &at](State& s) { request(s, i, at, false); });
        r.rule(named("completes"), over(), answered, [this, i, next, &at](State& s) {
          if (at.waits) {
            const Value read = s.port(i).result;
            retire(s, i);
            k.when(read == operand(s, i, expected_value(at)), [&] {
              if (at.destination >= 0) assign(s, i, at.destination, read);
              next(s);
            });
            return;
          }
          if (at.destination >= 0) assign(s, i, at.destination, s.port(i).result);
          retire(s, i);
          next(s);
        });
        break;
      case Opcode::kernel_begin:
        r.rule(
            named("begins its kernel", true), over(),
            [this, idle, &self](const State& s) { return idle(s) && earlier_kernels_ended(s, self); },
            [this, i, &at](State& s) { request(s, i, at, false); });
        r.rule(named("completes"), over(), answered, [this, i, next](State& s) {
          retire(s, i);
          next(s);
        });
        break;
      case Opcode::dispatch:
        r.rule(
            named("is dispatched"), over(),
            [this, idle, &self](const State& s) { return idle(s) && earlier_kernels_ended(s, self); }, next);
        break;
      case Opcode::await:
        r.rule(
            named("awaits"), over(),
            [this, here, t, &at](const State& s) {
              Bool free = here(s);
              for_each_slot(t, [&](int slot) {
                if (awaits(at, slot - first_slot(t) + 1)) free = free && is_free(s, slot);
              });
              return free;
            },
            next);
        break;
      case Opcode::barrier:
        r.rule(
            named("issues", true), over(),
            [i, idle](const State& s) { return idle(s) && s.context(i).phase == Phase::running; },
            [this, i, &at](State& s) { request(s, i, at, false); });
        if (const Counted* const barrier = counted.at(t, pc); barrier != nullptr) {
          // Who comes first decides who meets: others can tell when it happens.
          Rule arrives = named("arrives at");
          arrives.own_move = false;
          r.rule(
              arrives, over(),
              [i, answered](const State& s) { return answered(s) && s.context(i).phase == Phase::running; },
              [this, i, t, barrier, next, &at](State& s) {
                retire(s, i);
                arrive(s, t, *barrier, at);
                if (at.arrives_only) next(s);
              });
          if (barrier->opened >= 0 && !at.arrives_only) {
            Rule left = named("is left behind at");
            left.own_move = false;
            r.rule(
                left, over(),
                [this, i, idle, barrier](const State& s) {
                  return idle(s) && s.context(i).phase == Phase::waiting && nobody_else_comes(s, *barrier);
                },
                [this, t](State& s) { end(s, t); });
          }
          if (at.arrives_only) break;
        } else {
          r.rule(
              named("arrives at"), over(),
              [i, answered](const State& s) { return answered(s) && s.context(i).phase == Phase::running; },
              [this, i](State& s) {
                retire(s, i);
                s.context(i).phase = Phase::waiting;
              });
        }
        r.rule(
            named("departs from", true), over(),
            [i, idle](const State& s) { return idle(s) && s.context(i).phase == Phase::departing; },
            [this, i, &at](State& s) { request(s, i, at, true); });
        r.rule(
            named("completes"), over(),
            [i, answered](const State& s) { return answered(s) && s.context(i).phase == Phase::departing; },
            [this, i, t, next](State& s) {
              retire(s, i);
              s.context(i).phase = Phase::running;
              for_each_slot(t, [&](int slot) { s.context(thread_index(slot)).phase = Phase::waiting; });
              next(s);
            });
        break;
      case Opcode::move:
        r.rule(named("executes"), over(), idle, [this, i, next, &at](State& s) {
          assign(s, i, at.destination, operand(s, i, at.a));
          next(s);
        });
        break;
      case Opcode::arithmetic:
        r.rule(named("executes"), over(), idle, [this, i, next, &at](State& s) {
          assign(s, i, at.destination, compute(k, at.arithmetic, operand(s, i, at.a), operand(s, i, at.b)));
          next(s);
        });
        break;
      case Opcode::pause:
        r.rule(named("executes"), over(), idle, [this, i, next, &at](State& s) {
          if constexpr (requires { k.pause(operand(s, i, at.a)); }) k.pause(operand(s, i, at.a));
          next(s);
        });
        break;
      case Opcode::branch:
        r.rule(named("executes"), over(), idle, [this, i, t, next, &at](State& s) {
          k.when(
              compare(at.comparison, operand(s, i, at.a), operand(s, i, at.b)),
              [&] { go(s, i, t, at.target); }, [&] { next(s); });
        });
        break;
      case Opcode::jump:
        r.rule(named("executes"), over(), idle, [this, i, t, &at](State& s) { go(s, i, t, at.target); });
        break;
      case Opcode::assertion:
        r.rule(named("executes"), over(), idle, [this, i, t, next, &at](State& s) {
          k.when(
              compare(at.comparison, operand(s, i, at.a), operand(s, i, at.b)), [&] { next(s); },
              [&] {
                s.context(i).failed = true;
                end(s, t);
              });
        });
        break;
    }
  }

  // A slot completes what it was handed, whatever its thread does meanwhile.
  template <class Rules>
  void rules_of_slot(Rules& r, int t, int pc) const {
    const Instruction& at = code_of(t)[static_cast<std::size_t>(pc)];
    if (!executes(t, at)) return;
    const ThreadIx i = thread_index(t);
    const ThreadIx self = thread_index(executor(t));
    const Rule rule{
        .name = "completes", .unit = "thread", .own_move = true, .instruction = &at, .thread = executor(t)};
    r.rule(
        rule, over(),
        [i, pc](const State& s) { return s.context(i).pc == pc && s.port(i).done && !s.port(i).pending; },
        [this, i, self, &at](State& s) {
          if (at.destination >= 0) assign(s, self, at.destination, s.port(i).result);
          retire(s, i);
        });
  }
  [[nodiscard]] bool executes(int slot, const Instruction& at) const {
    return at.slot > 0 && first_slot(executor(slot)) + at.slot - 1 == slot;
  }
  static bool awaits(const Instruction& at, int slot) {
    return ((static_cast<std::uint32_t>(at.a.value) >> (slot - 1)) & 1U) != 0;
  }
  [[nodiscard]] Bool is_free(const State& s, int slot) const {
    const auto& port = s.port(thread_index(slot));
    return !port.pending && !port.done;
  }
  [[nodiscard]] int first_slot(int t) const { return lockstep::first_slot(program, t); }
  template <class F>
  void for_each_slot(int t, F&& f) const {
    for (int slot = first_slot(t); slot < count() && thread(slot).slot_of == t; ++slot) f(slot);
  }
  // The slot remembers where the instruction stands, and what its operands were: its request follows from
  // these.
  void issue(State& s, ThreadIx i, ThreadIx slot, const Instruction& at, int pc) const {
    s.context(slot).pc = pc;
    if (at.a.is_register) assign(s, slot, 0, operand(s, i, at.a));
    if (at.b.is_register) assign(s, slot, 1, operand(s, i, at.b));
    request_of_slot(s, slot, at);
  }
  void request_of_slot(State& s, ThreadIx slot, const Instruction& at) const {
    Instruction from_slot = at;
    if (at.a.is_register) from_slot.a.value = 0;
    if (at.b.is_register) from_slot.b.value = 1;
    request(s, slot, from_slot, false);
  }

  using Counted = CountedBarriers::Barrier;
  using Member = CountedBarriers::Member;

  // Whether a barrier that opens for any so many has done so, and all that could still come to it have ended
  // or wait at such barriers themselves.
  [[nodiscard]] Bool nobody_else_comes(const State& s, const Counted& barrier) const {
    Bool nobody = register_of(s, barrier.members.front(), barrier.opened) == Value(1);
    for (const int t : counted.threads()) {
      const ThreadIx i = thread_index(t);
      nobody = nobody && (s.port(i).ended || s.context(i).phase == Phase::waiting);
    }
    return nobody;
  }
  static const Value& register_of(const State& s, const Member& member, int r) {
    return s.context(thread_index(member.thread)).registers(K::template constant<RegisterTag>(r));
  }
  static Value& register_of(State& s, const Member& member, int r) {
    return s.context(thread_index(member.thread)).registers(K::template constant<RegisterTag>(r));
  }
  // Whether one of its threads waits at a counted barrier.
  static Bool waits(const State& s, const Member& member) {
    const Context& context = s.context(thread_index(member.thread));
    Bool there(false);
    for (const int pc : member.places) there = there || context.pc == pc;
    return there && context.phase == Phase::waiting;
  }
  // One more has come to a counted barrier; where that makes enough of them it opens, and is new.
  void arrive(State& s, int t, const Counted& barrier, const Instruction& at) const {
    if (!at.arrives_only) s.context(thread_index(t)).phase = Phase::waiting;
    for (const Member& member : barrier.members) {
      if (!at.arrives_only || member.thread != t) continue;
      Value& times = register_of(s, member, member.arrivals);
      times = times + Value(1);
    }
    const Value needed(CountedBarriers::participants(barrier, at));
    k.when(have_come(s, barrier, at) == needed, [&] {
      for (const Member& member : barrier.members) let_go(s, member, at);
      if (barrier.opened >= 0) register_of(s, barrier.members.front(), barrier.opened) = Value(1);
    });
  }
  // How many have come to a barrier since it opened; where it is for everybody, each once.
  [[nodiscard]] Value have_come(const State& s, const Counted& barrier, const Instruction& at) const {
    Value come(0);
    for (const Member& member : barrier.members) {
      const Bool here = waits(s, member);
      if (member.arrivals < 0) {
        come = come + K::select(here, Value(1), Value(0));
        continue;
      }
      const Value& times = register_of(s, member, member.arrivals);
      if (CountedBarriers::has_quorum(at)) {
        come = come + times + K::select(here, Value(1), Value(0));
      } else {
        come = come + K::select(here || !(times == Value(0)), Value(1), Value(0));
      }
    }
    return come;
  }
  // What an opening barrier does to one of its threads: where it is for everybody, who has arrived without
  // waiting has done so for this time, and waits, if it does, for the next.
  void let_go(State& s, const Member& member, const Instruction& at) const {
    const auto departs = [&] {
      k.when(waits(s, member), [&] { s.context(thread_index(member.thread)).phase = Phase::departing; });
    };
    if (member.arrivals < 0) {
      departs();
      return;
    }
    Value& times = register_of(s, member, member.arrivals);
    if (CountedBarriers::has_quorum(at)) {
      times = Value(0);
      departs();
    } else {
      k.when(times == Value(0), departs, [&] { times = times + Value(-1); });
    }
  }

  template <class Rules>
  void barrier_rules(Rules& r) const {
    bool any = false;
    for (int t = 0; t < count(); ++t) {
      for (std::size_t pc = 0; pc < thread(t).code.size(); ++pc)
        any |= thread(t).code[pc].opcode == Opcode::barrier && counted.at(t, static_cast<int>(pc)) == nullptr;
    }
    if (any) barrier_opens(r);
  }
  // A work-group barrier opens when every thread of the work-group waits at it.
  template <class Rules>
  void barrier_opens(Rules& r) const {
    using Wg = typename K::template Ix<WorkGroupTag>;
    const auto member = [this](ThreadIx i, Wg w) {
      Bool plain = !machine.is_host(i) && machine.work_group_of(i) == w;
      for (const int t : counted.threads()) plain = plain && !(i == thread_index(t));
      return plain;
    };
    r.rule(
        Rule{.name = "opens the barrier", .unit = "work-group", .own_move = true}, over(work_groups),
        [this, member](const State& s, Wg w) {
          return k.exists(threads, [&](ThreadIx i) { return member(i, w); }) &&
                 k.forall(threads,
                          [&](ThreadIx i) { return !member(i, w) || s.context(i).phase == Phase::waiting; });
        },
        [this, member](State& s, Wg w) {
          k.for_each(threads, [&](ThreadIx i) {
            k.when(member(i, w), [&] { s.context(i).phase = Phase::departing; });
          });
        });
  }

  [[nodiscard]] Bool earlier_kernels_ended(const State& s, const Thread& self) const {
    const auto earlier = [&](int u) {
      const int kernel = thread(u).placement.kernel;
      return kernel >= 0 && kernel < self.placement.kernel;
    };
    const auto running = [&](int u) { return !s.port(thread_index(u)).ended; };
    // Thousands of threads may wait here for thousands: a kind that runs them has a way of its own.
    if constexpr (requires { k.none_left(0, count(), earlier, running); }) {
      return k.none_left(self.placement.kernel, count(), earlier, running);
    } else {
      Bool ended(true);
      for (int u = 0; u < count(); ++u) {
        if (earlier(u)) ended = ended && s.port(thread_index(u)).ended;
      }
      return ended;
    }
  }

  // Only instructions that ask something of the memory system have a request to restore.
  void request_again(State& s, ThreadIx i, const Instruction& at) const {
    if (at.opcode == Opcode::barrier) {
      k.when(
          s.context(i).phase == Phase::departing, [&] { request(s, i, at, true); },
          [&] { request(s, i, at, false); });
    } else if (is_memory(at.opcode) || at.opcode == Opcode::fence || at.opcode == Opcode::kernel_begin ||
               at.opcode == Opcode::kernel_end) {
      request(s, i, at, false);
    }
  }

  void request(State& s, ThreadIx i, const Instruction& at, bool departing) const {
    Port<K>& port = s.port(i);
    auto& q = port.request;
    switch (at.opcode) {
      case Opcode::load:
        q.operation = Operation::load;
        break;
      case Opcode::store:
        q.operation = Operation::store;
        break;
      case Opcode::rmw:
        q.operation = Operation::rmw;
        break;
      default:
        q.operation = Operation::fence;
        break;
    }
    q.function = at.rmw;
    q.order = order_asked(at);
    q.scope = at.scope;
    q.returns = at.destination >= 0 || at.waits;
    if (at.opcode == Opcode::barrier) {
      q.order = departing ? Order::acquire : Order::release;
      q.scope = Scope::wg;
    } else if (at.opcode == Opcode::kernel_begin || at.opcode == Opcode::kernel_end) {
      q.order = at.opcode == Opcode::kernel_begin ? Order::acquire : Order::release;
    }
    if (at.location >= 0) {
      const Location& location = program.locations[static_cast<std::size_t>(at.location)];
      q.block = K::template constant<BlockTag>(location.block);
      q.word = K::template constant<WordTag>(location.word);
      q.a = operand(s, i, at.a);
      q.b = operand(s, i, at.b);
    }
    port.pending = true;
  }

  void retire(State& s, ThreadIx i) const {
    s.port(i).done = false;
    s.port(i).result = Value(0);
  }

  void go(State& s, ThreadIx i, int t, int pc) const {
    s.context(i).pc = pc;
    if (pc >= static_cast<int>(thread(t).code.size())) end(s, t);
  }
  void end(State& s, int t) const {
    s.port(thread_index(t)).ended = true;
    for_each_slot(t, [&](int slot) { s.port(thread_index(slot)).ended = true; });
  }

  [[nodiscard]] Value operand(const State& s, ThreadIx i, const Operand& o) const {
    if (!o.is_register) return Value(o.value);
    return s.context(i).registers(K::template constant<RegisterTag>(o.value));
  }
  void assign(State& s, ThreadIx i, int destination, const Value& value) const {
    s.context(i).registers(K::template constant<RegisterTag>(destination)) = value;
  }
};

}  // namespace lockstep
