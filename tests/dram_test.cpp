// Known answers first: what the DRAM model does is computed here from a preset's timings, and the model has
// to give it.
#include "refimpl/dram.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "refimpl/interleave.hpp"
#include "refimpl/machine.hpp"

using namespace lockstep;
using namespace lockstep::dram;

namespace {

constexpr unsigned block_bytes = 128;

Device preset(const std::string& name, unsigned queue = 32) {
  return read_dram(LOCKSTEP_SOURCE_DIR "/refimpl/machines/dram/" + name + ".toml", queue);
}
Device without_refresh(Device device) {
  device.timings.nREFI = 0;
  return device;
}

struct Access {
  std::uint64_t block;
  bool write = false;
  unsigned bytes = block_bytes;
  Cycle earliest = 0;  // it comes as soon as there is room, but not before
};

struct Outcome {
  std::vector<Cycle> ends;  // by access
  std::vector<Issued> commands;
  ChannelCounts counts;
  Cycle last = 0;
};

// A sender that fills the channel's queue whenever there is room.
Outcome drive(const Device& device, const std::vector<Access>& accesses) {
  Channel channel(device);
  Outcome outcome;
  channel.on_command = [&](const Issued& issued) { outcome.commands.push_back(issued); };
  outcome.ends.resize(accesses.size());
  std::vector<Done> done;
  std::size_t next = 0;
  Cycle now = 0;
  while (true) {
    while (next < accesses.size() && !channel.full() && accesses[next].earliest <= now) {
      const Access& a = accesses[next];
      channel.push(now, static_cast<std::uint32_t>(next), a.block,
                   place_of(device.organization, block_bytes, a.block), a.bytes, a.write);
      ++next;
    }
    channel.advance(now, done);
    for (const Done& d : done) {
      outcome.ends[d.tag] = d.at;
      outcome.last = std::max(outcome.last, d.at);
    }
    const bool room = !done.empty() && next < accesses.size() && accesses[next].earliest <= now;
    done.clear();
    if (room) continue;  // what has left the queue makes room at once
    Cycle then = channel.next();
    if (next < accesses.size() && !channel.full())
      then = std::min(then, std::max(now, accesses[next].earliest));
    if (then == never) break;
    now = then;
  }
  outcome.counts = channel.counts();
  return outcome;
}

double bytes_per_cycle(const Outcome& outcome, std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(outcome.last);
}

// The block of a row and bank at the row's beginning, without hashing.
std::uint64_t block_at(const Organization& o, std::uint64_t bank, std::uint64_t row) {
  const std::uint64_t blocks_of_row = o.row_bytes / block_bytes;
  const std::uint64_t in_group = row * o.banks + bank / o.bank_groups;
  return in_group * blocks_of_row * o.bank_groups + bank % o.bank_groups;
}

std::uint64_t bursts_of(const Device& device) {
  return (block_bytes + device.organization.burst_bytes() - 1) / device.organization.burst_bytes();
}

// How many cycles a random run's commands are too early, judged command by command and pair by pair by the
// table alone: none, of a model that keeps it.
std::string first_violation(const Device& device, const std::vector<Issued>& commands) {
  const Timings& t = device.timings;
  const unsigned groups = device.organization.bank_groups;
  std::vector<Issued> seen;
  std::vector<std::int64_t> open(std::size_t{groups} * device.organization.banks, -1);
  const auto text = [](const Issued& i) {
    return std::to_string(static_cast<int>(i.command)) + " of bank " + std::to_string(i.bank) + " at " +
           std::to_string(i.at);
  };
  for (const Issued& c : commands) {
    std::vector<Cycle> activates;
    for (const Issued& p : seen) {
      const bool bank = p.bank == c.bank;
      const bool group = p.bank % groups == c.bank % groups;
      const bool c_all = c.command == Command::precharge_all || c.command == Command::refresh;
      const auto column = [](Command command) {
        return command == Command::read || command == Command::write;
      };
      const bool one_bus = device.organization.command_buses == 1;
      Cycle distance = one_bus || column(p.command) == column(c.command) ? 1 : 0;
      const auto least = [&](Cycle d) { distance = std::max(distance, d); };
      if (p.command == Command::activate) {
        activates.push_back(p.at);
        if (bank && c.command == Command::read) least(t.nRCDRD);
        if (bank && c.command == Command::write) least(t.nRCDWR);
        if ((bank && c.command == Command::precharge) || c.command == Command::precharge_all) least(t.nRAS);
        if (c.command == Command::activate) least(bank ? t.nRC : group ? t.nRRDL : t.nRRDS);
        if (c.command == Command::refresh) least(t.nRC);
      }
      if ((p.command == Command::precharge && (bank || c_all)) || p.command == Command::precharge_all) {
        if (c.command == Command::activate || c.command == Command::refresh) least(t.nRP);
      }
      if (p.command == Command::refresh && c.command == Command::activate) least(t.nRFC);
      if (p.command == Command::read) {
        if (c.command == Command::read) least(std::max(group ? t.nCCDL : t.nCCDS, t.nBL));
        if (c.command == Command::write) least(t.nCL + t.nBL + t.nRTW - t.nCWL);
        if ((bank && c.command == Command::precharge) || c.command == Command::precharge_all) least(t.nRTP);
      }
      if (p.command == Command::write) {
        const Cycle end = t.nCWL + t.nBL;
        if (c.command == Command::write) least(std::max(group ? t.nCCDL : t.nCCDS, t.nBL));
        if (c.command == Command::read) least(end + (group ? t.nWTRL : t.nWTRS));
        if ((bank && c.command == Command::precharge) || c.command == Command::precharge_all)
          least(end + t.nWR);
      }
      if (c.at < p.at + distance) return text(c) + " after " + text(p);
    }
    if (c.command == Command::activate && activates.size() >= 4) {
      std::sort(activates.begin(), activates.end());
      if (c.at < activates[activates.size() - 4] + t.nFAW) return text(c) + ", the fifth in a window";
    }
    std::int64_t& row = open[c.bank];
    switch (c.command) {
      case Command::activate:
        if (row != -1) return text(c) + " of an open bank";
        row = c.row;
        break;
      case Command::precharge:
        row = -1;
        break;
      case Command::precharge_all:
        std::fill(open.begin(), open.end(), -1);
        break;
      case Command::refresh:
        if (std::any_of(open.begin(), open.end(), [](std::int64_t r) { return r != -1; }))
          return text(c) + " with an open bank";
        break;
      default:
        if (row != c.row) return text(c) + " of another row";
    }
    seen.push_back(c);
    if (seen.size() > 200) seen.erase(seen.begin());
  }
  return "";
}

}  // namespace

