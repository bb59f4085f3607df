// TVM, the Task Vector Machine: an abstract machine of N cores that runs fork/join programs epoch by epoch.
//
// Each core has an entry of the task vector (TV): a task, or what a task has left there. An epoch executes
// the tasks of one execution mask, popped from a stack of masks (TMS); what they fork runs in the next
// epoch, and what they join as is put below it, so that it comes when all that was forked has ended. The
// client is every program: a task may fork, schedule maps, join, emit or end, at any moment. What a task
// computes is left out.
//
// Source: Hechtman, Exploiting Parallelism in GPUs (thesis, Duke 2014), 5.4.2.
//
// What is otherwise here, or assumed where the text is silent:
//  - A fork takes any core with an empty entry ("a core that has an empty TV and TMS entry"), not the one
//    that the index names. The index is one way to find such a core, and TREES has to be shown to find one
//    (trees.hpp).
//  - Entries are used again. 5.4.2 (Space Complexity) has an entry for every task. An entry is empty when
//    nobody can want what it holds: when its task has ended without a result; with one, when the task that
//    forked it has ended, too, its continuations included; and either not before the next epoch. The result
//    of the first task, which nobody waits for, may go so before the machine completes.
//  - A map takes an entry until it has been executed (as in 5.5.4), and forks, joins and emits nothing. It
//    is executed in phase 3; that it may be earlier ("asynchronously") nobody could tell.
//  - The stack has a bound, which no program of so many cores reaches if it is N: masks are disjoint, and
//    none is empty. Where it is lower a task does not fork beyond it.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/choice.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep::tvm {

struct CoreTag : Indices<"core", 13> {};
// Masks of the TMS, the uppermost first.
struct MaskTag : FixedIndices<"mask", 13> {};
inline constexpr CoreTag cores{};

// What a core's entry of the task vector holds.
enum class Holds : std::uint8_t { nothing, task, continuation, result, map };
// The phases of an epoch: an execution mask is about to be popped; its tasks run; maps run; the last epoch is
// over.
enum class Phase : std::uint8_t { pops, executes, maps, complete };
BOOST_DESCRIBE_ENUM(Holds, nothing, task, continuation, result, map)
BOOST_DESCRIBE_ENUM(Phase, pops, executes, maps, complete)

inline constexpr std::array faults{
    Fault{"joins-above-forks", "the join mask is pushed after the fork mask, and popped before it"},
    Fault{"join-not-masked", "a join is not entered in the join mask"},
    Fault{"fork-not-masked", "a fork is not entered in the fork mask"},
    Fault{"runs-again", "a task that ends stays in the execution mask of the epoch after the next"},
    Fault{"takes-results", "a fork takes an entry whose result is awaited"},
    Fault{"completes-early", "the machine completes when no task has forked or joined in an epoch"},
    Fault{"maps-late", "the next epoch begins before the maps are executed"},
};

// What the machine does, as steps. TREES runs it beside itself.
template <class K, IndexTag Cores>
struct Machine : Choice<faults> {
  using Bool = typename K::Bool;
  using Core = typename K::template Ix<Cores>;
  using MaybeCore = typename K::template Maybe<Cores>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct Entry {
    Enum<Holds> holds;
    MaybeCore parent;  // the task that has forked it and may yet join
    Bool due;          // in the execution mask, and not yet at its end
    Bool forked;       // in the fork mask
    Bool joined;       // in the join mask
    Bool ended;        // in this epoch
    typename K::template Array<Bool, MaskTag> pushed;
    BOOST_DESCRIBE_CLASS(Entry, (), (holds, parent, due, forked, joined, ended, pushed), (), ())
  };
  struct State {
    typename K::template Table<Entry, Cores> core;
    Enum<Phase> phase;
    Bool overwrites;  // a fork or a map has taken an entry that was not empty
    BOOST_DESCRIBE_CLASS(State, (), (core, phase, overwrites), (), ())
  };

  const K& k;  // outlives it

  explicit Machine(const K& kind, std::uint64_t fault_bits = 0) : Choice<faults>{fault_bits, 0}, k(kind) {}

  // ---- what is asked -------------------------------------------------------------------------------------

