// Main memory behind its memory-side L3: channels that transfer one request after the other, and tags that
// say which blocks the L3 holds. It has no part in any protocol; it only says when a read is answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "refimpl/reads.hpp"

namespace lockstep::timed {

class MainMemory {
 public:
  struct Timing {
    unsigned channels = 1;
    Tick ticks_per_block = 1;  // that one channel needs for a whole block
    unsigned block_bytes = 1;
    Tick latency = 0;
    unsigned queue = 1;
    std::size_t l3_sets = 0;
    std::size_t l3_ways = 1;
    Tick l3_latency = 0;
  };
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t l3_hits = 0;
  std::uint64_t l3_misses = 0;

  void set(const Timing& timing) {
    timing_ = timing;
    free_at_.assign(timing.channels, 0);
    tags_.assign(timing.l3_sets * timing.l3_ways, {});
  }

  // When the block's data is there.
  Tick read(Tick now, std::uint32_t block) {
    if (Line* line = find(block); line != nullptr) {
      line->used = now;
      ++l3_hits;
      return now + timing_.l3_latency;
    }
    if (timing_.l3_sets > 0) {
      ++l3_misses;
      Line* const set = set_of(block);
      Line* const victim = std::min_element(set, set + timing_.l3_ways,
                                            [](const Line& a, const Line& b) { return a.used < b.used; });
      *victim = {block, now, true};
    }
    ++reads;
    read_bytes += timing_.block_bytes;
    return transfer(now, block, timing_.block_bytes) + timing_.latency;
  }
  // A write goes past the L3, which gives its copy up (the thesis: "writeable only in the RFO system").
  void write(Tick now, std::uint32_t block, unsigned bytes) {
    if (Line* line = find(block); line != nullptr) *line = {};
    ++writes;
    write_bytes += bytes;
    transfer(now, block, bytes);
  }
  // When the next request finds room in the channels' queues.
  [[nodiscard]] Tick accepts_at() const {
    const Tick busy = *std::max_element(free_at_.begin(), free_at_.end());
    const Tick queued = timing_.queue * timing_.ticks_per_block;
    return busy > queued ? busy - queued : 0;
  }

 private:
  struct Line {
    std::uint32_t block = 0;
    Tick used = 0;
    bool present = false;
  };
  Line* set_of(std::uint32_t block) { return &tags_[block % timing_.l3_sets * timing_.l3_ways]; }
  Line* find(std::uint32_t block) {
    if (timing_.l3_sets == 0) return nullptr;
    Line* const set = set_of(block);
    for (std::size_t way = 0; way < timing_.l3_ways; ++way) {
      if (set[way].present && set[way].block == block) return set + way;
    }
    return nullptr;
  }
  Tick transfer(Tick now, std::uint32_t block, unsigned bytes) {
    Tick& free_at = free_at_[block % timing_.channels];
    free_at = std::max(now, free_at) + timing_.ticks_per_block * bytes / timing_.block_bytes;
    return free_at;
  }

  Timing timing_;
  std::vector<Tick> free_at_;
  std::vector<Line> tags_;
};

}  // namespace lockstep::timed