// GDDR5's refresh, as Ramulator has it, leaves less.
TEST_CASE("DRAM: streaming reaches at least 90 % of the bus, or what refresh leaves") {
  for (const std::string name : {"hbm2", "ddr3", "ddr3-800d", "ddr4", "gddr5"}) {
    for (const bool write : {false, true}) {
      for (const bool hashed : {false, true}) {
        Device device = preset(name);
        device.organization.hashed_banks = hashed;
        std::vector<Access> accesses;
        for (std::uint64_t b = 0; b < 40000; ++b) accesses.push_back({b, write});
        const Outcome outcome = drive(device, accesses);
        const double share = bytes_per_cycle(outcome, 40000 * block_bytes) / device.peak_bytes_per_cycle();
        // Refresh takes its part of the time; nothing else may take more than 2 %.
        const Timings& t = device.timings;
        const double left = 1 - static_cast<double>(t.nRFC + t.nRP + t.nRTP + t.nRCDRD) / t.nREFI;
        INFO(name << (write ? " writes" : " reads") << (hashed ? ", hashed banks: " : ": ") << share
                  << " of the peak, refresh leaves " << left);
        CHECK(share >= (name == "gddr5" ? left - 0.02 : 0.9));
        CHECK(share <= left + 0.02);
        CHECK(outcome.counts.busy == 40000 * bursts_of(device) * t.nBL);
      }
    }
  }
}

TEST_CASE("DRAM: a dependent chase takes what the table says: closed bank, open row, other row") {
  for (const std::string name : {"hbm2", "ddr3", "ddr3-800d", "ddr4", "gddr5"}) {
    const Device device = without_refresh(preset(name));
    const Timings& t = device.timings;
    const Cycle data = t.nCL + t.nBL;
    // Each long after the one before, each one burst.
    const auto read = [&](std::uint64_t bank, std::uint64_t row, Cycle at) {
      return Access{block_at(device.organization, bank, row), false, device.organization.burst_bytes(), at};
    };
    const Outcome outcome = drive(
        device, {read(0, 0, 1000), read(0, 0, 2000), read(0, 1, 3000), read(1, 1, 4000), read(0, 1, 5000)});
    INFO(name);
    CHECK(outcome.ends[0] - 1000 == t.nRCDRD + data);
    CHECK(outcome.ends[1] - 2000 == data);
    CHECK(outcome.ends[2] - 3000 == t.nRP + t.nRCDRD + data);
    CHECK(outcome.ends[3] - 4000 == t.nRCDRD + data);
    CHECK(outcome.ends[4] - 5000 == data);
    CHECK(outcome.counts.row_hits == 2);
    CHECK(outcome.counts.row_misses == 2);
    CHECK(outcome.counts.row_conflicts == 1);
    // A whole block is several bursts of one bank group.
    const Outcome whole = drive(device, {{0}});
    CHECK(whole.ends[0] == t.nRCDRD + data + (bursts_of(device) - 1) * t.nCCDL);
  }
}

