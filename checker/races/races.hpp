// Heterogeneous races: whether some SC execution of a program has one, and which two operations race.
//
// Every interleaving of the program on flat memory is explored together with a monitor that knows, for each
// thread, which earlier accesses happen before its present (monitor.hpp). That is finite also for programs
// with loops, so the answer is exhaustive unless a limit stopped the run, and then it says so. What races are
// is defined in semantics.md, "SC and races".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

enum class RaceModel : std::uint8_t {
  drf,
  hrf_direct,
  hrf_indirect,
  hrf_relaxed_direct,
  hrf_relaxed_indirect
};

// Which releases an acquire of the same scope instance synchronizes with: all before it in the execution (as
// first printed), or those on its own location (as later refined).
enum class SyncReading : std::uint8_t { any_location, same_location };

// Ordinary: at least one of the two is plain. Synchronization: both are atomic, their scopes don't fit.
enum class ConflictKind : std::uint8_t { ordinary, synchronization };

inline constexpr std::array race_models{RaceModel::drf, RaceModel::hrf_direct, RaceModel::hrf_indirect,
                                        RaceModel::hrf_relaxed_direct, RaceModel::hrf_relaxed_indirect};
inline constexpr std::array sync_readings{SyncReading::any_location, SyncReading::same_location};

// As in a test's Race= line: "hrf-relaxed-direct".
std::string_view name(RaceModel model);
std::optional<RaceModel> race_model_named(std::string_view text);
RaceModel find_race_model(std::string_view text);  // throws BadInput with the nearest name
std::string_view name(SyncReading reading);        // "any location"
std::string_view name(ConflictKind kind);          // "ordinary"

// One step of an SC execution. A compare-and-swap that fails only reads; a barrier's arrival and a kernel's
// end are steps like a release fence, a departure and a kernel's begin like an acquire fence.
struct PerformedOperation {
  int thread = 0;
  int instruction = 0;     // index into the thread's code
  bool reads = false;      // memory; of a fence or edge: acquires
  bool writes = false;     // memory; of a fence or edge: releases
  std::int32_t value = 0;  // what it read, or if it only writes, what it wrote; 0 for a fence or edge
  bool operator==(const PerformedOperation&) const = default;
};

struct Race {
  ConflictKind kind = ConflictKind::ordinary;
  int location = 0;  // index into Program::locations
  PerformedOperation first;
  PerformedOperation second;
  // The whole execution, a shortest one, in order: it ends with `second`, and `first` is in it.
  std::vector<PerformedOperation> execution;
};

enum class RaceAnswer : std::uint8_t {
  race_free,     // no SC execution has a race
  race,          // some has one: the evidence is in `race`
  not_judged,    // the model does not judge this program, `reason` says why
  inconclusive,  // stopped before the end, `reason` says by what
};

struct RaceVerdict {
  RaceModel model = RaceModel::drf;
  SyncReading reading = SyncReading::any_location;
  RaceAnswer answer = RaceAnswer::race_free;
  std::optional<Race> race;
  std::string reason;
  std::size_t states = 0;  // explored; 0 where the text of the program already excludes every conflict
  std::uint64_t transitions = 0;
  double seconds = 0;
};

struct RaceReport {
  // Whether DRF, HRF-direct and HRF-indirect judge the program: they do unless it has relaxed atomics. The
  // HRF-relaxed models then still say whether some SC execution races, but being race-free no longer promises
  // SC outcomes.
  bool judged = true;
  std::string reason;                 // why not
  std::vector<RaceVerdict> verdicts;  // for each model and reading asked for, models outermost

  // Throws std::out_of_range where it was not asked for.
  [[nodiscard]] const RaceVerdict& of(RaceModel model, SyncReading reading) const;
  [[nodiscard]] bool inconclusive() const;  // some verdict is
};

struct RaceOptions {
  std::vector<RaceModel> models{race_models.begin(), race_models.end()};
  std::vector<SyncReading> readings{sync_readings.begin(), sync_readings.end()};
  // The time limit is for all verdicts together, the memory limit for each. Deadlocks and failing assertions
  // of the program are of no interest here; `invariants`, `deadlocks` and `on_end` are ignored.
  ExploreOptions explore;
};

// Throws BadInput where the program is too large for the built state.
RaceReport analyse_races(const Program& program, const RaceOptions& options = {});

// "ordinary race on x: P0 'st x, 1' and P1 'ld r1, x'"
std::string print(const Race& race, const Program& program);

}  // namespace lockstep
