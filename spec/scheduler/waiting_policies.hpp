// Waiting policies: how a GPU's hardware runs more work-groups than it has room for, and what it does with
// those that wait for a value.
//
// A work-group holds a slot of a CU from its dispatch until it ends or has been switched out. When a waiting
// atomic fails, its work-group is put down at the synchronization monitor (SyncMon) with its condition, an
// address and the value expected there; it is stalled, keeping its slot, and is switched out when somebody
// else is ready to run and no slot is free ("we context switch out a WG only if there are other WGs ready",
// IV.B). The SyncMon compares what atomics write to monitored addresses with the conditions and resumes all
// or one of those that wait for the value. What a full SyncMon cannot hold goes to the Monitor Log, from
// where the command processor (CP) takes it, and checks it against memory from time to time.
//
// Source: Dutu et al., "Independent Forward Progress of Work-groups", 2020: IV.C (Timeout, MonRS-All,
// MonR-All), IV.D (waiting atomics, MonNR-All), IV.E (MonNR-One), V (AWG). Times are not modelled: an
// interval or a predicted stall period ends some time, never at once for certain. Assumptions of ours:
//  - With the separate wait instruction (MonRS, MonR) a failed atomic is followed by arming the monitor as a
//    step of its own, which looks at no value: "the SyncMon can observe the lock release first" (IV.C).
//  - "resumes one" takes the one that has waited longest: the list has a head and a tail (V.C).
//  - A condition that is met while its work-group is being switched out is remembered until it is out.
//  - A waiting atomic that fails on its way, after its work-group has been taken off its CU or has been put
//    down for another thread's, puts nobody down: it is tried again when the work-group executes again.
//  - Addresses are blocks and words; a monitored bit is that of a cache line (V.B), hence of a block.
//  - AWG's prediction, where it is the paper's (`predictor`): updates count while the line's monitored bit is
//    set, the one that meets the condition among them; a timeout resets nothing; work-groups in the Monitor
//    Log or at the CP do not count as waiting; every address has its filter (V.C has 512).
//  - The condition cache holds any `conditions`. It has 256 sets of 4, which a universal hash of address and
//    value chooses from (V.C): with `any-set-full` a set may be full whenever a new condition comes, which is
//    so of every hash, and of any sets and ways.
//  - MinResume, "an oracular [...] configuration which does not resume WGs unnecessarily" and spreads out
//    when they are resumed (IV.C), looks at memory: it resumes one whose condition holds, and nobody else who
//    waits on the word until that one has looked.
//  - A waiting work-group whose monitored bit is cleared by somebody else's wake-up stays in the SyncMon; the
//    bit is set again when a waiter on that block registers.
#pragma once

#include <boost/describe.hpp>

#include "spec/program/machine.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// What a work-group is doing, as the dispatcher and the CP see it.
enum class WorkGroupStatus : std::uint8_t {
  ready,     // waits for a slot: not yet dispatched, or to be resumed
  running,   // holds a slot and executes
  arming,    // its atomic has failed; the wait instruction is next
  stalled,   // holds a slot and waits
  leaving,   // is being switched out
  switched,  // waits, and holds nothing
};
BOOST_DESCRIBE_ENUM(WorkGroupStatus, ready, running, arming, stalled, leaving, switched)

// Where a waiting work-group is put down.
enum class WaitingPlace : std::uint8_t { nowhere, sync_mon, log, cp };
BOOST_DESCRIBE_ENUM(WaitingPlace, nowhere, sync_mon, log, cp)

template <class K>
struct WaitingPolicies {
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using WorkGroup = typename K::template Ix<WorkGroupTag>;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;
  using Place = typename K::template Int<0, most_scheduled>;
  using Status = WorkGroupStatus;

