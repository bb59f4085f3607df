// Progress models: any thread may step at any time, and the model says whom the scheduler owes fairness.
//
// With an occupancy, a work-group runs from its dispatch to its end, and no more are dispatched at once than
// there are slots. A free slot is filled if a work-group waits for one, in the order of ids under LOBE, in
// any order else; "has executed a step" is then "has been dispatched".
//
// Source: as in setup.hpp; Sorensen et al., "Specifying and Testing GPU Workgroup Progress Models"
// (OOPSLA 2021). CPU threads are scheduled fairly under every model.
#pragma once

#include <boost/describe.hpp>

#include "spec/program/machine.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// Kinds that write down what they are told need not.
template <class K>
concept Counts = requires(const K& k) {
  k.count(work_groups, [](typename K::template Ix<WorkGroupTag>) { return typename K::Bool(true); });
};

template <class K>
struct ProgressModels {
  using Bool = typename K::Bool;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using WorkGroup = typename K::template Ix<WorkGroupTag>;

  struct State {
    typename K::template Table<Bool, WorkGroupTag> begun;
    typename K::template Int<0, most_scheduled> slots;  // 0: no bound
    BOOST_DESCRIBE_CLASS(State, (), (begun, slots), (), ())
  };
  // Whether it has to see each request as it is performed.
  static constexpr bool observes = false;

  const K& k;
  const Machine<K>& machine;
  const WorkGroupOrder<K>& order_of;
  SchedulerSetup setup;

  [[nodiscard]] bool is_bounded() const { return setup.slots > 0 || setup.any_slots; }

  void start(State& s, int slots) const { s.slots = slots; }

  // `live(w)`: a thread of the work-group has not ended.
  [[nodiscard]] Bool may_issue(const State& s, ThreadIx i) const {
    return machine.is_host(i) || Bool(!is_bounded()) || s.begun(machine.work_group_of(i));
  }
  // Whether the execution of a thread is owed, given who is live.
  template <class Live>
  [[nodiscard]] Bool owes(const State& s, ThreadIx i, Live&& live) const {
    const WorkGroup w = machine.work_group_of(i);
    const auto lowest = [&] {
      return live(w) && k.forall(work_groups, [&](WorkGroup v) { return !before(v, w) || !live(v); });
    };
    const auto owed = [&]() -> Bool {
      switch (setup.model) {
        case ProgressModel::unfair:
          return false;
        case ProgressModel::hsa:
          return lowest();
        case ProgressModel::obe:
          return s.begun(w);
        case ProgressModel::hsa_obe:
          return s.begun(w) || lowest();
        case ProgressModel::lobe:
          return lowest() || k.exists(work_groups, [&](WorkGroup v) { return !before(v, w) && s.begun(v); });
        case ProgressModel::fair:
          return true;
      }
      return true;
    };
    return machine.is_host(i) || owed();
  }

  void issued(State& s, ThreadIx i, bool) const {
    if (!is_bounded() && remembers_begun()) {
      k.when(!machine.is_host(i), [&] { s.begun(machine.work_group_of(i)) = true; });
    }
  }

  // `part(state)` is the scheduler's part of a state; `live(state, w)`.
  template <class Rules, class Part, class Live>
  void rules(Rules& r, Part part, Live live) const {
    if constexpr (Counts<K>) {
      if (is_bounded()) dispatch(r, part, live);
    }
  }

 private:
  template <class Rules, class Part, class Live>
  void dispatch(Rules& r, Part part, Live live) const {
    r.rule(
        Rule{.name = "is dispatched", .unit = "scheduler"}, over(work_groups),
        [this, part, live](const auto& s, WorkGroup w) {
          const State& own = part(s);
          const auto waits = [&](WorkGroup v) { return !own.begun(v) && live(s, v); };
          const Bool first = Bool(setup.model != ProgressModel::lobe) ||
                             k.forall(work_groups, [&](WorkGroup v) { return !before(v, w) || !waits(v); });
          return waits(w) && first &&
                 k.count(work_groups, [&](WorkGroup v) { return own.begun(v) && live(s, v); }) < own.slots;
        },
        [part](auto& s, WorkGroup w) { part(s).begun(w) = true; });
  }
  // Only these models look at who has begun.
  [[nodiscard]] bool remembers_begun() const {
    return setup.model == ProgressModel::obe || setup.model == ProgressModel::hsa_obe ||
           setup.model == ProgressModel::lobe;
  }
  [[nodiscard]] Bool before(WorkGroup v, WorkGroup w) const { return order_of(v) < order_of(w); }
};

}  // namespace lockstep