TEST_CASE("DRAM: different rows of one bank come once in nRC") {
  for (const std::string name : {"hbm2", "ddr3", "ddr3-800d", "ddr4", "gddr5", "ddr3 with a longer nRC"}) {
    Device device = without_refresh(preset(name.substr(0, name.find(' '))));
    if (name.find(' ') != std::string::npos) device.timings.nRC += 10;
    const Timings& t = device.timings;
    std::vector<Access> reads;
    std::vector<Access> writes;
    constexpr std::uint64_t count = 2000;
    for (std::uint64_t i = 0; i < count; ++i) {
      reads.push_back({block_at(device.organization, 0, i), false, device.organization.burst_bytes()});
      writes.push_back({block_at(device.organization, 0, i), true, device.organization.burst_bytes()});
    }
    INFO(name);
    const Cycle read_cycle = std::max(t.nRC, t.nRCDRD + t.nRTP + t.nRP);
    CHECK(drive(device, reads).last == (count - 1) * read_cycle + t.nRCDRD + t.nCL + t.nBL);
    // A write's row stays open until nWR after its data.
    const Cycle write_cycle = std::max(t.nRC, t.nRCDWR + t.nCWL + t.nBL + t.nWR + t.nRP);
    CHECK(drive(device, writes).last == (count - 1) * write_cycle + t.nRCDWR + t.nCWL + t.nBL);
  }
}

// With a full queue of n requests the channel serves n in the time that one waits (Little's law), and no more
// than four rows in nFAW, one in nRRDS, one a bank in nRC, and one burst in nBL.
TEST_CASE("DRAM: random access over all banks is bound by nFAW, nRRD, nRC or by the bus") {
  for (const std::string name : {"hbm2", "ddr3", "ddr3-800d", "ddr4", "gddr5"}) {
    const Device device = without_refresh(preset(name, 64));
    const Timings& t = device.timings;
    const Organization& o = device.organization;
    std::mt19937_64 random(7);
    std::vector<Access> accesses;
    constexpr std::uint64_t count = 20000;
    const std::uint64_t banks = std::uint64_t{o.banks} * o.bank_groups;
    for (std::uint64_t i = 0; i < count; ++i)
      accesses.push_back({block_at(o, random() % banks, random() % 16384), false, o.burst_bytes()});
    const Outcome outcome = drive(device, accesses);
    const double each = static_cast<double>(outcome.last) / count;
    const double bound = std::max({t.nFAW / 4.0, static_cast<double>(t.nRRDS), static_cast<double>(t.nBL),
                                   static_cast<double>(t.nRC) / static_cast<double>(banks)});
    INFO(name << ": one in " << each << " cycles, bound " << bound);
    CHECK(each >= bound * 0.98);
    CHECK(each <= bound * 1.15);
    CHECK(outcome.counts.row_hits < count / 50);
    // Little's law, of what was counted: mean queue length is the rate times the mean time in the queue.
    const double length = static_cast<double>(outcome.counts.queued) / static_cast<double>(outcome.last);
    CHECK(length <= 64);
    CHECK(length > 60);
  }
}

// One request at a time: latency alone.
TEST_CASE("DRAM: a short queue is bound by Little's law") {
  const Device device = without_refresh(preset("ddr3", 1));
  const Timings& t = device.timings;
  std::mt19937_64 random(7);
  std::vector<Access> accesses;
  constexpr std::uint64_t count = 4000;
  for (std::uint64_t i = 0; i < count; ++i)
    accesses.push_back({block_at(device.organization, i % 8, i / 8), false, 64});
  const Outcome outcome = drive(device, accesses);
  // The next is taken when the read command of the one before has been issued: nRCD after its activate, and
  // from the second round on nRP later, for a row is open.
  const double each = static_cast<double>(outcome.last) / count;
  const double expected = t.nRP + t.nRCDRD + 1;
  INFO(each << " cycles, expected " << expected);
  CHECK(each == Approx(expected).epsilon(0.05));
}