  struct Context {
    typename K::template Enum<WorkGroupStatus> status;
    Place turn;     // of those that are ready: how many go first
    Bool notified;  // while it is being switched out: it will be ready
    // The condition of its last waiting atomic.
    typename K::template Enum<WaitingPlace> place;
    Place arrived;  // of those in the same place: how many came before
    Block block;
    Word word;
    Value expected;
    Bool resumed;  // its condition was met, and it has yet to look (MinResume, and fault no-recheck)
    Bool chosen;   // to be resumed, within one step
    BOOST_DESCRIBE_CLASS(Context, (),
                         (status, turn, notified, place, arrived, block, word, expected, resumed, chosen), (),
                         ())
  };
  // The different values that a monitored address has been updated to, up to three of them: those that AWG's
  // prediction tells apart. The paper's counting Bloom filter may take a new one for one of them.
  struct Updates {
    typename K::template Int<0, 3> count;
    Value first;
    Value second;
    BOOST_DESCRIBE_CLASS(Updates, (), (count, first, second), (), ())
  };
  struct State {
    typename K::template Table<Context, WorkGroupTag> group;
    typename K::template Table<Bool, ThreadTag> waits;  // the request at the port is a waiting atomic's
    typename K::template Table<Bool, BlockTag> monitored;
    typename K::template Int<0, most_scheduled> slots;
    typename K::template Int<0, most_scheduled> to_take;
    Bool resumes_one;  // AWG's prediction, where it is left open: it may be wrong
    Bool set_is_full;  // of the condition cache, the set of the next condition (`any-set-full`)
    typename K::template Table<Updates, BlockTag, WordTag> updates;  // where it is the paper's
    BOOST_DESCRIBE_CLASS(State, (),
                         (group, waits, monitored, slots, to_take, resumes_one, set_is_full, updates), (), ())
  };
  static constexpr bool observes = true;

  const K& k;
  const Machine<K>& machine;
  const WorkGroupOrder<K>& order_of;
  SchedulerSetup setup;

  void start(State& s, int slots) const {
    s.slots = slots == 0 ? k.extent(work_groups) : slots;
    s.to_take = setup.taken;
    // Dispatched in the order of their ids.
    k.for_each(work_groups, [&](WorkGroup w) {
      s.group(w).turn = k.count(work_groups, [&](WorkGroup v) { return order_of(v) < order_of(w); });
    });
  }

  [[nodiscard]] Bool may_issue(const State& s, ThreadIx i) const {
    return machine.is_host(i) || s.group(machine.work_group_of(i)).status == Status::running;
  }
  // A CU executes all that is resident.
  template <class Live>
  [[nodiscard]] Bool owes(const State&, ThreadIx, Live&&) const {
    return true;
  }
  void issued(State& s, ThreadIx i, bool waits) const { s.waits(i) = waits; }

  // Whether the thread need not look again, because of a fault; asked for a request just issued.
  [[nodiscard]] Bool skips(const State& s, ThreadIx i) const {
    return Bool(setup.has("no-recheck")) && s.waits(i) && s.group(machine.work_group_of(i)).resumed;
  }
  void skipped(State& s, ThreadIx i) const {
    s.group(machine.work_group_of(i)).resumed = false;
    s.waits(i) = false;
  }

  // What a waiting atomic's request waits to read (expected_value of its instruction).
  template <class Request>
  [[nodiscard]] Value expected(const Request& q) const {
    return k.select(q.operation == Operation::load || q.function == RmwFunction::compare_swap, q.a, q.b);
  }
  // Thread i's request has just been performed: the word held `old` and holds `now`.
  template <class Request>
  void performed(State& s, ThreadIx i, const Request& q, const Value& old, const Value& now) const {
    const Bool writes =
        q.operation == Operation::store ||
        (q.operation == Operation::rmw && (!(q.function == RmwFunction::compare_swap) || old == q.a));
    const Bool atomic = !(q.order == Order::plain);
    const Bool accesses = !(q.operation == Operation::fence);
    const Bool seen = accesses && (atomic || Bool(setup.readings.observes_plain_stores)) &&
                      (writes || Bool(setup.policy == WaitingPolicy::mon_rs_all));
    k.when(seen, [&] { observe(s, q.block, q.word, old, now); });
    if (is_oracle()) {
      k.when(s.waits(i) && !machine.is_host(i), [&] { s.group(machine.work_group_of(i)).resumed = false; });
    }
    k.when(s.waits(i) && !(old == expected(q)) && !machine.is_host(i),
           [&] { fails(s, machine.work_group_of(i), q.block, q.word, expected(q)); });
    s.waits(i) = false;
  }

