#include "refimpl/kernels/races.hpp"

#include <algorithm>

namespace lockstep::kernels {

namespace {

constexpr std::size_t most_clocks = std::size_t{1} << 26U;

}  // namespace

RaceMonitor::RaceMonitor(const LaneCode& code, const std::vector<ArrayName>& arrays, int waves,
                         int waves_per_place)
    : waves_per_place_(waves_per_place), size_of_local_(arrays.size(), 0), accesses_(arrays.size()) {
  const auto places = static_cast<std::size_t>(waves / waves_per_place);
  const auto elements_of = [&](std::size_t n) {
    return static_cast<std::size_t>(arrays[n].size) * (arrays[n].local ? places : 1);
  };
  std::size_t elements = 0;
  std::vector<char> written(arrays.size(), 0);
  for (const Step& step : code.steps) {
    const bool orders = acquires(step.order) || releases(step.order);
    orders_ |= orders;
    all_ |= orders && step.scope > Scope::wg;
    if (step.act != Act::store && step.act != Act::update) continue;
    const auto n = static_cast<std::size_t>(step.n);
    if (std::exchange(written[n], 1) == 0) elements += elements_of(n);
  }
  watches_ = elements <= most_elements;
  if (!watches_) return;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    if (written[n] != 0) accesses_[n].resize(elements_of(n));
    if (arrays[n].local) size_of_local_[n] = arrays[n].size;
  }
  const auto others = static_cast<std::size_t>(all_ ? waves : waves_per_place);
  known_.assign(static_cast<std::size_t>(waves), Clocks(others, 0));
  began_.assign(known_.size(), 0);
  heard_.assign(known_.size(), 0);
  fenced_.resize(known_.size());
  to_fence_.resize(known_.size());
  for (int wave = 0; wave < waves; ++wave) now(wave) = 1;
}

bool RaceMonitor::happens_before(const Entry& entry, int wave) const {
  const auto w = static_cast<std::size_t>(wave);
  if (entry.wave == wave) return entry.time >= began_[w] || entry.time <= heard_[w];
  if (!all_ && place_of(entry.wave) != place_of(wave)) return false;
  return known_[w][index_of(wave, entry.wave)] >= entry.time;
}

void RaceMonitor::join(Clocks& into, const Clocks& from) {
  into.resize(std::max(into.size(), from.size()), 0);
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

void RaceMonitor::learn(int wave, const Clocks& from) {
  if (from.empty()) return;
  const auto w = static_cast<std::size_t>(wave);
  heard_[w] = std::max(heard_[w], from[index_of(wave, wave)]);
  join(known_[w], from);
}

void RaceMonitor::meet(int place) {
  if (!watches_) return;
  const int first = place * waves_per_place_;
  const std::vector<Clocks> before(known_.begin() + first, known_.begin() + first + waves_per_place_);
  for (int wave = first; wave < first + waves_per_place_; ++wave) {
    for (int other = 0; other < waves_per_place_; ++other) {
      if (first + other != wave) learn(wave, before[static_cast<std::size_t>(other)]);
    }
    ++now(wave);
  }
}

void RaceMonitor::begin(int place) {
  if (!watches_) return;
  const int first = place * waves_per_place_;
  for (int wave = first; wave < first + waves_per_place_; ++wave) {
    const auto w = static_cast<std::size_t>(wave);
    const Clock time = now(wave) + 1;
    std::fill(known_[w].begin(), known_[w].end(), 0);
    now(wave) = time;
    began_[w] = time;
    heard_[w] = 0;
    fenced_[w].clear();
    to_fence_[w].clear();
  }
  // Memory of the work-group that was there is nobody's any more.
  for (std::size_t n = 0; n < accesses_.size(); ++n) {
    const auto size = static_cast<std::size_t>(size_of_local_[n]);
    if (size == 0 || accesses_[n].empty()) continue;
    const auto from = static_cast<std::ptrdiff_t>(size) * place;
    std::for_each_n(accesses_[n].begin() + from, size, [](auto& entries) { entries.clear(); });
  }
}

void RaceMonitor::fence(int wave, const Step& step) {
  if (!watches_) return;
  const auto w = static_cast<std::size_t>(wave);
  if (acquires(step.order)) learn(wave, to_fence_[w]);
  if (releases(step.order)) {
    fenced_[w] = known_[w];
    ++now(wave);
  }
}

void RaceMonitor::release(const Key& key, const Clocks& clocks) {
  if (clocks.empty()) return;
  Clocks& released = released_[key];
  clocks_ -= released.size();
  join(released, clocks);
  clocks_ += released.size();
  watches_ &= clocks_ <= most_clocks;
}

void RaceMonitor::synchronize(int wave, const Step& step, std::int32_t element) {
  const auto w = static_cast<std::size_t>(wave);
  const bool reads = step.act != Act::store;
  const bool writes = step.act != Act::load;
  const Key within{step.n, element, place_of(wave)};
  const Key beyond{step.n, element, -1};
  if (reads) {
    for (const Key& key : {within, beyond}) {
      if (key.place < 0 && step.scope <= Scope::wg && step.order != Order::relaxed) continue;
      const auto found = released_.find(key);
      if (found == released_.end()) continue;
      if (acquires(step.order)) {
        learn(wave, found->second);
      } else {
        join(to_fence_[w], found->second);
      }
    }
  }
  if (!writes) return;
  // A store by itself ends what others have released there.
  if (!reads) {
    for (const Key& key : {within, beyond}) {
      if (const auto found = released_.find(key); found != released_.end()) {
        clocks_ -= found->second.size();
        released_.erase(found);
      }
    }
  }
  const Clocks& clocks = releases(step.order) ? known_[w] : fenced_[w];
  release(within, clocks);
  if (all_ && (step.scope > Scope::wg || !releases(step.order))) release(beyond, clocks);
  if (releases(step.order)) ++now(wave);
}

void RaceMonitor::access(int wave, std::int32_t item, const Step& step, std::int32_t element) {
  if (!watches_ || race) return;
  const auto n = static_cast<std::size_t>(step.n);
  // An update is always atomic.
  const bool plain = step.order == Order::plain && step.act != Act::update;
  const Clock time = now(wave);
  if (!plain && orders_) synchronize(wave, step, element);
  auto& elements = accesses_[n];
  if (elements.empty()) return;
  auto& earlier = elements[static_cast<std::size_t>(element + place_of(wave) * size_of_local_[n])];
  const Entry entry{wave, time, item, step.place, plain, step.act != Act::load};
  const auto is_alike = [&](const Entry& other) {
    return other.wave == wave && other.plain == plain && other.writes == entry.writes;
  };
  // Lanes of one access.
  if (!earlier.empty() && is_alike(earlier.back()) && earlier.back().time == time &&
      earlier.back().place == step.place)
    return;
  bool all_before = true;
  Entry* same = nullptr;
  for (Entry& other : earlier) {
    if (is_alike(other)) same = &other;
    if (happens_before(other, wave)) continue;
    all_before = false;
    if ((!plain && !other.plain) || (!entry.writes && !other.writes)) continue;
    race = Race{step.n, element, other.place, step.place, other.item, item};
    return;
  }
  // Who races with an earlier one races with this, or comes behind it.
  if (plain && entry.writes && all_before) {
    earlier.assign(1, entry);
    return;
  }
  if (same != nullptr) {
    *same = entry;
    std::swap(*same, earlier.back());
  } else {
    earlier.push_back(entry);
  }
}

}  // namespace lockstep::kernels
