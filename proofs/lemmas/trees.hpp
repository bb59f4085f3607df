// Why TREES executes what the Task Vector Machine does: the launches on its join stack are the masks on the
// machine's, each as the entries in its NDRange that have its number; NDRanges lie one behind the other, in
// the order of their epochs; and whoever has forked and may yet join has done so in front of the end of the
// NDRange above his own, behind which slots are given out again. An epoch that a map alone has caused, in
// which nothing runs, is on top of the stack, and none of the machine's.
#pragma once

#include <vector>

#include "proofs/lemmas/tvm.hpp"
#include "spec/tasks/trees.hpp"

namespace lockstep::trees {

template <class Protocol>
struct Lemmas {
  using K = typename Protocol::Kind;
  using State = typename Protocol::State;
  using Bool = typename Protocol::Bool;
  using Number = typename Protocol::Number;
  using Core = typename Protocol::Core;
  using Launch = typename Protocol::Launch;
  using MaybeCore = typename Protocol::TaskVector::MaybeCore;

  const Protocol& p;

  template <class V>
  void lemmas(V& v) const {
    const auto machine_of = [](const State& s) -> const auto& {
      return s.tvm;
    };
    tvm::machine_lemmas(p.machine(), v, machine_of);
    stages(v);
    slots(v);
    stack(v);
    children(v);
  }

 private:
  static Bool implies(const Bool& a, const Bool& b) { return !a || b; }
  static Bool runs(const State& s) { return s.stage == Stage::kernel; }
  // In the stack, on the way to the next launch.
  static Bool between(const State& s) { return s.stage == Stage::pops || s.stage == Stage::maps; }
  // The entry is one that the launch executes.
  Bool is_of(const State& s, Core c, const Launch& launch) const {
    return p.in_range(c, launch.range) && decodes(s, c, launch);
  }
  static Bool decodes(const State& s, Core c, const Launch& launch) {
    const Number number = launch.number;
    return Protocol::encodes(s.slot(c), number, Protocol::forked_function) ||
           Protocol::encodes(s.slot(c), number, Protocol::continuation_function);
  }
  Bool executes(const State& s, const Launch& launch) const {
    return p.k.exists(cores, [&](Core c) { return is_of(s, c, launch); });
  }
  Bool taken(const State& s, Core c) const { return s.old_next <= p.number(c) && s.next > p.number(c); }
  static Bool is_task(const State& s, Core c) { return s.slot(c).entry > Number(0); }
  static Bool is_map(const State& s, Core c) {
    return s.slot(c).entry == Number(Protocol::map_function - Protocol::functions);
  }

  template <class V, class Claim>
  void each(V& v, std::string_view name, Claim claim) const {
    v.invariant(name, [this, claim](const State& s) {
      return p.k.forall(cores, [&](Core c) { return claim(s, c); });
    });
  }
  // `claim(launch, place in the stack)`, from the top on.
  template <class Claim>
  Bool each_launch(const State& s, Claim claim) const {
    Bool all(true);
    int place = 0;
    K::for_each_queued(s.stack, [&](const Launch& launch) {
      all = all && claim(launch, place);
      ++place;
    });
    return all;
  }
  template <class V, class Claim>
  void each_launch(V& v, std::string_view name, Claim claim) const {
    v.invariant(name, [this, claim](const State& s) {
      return each_launch(s, [&](const Launch& launch, int place) { return claim(s, launch, place); });
    });
  }

  template <class V>
  void stages(V& v) const {
    v.invariant("the machine is in the epoch of the CPU", [](const State& s) {
      using Phase = tvm::Phase;
      return implies(s.stage == Stage::maps, s.tvm.phase == Phase::maps) &&
             implies(s.stage == Stage::pops || s.stage == Stage::complete, s.tvm.phase == Phase::pops) &&
             implies(runs(s), s.tvm.phase == Phase::pops || s.tvm.phase == Phase::executes);
    });
    v.invariant("an epoch in which nothing runs takes no slot, and tells nothing", [](const State& s) {
      return implies(runs(s) && s.tvm.phase == tvm::Phase::pops,
                     s.next == Number(s.old_next) && !s.join_scheduled && !s.map_scheduled);
    });
    v.invariant("the words of an epoch are its own", [](const State& s) {
      return implies(!runs(s) && s.stage != Stage::maps,
                     !s.join_scheduled && !s.map_scheduled && s.old_next == Number(0));
    });
    v.invariant("a join is told", [this](const State& s) {
      return implies(runs(s),
                     s.join_scheduled == p.k.exists(cores, [&](Core c) { return s.tvm.core(c).joined; }));
    });
    v.invariant("a map is told", [this](const State& s) {
      return implies(runs(s), s.map_scheduled == p.k.exists(cores, [&](Core c) {
        return s.tvm.core(c).holds == tvm::Holds::map;
      }));
    });
    v.invariant("the running epoch's slots are in front of those that it takes", [this](const State& s) {
      const Launch& e = s.epoch;
      return implies(runs(s), e.range.first < Number(e.range.end) && e.range.end <= Number(s.old_next) &&
                                  s.old_next <= Number(s.next) && e.number <= Number(e.range.first)) &&
             implies(s.stage == Stage::maps, s.old_next <= Number(s.next)) &&
             s.next <= Number(p.k.template extent<CoreTag>());
    });
  }

