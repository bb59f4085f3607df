// What each rule reads and writes, place by place, read off the rules' recorded trees.
//
// A rule with its parameters chosen is an *instance*. An instance whose tree looks up a thread's request, or
// selects rows by the message at the head of a queue, is split into *cases*, one for each place of the thread
// in its program and each value of the index, so that most of its tree folds away. Of a case:
//   guard     atoms that must all hold, those that say which case it is among them
//   accesses  what firing it reads and writes, each under the conditions on the way there
// Footprints are over-approximations: a condition that rests on what the same action wrote before is left
// out. `difference` holds them against the rules themselves, state by state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checker/footprint/terms.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep::footprint {

enum class AccessKind : std::uint8_t { read, write, push, pop };

// What the scalars of an entry may be, by their places in the first slot; those that may be anything are not
// in it.
using Row = std::vector<std::pair<std::uint32_t, std::vector<std::int64_t>>>;

struct Access {
  AccessKind kind = AccessKind::read;
  bool of_condition = false;  // reads what the condition of some change rests on, where its others hold
  Location location = 0;

  bool is_constant = false;  // of a write: the value is one
  std::int64_t constant = 0;
  std::vector<TermId> conditions;  // sorted atoms; all hold where the access takes place
  Row row;                         // of a push
  // Of a change: what decides what it leaves behind, besides its conditions.
  std::vector<Location> sources;
};

// A thread's place in its program.
struct Counter {
  Location location = 0;
  std::uint32_t place = 0;
  std::size_t ends = 0;  // its value behind the last instruction
};

struct Case {
  std::uint32_t instance = 0;  // numbered as the explorer's
  // Atoms; none where it is always enabled. What a guard says of a queue's head, it says of some entry: that
  // is an atom of its own, which names those that push such entries.
  std::vector<TermId> guard;
  std::vector<Access> accesses;
};

class Footprints {
 public:
  // `whole` was recorded at the sizes of the run; `places` are the scalars of the run's plain struct. Throws
  // std::logic_error with the construct or the field where a tree cannot be read.
  Footprints(const recorded::WholeDescription& whole, std::vector<Place> places);

  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  // The cases of an instance: `first` and one behind the last.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> cases_of(std::uint32_t instance) const {
    return {first_case_[instance], first_case_[instance + 1]};
  }

  [[nodiscard]] std::size_t locations() const { return location_names_.size(); }

  // What the program asserts, as terms.
  [[nodiscard]] const std::vector<TermId>& assertions() const { return assertions_; }
  // What the program's outcomes are made of, and whether a state without enabled fair rules is an end.
  [[nodiscard]] const std::vector<TermId>& final_registers() const { return final_registers_; }
  [[nodiscard]] const std::vector<TermId>& final_locations() const { return final_locations_; }
  [[nodiscard]] TermId proper_end() const { return proper_end_; }
  // Of the threads whose place in their program some rule looks at or changes.
  [[nodiscard]] const std::vector<Counter>& counters() const { return counters_; }

  // Where the scalar of a place is accessed, of a queue's its first location; `nowhere` where no rule does.
  [[nodiscard]] Location location_of(std::uint32_t place) const { return location_of_[place]; }

  // What a term's value rests on, in order.
  [[nodiscard]] const std::vector<Location>& reads_of(TermId term) const { return reads_[term]; }
  // Aspects of a queue, next to each other: whether it is empty, whether it is full, its head, its entries.
  enum Aspect : std::uint8_t { empty, full, head, content };
  static constexpr std::size_t aspects = 4;
  static constexpr Location nowhere = ~Location{0};
  [[nodiscard]] bool is_queue(Location l) const { return queue_[l] >= 0; }
  [[nodiscard]] Aspect aspect(Location l) const { return static_cast<Aspect>(queue_[l]); }
  // The location, of a queue its first.
  [[nodiscard]] Location unit_of(Location l) const {
    return is_queue(l) ? l - static_cast<Location>(queue_[l]) : l;
  }

  // Where a firing of the instance from one state to another did what its footprint lacks, and "" where it
  // did not; `enabled` is what the rule's guard says.
  [[nodiscard]] std::string difference(std::uint32_t instance, bool enabled, const std::byte* before,
                                       const std::byte* after) const;

  // The case of an enabled instance that a state is in, or -1 where the trees say that it is not enabled.
  [[nodiscard]] std::int64_t case_in(std::uint32_t instance, const std::byte* state) const;

 private:
  friend class Grounder;
  // Of all terms so far.
  void note_reads();

  Terms terms_;
  std::deque<std::vector<Location>> reads_;  // by term
  std::vector<Case> cases_;
  std::vector<std::uint32_t> first_case_{0};
  std::vector<TermId> assertions_;
  std::vector<TermId> final_registers_;
  std::vector<TermId> final_locations_;
  TermId proper_end_ = 0;
  std::vector<Counter> counters_;

  std::vector<std::string> location_names_;
  std::vector<Location> location_of_;  // by place: where it is accessed, of a queue its first
  std::vector<std::int8_t> queue_;     // by location: its aspect, -1 of a scalar
};

}  // namespace lockstep::footprint