  // `part(state)` is the scheduler's part; `live(state, w)`; `holds(state, b, w, v)`: memory holds the value.
  template <class Rules, class Part, class Live, class Holds>
  void rules(Rules& r, Part part, Live live, Holds holds) const {
    r.rule(
        Rule{.name = "is dispatched or resumed", .unit = "dispatcher", .source = "V.B (6, 8)"},
        over(work_groups),
        [this, part, live](const auto& s, WorkGroup w) {
          const State& own = part(s);
          const auto ready = [&](WorkGroup v) { return own.group(v).status == Status::ready && live(s, v); };
          const Bool is_ready = ready(w);
          const Bool first = Bool(setup.readings.any_order) || k.forall(work_groups, [&](WorkGroup v) {
            return !ready(v) || v == w || own.group(w).turn < own.group(v).turn;
          });
          return is_ready && first && has_free_slot(own, s, live);
        },
        [this, part](auto& s, WorkGroup w) {
          State& own = part(s);
          leave_queue(own, w);
          own.group(w).status = Status::running;
        });
    r.rule(
        Rule{.name = "arms the SyncMon", .unit = "work-group", .source = "IV.C, Fig. 10 (a), l. 17"},
        over(work_groups),
        [part](const auto& s, WorkGroup w) { return part(s).group(w).status == Status::arming; },
        [this, part](auto& s, WorkGroup w) { put_down(part(s), w); });
    // One rule: a period that has come to its end does the one or the other, however the crowd changes.
    r.rule(
        Rule{.name = "has stalled for long enough", .unit = "dispatcher", .source = "IV.B, IV.C ii, V.A"},
        over(work_groups),
        [this, part, live](const auto& s, WorkGroup w) {
          const State& own = part(s);
          return own.group(w).status == Status::stalled &&
                 (Bool(setup.timeouts != Timeouts::none) ||
                  (Bool(!setup.readings.expiry_resumes) && is_crowded(own, s, live)));
        },
        [this, part, live](auto& s, WorkGroup w) {
          State& own = part(s);
          k.when(
              Bool(!setup.readings.expiry_resumes) && is_crowded(own, s, live),
              [&] { own.group(w).status = Status::leaving; },
              [&] {
                forget(own, w);
                wake(own, w);
              });
        });
    if (setup.readings.expiry_resumes) {
      r.rule(
          Rule{.name = "is switched out", .unit = "CP", .source = "IV.B, V.B (7)"}, over(work_groups),
          [this, part, live](const auto& s, WorkGroup w) {
            return part(s).group(w).status == Status::stalled && is_crowded(part(s), s, live);
          },
          [part](auto& s, WorkGroup w) { part(s).group(w).status = Status::leaving; });
    }
    r.rule(
        Rule{.name = "has been switched out", .unit = "CP", .source = "V.B (7)"}, over(work_groups),
        [part](const auto& s, WorkGroup w) { return part(s).group(w).status == Status::leaving; },
        [this, part](auto& s, WorkGroup w) {
          State& own = part(s);
          k.when(
              own.group(w).notified,
              [&] {
                own.group(w).notified = false;
                make_ready(own, w);
              },
              [&] { own.group(w).status = Status::switched; });
        });
    if (setup.timeouts == Timeouts::all) {
      r.rule(
          Rule{.name = "has been away for long enough", .unit = "CP", .source = "IV.C ii, IV.E"},
          over(work_groups),
          [part](const auto& s, WorkGroup w) { return part(s).group(w).status == Status::switched; },
          [this, part](auto& s, WorkGroup w) {
            forget(part(s), w);
            wake(part(s), w);
          });
    }
    r.rule(
        Rule{.name = "is taken off its CU",
             .unit = "kernel scheduler",
             .source = "VI",
             .fairness = Fairness::optional},
        over(work_groups),
        [part, live](const auto& s, WorkGroup w) {
          const State& own = part(s);
          const auto status = own.group(w).status;
          return own.to_take > 0 && live(s, w) && !(status == Status::ready) &&
                 !(status == Status::leaving) && !(status == Status::switched);
        },
        [this, part](auto& s, WorkGroup w) {
          State& own = part(s);
          own.to_take = own.to_take - 1;
          own.slots = own.slots - 1;
          // Who was executing goes on as soon as there is a slot; who was about to wait, looks again.
          k.when(own.group(w).status != Status::stalled,
                 [&] { own.group(w).notified = Bool(!setup.has("switch-out-waits")); });
          own.group(w).status = Status::leaving;
        });
    if (is_oracle()) {
      r.rule(
          Rule{.name = "is resumed not in vain", .unit = "oracle", .source = "IV.C iii, Figure 9"},
          over(work_groups),
          [this, part, live, holds](const auto& s, WorkGroup w) {
            const State& own = part(s);
            const Context& c = own.group(w);
            return c.place == WaitingPlace::sync_mon && holds(s, c.block, c.word, c.expected) &&
                   k.forall(work_groups, [&](WorkGroup v) {
                     const Context& d = own.group(v);
                     return !d.resumed || d.block != c.block || d.word != c.word || !live(s, v);
                   });
          },
          [this, part](auto& s, WorkGroup w) {
            State& own = part(s);
            forget(own, w);
            own.group(w).resumed = true;
            wake(own, w);
          });
    }
    if (setup.policy != WaitingPolicy::awg) return;
    if (!setup.readings.predictor)
      r.rule(
          Rule{.name = "predicts otherwise",
               .unit = "SyncMon",
               .source = "V.A",
               .fairness = Fairness::optional},
          over(),
          [this, live](const auto& s) {
            return k.exists(work_groups, [&](WorkGroup w) { return live(s, w); });
          },
          [part](auto& s) { part(s).resumes_one = !part(s).resumes_one; });
    if (setup.readings.any_set_full)
      r.rule(
          Rule{.name = "hashes to another set",
               .unit = "SyncMon",
               .source = "V.C",
               .fairness = Fairness::optional},
          over(),
          [this, live](const auto& s) {
            return k.exists(work_groups, [&](WorkGroup w) { return live(s, w); });
          },
          [part](auto& s) { part(s).set_is_full = !part(s).set_is_full; });
    r.rule(
        Rule{.name = "is taken from the Monitor Log", .unit = "CP", .source = "V.B"}, over(work_groups),
        [part](const auto& s, WorkGroup w) {
          const Context& c = part(s).group(w);
          return c.place == WaitingPlace::log && c.arrived == 0;
        },
        [this, part](auto& s, WorkGroup w) {
          State& own = part(s);
          forget(own, w);
          if (!setup.has("drained-entry-lost")) put_at(own, w, WaitingPlace::cp);
        });
    r.rule(
        Rule{.name = "has its condition checked", .unit = "CP", .source = "V.B (9)"}, over(work_groups),
        [this, part, holds](const auto& s, WorkGroup w) {
          const Context& c = part(s).group(w);
          return c.place == WaitingPlace::cp && holds(s, c.block, c.word, c.expected) &&
                 Bool(!setup.has("condition-not-checked"));
        },
        [this, part](auto& s, WorkGroup w) {
          forget(part(s), w);
          wake(part(s), w);
        });
  }

