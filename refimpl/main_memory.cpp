// The L3's tags, the flat channels, and the way of requests from ports into the channels of DRAM.
#include "refimpl/main_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::timed {

namespace {

Tick ticks(double cycles) {
  return static_cast<Tick>(cycles * static_cast<double>(ticks_per_cycle) + 0.5);
}

}  // namespace

void MainMemory::set(const MemoryTiming& timing, unsigned block_bytes, double gigahertz, std::size_t ports) {
  timing_ = timing;
  block_bytes_ = block_bytes;
  blocks_together_ =
      std::max<std::uint32_t>(1, static_cast<std::uint32_t>(timing.interleave_bytes / block_bytes));
  over_channels_ = Interleave(timing.channels, timing.hashed_channels);
  const std::uint64_t l3_sets = timing.l3_bytes / (std::uint64_t{timing.l3_ways} * block_bytes);
  l3_index_ = Interleave(std::max<std::uint64_t>(1, l3_sets), timing.l3_hashed);
  tags_.assign(l3_sets * timing.l3_ways, {});
  latency_ = ticks(timing.latency);
  l3_latency_ = ticks(timing.l3_latency);
  accepts_at_.assign(ports, 0);
  if (timing.kind == MemoryKind::flat) {
    ticks_per_block_ = std::max<Tick>(1, ticks(block_bytes / timing.bytes_per_cycle));
    flat_.assign(timing.channels, {});
    held_until_.resize(ports);
    return;
  }
  numerator_ = timing.device.timings.tCK_ps * ticks_per_cycle *
               static_cast<std::uint64_t>(std::llround(gigahertz * 1000));
  denominator_ = 1'000'000;
  const std::uint64_t common = std::gcd(numerator_, denominator_);
  numerator_ /= common;
  denominator_ /= common;
  banked_.reserve(timing.channels);
  for (unsigned c = 0; c < timing.channels; ++c) banked_.emplace_back(timing.device);
  backlogs_.resize(timing.channels);
  called_.assign(timing.channels, later);
  in_port_.assign(ports, 0);
}

MainMemory::Line* MainMemory::find(std::uint32_t block) {
  if (tags_.empty()) return nullptr;
  Line* const set = set_of(block);
  for (std::size_t way = 0; way < timing_.l3_ways; ++way) {
    if (set[way].present && set[way].block == block) return set + way;
  }
  return nullptr;
}

// Whether a read is answered by the L3, which holds the block from now on.
bool MainMemory::hits_l3(Tick now, std::uint32_t block) {
  if (Line* line = find(block); line != nullptr) {
    line->used = now;
    ++l3_hits_;
    return true;
  }
  if (tags_.empty()) return false;
  ++l3_misses_;
  Line* const set = set_of(block);
  *std::min_element(set, set + timing_.l3_ways,
                    [](const Line& a, const Line& b) { return a.used < b.used; }) = {block, now, true};
  return false;
}

Tick MainMemory::read(Tick now, Port port, std::uint32_t block, unsigned bytes, Token token) {
  begun_ = now;
  if (hits_l3(now, block)) return now + l3_latency_;
  if (!tags_.empty()) bytes = block_bytes_;
  ++reads_;
  read_bytes_ += bytes;
  const std::uint32_t channel = channel_of(block);
  if (timing_.kind == MemoryKind::flat) {
    ++flat_[channel].reads;
    return transfer(now, port, flat_[channel], bytes) + latency_;
  }
  send(now, channel, {port, within(block), token, bytes, false});
  return later;
}

void MainMemory::write(Tick now, Port port, std::uint32_t block, unsigned bytes) {
  if (Line* line = find(block); line != nullptr) *line = {};
  ++writes_;
  write_bytes_ += bytes;
  const std::uint32_t channel = channel_of(block);
  if (timing_.kind == MemoryKind::flat) {
    ++flat_[channel].writes;
    transfer(now, port, flat_[channel], bytes);
  } else {
    send(now, channel, {port, within(block), nobody, bytes, true});
  }
}

// ---- flat channels
// -----------------------------------------------------------------------------------------------

Tick MainMemory::transfer(Tick now, Port port, Flat& channel, unsigned bytes) {
  const Tick begins = std::max(now, channel.free_at);
  begun_ = begins;
  const Tick takes = ticks_per_block_ * bytes / block_bytes_;
  channel.queued += begins - now;
  channel.busy += takes;
  channel.free_at = begins + takes;
  const Tick ahead = channel.free_at - now;
  channel.most_queued = std::max<std::size_t>(channel.most_queued, ahead / ticks_per_block_);
  // The queue holds so many blocks; what is beyond them waits in its port.
  const Tick room = timing_.queue * ticks_per_block_;
  if (ahead > room) hold(now, port, channel.free_at - room);
  return channel.free_at;
}

