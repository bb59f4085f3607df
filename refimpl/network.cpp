// Routes, and channels that are taken for stretches of time.
#include "refimpl/network.hpp"

#include <algorithm>

namespace lockstep::timed {

Network::Network(const NetworkTiming& timing)
    : topology_(timing.topology),
      nodes_(timing.nodes),
      columns_(timing.columns),
      hop_(static_cast<Tick>(timing.hop_latency * static_cast<double>(ticks_per_cycle) + 0.5)),
      ticks_per_byte_256_(
          static_cast<Tick>(256.0 * static_cast<double>(ticks_per_cycle) / timing.bytes_per_cycle)),
      channels_(std::size_t{nodes_} * ways) {
  const std::uint32_t rows = nodes_ / columns_;
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    const std::uint32_t x = node % columns_;
    const std::uint32_t y = node / columns_;
    const auto set = [&](Way way, std::uint32_t to) {
      channels_[channel(node, way)].from = node;
      channels_[channel(node, way)].to = to;
    };
    set(in, node);
    set(out, node);
    channels_[channel(node, out)].out = true;
    set(east, y * columns_ + (x + 1) % columns_);
    set(west, y * columns_ + (x + columns_ - 1) % columns_);
    set(south, (y + 1) % rows * columns_ + x);
    set(north, (y + rows - 1) % rows * columns_ + x);
  }
}

std::pair<std::uint32_t, bool> Network::steps(std::uint32_t from, std::uint32_t to,
                                              std::uint32_t extent) const {
  const bool up = to > from;
  const std::uint32_t distance = up ? to - from : from - to;
  const bool wraps =
      topology_ == NetworkTiming::Topology::torus || topology_ == NetworkTiming::Topology::ring;
  // The other way round is shorter; of two that are equally long the one that goes up is taken.
  if (wraps && (2 * distance > extent || (2 * distance == extent && !up))) return {extent - distance, !up};
  return {distance, up};
}

std::vector<std::size_t> Network::route(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::size_t> route{channel(from, in)};
  std::uint32_t at = from;
  const auto go = [&](std::pair<std::uint32_t, bool> way, Way up, Way down) {
    for (std::uint32_t i = 0; i < way.first; ++i) {
      route.push_back(channel(at, way.second ? up : down));
      at = channels_[route.back()].to;
    }
  };
  if (topology_ != NetworkTiming::Topology::crossbar) {
    go(steps(from % columns_, to % columns_, columns_), east, west);
    go(steps(from / columns_, to / columns_, nodes_ / columns_), south, north);
  }
  route.push_back(channel(to, out));
  return route;
}

Tick Network::take(Channel& channel, Tick now, Tick at, Tick takes, unsigned bytes) {
  ++channel.messages;
  channel.bytes += bytes;
  channel.busy += takes;
  auto& taken = channel.taken;
  taken.erase(taken.begin(),
              std::find_if(taken.begin(), taken.end(), [&](const auto& s) { return s.second > now; }));
  std::size_t i = 0;
  for (; i < taken.size() && taken[i].first < at + takes; ++i) at = std::max(at, taken[i].second);
  if (takes == 0) return at;
  // Stretches that touch are one.
  const bool touches_last = i > 0 && taken[i - 1].second == at;
  const bool touches_next = i < taken.size() && taken[i].first == at + takes;
  if (touches_last && touches_next) {
    taken[i - 1].second = taken[i].second;
    taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (touches_last) {
    taken[i - 1].second = at + takes;
  } else if (touches_next) {
    taken[i].first = at;
  } else {
    taken.insert(taken.begin() + static_cast<std::ptrdiff_t>(i), {at, at + takes});
  }
  return at;
}

Network::Sent Network::send(Tick now, Tick at, std::uint32_t from, std::uint32_t to, unsigned bytes) {
  const Tick takes = (bytes * ticks_per_byte_256_ + 255) / 256;
  Sent sent{at, 0};
  const std::vector<std::size_t> channels = route(from, to);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    // In front of each channel but the first one lies a router.
    if (i > 0) sent.arrival += hop_;
    const Tick begins = take(channels_[channels[i]], now, sent.arrival, takes, bytes);
    sent.waited += begins - sent.arrival;
    sent.arrival = begins;
  }
  sent.arrival += takes;
  return sent;
}

}  // namespace lockstep::timed