  template <class V>
  void slots(V& v) const {
    each(v, "work-items are those of the launch, and run what is of its epoch",
         [this](const State& s, Core c) {
           const auto& item = s.slot(c).item;
           return implies(item != Item::none, runs(s) && p.is_launched(c, s.epoch.range)) &&
                  implies(item == Item::running, is_of(s, c, s.epoch));
         });
    each(v, "an NDRange holds tasks of its own epoch", [this](const State& s, Core c) {
      const auto owns = [&](const Launch& launch) {
        return !is_task(s, c) || !p.in_range(c, launch.range) || decodes(s, c, launch);
      };
      return implies(runs(s), owns(s.epoch)) &&
             each_launch(s, [&](const Launch& launch, int) { return owns(launch); });
    });
    each(v, "a task is in an NDRange", [this](const State& s, Core c) {
      const Bool waits =
          !each_launch(s, [&](const Launch& launch, int) { return !p.in_range(c, launch.range); });
      return !is_task(s, c) || waits || (runs(s) && (p.in_range(c, s.epoch.range) || taken(s, c)));
    });
    each(v, "what decodes behind its work-item has joined", [this](const State& s, Core c) {
      return implies(runs(s), s.tvm.core(c).joined == (s.slot(c).item == Item::none && is_of(s, c, s.epoch)));
    });
    each(v, "a slot that is taken holds a fork or a map", [this](const State& s, Core c) {
      const Number next_epoch = s.epoch.number + Number(1);
      const Bool fork = Protocol::encodes(s.slot(c), next_epoch, Protocol::forked_function);
      return implies(runs(s), s.tvm.core(c).forked == (taken(s, c) && fork)) &&
             implies(runs(s) || s.stage == Stage::maps,
                     (s.tvm.core(c).holds == tvm::Holds::map) == (taken(s, c) && is_map(s, c))) &&
             implies(runs(s) && taken(s, c), fork || is_map(s, c));
    });
    each(v, "entries are for the function that the machine's are", [this](const State& s, Core c) {
      const auto agrees = [&](const Launch& launch) {
        const Bool forked = Protocol::encodes(s.slot(c), Number(launch.number), Protocol::forked_function);
        return implies(is_of(s, c, launch), forked == (s.tvm.core(c).holds == tvm::Holds::task));
      };
      return implies(runs(s), agrees(s.epoch)) &&
             each_launch(s, [&](const Launch& launch, int) { return agrees(launch); });
    });
    each(v, "a slot behind the counter holds nothing that is wanted", [this](const State& s, Core c) {
      const auto& e = s.tvm.core(c);
      const Bool empty = e.holds == tvm::Holds::nothing && !e.ended;
      const Bool unwanted =
          e.holds == tvm::Holds::result && e.parent == MaybeCore{} && s.tvm.phase != tvm::Phase::executes;
      return implies(s.next <= p.number(c), empty || unwanted);
    });
  }

  template <class V>
  void stack(V& v) const {
    v.invariant("launches lie one behind the other", [this](const State& s) {
      Number end = K::select(runs(s), Number(s.epoch.range.first), Number(s.next));
      Number number = K::select(runs(s), Number(s.epoch.number), Number(Protocol::most));
      return each_launch(s, [&](const Launch& launch, int) {
        const Bool behind = launch.range.first < Number(launch.range.end) && launch.range.end <= end &&
                            launch.number < number && launch.number <= Number(launch.range.first);
        end = launch.range.first;
        number = launch.number;
        return behind;
      });
    });
    v.invariant("an epoch's number counts those below it", [this](const State& s) {
      Number all(0);
      K::for_each_queued(s.stack, [&](const Launch&) { all = all + Number(1); });
      return implies(runs(s), all <= Number(s.epoch.number)) &&
             each_launch(s, [&](const Launch& launch, int place) {
               return all <= launch.number + Number(place + 1);
             });
    });
    each_launch(v, "a launch has tasks to run, unless it is on top",
                [this](const State& s, const Launch& launch, int place) {
                  return executes(s, launch) || (Bool(place == 0) && between(s));
                });
    each(v, "the stack is that of the machine's masks", [this](const State& s, Core c) {
      const int masks = p.machine().masks();
      std::vector<Bool> bits(static_cast<std::size_t>(masks) + 1, Bool(false));
      Bool idle(false);
      each_launch(s, [&](const Launch& launch, int place) {
        bits[static_cast<std::size_t>(place)] = is_of(s, c, launch);
        if (place == 0) idle = between(s) && !executes(s, launch);
        return Bool(true);
      });
      Bool same(true);
      for (int i = 0; i < masks; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Bool bit = (idle && bits[at + 1]) || (!idle && bits[at]);
        same = same && s.tvm.core(c).pushed(p.machine().mask(i)) == bit;
      }
      return same;
    });
  }

  template <class V>
  void children(V& v) const {
    each(v, "who waits has forked in front of the end above", [this](const State& s, Core child) {
      const auto forked_by = [&](Core c) { return s.tvm.core(child).parent == MaybeCore(c); };
      Number end = K::select(runs(s), Number(s.epoch.range.end), Number(s.next));
      const Bool below = each_launch(s, [&](const Launch& launch, int) {
        const Bool bounded = p.k.forall(cores, [&](Core c) {
          return implies(is_of(s, c, launch) && forked_by(c), end > p.number(child));
        });
        end = launch.range.end;
        return bounded;
      });
      return below && implies(s.tvm.core(child).parent != MaybeCore{}, s.next > p.number(child));
    });
  }
};

}  // namespace lockstep::trees