 private:
  [[nodiscard]] bool waits_at_all() const { return setup.policy != WaitingPolicy::busy_waiting; }
  [[nodiscard]] bool has_wait_instruction() const {
    return setup.policy == WaitingPolicy::mon_rs_all || setup.policy == WaitingPolicy::mon_r_all ||
           setup.has("arms-late");
  }
  [[nodiscard]] bool has_monitor() const { return setup.policy >= WaitingPolicy::mon_rs_all; }
  [[nodiscard]] bool is_oracle() const { return setup.policy == WaitingPolicy::min_resume; }

  template <class Whole, class Live>
  [[nodiscard]] Bool has_free_slot(const State& own, const Whole& s, const Live& live) const {
    return k.count(work_groups, [&](WorkGroup v) { return holds_slot(own, v) && live(s, v); }) < own.slots;
  }
  // Somebody is ready and there is no slot.
  template <class Whole, class Live>
  [[nodiscard]] Bool is_crowded(const State& own, const Whole& s, const Live& live) const {
    return k.exists(work_groups, [&](WorkGroup v) {
      return own.group(v).status == Status::ready && live(s, v);
    }) && !has_free_slot(own, s, live);
  }
  [[nodiscard]] Bool holds_slot(const State& s, WorkGroup w) const {
    const auto status = s.group(w).status;
    return status == Status::running || status == Status::arming || status == Status::stalled ||
           status == Status::leaving || (Bool(setup.has("slot-leaked")) && status == Status::switched);
  }