TEST_CASE("DRAM: turning the bus round costs what the table says") {
  for (const std::string name : {"hbm2", "ddr3", "ddr4", "gddr5"}) {
    Device device = without_refresh(preset(name));
    device.scheduling.policy = Policy::fcfs;
    const Timings& t = device.timings;
    const unsigned burst = device.organization.burst_bytes();
    const std::uint64_t far = device.organization.bank_groups > 1 ? 1 : 0;  // the next block's bank group
    // Rows are opened first; then a write, and a read right behind it, of the same group and of another.
    for (const std::uint64_t other : {std::uint64_t{0}, far}) {
      const Outcome outcome = drive(device, {{0, false, burst},
                                             {far, false, burst},
                                             {0, true, burst, 1000},
                                             {other, false, burst, 1000},
                                             {0, true, burst, 1000}});
      const Cycle turned = other == 0 ? t.nWTRL : t.nWTRS;
      INFO(name << ", bank group " << other);
      CHECK(outcome.ends[2] == 1000 + t.nCWL + t.nBL);
      CHECK(outcome.ends[3] == outcome.ends[2] + turned + t.nCL + t.nBL);
      CHECK(outcome.ends[4] == outcome.ends[3] + t.nRTW + t.nBL);
    }
  }
}

TEST_CASE("DRAM: writes are drained together, so that the bus turns seldom") {
  Device device = without_refresh(preset("ddr3"));
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 8000; ++i)
    accesses.push_back({i / 2 + (i % 2 == 0 ? 0 : 80 * 512), i % 2 == 1});
  const Outcome drained = drive(device, accesses);
  device.scheduling.policy = Policy::fcfs;
  const Outcome in_order = drive(device, accesses);
  INFO(drained.last << " cycles, in order " << in_order.last);
  CHECK(drained.last * 2 < in_order.last);
  CHECK(bytes_per_cycle(drained, 8000 * block_bytes) > 0.75 * device.peak_bytes_per_cycle());
}

TEST_CASE("DRAM: requests for one block stay in order") {
  const Device device = without_refresh(preset("ddr3"));
  std::vector<Access> accesses;
  // Reads of other blocks keep the bus with reads, so that writes would wait.
  for (std::uint64_t i = 0; i < 200; ++i) {
    accesses.push_back({i * 7 % 64, true});
    accesses.push_back({i * 7 % 64});
    accesses.push_back({1000 + i});
  }
  const Outcome outcome = drive(device, accesses);
  for (std::size_t i = 0; i < accesses.size(); i += 3) {
    INFO(i);
    CHECK(outcome.ends[i] < outcome.ends[i + 1]);
  }
}

TEST_CASE("DRAM: few writes wait until the reads are gone") {
  const Device device = without_refresh(preset("ddr3"));
  std::vector<Access> accesses{{0, true}, {1, true}};
  for (std::uint64_t i = 2; i < 62; ++i) accesses.push_back({i});
  const Outcome outcome = drive(device, accesses);
  for (std::size_t i = 2; i < accesses.size(); ++i) CHECK(outcome.ends[i] < outcome.ends[0]);
}

// The hit has to wait for the bus to turn, longer than the row has to stay open.
TEST_CASE("DRAM: no row is closed that a request still hits") {
  const Device device = without_refresh(preset("ddr3"));
  const std::uint64_t other_row = block_at(device.organization, 0, 1);
  const Outcome outcome =
      drive(device, {{0}, {0, false, 64, 1000}, {other_row, true, 64, 1000}, {1, true, 64, 1000}});
  CHECK(outcome.counts.activates == 2);
  CHECK(outcome.counts.row_conflicts == 1);
  CHECK(outcome.ends[3] < outcome.ends[2]);
}

// A stream of hits to one row, and one request for another row of that bank in the midst of it.
TEST_CASE("DRAM: row hits go first, but not beyond the age cap") {
  Device device = without_refresh(preset("ddr3", 16));
  device.scheduling.age_cap = 500;
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 3000; ++i) accesses.push_back({i % 64, false, 64});
  accesses[20] = {block_at(device.organization, 0, 9), false, 64};
  const auto wait = [&] {
    const Outcome outcome = drive(device, accesses);
    return outcome.ends[20] - outcome.ends[19];
  };
  const Cycle capped = wait();
  device.scheduling.age_cap = 1 << 30;
  const Cycle starved = wait();
  device.scheduling.policy = Policy::fcfs;
  const Cycle in_order = wait();
  INFO("capped " << capped << ", starved " << starved << ", in order " << in_order);
  CHECK(capped > 400);
  CHECK(capped < 700);
  CHECK(starved > 10000);
  CHECK(in_order < 100);
}