  // A bool where the kind's truths are; else what it takes.
  static auto decided(const Bool& b) {
    if constexpr (requires { K::truth(b); }) {
      return K::truth(b);
    } else {
      return b;
    }
  }
  static auto mask(int i) { return K::template constant<MaskTag>(i); }
  [[nodiscard]] int masks() const { return k.template extent<MaskTag>(); }
  [[nodiscard]] Bool has_mask(const State& s, int i = 0) const {
    return k.exists(Cores{}, [&](Core c) { return s.core(c).pushed(mask(i)); });
  }
  static Bool is_task(const Entry& entry) {
    return entry.holds == Holds::task || entry.holds == Holds::continuation;
  }
  // Nobody wants what it holds, nor has anybody used it in this epoch.
  [[nodiscard]] Bool is_empty(const State& s, Core c) const {
    return s.core(c).holds == Holds::nothing && !s.core(c).ended;
  }
  // Any task runs.
  [[nodiscard]] Bool executes(const State& s) const {
    return k.exists(Cores{}, [&](Core c) { return s.core(c).due; });
  }
  // In how many of the masks a core is: in one, in two or more.
  struct Masked {
    Bool once;
    Bool twice;
  };
  [[nodiscard]] Masked masked(const Entry& entry) const {
    Masked all{entry.due, Bool(false)};
    const auto add = [&](const Bool& bit) {
      all.twice = all.twice || (all.once && bit);
      all.once = all.once || bit;
    };
    add(entry.forked);
    add(entry.joined);
    for (int i = 0; i < masks(); ++i) add(entry.pushed(mask(i)));
    return all;
  }

  // ---- the steps -----------------------------------------------------------------------------------------

  static void put_first_task(State& s, Core c) {
    s.core(c).holds = Holds::task;
    s.core(c).pushed(mask(0)) = true;
  }
  // Phase 1, with a mask to pop.
  void pop(State& s) const {
    s.phase = Phase::executes;
    k.for_each(Cores{}, [&](Core c) {
      Entry& entry = s.core(c);
      entry.due = entry.pushed(mask(0));
      for (int i = 0; i + 1 < masks(); ++i) entry.pushed(mask(i)) = entry.pushed(mask(i + 1));
      entry.pushed(mask(masks() - 1)) = false;
      k.when(entry.holds == Holds::result && entry.parent == MaybeCore{},
             [&] { entry.holds = Holds::nothing; });
    });
  }
  // Phase 2.
  void fork(State& s, Core by, Core at) const {
    Entry& entry = s.core(at);
    s.overwrites = s.overwrites || !is_empty(s, at);
    entry.holds = Holds::task;
    entry.parent = MaybeCore(by);
    if (!fault("fork-not-masked")) entry.forked = true;
  }
  void map(State& s, Core at) const {
    s.overwrites = s.overwrites || !is_empty(s, at);
    s.core(at).holds = Holds::map;
    s.core(at).parent = MaybeCore{};
  }
  void join(State& s, Core c) const {
    s.core(c).holds = Holds::continuation;
    s.core(c).due = false;
    if (!fault("join-not-masked")) s.core(c).joined = true;
  }
  void emit(State& s, Core c) const {
    joins_no_more(s, c);
    s.core(c).holds = Holds::result;
    s.core(c).due = false;
    s.core(c).ended = true;
  }
  void end(State& s, Core c) const {
    joins_no_more(s, c);
    if (!fault("runs-again")) s.core(c).holds = Holds::nothing;
    if (fault("runs-again")) s.core(c).joined = true;
    s.core(c).parent = MaybeCore{};
    s.core(c).due = false;
    s.core(c).ended = true;
  }
  // Phase 3, but for the maps.
  void end_epoch(State& s) const {
    const auto pushes = [&](Bool Entry::*mask_of) {
      k.when(k.exists(Cores{}, [&](Core c) { return s.core(c).*mask_of; }),
             [&] { k.for_each(Cores{}, [&](Core c) { push(s.core(c), s.core(c).*mask_of); }); });
    };
    if (fault("joins-above-forks")) pushes(&Entry::forked);
    pushes(&Entry::joined);
    if (!fault("joins-above-forks")) pushes(&Entry::forked);
    k.for_each(Cores{}, [&](Core c) {
      s.core(c).forked = false;
      s.core(c).joined = false;
      s.core(c).ended = false;
    });
    k.when(
        k.exists(Cores{}, [&](Core c) { return s.core(c).holds == Holds::map; }),
        [&] { s.phase = fault("maps-late") ? Phase::pops : Phase::maps; }, [&] { s.phase = Phase::pops; });
  }
  // Those that `is_found` says of; the machine's are all.
  template <class IsFound>
  void execute_maps(State& s, IsFound is_found) const {
    s.phase = Phase::pops;
    k.for_each(Cores{}, [&](Core c) {
      k.when(s.core(c).holds == Holds::map && is_found(c), [&] { s.core(c).holds = Holds::nothing; });
    });
  }