void MainMemory::hold(Tick now, Port port, Tick until) {
  std::vector<Tick>& held = held_until_[port];
  held.erase(held.begin(), std::upper_bound(held.begin(), held.end(), now));
  held.insert(std::upper_bound(held.begin(), held.end(), until), until);
  // It sends again when all but so many have been taken.
  if (held.size() >= timing_.sender_queue) accepts_at_[port] = held[held.size() - timing_.sender_queue];
}

// ---- channels of DRAM
// --------------------------------------------------------------------------------------------

void MainMemory::push(dram::Cycle cycle, std::uint32_t channel, const Waiting& request) {
  banked_[channel].push(cycle, request.token, request.block,
                        dram::place_of(timing_.device.organization, block_bytes_, request.block),
                        request.bytes, request.write);
}

void MainMemory::send(Tick now, std::uint32_t channel, const Waiting& request) {
  Backlog& backlog = backlogs_[channel];
  if (!backlog.empty() || banked_[channel].full()) {
    backlog.requests.push_back(request);
    if (++in_port_[request.port] >= timing_.sender_queue) accepts_at_[request.port] = later;
    return;
  }
  push((now * denominator_ + numerator_ - 1) / numerator_, channel, request);
  call(channel);
}

void MainMemory::call(std::uint32_t channel) {
  const dram::Cycle next = banked_[channel].next();
  if (next == dram::never) return;
  const Tick at = tick_of(next);
  if (at >= called_[channel]) return;
  called_[channel] = at;
  calls.push_back({at, channel});
}

void MainMemory::advance(Tick now, std::uint32_t channel) {
  if (called_[channel] == now) called_[channel] = later;
  dram::Channel& banks = banked_[channel];
  Backlog& backlog = backlogs_[channel];
  const dram::Cycle cycle = now * denominator_ / numerator_;
  done_.clear();
  banks.advance(cycle, done_);
  while (!backlog.empty() && !banks.full()) {
    while (!backlog.empty() && !banks.full()) {
      const Waiting& request = backlog.requests[backlog.first++];
      push(cycle, channel, request);
      if (in_port_[request.port]-- == timing_.sender_queue) {
        accepts_at_[request.port] = 0;
        released.push_back(request.port);
      }
    }
    banks.advance(cycle, done_);
  }
  if (backlog.empty()) {
    backlog.requests.clear();
    backlog.first = 0;
  } else if (backlog.first >= backlog.requests.size() / 2) {
    backlog.requests.erase(backlog.requests.begin(),
                           backlog.requests.begin() + static_cast<std::ptrdiff_t>(backlog.first));
    backlog.first = 0;
  }
  for (const dram::Done& done : done_) {
    if (!done.write && done.tag != nobody) answers.push_back({done.tag, tick_of(done.at) + latency_});
  }
  call(channel);
}

// ---- what was counted
// --------------------------------------------------------------------------------------------

double MainMemory::peak_bytes_per_cycle() const {
  const double channels = timing_.channels;
  if (timing_.kind == MemoryKind::flat) return channels * timing_.bytes_per_cycle;
  const double cycles = static_cast<double>(numerator_) /
                        (static_cast<double>(denominator_) * static_cast<double>(ticks_per_cycle));
  return channels * timing_.device.peak_bytes_per_cycle() / cycles;
}

Statistics::Memory MainMemory::statistics(Tick now) const {
  Statistics::Memory s;
  s.kind = timing_.kind == MemoryKind::flat ? "flat" : "dram";
  s.preset = timing_.preset;
  s.reads = reads_;
  s.writes = writes_;
  s.read_bytes = read_bytes_;
  s.write_bytes = write_bytes_;
  s.l3_hits = l3_hits_;
  s.l3_misses = l3_misses_;
  s.peak = peak_bytes_per_cycle();
  const double elapsed = static_cast<double>(std::max<Tick>(now, 1));
  for (const Flat& f : flat_) {
    Statistics::Channel c;
    c.reads = f.reads;
    c.writes = f.writes;
    c.busy = static_cast<double>(f.busy) / elapsed;
    c.queued = static_cast<double>(f.queued) / elapsed;
    c.most_queued = f.most_queued;
    s.channels.push_back(c);
  }
  const double cycles = elapsed * static_cast<double>(denominator_) / static_cast<double>(numerator_);
  for (const dram::Channel& channel : banked_) {
    const dram::ChannelCounts& d = channel.counts();
    s.channels.push_back({d.reads, d.writes, d.row_hits, d.row_misses, d.row_conflicts, d.activates,
                          d.refreshes, static_cast<double>(d.busy) / cycles,
                          static_cast<double>(d.queued) / cycles, d.most_queued});
  }
  return s;
}

}  // namespace lockstep::timed
