// Fields that no continuation reads, so that states that differ in nothing else are one.
//
// What may still happen follows from the places of the threads in their programs. From that, a field is
// *live* where it decides what a program's outcomes, what is watched, or whether a fair rule is enabled;
// where it is a source of a change that may still take place of a live field; and where a guard or a
// condition of such a change reads it. All others are dead: whatever they hold, every run goes on as it
// would, but for steps that only change dead fields. They are set to what they hold at the start.
// docs/engine.md has the argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "checker/footprint/footprint.hpp"

namespace lockstep::footprint {

class DeadFields {
 public:
  // `possible`: by case, whether some run comes to it. `fair`: by instance. `memory_observed`: whether
  // somebody reads the final locations; if not, what follows the last thread's end is not looked at.
  // `initial`, of `bytes`, is the state that a run starts from.
  DeadFields(std::shared_ptr<const Footprints> footprints, const std::vector<bool>& possible,
             const std::vector<bool>& fair, bool memory_observed, const std::byte* initial,
             std::size_t bytes);

  struct Stretch {  // of the plain struct, in bytes
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  // What is known so far, one for each thread that explores.
  struct Room {
    std::string places;  // of the threads, a byte each
    std::unordered_map<std::string, std::vector<Stretch>> dead;
  };

  void reset(std::byte* state, Room& room) const;

  // Whether a state's dead fields may be set to what they hold at the start: scalars and queues of the memory
  // system. The threads' own say what may still happen.
  [[nodiscard]] static std::vector<bool> candidates(const Footprints& footprints);

 private:
  using Set = std::vector<std::uint64_t>;  // of locations, a bit each; of a queue's aspects one
  // Something that may change, by cases that ask for the same places of threads.
  struct Change {
    std::uint32_t when = 0;  // index into whens_
    Location target = 0;
    Set sources;
  };
  struct At {
    std::size_t thread;
    std::int64_t place;
    bool operator==(const At&) const = default;
    bool operator<(const At& other) const {
      return std::tie(thread, place) < std::tie(other.thread, other.place);
    }
  };
  using When = std::vector<At>;

  void put(Set& set, Location l) const;
  void put(Set& set, const std::vector<Location>& locations) const;
  [[nodiscard]] When when_of(const Case& one) const;
  std::uint32_t number_of(const When& when);
  void note_moves(const std::vector<bool>& possible);
  [[nodiscard]] std::vector<Stretch> dead_at(const std::string& places) const;
  [[nodiscard]] static bool is_of_port(const std::string& path, std::string_view field);
  [[nodiscard]] std::vector<std::byte> drained_state() const;
  // Some fair case may go on in that state, for ever if what it changes were set back each time.
  [[nodiscard]] bool stirs_when_drained(const std::vector<bool>& possible,
                                        const std::vector<bool>& fair) const;

  std::shared_ptr<const Footprints> footprints_;
  bool looks_at_draining_ = true;  // when all threads have ended
  std::vector<std::byte> initial_;
  std::vector<bool> candidates_;
  // By thread and place: the places that it may still come to, itself among them.
  std::vector<std::vector<std::vector<bool>>> ahead_;
  std::vector<When> whens_;
  std::vector<Change> changes_;
  std::vector<std::vector<std::uint32_t>> changes_of_;  // by target
  std::vector<std::pair<std::uint32_t, Set>> guards_;   // of fair cases, by when
  Set always_;                                          // live whatever may happen
  Set until_the_end_;                                   // live while some thread has not ended
  std::vector<std::pair<Location, Stretch>> resettable_;
};

}  // namespace lockstep::footprint