TEST_CASE("DRAM: refresh closes all banks once in nREFI, also of an idle channel") {
  const Device device = preset("ddr3");
  const Timings& t = device.timings;
  // A row is open when the refresh is due; then nothing for ten intervals and a half.
  const Outcome outcome = drive(
      device,
      {{0, false, 64, 6000}, {0, false, 64, 6230}, {0, false, 64, 6241}, {0, false, 64, 10 * 6240 + 3120}});
  CHECK(outcome.ends[1] - 6230 == t.nCL + t.nBL);
  const Cycle data = t.nRCDRD + t.nCL + t.nBL;
  CHECK(outcome.ends[2] == 6240 + t.nRP + t.nRFC + data);
  CHECK(outcome.ends[3] == 10 * 6240 + 3120 + data);
  CHECK(outcome.counts.refreshes == 10);
}

TEST_CASE("DRAM: no command of a random run comes earlier than the table allows") {
  for (const std::string name : {"hbm2", "ddr3", "ddr3-800d", "ddr4", "gddr5"}) {
    for (const Policy policy : {Policy::fr_fcfs, Policy::fcfs}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Device device = preset(name, 4 << (seed % 4));
        device.scheduling.policy = policy;
        device.scheduling.age_cap = seed % 2 == 0 ? 200 : 4096;
        device.organization.hashed_banks = seed % 3 == 0;
        std::mt19937_64 random(seed);
        std::vector<Access> accesses;
        Cycle earliest = 0;
        std::uint64_t block = 0;
        for (int i = 0; i < 2500; ++i) {
          if (random() % 50 == 0) earliest += random() % 1000;
          block = random() % 4 == 0 ? random() % (1 << 20) : block + 1;
          accesses.push_back(
              {block, random() % 3 == 0, static_cast<unsigned>(1 + random() % block_bytes), earliest});
        }
        const Outcome outcome = drive(device, accesses);
        INFO(name << ", seed " << seed);
        CHECK(first_violation(device, outcome.commands) == "");
        CHECK(outcome.counts.reads + outcome.counts.writes == accesses.size());
        CHECK(outcome.counts.row_hits + outcome.counts.row_misses + outcome.counts.row_conflicts ==
              accesses.size());
        CHECK(std::none_of(outcome.ends.begin(), outcome.ends.end(), [](Cycle end) { return end == 0; }));
      }
    }
  }
}

TEST_CASE("DRAM: two channels take twice what one takes, and share strided blocks when hashed") {
  const Device device = preset("ddr3");
  constexpr std::uint64_t count = 20000;
  const auto cycles = [&](std::uint64_t channels, std::uint64_t stride, bool hashed) {
    const timed::Interleave over(channels, hashed);
    std::vector<std::vector<Access>> shares(channels);
    for (std::uint64_t i = 0; i < count; ++i)
      shares[over.member(i * stride)].push_back({over.within(i * stride)});
    Cycle last = 0;
    for (const auto& share : shares) last = std::max(last, drive(device, share).last);
    return static_cast<double>(last);
  };
  CHECK(cycles(1, 1, false) / cycles(2, 1, false) == Approx(2).epsilon(0.02));
  CHECK(cycles(1, 1, false) / cycles(2, 1, true) == Approx(2).epsilon(0.02));
  // Every other block: all in one channel of two, or shared out.
  CHECK(cycles(2, 2, false) == Approx(cycles(1, 1, false)).epsilon(0.05));
  CHECK(cycles(2, 2, true) < 0.6 * cycles(2, 2, false));
}

TEST_CASE("Interleaving: one of each member in every stripe, strides over all when hashed") {
  for (const std::uint64_t count : {1, 2, 3, 4, 24, 32}) {
    for (const bool hashed : {false, true}) {
      const timed::Interleave over(count, hashed);
      for (std::uint64_t stripe : {0, 1, 5, 77, 4096}) {
        std::vector<int> taken(count, 0);
        for (std::uint64_t i = 0; i < count; ++i) {
          ++taken[over.member(stripe * count + i)];
          CHECK(over.within(stripe * count + i) == stripe);
        }
        CHECK(std::all_of(taken.begin(), taken.end(), [](int n) { return n == 1; }));
      }
      std::vector<int> taken(count, 0);
      for (std::uint64_t i = 0; i < 100 * count; ++i) ++taken[over.member(i * count)];
      const auto used = std::count_if(taken.begin(), taken.end(), [](int n) { return n > 0; });
      CHECK(used == (hashed ? static_cast<std::ptrdiff_t>(count) : 1));
    }
  }
}
