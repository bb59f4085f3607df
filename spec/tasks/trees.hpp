// TREES, a task runtime with explicit epoch synchronization: the Task Vector Machine on a GPU and its CPU.
//
// Each core of the machine is a work-item, each epoch a kernel launch. There are no masks: an entry of the
// task vector says, by a number, which function it is for and in which epoch it may run. The CPU has a
// stack of epoch numbers and one of NDRanges, and between launches looks at what the work-items have left
// in three shared words: the next free slot, whether any has joined, whether any has scheduled a map. The
// client is every program, as in tvm.hpp, and the machine of tvm.hpp runs beside it, step by step: what
// TREES executes has to be what the machine's masks say.
//
// Source: Hechtman, Exploiting Parallelism in GPUs (thesis, Duke 2014), 5.5 and Table 5.1.
//
// `as-printed` is 5.5.4 and 5.5.5 as their sentences stand; `as-in-table` has what 5.5.6 and Table 5.1 do
// and 5.5.5 does not, that the next free slot moves back. The default repairs both:
//  - A task that ends without emitting or joining leaves its entry as it is, and runs again when another of
//    its epoch joins. Repaired: its entry is set to zero, as by `emit`.
//  - The table moves the next free slot back to the first of the epoch that has ended, under the results
//    that the continuations of the epoch before are about to read: they are overwritten if one of these
//    forks, or maps. Repaired: back to its end; its own results are given up when the continuations have
//    run.
// And in every variant:
//  - joinScheduled and mapScheduled are stored by atomics. As printed, plain stores of several waves race.
//
// What of 5.5 is here otherwise:
//  - Memory is as a program without data races sees it. That there is none needs four things, of which
//    three are claimed: no work-item loads the entry of a slot that is forked into in its epoch (`raced`);
//    what is forked into is empty, and has been since the epoch began; a continuation reads results of an
//    earlier epoch, since what its task has forked has ended. The fourth is that flags and counter are
//    atomics. Launches order one epoch behind the other. So what is said here holds on every memory system
//    that obeys a data-race-free model and orders kernels at system scope; litmus/trees holds the
//    hand-overs against them. What tasks themselves access is the program's own affair, and the reduction
//    of a wavefront's atomics in local memory (5.5.4) is left out.
//  - nextFreeCore goes to the GPU before a launch, as in 5.5.1; 5.5.3 does not list it. Where it did not,
//    the GPU's would never move back.
//  - NDRanges end before their last number: "0 through 1" (5.5.2) is work-item 0, as in the table.
//  - The two functions of Table 5.1: 1 is what is forked, 2 what continues; a map has the code 1 - 2.
//    Numbered from 1 on the last function would have the code of an empty entry as a map, and numbered from
//    0 on the first one would in epoch 0.
//  - The kernel of the maps goes over the slots that the epoch has taken: "scheduled during the last
//    epoch".
//  - A map moves the next free slot, so that the CPU launches an epoch for it in which nothing runs, as
//    5.5.5 has it: the machine has no such epoch.
//  - What happens when the task vector is full is not said. Here a task does not fork beyond it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/choice.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/tasks/tvm.hpp"

namespace lockstep::trees {

// Slots of the task vector, and the work-items of their numbers.
struct CoreTag : FixedNumbered<"core", 13> {};
// Epochs on the join stack, or running. There are never more than cores: each above the first has a slot.
struct EpochSlot : Slots<"epoch", 13> {};
// Work-items of a work-group: 256 in the text.
struct WorkGroupTag : Amounts<"work-group", 4> {};
inline constexpr CoreTag cores{};

enum class Item : std::uint8_t { none, launched, running };
enum class Stage : std::uint8_t { pops, kernel, maps, complete };
BOOST_DESCRIBE_ENUM(Item, none, launched, running)
BOOST_DESCRIBE_ENUM(Stage, pops, kernel, maps, complete)

inline constexpr std::array variants{
    Variant{"default", "5.5 with two repairs"},
    Variant{"keeps-slots", "default, but the next free slot never moves back (5.5.5)"},
    Variant{"keeps-entries", "default, but a task that only ends leaves its entry (5.5.4)"},
    Variant{"as-in-table", "default, but the next free slot moves back as in Table 5.1"},
    Variant{"padded", "default, but the work-items that fill up a work-group load their entries, too"},
    Variant{"padded-atomic", "padded, entries being accessed by atomics"},
    Variant{"ranges-alone", "default, but a work-item runs its entry whatever the epoch"},
    Variant{"as-printed", "5.5.4 and 5.5.5: entries stay, and slots are never used again"},
};
inline constexpr std::array faults{
    Fault{"forks-into-this-epoch", "a fork is encoded with the current epoch's number"},
    Fault{"joins-the-next-epoch", "a join is encoded with the next epoch's number"},
    Fault{"forks-below-joins", "the epoch of the forks is pushed first, and popped after that of the joins"},
    Fault{"join-not-told", "a join does not set joinScheduled"},
    Fault{"map-not-told", "a map does not set mapScheduled"},
    Fault{"map-in-its-epoch", "a map is encoded like a fork"},
    Fault{"emit-keeps-entry", "an emit does not set the entry to zero"},
    Fault{"range-one-short", "the NDRange of forks ends one slot early"},
    Fault{"joins-run-forked", "a join pushes the NDRange of what was forked"},
    Fault{"counter-read-before", "a slot is taken from the counter as it was when the kernel was launched"},
};

template <class K>
struct Protocol : ClosedSystem<K, faults, variants> {
  using Base = ClosedSystem<K, faults, variants>;
  using Base::Base, Base::k, Base::fault, Base::is;
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  using Core = typename K::template Ix<CoreTag>;
  using TaskVector = tvm::Machine<K, CoreTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  static constexpr int most = CoreTag::capacity;
  static constexpr int functions = 2;
  static constexpr int forked_function = 1;
  static constexpr int continuation_function = 2;
  static constexpr int map_function = 1;
  using Epoch = typename K::template Int<0, most>;
  using Count = typename K::template Int<0, most>;