  // ---- what is claimed -----------------------------------------------------------------------------------

  // `of(state)` is the machine's part of a state.
  template <class V, class Of>
  void claims(V& v, Of of) const {
    const auto each = [&](std::string_view name, auto claim) {
      v.invariant(name, [machine = *this, of, claim](const auto& s) {
        return machine.k.forall(Cores{}, [&](Core c) { return claim(machine, of(s), of(s).core(c)); });
      });
    };
    each("no core is in two masks",
         [](const Machine& m, const State&, const Entry& entry) { return !m.masked(entry).twice; });
    each("masks hold all tasks that have not ended, and nothing else",
         [](const Machine& m, const State&, const Entry& entry) {
           return m.masked(entry).once == is_task(entry);
         });
    each("what has ended is in no mask", [](const Machine& m, const State&, const Entry& entry) {
      return !entry.ended || !m.masked(entry).once;
    });
    v.invariant("a fork finds its entry empty", [of](const auto& s) { return !of(s).overwrites; });
    each("who is waited for holds a task, or its result",
         [](const Machine&, const State&, const Entry& entry) {
           return entry.parent == MaybeCore{} || entry.holds != Holds::nothing;
         });
    each("what is forked knows its parent, unless that has ended",
         [](const Machine& m, const State& s, const Entry& entry) {
           return !entry.forked || entry.parent != MaybeCore{} ||
                  m.k.exists(Cores{}, [&](Core c) { return s.core(c).ended; });
         });
    v.invariant("a continuation runs when what its task has forked has ended",
                [machine = *this, of](const auto& s) {
                  return machine.each_parent(of(s), [](const Entry& parent, const Entry& child) {
                    return !parent.due || !is_task(child) || child.forked;
                  });
                });
    each("a map is executed before the next epoch begins",
         [](const Machine&, const State& s, const Entry& entry) {
           return s.phase == Phase::executes || s.phase == Phase::maps || entry.holds != Holds::map;
         });
    each("all tasks have ended when the machine completes",
         [](const Machine&, const State& s, const Entry& entry) {
           return s.phase != Phase::complete || !is_task(entry);
         });
  }
  template <class Claim>
  [[nodiscard]] Bool every(Claim claim) const {
    return k.forall(Cores{}, claim);
  }
  // Whether it holds of all who may yet join, and what each has forked.
  template <class Claim>
  [[nodiscard]] Bool each_parent(const State& s, Claim claim) const {
    return k.forall(Cores{}, [&](Core i) {
      return k.forall(
          Cores{}, [&](Core j) { return s.core(j).parent != MaybeCore(i) || claim(s.core(i), s.core(j)); });
    });
  }

 private:
  // Nobody waits any more for what it has forked.
  void joins_no_more(State& s, Core c) const {
    k.for_each(Cores{}, [&](Core child) {
      k.when(s.core(child).parent == MaybeCore(c), [&] { s.core(child).parent = MaybeCore{}; });
    });
  }
  void push(Entry& entry, const Bool& bit) const {
    for (int i = masks() - 1; i > 0; --i) entry.pushed(mask(i)) = entry.pushed(mask(i - 1));
    entry.pushed(mask(0)) = bit;
  }
};

template <class K>
struct Protocol : ClosedSystem<K, faults> {
  using Base = ClosedSystem<K, faults>;
  using Base::Base, Base::k, Base::fault;
  using Bool = typename K::Bool;
  using TaskVector = Machine<K, CoreTag>;
  using Core = typename TaskVector::Core;
  using MaybeCore = typename TaskVector::MaybeCore;
  using Entry = typename TaskVector::Entry;
  using State = typename TaskVector::State;
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;
  using Start = StartList<K, State>;

  [[nodiscard]] TaskVector machine() const { return TaskVector(k, this->fault_bits); }

  void start(Start& s) const {
    s.start(over(cores), [](State& state, Core c) { TaskVector::put_first_task(state, c); });
  }

