// Main memory behind its memory-side L3: channels with a queue each, and tags that say which blocks the L3
// holds. It has no part in any protocol; it only says when a read is answered, and when who sends a request
// may send the next.
//
// Requests come from ports, one for each instance of rules that send any: the end of a link, a CU's own. A
// request that finds its channel's queue full waits in its port. A port holds so many (`sender_queue`), for
// whichever channels, and sends nothing more until one of them has been taken. So a full channel stops a port
// only when all that the port holds is for full channels, and never another port.
#pragma once

#include <cstdint>
#include <vector>

#include "refimpl/dram.hpp"
#include "refimpl/interleave.hpp"
#include "refimpl/machine.hpp"
#include "refimpl/reads.hpp"
#include "refimpl/statistics.hpp"

namespace lockstep::timed {

class MainMemory {
 public:
  using Port = std::uint32_t;
  using Token = std::uint32_t;
  static constexpr Tick later = ~Tick{0};
  static constexpr Token nobody = ~Token{0};  // waits for the data

  // A channel that wants to be advanced at a tick; data that is there at a tick, for who has waited for it.
  struct Call {
    Tick at;
    std::uint32_t channel;
  };
  struct Answer {
    Token token;
    Tick at;
  };

  void set(const MemoryTiming& timing, unsigned block_bytes, double gigahertz, std::size_t ports);

  // From when on the port may send: later, if that is not known yet.
  [[nodiscard]] Tick accepts_at(Port port) const { return accepts_at_[port]; }
  // When so many bytes of the block are there: later, if an answer will say so. What misses the L3 is fetched
  // whole.
  Tick read(Tick now, Port port, std::uint32_t block, unsigned bytes, Token token);
  // When the last access began to be transferred, or was found in the L3; of flat channels, whose answers are
  // known at once.
  [[nodiscard]] Tick begun() const { return begun_; }
  // A write goes past the L3, which gives its copy up (the thesis: "writeable only in the RFO system").
  void write(Tick now, Port port, std::uint32_t block, unsigned bytes);

  // To be asked for by whoever keeps time, and emptied: channels to be advanced, after every request and
  // advance; answers and ports that may send again, after every advance.
  std::vector<Call> calls;
  std::vector<Answer> answers;
  std::vector<Port> released;
  void advance(Tick now, std::uint32_t channel);

  // What was counted until `now`, but for `stalled`.
  [[nodiscard]] Statistics::Memory statistics(Tick now) const;
  // Of all channels together, in cycles of the GPU.
  [[nodiscard]] double peak_bytes_per_cycle() const;

 private:
  struct Line {
    std::uint32_t block = 0;
    Tick used = 0;
    bool present = false;
  };
  struct Waiting {
    Port port;
    std::uint64_t block;  // within the channel
    Token token;
    unsigned bytes;
    bool write;
  };
  struct Backlog {  // requests in ports, in the order in which they came
    std::vector<Waiting> requests;
    std::size_t first = 0;
    [[nodiscard]] bool empty() const { return first == requests.size(); }
  };
  struct Flat {  // a channel that transfers one request after the other
    Tick free_at = 0;
    Tick busy = 0;
    Tick queued = 0;  // summed over requests
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::size_t most_queued = 0;
  };

  Line* set_of(std::uint32_t block) { return &tags_[l3_index_.member(block) * timing_.l3_ways]; }
  Line* find(std::uint32_t block);
  bool hits_l3(Tick now, std::uint32_t block);
  [[nodiscard]] std::uint32_t channel_of(std::uint32_t block) const {
    return static_cast<std::uint32_t>(over_channels_.member(block / blocks_together_));
  }
  // A block's number within its channel.
  [[nodiscard]] std::uint64_t within(std::uint32_t block) const {
    return over_channels_.within(block / blocks_together_) * blocks_together_ + block % blocks_together_;
  }
  Tick transfer(Tick now, Port port, Flat& channel, unsigned bytes);
  void hold(Tick now, Port port, Tick until);
  void send(Tick now, std::uint32_t channel, const Waiting& request);
  void push(dram::Cycle cycle, std::uint32_t channel, const Waiting& request);
  void call(std::uint32_t channel);
  [[nodiscard]] Tick tick_of(dram::Cycle cycle) const {
    return (cycle * numerator_ + denominator_ - 1) / denominator_;
  }

  MemoryTiming timing_;
  unsigned block_bytes_ = 1;
  std::uint32_t blocks_together_ = 1;
  Interleave over_channels_;
  Interleave l3_index_;
  std::vector<Line> tags_;
  Tick latency_ = 0;
  Tick l3_latency_ = 0;
  Tick begun_ = 0;
  std::vector<Tick> accepts_at_;  // by port

  Tick ticks_per_block_ = 1;
  std::vector<Flat> flat_;
  std::vector<std::vector<Tick>> held_until_;  // by port: when each request in it is taken, in order of time

  std::vector<dram::Channel> banked_;
  std::vector<Backlog> backlogs_;
  std::vector<Tick> called_;            // by channel: the earliest call that has not come yet
  std::vector<std::uint32_t> in_port_;  // by port: requests that wait in it
  std::vector<dram::Done> done_;
  std::uint64_t numerator_ = 1;  // ticks in a cycle of the memory's clock: numerator / denominator
  std::uint64_t denominator_ = 1;

  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t write_bytes_ = 0;
  std::uint64_t l3_hits_ = 0;
  std::uint64_t l3_misses_ = 0;
};

}  // namespace lockstep::timed