  // A waiting atomic of the work-group has read another value than the one it expects.
  void fails(State& s, WorkGroup w, Block b, Word word, const Value& expected) const {
    if (!waits_at_all()) return;
    k.when(s.group(w).status == Status::running, [&] {
      Context& c = s.group(w);
      c.block = b;
      c.word = word;
      c.expected = expected;
      if (has_wait_instruction()) {
        c.status = Status::arming;
      } else {
        put_down(s, w);
      }
    });
  }

  // The work-group is put down where there is room, and waits; where there is none, it goes on and tries
  // again (V.A, "Mesa program semantics").
  void put_down(State& s, WorkGroup w) const {
    if (!has_monitor()) {
      s.group(w).status = Status::stalled;
      return;
    }
    k.when(
        fits_sync_mon(s, w),
        [&] {
          put_at(s, w, WaitingPlace::sync_mon);
          k.at(blocks, s.group(w).block, [&](Block b) { s.monitored(b) = true; });
          s.group(w).status = Status::stalled;
        },
        [&] { put_in_log(s, w); });
  }
  [[nodiscard]] Bool fits_sync_mon(const State& s, WorkGroup w) const {
    if (setup.policy != WaitingPolicy::awg) return true;
    const auto there = [&](WorkGroup v) { return s.group(v).place == WaitingPlace::sync_mon; };
    // Conditions are counted by the first work-group that waits on each.
    const auto heads = [&](WorkGroup v) {
      return there(v) && k.forall(work_groups, [&](WorkGroup u) {
        return !there(u) || !same_condition(s, u, v) || !(s.group(u).arrived < s.group(v).arrived);
      });
    };
    const Bool known =
        k.exists(work_groups, [&](WorkGroup v) { return there(v) && same_condition(s, v, w); });
    Bool fits = !Bool(setup.readings.any_set_full) || known || !s.set_is_full;
    if (setup.conditions > 0)
      fits = fits && (known || k.count(work_groups, heads) < typename K::Number(setup.conditions));
    if (setup.waiters > 0) fits = fits && k.count(work_groups, there) < typename K::Number(setup.waiters);
    return fits;
  }
  void put_in_log(State& s, WorkGroup w) const {
    const auto logged = [&](WorkGroup v) { return s.group(v).place == WaitingPlace::log; };
    const Bool room = k.count(work_groups, logged) < typename K::Number(setup.log_entries);
    const auto enter = [&] {
      put_at(s, w, WaitingPlace::log);
      s.group(w).status = Status::stalled;
    };
    if (setup.has("log-overwritten")) {
      k.when(!room, [&] {
        k.for_each(work_groups, [&](WorkGroup v) {
          k.when(logged(v), [&] {
            k.when(
                s.group(v).arrived == 0, [&] { s.group(v).place = WaitingPlace::nowhere; },
                [&] { s.group(v).arrived = s.group(v).arrived - 1; });
          });
        });
      });
      enter();
    } else {
      k.when(room, enter, [&] { s.group(w).status = Status::running; });
    }
  }
  void put_at(State& s, WorkGroup w, WaitingPlace place) const {
    s.group(w).arrived = k.count(work_groups, [&](WorkGroup v) { return s.group(v).place == place; });
    s.group(w).place = place;
  }
  // Takes the work-group from where it is put down.
  void forget(State& s, WorkGroup w) const {
    const auto place = s.group(w).place;
    const auto arrived = s.group(w).arrived;
    k.for_each(work_groups, [&](WorkGroup v) {
      k.when(!(place == WaitingPlace::nowhere) && s.group(v).place == place && arrived < s.group(v).arrived,
             [&] { s.group(v).arrived = s.group(v).arrived - 1; });
    });
    s.group(w).place = WaitingPlace::nowhere;
    s.group(w).arrived = 0;
  }

  [[nodiscard]] Bool same_condition(const State& s, WorkGroup v, WorkGroup w) const {
    const Context& a = s.group(v);
    const Context& b = s.group(w);
    if (setup.readings.hashed_conditions) return true;
    return a.block == b.block && a.word == b.word && a.expected == b.expected;
  }