  void rules(Rules& r) const {
    const auto runs = [](const State& s, Core c) { return s.phase == Phase::executes && s.core(c).due; };
    r.rule(
        {.name = "pops an execution mask", .unit = "TMS", .source = "5.4.2, Phase 1"}, over(),
        [=, this](const State& s) { return s.phase == Phase::pops && machine().has_mask(s); },
        [=, this](State& s) { machine().pop(s); });
    r.rule(
        {.name = "completes", .unit = "TMS", .source = "5.4.2, Phase 1"}, over(),
        [=, this](const State& s) { return s.phase == Phase::pops && !machine().has_mask(s); },
        [](State& s) { s.phase = Phase::complete; });
    r.rule(
        {.name = "forks a task", .unit = "core", .source = "5.4.2, Fork", .fairness = Fairness::optional},
        over(cores, cores),
        [=, this](const State& s, Core c, Core at) { return runs(s, c) && may_take(s, at) && has_room(s); },
        [=, this](State& s, Core c, Core at) { machine().fork(s, c, at); });
    r.rule(
        {.name = "schedules a map", .unit = "core", .source = "5.4.2, Map", .fairness = Fairness::optional},
        over(cores, cores),
        [=, this](const State& s, Core c, Core at) { return runs(s, c) && may_take(s, at); },
        [=, this](State& s, Core, Core at) { machine().map(s, at); });
    r.rule({.name = "joins", .unit = "core", .source = "5.4.2, Join"}, over(cores), runs,
           [=, this](State& s, Core c) { machine().join(s, c); });
    r.rule({.name = "emits", .unit = "core", .source = "5.4.2, Emit"}, over(cores), runs,
           [=, this](State& s, Core c) { machine().emit(s, c); });
    r.rule({.name = "ends", .unit = "core", .source = "5.4.2, Phase 2"}, over(cores), runs,
           [=, this](State& s, Core c) { machine().end(s, c); });
    r.rule(
        {.name = "pushes the join and the fork mask", .unit = "TMS", .source = "5.4.2, Phase 3"}, over(),
        [=, this](const State& s) { return s.phase == Phase::executes && !machine().executes(s); },
        [=, this](State& s) { machine().end_epoch(s); });
    r.rule(
        {.name = "executes the maps", .unit = "TMS", .source = "5.4.2, Phase 3"}, over(),
        [](const State& s) { return s.phase == Phase::maps; },
        [=, this](State& s) { machine().execute_maps(s, [](Core) { return Bool(true); }); });
    if (fault("completes-early")) {
      r.rule(
          {.name = "completes early", .unit = "TMS", .source = "5.4.2, Phase 1"}, over(),
          [=, this](const State& s) {
            return s.phase == Phase::executes && !machine().executes(s) && k.forall(cores, [&](Core c) {
              return !s.core(c).forked && !s.core(c).joined && s.core(c).holds != Holds::map;
            });
          },
          [](State& s) { s.phase = Phase::complete; });
    }
  }

  void invariants(Invariants& v) const {
    machine().claims(v, [](const State& s) -> const State& { return s; });
  }

  void restore(State&) const {}
  [[nodiscard]] auto proper_end(const State& s) const {
    return TaskVector::decided(s.phase == Phase::complete);
  }

 private:
  [[nodiscard]] Bool may_take(const State& s, Core at) const {
    const Bool awaited = s.core(at).holds == Holds::result && !s.core(at).ended;
    return machine().is_empty(s, at) || (Bool(fault("takes-results")) && awaited);
  }
  // For a mask of joins and one of forks.
  [[nodiscard]] Bool has_room(const State& s) const {
    if (machine().masks() < 2) return false;
    return !machine().has_mask(s, machine().masks() - 2);
  }
};

struct Info : SystemInfo<faults> {
  static constexpr std::string_view name = "tvm";
  static constexpr std::string_view what =
      "the Task Vector Machine: fork/join programs, epoch by epoch (Duke 2014, 5.4.2)";
  static constexpr int place = 60;  // among the systems, where people read of them
  template <class Capacities>
  using Sizes = SizesWithin<Capacities, CoreTag, MaskTag>;
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<CoreTag>(4);
    sizes.template set<MaskTag>(4);
  }
  template <class K>
  using Closed = Protocol<K>;
};

}  // namespace lockstep::tvm
