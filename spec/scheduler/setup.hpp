// Which scheduler runs a program's work-groups, and with what: plain data, chosen for a run.
//
// A progress model says to whom a scheduler owes fair execution, and nothing about how it goes about it
// (progress_models.hpp). A waiting policy is hardware: slots, queues and the monitor of waiting work-groups
// (waiting_policies.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "spec/kernel/choice.hpp"
#include "spec/program/machine.hpp"

namespace lockstep {

// Sorensen, Evrard and Donaldson, "GPU Schedulers: How Fair Is Fair Enough?" (CONCUR 2018); from the least
// owed to the most, as far as they can be compared.
enum class ProgressModel : std::uint8_t {
  unfair,   // nobody
  hsa,      // the live work-group of the lowest id
  obe,      // occupancy-bound execution: those that have executed a step
  hsa_obe,  // the union of both
  lobe,     // linear occupancy-bound: those whose id is not above that of one that has executed a step
  fair,     // everybody: independent forward progress
};

// Dutu et al., "Independent Forward Progress of Work-groups" (2020), IV.C to IV.E, in the paper's order, and
// what IV.C measures them by.
enum class WaitingPolicy : std::uint8_t {
  busy_waiting,  // the baseline; untimed, Sleep and backoff are the same
  timeout,
  mon_rs_all,
  mon_r_all,
  mon_nr_all,
  mon_nr_one,
  awg,
  min_resume,  // no hardware: an oracle
};

struct NamedProgressModel {
  ProgressModel model;
  std::string_view name;
  std::string_view what;
};
inline constexpr std::array progress_models{
    NamedProgressModel{ProgressModel::unfair, "unfair", "owes nobody a step"},
    NamedProgressModel{ProgressModel::hsa, "hsa", "fair to the live work-group of the lowest id"},
    NamedProgressModel{ProgressModel::obe, "obe", "occupancy-bound: fair to those that have begun"},
    NamedProgressModel{ProgressModel::hsa_obe, "hsa-obe", "fair to both of these"},
    NamedProgressModel{ProgressModel::lobe, "lobe",
                       "linear occupancy-bound: fair to those not above one that has begun"},
    NamedProgressModel{ProgressModel::fair, "fair", "fair to all: independent forward progress"},
};

struct NamedWaitingPolicy {
  WaitingPolicy policy;
  std::string_view name;
  std::string_view what;
};
inline constexpr std::array waiting_policies{
    NamedWaitingPolicy{WaitingPolicy::busy_waiting, "busy-waiting",
                       "Baseline, and Sleep: whoever waits tries again"},
    NamedWaitingPolicy{WaitingPolicy::timeout, "timeout", "waits for an interval of time"},
    NamedWaitingPolicy{WaitingPolicy::mon_rs_all, "monrs-all",
                       "wait instruction; any access to the address resumes all"},
    NamedWaitingPolicy{WaitingPolicy::mon_r_all, "monr-all",
                       "wait instruction; the condition, once met, resumes all"},
    NamedWaitingPolicy{WaitingPolicy::mon_nr_all, "monnr-all",
                       "waiting atomics; the condition, once met, resumes all"},
    NamedWaitingPolicy{WaitingPolicy::mon_nr_one, "monnr-one",
                       "waiting atomics; the condition, once met, resumes one"},
    NamedWaitingPolicy{WaitingPolicy::awg, "awg",
                       "resumes all or one, with a Monitor Log behind the monitor"},
    NamedWaitingPolicy{WaitingPolicy::min_resume, "min-resume",
                       "an oracle resumes one at a time, and nobody in vain"},
};

// What is built with schedulers is small otherwise, and holds more threads than a memory system alone.
inline constexpr int most_scheduled = 9;
struct ScheduledCapacities {
  template <class Tag>
  static constexpr int of =
      std::is_same_v<Tag, ThreadTag> || std::is_same_v<Tag, WorkGroupTag> || std::is_same_v<Tag, CuTag>
          ? most_scheduled
          : Tag::capacity;
};

// The sizes of a memory system together with the order of work-groups.
template <class Sizes>
struct ScheduledSizesOf;

// The ids of work-groups, by which a scheduler tells them apart; rigid, in order of their numbers.
struct OrderTag : Numbered<"order", most_scheduled> {};
template <class K>
using WorkGroupOrder = typename K::template Map<WorkGroupTag, OrderTag>;
template <class Capacities, class... Tags>
struct ScheduledSizesOf<SizesWithin<Capacities, Tags...>> {
  using type = SizesWithin<Capacities, Tags..., OrderTag>;
};

// Whom a timeout reaches.
enum class Timeouts : std::uint8_t { none, stalled, all };

// What the paper leaves open, and matters.
struct WaitingReadings {
  bool keeps_monitoring = false;       // the monitored bit survives a wake-up (V.B clears it)
  bool hashed_conditions = false;      // conditions are compared by a hash that collides (V.C)
  bool observes_plain_stores = false;  // not only atomics (V.B: "subsequent atomic operations")
  bool expiry_resumes = false;         // a stalled work-group whose time is up tries again though others are
                                       // ready for its slot; else it is switched out then (IV.B)
  bool any_order = false;              // of the ready queue; else first come, first served
  bool any_set_full = false;           // of the condition cache, whenever a new condition comes (V.C)
  bool predictor = false;              // AWG resumes all or one as V.A has it; else it may do either
};

inline constexpr std::array scheduler_faults{
    Fault{"wake-up-dropped", "a condition met while its work-group is being switched out resumes nobody"},
    Fault{"compares-old-value", "the SyncMon compares a condition with the value before the update"},
    Fault{"log-overwritten", "a full Monitor Log takes the new entry in place of its oldest"},
    Fault{"no-recheck", "a resumed work-group takes its condition for met"},
    Fault{"arms-late", "a waiting atomic arms the SyncMon after its answer, not with it"},
    Fault{"slot-leaked", "a work-group that is switched out keeps its slot"},
    Fault{"ready-lost", "a work-group whose condition is met while it is switched out is not made ready"},
    Fault{"drained-entry-lost", "the CP takes an entry from the Monitor Log and forgets it"},
    Fault{"switch-out-waits", "a work-group taken off its CU while running is taken for waiting"},
    Fault{"condition-not-checked", "the CP never checks the conditions that spilled"},
};

struct SchedulerSetup {
  bool is_policy = false;  // of the two below, which one counts
  ProgressModel model = ProgressModel::fair;
  WaitingPolicy policy = WaitingPolicy::busy_waiting;

