// A network between units: nodes with a router each, channels between them, and who sits where. A message
// takes a channel into its node's router, those of its route, and one out of the last router; on each it
// waits until the channel is free for as long as the message takes to pass, and its head goes on at once
// (cut-through). Routers have as much room as it takes. Routes go along the first dimension and then along
// the second, on rings the shorter way round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "refimpl/machine.hpp"
#include "refimpl/reads.hpp"

namespace lockstep::timed {

class Network {
 public:
  explicit Network(const NetworkTiming& timing);

  struct Sent {
    Tick arrival = 0;  // of the last byte
    Tick waited = 0;   // for channels, in all
  };
  // What is sent may leave at `at`, in any order of times, and not before `now`, which never goes back.
  Sent send(Tick now, Tick at, std::uint32_t from, std::uint32_t to, unsigned bytes);

  // One way, between neighbours, or between a node's units and its router.
  struct Channel {
    std::uint32_t from = 0;
    std::uint32_t to = 0;  // the same node: in or out of its router
    bool out = false;      // then: which of them
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    Tick busy = 0;
    std::vector<std::pair<Tick, Tick>> taken;  // stretches of time, in order, that are not over
  };
  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  // The channels from node to node, by number.
  [[nodiscard]] std::vector<std::size_t> route(std::uint32_t from, std::uint32_t to) const;

 private:
  enum Way : std::size_t { in, out, east, west, south, north, ways };
  [[nodiscard]] static std::size_t channel(std::uint32_t node, Way way) { return node * ways + way; }
  // Steps along one dimension of `extent` nodes, and whether they go up.
  [[nodiscard]] std::pair<std::uint32_t, bool> steps(std::uint32_t from, std::uint32_t to,
                                                     std::uint32_t extent) const;
  // Takes the channel for so long, from then on or later; returns when that begins.
  static Tick take(Channel& channel, Tick now, Tick at, Tick takes, unsigned bytes);

  NetworkTiming::Topology topology_;
  std::uint32_t nodes_;
  std::uint32_t columns_;
  Tick hop_;
  Tick ticks_per_byte_256_;
  std::vector<Channel> channels_;
};

}  // namespace lockstep::timed
