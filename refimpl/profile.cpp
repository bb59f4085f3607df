// Following accesses back from firing to firing.
#include "refimpl/profile.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::timed {

namespace {

constexpr std::size_t plain_buckets = 16;  // of one cycle each
constexpr std::size_t buckets_of_power = 8;

}  // namespace

std::size_t Profile::bucket_of(std::uint64_t cycles) {
  if (cycles < plain_buckets) return cycles;
  const auto power = static_cast<std::size_t>(std::bit_width(cycles)) - 1;  // 4 or more
  const std::size_t eighth = (cycles >> (power - 3)) & 7U;
  return plain_buckets + (power - 4) * buckets_of_power + eighth;
}

std::uint64_t Profile::least_of(std::size_t bucket) {
  if (bucket < plain_buckets) return bucket;
  const std::size_t power = (bucket - plain_buckets) / buckets_of_power + 4;
  const std::size_t eighth = (bucket - plain_buckets) % buckets_of_power;
  return (std::uint64_t{8} + eighth) << (power - 3);
}

Profile::Station Profile::station(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<Station>(found - names_.begin());
  names_.push_back(name);
  spent_.emplace_back();
  return static_cast<Station>(names_.size() - 1);
}

void Profile::add(Way& way, Station station, Tick until) {
  if (until <= way.mark) return;
  const auto ticks = static_cast<std::uint32_t>(until - way.mark);
  way.mark = until;
  for (std::size_t i = 0; i < way.count; ++i) {
    if (way.parts[i].station != station) continue;
    way.parts[i].ticks += ticks;
    return;
  }
  if (way.count < most_parts) {
    way.parts[way.count++] = {station, ticks};
  } else {
    way.parts[most_parts - 1].ticks += ticks;
  }
}

void Profile::begin(Way& way, Tick now, Record cause, const Head& head) const {
  const Record stood_at = way.stood_at;
  way = Way{};
  way.under_way = true;
  const Fired* const sender = find(head.sender);
  // Whoever has stood at the message's head before has waited for something else since.
  if (sender == nullptr || stood_at == head.sender) {
    way.from = cause;
    way.mark = now;
    return;
  }
  way.from = head.sender;
  way.mark = sender->at;
  add(way, head.turn, head.starts);
  add(way, head.way, head.arrival);
  add(way, head.queue, now);
}

void Profile::scheduled(const Instance& i, Tick now, Record cause, const Head& head) {
  Way& way = ways_[i];
  if (way.lacks_room) {
    add(way, way.room, now);
    way.lacks_room = false;
    return;
  }
  begin(way, now, cause, head);
}

void Profile::waits(const Instance& i, Station station, Tick until) {
  const auto found = ways_.find(i);
  if (found != ways_.end()) add(found->second, station, until);
}

void Profile::finds_no_room(const Instance& i, Tick now, Record cause, const Head& head, Station turns,
                            Station room) {
  Way& way = ways_[i];
  if (!way.under_way) {
    begin(way, now, cause, head);
  } else {
    add(way, way.lacks_room ? way.room : turns, now);
  }
  way.lacks_room = true;
  way.room = room;
}

void Profile::is_disabled(const Instance& i, const Head& head) {
  if (head.sender == nobody) {
    ways_.erase(i);
    return;
  }
  Way& way = ways_[i];
  way = Way{};
  way.stood_at = head.sender;
}

Profile::Record Profile::fired(const Instance& i, Tick now, Station turns) {
  Fired& f = fired_[next_ % kept];
  f.number = next_;
  f.at = now;
  f.from = nobody;
  f.count = 0;
  if (const auto found = ways_.find(i); found != ways_.end()) {
    Way& way = found->second;
    if (way.under_way) {
      add(way, turns, now);
      f.from = way.from;
      f.count = way.count;
      f.parts = way.parts;
    }
    ways_.erase(found);
  }
  return next_++;
}

void Profile::completed(std::size_t operation, Tick issued, Record with) {
  const Fired* f = find(with);
  if (f == nullptr) return;
  Tick at = f->at;
  Latencies& latencies = latencies_[operation];
  const Tick latency = at - issued;
  latencies.most = std::max(latencies.most, latency);
  const std::size_t bucket = bucket_of(latency / ticks_per_cycle);
  if (latencies.buckets.size() <= bucket) latencies.buckets.resize(bucket + 1);
  ++latencies.buckets[bucket];
  while (f != nullptr && at > issued) {
    for (std::size_t i = f->count; i > 0 && at > issued; --i) {
      const Tick ticks = std::min<Tick>(f->parts[i - 1].ticks, at - issued);
      spent_[f->parts[i - 1].station][operation] += ticks;
      at -= ticks;
    }
    f = find(f->from);
  }
  if (at > issued) spent_[station("elsewhere")][operation] += at - issued;
}

}  // namespace lockstep::timed
