// A memory system under a waiting policy of spec/scheduler, as a memory system of its own: it performs a
// work-group's requests while the policy has it running, and the policy sees each of them performed. Where a
// thread under such a policy would not yet have handed over a request (spec/scheduler/scheduled.hpp), here it
// has, and the request waits: nobody else can tell.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "refimpl/timed.hpp"
#include "spec/program/port.hpp"
#include "spec/scheduler/setup.hpp"
#include "spec/scheduler/waiting_policies.hpp"

namespace lockstep {

// What the engine gives it besides what a memory system gets.
template <class K>
struct PolicyOfRun {
  SchedulerSetup setup;
  WorkGroupOrder<K> order;
  std::vector<std::vector<std::uint32_t>> threads_of;  // by work-group
  // Whether the thread's request is a waiting atomic's; asked while it is pending.
  std::function<bool(std::uint32_t thread)> asks_to_wait;
};

template <class Inner, class K>
struct ScheduledMemory {
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using WorkGroup = typename K::template Ix<WorkGroupTag>;
  using Policy = WaitingPolicies<K>;

  struct State : Inner::State {
    typename Policy::State scheduler;
    // The numbers of slots, which lie in no table, change only together with the row of a work-group.
    void bind(const K& k, timed::Binder& binder, const std::string& name) {
      k.bind(static_cast<typename Inner::State&>(*this), binder, name);
      k.bind(scheduler.group, binder, name + ".group");
      k.bind(scheduler.waits, binder, name + ".waits");
      k.bind(scheduler.monitored, binder, name + ".monitored");
      k.bind(scheduler.updates, binder, name + ".updates");
    }
  };

  const K& k;
  const Machine<K>& machine;
  std::uint64_t fault_bits;
  int variant;
  const PolicyOfRun<K>* run;

  void initialise(State& s, Block b, Word w, const Value& v) const { inner().initialise(s, b, w, v); }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    return inner().final_value(s, b, w);
  }
  [[nodiscard]] Bool drained(const State& s) const { return inner().drained(s); }
  // Those that there is room for have been dispatched.
  void start(State& s) const {
    const int slots = run->setup.slots;
    policy().start(s.scheduler, slots);
    for (std::uint32_t w = 0; w < run->threads_of.size(); ++w) {
      auto& group = s.scheduler.group(WorkGroup{w});
      if (slots > 0 && w >= static_cast<std::uint32_t>(slots)) {
        group.turn = static_cast<int>(w) - slots;
      } else {
        group.turn = 0;
        group.status = WorkGroupStatus::running;
      }
    }
  }

  void rules(RuleList<K, State>& r) const {
    RuleList<K, typename Inner::State> of_memory(k);
    of_memory.keep(inner()).rules(of_memory);
    const Policy& policy_of_rules = r.keep(policy());
    for (const auto& own : of_memory.values()) r.add(held_back(own, policy_of_rules));
    r.keep(of_memory.kept());
    policy_of_rules.rules(
        r, [](auto& s) -> auto& { return s.scheduler; },
        [this](const State& s, WorkGroup w) { return is_live(s, w); },
        [this](const State& s, auto b, auto w, const Value& v) { return final_value(s, b, w) == v; });
  }

 private:
  using Erased = typename K::Erased;
  using Member = typename Erased::Member;
  using Rule = RuleValue<Erased>;

  [[nodiscard]] Inner inner() const { return Inner{k, machine, fault_bits, variant}; }
  [[nodiscard]] Policy policy() const { return {k, machine, run->order, run->setup}; }
  [[nodiscard]] Bool is_live(const State& s, WorkGroup w) const {
    for (const std::uint32_t t : run->threads_of[w.v]) {
      if (const Bool ended = s.port(ThreadIx{t}).ended; !ended.v) return !ended;
    }
    return Bool::seen(false);
  }

  Rule held_back(const Rule& own, const Policy& policy_of_rules) const {
    Rule held = own.within(0);
    held.guard = ErasedGuard<Erased>::template of<K, State>(
        [guard = held.guard, &policy_of_rules](const State& s, const Member* m) {
          return Bool(guard(&s, m)) &&
                 policy_of_rules.may_issue(s.scheduler, K::template member<ThreadTag>(m[0]));
        });
    held.action = ErasedAction<Erased>::template of<State>(
        [this, action = held.action, &policy_of_rules](State& s, const Member* m) {
          perform(s, K::template member<ThreadTag>(m[0]), policy_of_rules, [&] { action(&s, m); });
        });
    return held;
  }

  template <class Action>
  void perform(State& s, ThreadIx i, const Policy& policy_of_rules, Action&& action) const {
    const State& before = s;
    const auto& request = before.port(i).request;
    const auto word = [&] { return final_value(before, request.block, request.word); };
    policy_of_rules.issued(s.scheduler, i, run->asks_to_wait(i.v));
    if (request.operation.v == Operation::fence) {
      action();
      return;
    }
    if (policy_of_rules.skips(before.scheduler, i).v) {
      complete<K>(s.port(i), policy_of_rules.expected(request));
      policy_of_rules.skipped(s.scheduler, i);
      return;
    }
    const Value old = word();
    action();
    policy_of_rules.performed(s.scheduler, i, request, old, word());
  }
};

// The description of a memory system, with such a memory.
template <class Info>
struct ScheduledInfo : Info {
  template <class Capacities>
  using Sizes = typename ScheduledSizesOf<typename Info::template Sizes<Capacities>>::type;
  template <class K>
  using Memory = ScheduledMemory<typename Info::template Memory<K>, K>;
};

// Whether the system is one that a policy can watch.
template <class Info>
concept PerformsAtOnce = requires {
  requires Info::performs_at_once;
};

}  // namespace lockstep