  int slots = 0;           // work-groups that are resident at once; 0: all
  bool any_slots = false;  // every number from 1 to all

  // Of policies only.
  int taken = 0;        // slots that are taken away at some moment, with who is there
  int conditions = 0;   // that the SyncMon holds; 0: no bound
  int waiters = 0;      // work-groups that the SyncMon holds; 0: no bound
  int log_entries = 1;  // of the Monitor Log
  Timeouts timeouts = Timeouts::none;
  WaitingReadings readings;
  std::uint64_t fault_bits = 0;

  [[nodiscard]] bool has(NameIn<scheduler_faults> fault) const { return has(fault.position); }
  [[nodiscard]] bool has(unsigned fault) const { return ((fault_bits >> fault) & 1U) != 0; }
};

// What the paper gives each policy: a fixed interval for Timeout (IV.C), "or after a fixed timeout interval"
// for MonNR-One (IV.E), "the stalled WGs will time out" for AWG (V.A), and none for the others.
constexpr Timeouts printed_timeouts(WaitingPolicy policy) {
  switch (policy) {
    case WaitingPolicy::timeout:
    case WaitingPolicy::mon_nr_one:
      return Timeouts::all;
    case WaitingPolicy::awg:
      return Timeouts::stalled;
    default:
      return Timeouts::none;
  }
}

}  // namespace lockstep