  // The SyncMon sees an access to a word that holds `now` after it.
  void observe(State& s, Block b, Word word, const Value& old, const Value& now) const {
    const Value value = setup.has("compares-old-value") ? old : now;
    const auto met = [&](const State& in, WorkGroup w) {
      const Context& c = in.group(w);
      const Bool there = c.place == WaitingPlace::sync_mon;
      if (setup.readings.hashed_conditions) return there;
      const Bool address = there && c.block == b && c.word == word;
      return setup.policy == WaitingPolicy::mon_rs_all ? address : address && c.expected == value;
    };
    if (!has_monitor() || is_oracle()) return;
    const Bool monitored = k.pick(blocks, b, [&](Block i) { return s.monitored(i); });
    if (setup.readings.predictor)
      k.when(monitored, [&] { k.at(blocks, b, [&](Block i) { count_update(s.updates(i, word), value); }); });
    k.when(monitored && k.exists(work_groups, [&](WorkGroup w) { return met(s, w); }), [&] {
      const Bool one = resumes_one(s, b, word);
      k.for_each(work_groups, [&](WorkGroup w) {
        const Bool first = k.forall(work_groups, [&](WorkGroup v) {
          return !met(s, v) || !(s.group(v).arrived < s.group(w).arrived);
        });
        s.group(w).chosen = met(s, w) && (!one || first);
      });
      k.for_each(work_groups, [&](WorkGroup w) {
        k.when(s.group(w).chosen, [&] {
          s.group(w).chosen = false;
          forget(s, w);
          wake(s, w);
        });
      });
      // "the monitored bit is cleared" (V.B); MonNR-One "continues to monitor the same condition" (IV.E).
      if (!setup.readings.keeps_monitoring && setup.policy != WaitingPolicy::mon_nr_one) {
        k.at(blocks, b, [&](Block i) { s.monitored(i) = false; });
      }
      if (setup.readings.predictor) k.at(blocks, b, [&](Block i) { reset_unless_waited_for(s, i, word); });
    });
  }
  [[nodiscard]] Bool resumes_one(const State& s, Block b, Word word) const {
    if (setup.policy != WaitingPolicy::awg) return setup.policy == WaitingPolicy::mon_nr_one;
    if (!setup.readings.predictor) return s.resumes_one;
    // "At most two unique updates" (V.A); with one waiter both are the same.
    return k.pick(blocks, b, [&](Block i) { return !(s.updates(i, word).count > 2); });
  }
  void count_update(Updates& u, const Value& value) const {
    const Bool known = (u.count > 0 && u.first == value) || (u.count > 1 && u.second == value);
    k.when(!known && u.count < 3, [&] {
      k.when(u.count == 1, [&] { u.second = value; });
      k.when(u.count == 0, [&] { u.first = value; });
      u.count = u.count + 1;
    });
  }
  // "Once [...] all waiting WGs have resumed, and the address is not monitored, the associated Bloom filter
  // is reset."
  void reset_unless_waited_for(State& s, Block b, Word word) const {
    const Bool waited_for = k.exists(work_groups, [&](WorkGroup w) {
      const Context& c = s.group(w);
      return c.place == WaitingPlace::sync_mon && c.block == b && c.word == word;
    });
    k.when(!waited_for && !s.monitored(b), [&] {
      s.updates(b, word).count = 0;
      s.updates(b, word).first = Value(0);
      s.updates(b, word).second = Value(0);
    });
  }

  // The work-group may execute again, wherever it is.
  void wake(State& s, WorkGroup w) const {
    const auto status = s.group(w).status;
    const Bool stalled = status == Status::stalled;
    const Bool leaving = status == Status::leaving;
    const Bool switched = status == Status::switched;
    if (setup.has("no-recheck")) s.group(w).resumed = true;
    k.when(stalled, [&] { s.group(w).status = Status::running; });
    k.when(leaving, [&] { s.group(w).notified = Bool(!setup.has("wake-up-dropped")); });
    if (!setup.has("ready-lost")) k.when(switched, [&] { make_ready(s, w); });
  }
  void make_ready(State& s, WorkGroup w) const {
    s.group(w).turn = k.count(work_groups, [&](WorkGroup v) { return in_queue(s, v); });
    s.group(w).status = Status::ready;
  }
  void leave_queue(State& s, WorkGroup w) const {
    const auto turn = s.group(w).turn;
    k.for_each(work_groups, [&](WorkGroup v) {
      k.when(in_queue(s, v) && turn < s.group(v).turn, [&] { s.group(v).turn = s.group(v).turn - 1; });
    });
    s.group(w).turn = 0;
  }
  [[nodiscard]] Bool in_queue(const State& s, WorkGroup w) const {
    return s.group(w).status == Status::ready;
  }
};

}  // namespace lockstep
