// Where time goes: of each access what it waited for from issue to completion, and of each wave what it did.
//
// Every firing is recorded with the firing that it follows from and with what lay between the two: work, news
// under way, turns and room that it waited for. An access that completes is followed back from firing to
// firing to where it was issued, so that its parts add up to its latency, to the tick. It is followed as a
// request: who waits for room in a queue waits for that, whoever fills the queue; a message at the head of a
// link comes from its sender, by way of those in front of it; and all else follows from what enabled it last.
#pragma once

#include <array>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "refimpl/reads.hpp"

namespace lockstep::timed {

class Profile {
 public:
  using Record = std::uint32_t;  // of a firing, counted from 0
  using Station = std::uint16_t;
  static constexpr std::size_t operations = 4;  // load, store, rmw, fence

  struct Instance {  // of a rule
    std::uint32_t rule = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    bool operator==(const Instance&) const = default;
    friend std::size_t hash_value(const Instance& i) {
      std::size_t seed = i.rule;
      boost::hash_combine(seed, i.a);
      boost::hash_combine(seed, i.b);
      return seed;
    }
  };
  // A message at the head of a link.
  struct Head {
    Record sender = nobody;
    Tick starts = 0;  // when it left, its turn having come
    Tick arrival = 0;
    Station turn = 0;
    Station way = 0;
    Station queue = 0;
  };

  // By name, made as it is first asked for.
  Station station(const std::string& name);

  // The number of the firing that comes next, for messages that it sends.
  [[nodiscard]] Record next() const { return next_; }

  // An instance has been found enabled, on account of the firing `cause`.
  void scheduled(const Instance& i, Tick now, Record cause, const Head& head);
  // It waits for that until then; earlier ends of what it waited for count first.
  void waits(const Instance& i, Station station, Tick until);
  // It has been found disabled: for want of room, or else.
  void finds_no_room(const Instance& i, Tick now, Record cause, const Head& head, Station turns,
                     Station room);
  void is_disabled(const Instance& i, const Head& head);
  // It fires; what of the time since it became enabled is not accounted for, it waited for a turn.
  Record fired(const Instance& i, Tick now, Station turns);

  // An access completes with that firing.
  void completed(std::size_t operation, Tick issued, Record with);
  // A wave did that for so long.
  void spent(const std::string& what, Tick ticks) { activities_[what] += ticks; }

  struct Latencies {
    // Accesses by cycles, in buckets that are an eighth of a power of two wide from 16 cycles on.
    std::vector<std::uint64_t> buckets;
    Tick most = 0;
  };
  static std::size_t bucket_of(std::uint64_t cycles);
  static std::uint64_t least_of(std::size_t bucket);  // cycles

  [[nodiscard]] const std::vector<std::string>& stations() const { return names_; }
  [[nodiscard]] Tick spent_at(std::size_t station, std::size_t operation) const {
    return station < spent_.size() ? spent_[station][operation] : 0;
  }
  [[nodiscard]] const Latencies& latencies(std::size_t operation) const { return latencies_[operation]; }
  [[nodiscard]] const std::map<std::string, Tick>& activities() const { return activities_; }

 private:
  static constexpr std::size_t kept = std::size_t{1} << 18;  // firings
  static constexpr std::size_t most_parts = 12;

  struct Part {
    Station station = 0;
    std::uint32_t ticks = 0;
  };
  // From one firing to the next.
  struct Way {
    Record from = nobody;
    std::uint8_t count = 0;
    bool under_way = false;
    bool lacks_room = false;
    Station room = 0;
    Record stood_at =
        nobody;     // the message, by its sender, at whose head it was found disabled for other reasons
    Tick mark = 0;  // what lies before is accounted for
    std::array<Part, most_parts> parts{};
  };
  struct Fired {
    Record number = nobody;
    Record from = nobody;
    Tick at = 0;
    std::uint8_t count = 0;
    std::array<Part, most_parts> parts{};
  };

  void begin(Way& way, Tick now, Record cause, const Head& head) const;
  static void add(Way& way, Station station, Tick until);
  [[nodiscard]] const Fired* find(Record number) const {
    if (number == nobody) return nullptr;
    const Fired& f = fired_[number % kept];
    return f.number == number ? &f : nullptr;
  }

  std::vector<std::string> names_;
  std::vector<Fired> fired_ = std::vector<Fired>(kept);
  Record next_ = 0;
  boost::unordered_flat_map<Instance, Way> ways_;
  std::vector<std::array<Tick, operations>> spent_;
  std::array<Latencies, operations> latencies_;
  std::map<std::string, Tick> activities_;
};

}  // namespace lockstep::timed