  struct Slot {
    typename K::template Int<map_function - functions, functions * most + functions> entry;
    Enum<Item> item;  // of the kernel that runs
    BOOST_DESCRIBE_CLASS(Slot, (), (entry, item), (), ())
  };
  // Work-items `first` to `end`, without the last.
  struct Range {
    Count first;
    Count end;
    BOOST_DESCRIBE_CLASS(Range, (), (first, end), (), ())
  };
  struct Launch {
    Epoch number;
    Range range;
    BOOST_DESCRIBE_CLASS(Launch, (), (number, range), (), ())
  };
  struct State {
    typename K::template Table<Slot, CoreTag> slot;
    Count next;  // nextFreeCore
    Bool join_scheduled;
    Bool map_scheduled;
    Enum<Stage> stage;
    Launch epoch;    // that runs
    Count old_next;  // oldNextFreeCore
    typename K::template Fifo<Launch, EpochSlot> stack;
    typename TaskVector::State tvm;  // beside it
    Bool raced;                      // a work-item has loaded, or will, what another writes in this epoch
    BOOST_DESCRIBE_CLASS(State, (),
                         (slot, next, join_scheduled, map_scheduled, stage, epoch, old_next, stack, tvm,
                          raced),
                         (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;
  using Start = StartList<K, State>;

  [[nodiscard]] TaskVector machine() const { return TaskVector(k); }

  // 5.5.2
  void start(Start& s) const {
    s.start(over(), [this](State& state) {
      const Core first = K::template constant<CoreTag>(0);
      state.slot(first).entry = Number(forked_function);
      state.next = Number(1);
      k.push(state.stack, Launch{Epoch{}, Range{Count{}, Count(Number(1))}});
      TaskVector::put_first_task(state.tvm, first);
    });
  }

  void rules(Rules& r) const {
    const auto runs = [](const State& s, Core c) { return s.slot(c).item == Item::running; };
    const auto takes = [=, this](const State& s, Core c, Core at) { return runs(s, c) && is_next(s, at); };
    r.rule(
        {.name = "pops the join stack and launches an epoch", .unit = "CPU", .source = "5.5.3"}, over(),
        [](const State& s) { return s.stage == Stage::pops && !s.stack.empty(); },
        [=, this](State& s) {
          s.epoch = s.stack.head();
          k.pop(s.stack);
          s.stage = Stage::kernel;
          s.join_scheduled = false;
          s.map_scheduled = false;
          s.old_next = s.next;
          k.for_each(cores, [&](Core c) {
            k.when(is_launched(c, s.epoch.range), [&] { s.slot(c).item = Item::launched; });
          });
          k.when(k.exists(cores, [&](Core c) { return is_launched(c, s.epoch.range) && decodes(s, c); }),
                 [&] { machine().pop(s.tvm); });
        });
    r.rule(
        {.name = "completes", .unit = "CPU", .source = "5.5.3"}, over(),
        [](const State& s) { return s.stage == Stage::pops && s.stack.empty(); },
        [](State& s) { s.stage = Stage::complete; });
    r.rule(
        {.name = "loads its entry", .unit = "work-item", .source = "5.5.4, GPU"}, over(cores),
        [](const State& s, Core c) { return s.slot(c).item == Item::launched; },
        [=, this](State& s, Core c) {
          k.when(
              decodes(s, c), [&] { s.slot(c).item = Item::running; }, [&] { s.slot(c).item = Item::none; });
        });
    r.rule({.name = "forks a task",
            .unit = "work-item",
            .source = "5.5.4, Fork",
            .fairness = Fairness::optional},
           over(cores, cores), takes, [=, this](State& s, Core c, Core at) {
             take(s, at);
             const int epochs = fault("forks-into-this-epoch") ? 0 : 1;
             s.slot(at).entry = code(s, forked_function + epochs * functions);
             machine().fork(s.tvm, c, at);
           });
    r.rule({.name = "schedules a map",
            .unit = "work-item",
            .source = "5.5.4, Map",
            .fairness = Fairness::optional},
           over(cores, cores), takes, [=, this](State& s, Core, Core at) {
             take(s, at);
             if (!fault("map-not-told")) s.map_scheduled = true;
             s.slot(at).entry = fault("map-in-its-epoch") ? code(s, map_function + functions)
                                                          : Number(map_function - functions);
             machine().map(s.tvm, at);
           });
    r.rule({.name = "joins", .unit = "work-item", .source = "5.5.4, Join"}, over(cores), runs,
           [=, this](State& s, Core c) {
             if (!fault("join-not-told")) s.join_scheduled = true;
             const int epochs = fault("joins-the-next-epoch") ? 1 : 0;
             s.slot(c).entry = code(s, continuation_function + epochs * functions);
             s.slot(c).item = Item::none;
             machine().join(s.tvm, c);
           });
    r.rule({.name = "emits", .unit = "work-item", .source = "5.5.4, Emit"}, over(cores), runs,
           [=, this](State& s, Core c) {
             if (!fault("emit-keeps-entry")) s.slot(c).entry = Number(0);
             s.slot(c).item = Item::none;
             machine().emit(s.tvm, c);
           });
    r.rule({.name = "ends", .unit = "work-item", .source = "5.5.4, GPU"}, over(cores), runs,
           [=, this](State& s, Core c) {
             if (!is("keeps-entries") && !is("as-printed")) s.slot(c).entry = Number(0);
             s.slot(c).item = Item::none;
             machine().end(s.tvm, c);
           });
    r.rule(
        {.name = "sees the end of the epoch", .unit = "CPU", .source = "5.5.5"}, over(),
        [=, this](const State& s) {
          return s.stage == Stage::kernel &&
                 k.forall(cores, [&](Core c) { return s.slot(c).item == Item::none; });
        },
        [=, this](State& s) {
          k.when(s.tvm.phase == tvm::Phase::executes, [&] { machine().end_epoch(s.tvm); });
          const Range taken{s.old_next,
                            fault("range-one-short") ? Count(Number(s.next) - Number(1)) : s.next};
          const auto push_joins = [&] {
            k.when(s.join_scheduled, [&] {
              k.push_front(s.stack,
                           Launch{s.epoch.number, fault("joins-run-forked") ? taken : s.epoch.range});
            });
          };
          if (!fault("forks-below-joins")) push_joins();
          k.when(has_taken(s), [&] {
            k.push_front(s.stack, Launch{Epoch(s.epoch.number + Number(1)), taken});
          });
          if (fault("forks-below-joins")) push_joins();
          k.when(!s.join_scheduled && !has_taken(s), [&] { move_back(s); });
          k.when(
              s.map_scheduled, [&] { s.stage = Stage::maps; },
              [&] {
                s.stage = Stage::pops;
                forget(s);
              });
        });
    r.rule(
        {.name = "runs the maps", .unit = "CPU", .source = "5.5.5"}, over(),
        [](const State& s) { return s.stage == Stage::maps; },
        [=, this](State& s) {
          machine().execute_maps(s.tvm, [&](Core c) { return is_map(s, c); });
          s.stage = Stage::pops;
          forget(s);
        });
  }

  void invariants(Invariants& v) const {
    const auto each = [&](std::string_view name, auto claim) {
      v.invariant(name, [this, claim](const State& s) {
        return k.forall(cores, [&](Core c) { return claim(s, c); });
      });
    };
    each("an epoch runs what the machine's execution mask says", [=, this](const State& s, Core c) {
      const Bool to_run =
          s.slot(c).item == Item::running || (s.slot(c).item == Item::launched && decodes(s, c));
      return to_run == s.tvm.core(c).due;
    });
    each("a work-item runs the function that the machine's entry holds", [](const State& s, Core c) {
      const Bool forked = encodes(s.slot(c), Number(s.epoch.number), forked_function);
      return s.slot(c).item != Item::running || forked == (s.tvm.core(c).holds == tvm::Holds::task);
    });
    v.invariant("no work-item loads what another writes in its epoch",
                [](const State& s) { return !s.raced; });
    each("all maps of an epoch run before the next", [](const State& s, Core c) {
      return s.stage == Stage::kernel || s.stage == Stage::maps || s.tvm.core(c).holds != tvm::Holds::map;
    });
    each("all tasks have ended when the CPU completes", [](const State& s, Core c) {
      return s.stage != Stage::complete || !TaskVector::is_task(s.tvm.core(c));
    });
    machine().claims(
        v, [](const State& s) -> const auto& { return s.tvm; });
  }

  void restore(State&) const {}
  [[nodiscard]] auto proper_end(const State& s) const {
    return TaskVector::decided(s.stage == Stage::complete);
  }

  // ---- what lemmas ask, too ----------------------------------------------------------------------------

  [[nodiscard]] Number number(Core c) const {
    Number n(0);
    for (int i = 1; i < k.template extent<CoreTag>(); ++i)
      n = k.select(c == K::template constant<CoreTag>(i), Number(i), n);
    return n;
  }
  [[nodiscard]] Bool in_range(Core c, const Range& range) const {
    return range.first <= number(c) && range.end > number(c);
  }
  // A work-item that is there to fill up a work-group does nothing; in `padded` it loads its entry, too.
  [[nodiscard]] Bool is_launched(Core c, const Range& range) const {
    if (!is("padded") && !is("padded-atomic")) return in_range(c, range);
    const int group = k.template extent<WorkGroupTag>();
    Bool launched(false);
    for (int i = 0; i < k.template extent<CoreTag>(); i += group) {
      const Number first = range.first + Number(i);
      launched = launched || (range.end > first && first <= number(c) && number(c) < first + Number(group));
    }
    return launched;
  }
  // What an entry says of a function, in an epoch of that number.
  static Bool encodes(const Slot& slot, const Number& epoch, int function) {
    return slot.entry == epoch + epoch + Number(function);
  }
  [[nodiscard]] Bool decodes(const State& s, Core c) const {
    if (is("ranges-alone")) return s.slot(c).entry > Number(0);
    const Number epoch = s.epoch.number;
    return encodes(s.slot(c), epoch, forked_function) || encodes(s.slot(c), epoch, continuation_function);
  }
  static_assert(functions == 2, "a code is computed as epoch + epoch + function");

 private:
  static Number code(const State& s, int function) {
    const Number epoch = s.epoch.number;
    return epoch + epoch + Number(function);
  }
  // Whether it is the slot that the counter gives out. There may be no more, or no room for its epoch.
  [[nodiscard]] Bool is_next(const State& s, Core at) const {
    const int epochs = std::min(k.template extent<EpochSlot>(), machine().masks());
    const Bool room = s.epoch.number + Number(2) <= Number(epochs);
    if (fault("counter-read-before")) return room && s.old_next == number(at);
    return room && s.next == number(at);
  }
  void take(State& s, Core at) const {
    if (!is("padded-atomic")) s.raced = s.raced || is_launched(at, s.epoch.range);
    if (fault("counter-read-before")) {
      s.next = s.old_next + Number(1);
    } else {
      s.next = s.next + Number(1);
    }
  }
  [[nodiscard]] Bool is_map(const State& s, Core c) const {
    return s.slot(c).entry == Number(map_function - functions) && s.old_next <= number(c) &&
           s.next > number(c);
  }
  // Slots have been given out in this epoch.
  static Bool has_taken(const State& s) { return s.next != Number(s.old_next); }
  void move_back(State& s) const {
    if (is("as-in-table")) {
      s.next = s.epoch.range.first;
    } else if (!is("keeps-slots") && !is("as-printed")) {
      s.next = s.epoch.range.end;
    }
  }
  static void forget(State& s) {
    s.epoch = Launch{};
    s.old_next = Count{};
    s.join_scheduled = false;
    s.map_scheduled = false;
  }
};

struct Info : SystemInfo<faults, variants> {
  static constexpr std::string_view name = "trees";
  static constexpr std::string_view what =
      "TREES: the Task Vector Machine by kernel launches and epoch numbers (Duke 2014, 5.5)";
  static constexpr int place = 61;  // among the systems, where people read of them
  // What exists for the invariants only.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view) {
    return field == "tvm.core(core).due" || (field == "raced" && variant == "padded-atomic");
  }
  template <class Capacities>
  using Sizes = SizesWithin<Capacities, CoreTag, EpochSlot, WorkGroupTag, tvm::MaskTag>;
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<CoreTag>(4);
    sizes.template set<EpochSlot>(4);
    sizes.template set<WorkGroupTag>(2);
    sizes.template set<tvm::MaskTag>(4);
  }
  template <class K>
  using Closed = Protocol<K>;
};

}  // namespace lockstep::trees
