// Whether an execution of a launch has a data race: two accesses to an element, at least one of them plain
// and at least one a write, of two waves, and neither happens before the other. Waves are ordered by barriers
// of their work-group, and by releases that acquires have read from, where the scopes of both have both waves
// in them; scopes beyond the work-group are taken to be wide enough.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "refimpl/kernels/lane_code.hpp"

namespace lockstep::kernels {

struct Race {
  int array = 0;
  std::int32_t element = 0;
  SourcePlace first;  // as they were executed
  SourcePlace second;
  std::int32_t first_item = 0;  // work-items, by global id
  std::int32_t second_item = 0;
};

class RaceMonitor {
 public:
  // Of arrays that a kernel writes to, so many elements in all are watched; else nothing is, nor where too
  // much has been released.
  static constexpr std::size_t most_elements = std::size_t{1} << 20U;

  // Waves of a place are numbered one after the other.
  RaceMonitor(const LaneCode& code, const std::vector<ArrayName>& arrays, int waves, int waves_per_place);
  [[nodiscard]] bool watches() const { return watches_; }

  void access(int wave, std::int32_t item, const Step& step, std::int32_t element);
  void fence(int wave, const Step& step);
  // All waves of a place have met; or the next of its work-groups begins, which nothing orders.
  void meet(int place);
  void begin(int place);

  // The first that was found.
  std::optional<Race> race;

 private:
  using Clock = std::uint32_t;
  // What a wave knows of others: the latest time of theirs that happens before its present. Of those of its
  // own place, or of all where the kernel releases and acquires beyond.
  using Clocks = std::vector<Clock>;
  struct Entry {
    std::int32_t wave = 0;
    Clock time = 0;
    std::int32_t item = 0;
    SourcePlace place;
    bool plain = false;
    bool writes = false;
  };
  struct Key {
    std::int32_t array = 0;
    std::int32_t element = 0;
    std::int32_t place = -1;  // -1: to whom the scope goes beyond a work-group
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] int place_of(int wave) const { return wave / waves_per_place_; }
  [[nodiscard]] std::size_t index_of(int wave, int other) const {
    return static_cast<std::size_t>(all_ ? other : other - place_of(wave) * waves_per_place_);
  }
  [[nodiscard]] bool happens_before(const Entry& entry, int wave) const;
  // What is known to `from` is known to the wave as well.
  void learn(int wave, const Clocks& from);
  static void join(Clocks& into, const Clocks& from);
  void synchronize(int wave, const Step& step, std::int32_t element);
  void release(const Key& key, const Clocks& clocks);
  [[nodiscard]] Clock& now(int wave) { return known_[static_cast<std::size_t>(wave)][index_of(wave, wave)]; }

  int waves_per_place_;
  bool orders_ = false;  // the kernel releases or acquires
  bool all_ = false;     // and not within work-groups alone
  bool watches_ = false;
  std::vector<std::int32_t> size_of_local_;  // by array; 0: not local
  std::vector<Clocks> known_;                // by wave
  std::vector<Clock> began_;                 // when its work-group did
  std::vector<Clock> heard_;                 // of itself, from others: what earlier work-groups of its did
  std::vector<std::vector<std::vector<Entry>>>
      accesses_;  // by array and element; none of arrays that are not written
  std::map<Key, Clocks> released_;
  std::size_t clocks_ = 0;        // in released_
  std::vector<Clocks> fenced_;    // by wave: at its last release fence
  std::vector<Clocks> to_fence_;  // by wave: what relaxed loads have read, for its next acquire fence
};

}  // namespace lockstep::kernels
