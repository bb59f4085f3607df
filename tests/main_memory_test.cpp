// Main memory as the engine sees it: ports, channels and the L3; and what machine files have to say of it.
#include "refimpl/main_memory.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;
using timed::MainMemory;
using timed::Tick;
using timed::ticks_per_cycle;

namespace {

constexpr unsigned block_bytes = 128;
const std::string apu = shipped_machine("apu");

MemoryTiming flat(unsigned channels, unsigned queue, unsigned sender_queue) {
  MemoryTiming m;
  m.channels = channels;
  m.interleave_bytes = block_bytes;
  m.bytes_per_cycle = 12.8;  // a block in ten cycles
  m.latency = 100;
  m.queue = queue;
  m.sender_queue = sender_queue;
  return m;
}
MemoryTiming banked(const std::string& preset, unsigned channels, unsigned queue, unsigned sender_queue) {
  MemoryTiming m = flat(channels, queue, sender_queue);
  m.kind = MemoryKind::dram;
  m.latency = 0;
  m.device = read_dram(machines_folder + "/dram/" + preset + ".toml", queue);
  return m;
}

// Keeps time for a memory alone: cycles of a machine of 1 GHz.
struct Clock {
  MainMemory memory;
  Tick now = 0;
  std::map<Tick, std::vector<std::uint32_t>> calls;
  std::map<MainMemory::Token, Tick> answers;
  std::vector<MainMemory::Port> released;

  explicit Clock(const MemoryTiming& timing) { memory.set(timing, block_bytes, 1.0, 4); }

  void take() {
    for (const auto& c : memory.calls) calls[c.at].push_back(c.channel);
    memory.calls.clear();
    for (const auto& a : memory.answers) answers[a.token] = a.at;
    memory.answers.clear();
    released.insert(released.end(), memory.released.begin(), memory.released.end());
    memory.released.clear();
  }
  // Everything that is due.
  void run_until(Tick then) {
    while (!calls.empty() && calls.begin()->first <= then) {
      const auto [at, channels] = *calls.begin();
      calls.erase(calls.begin());
      now = at;
      for (const std::uint32_t channel : channels) memory.advance(now, channel);
      take();
    }
    now = then;
  }
  void read(MainMemory::Port port, std::uint32_t block, MainMemory::Token token) {
    const Tick there = memory.read(now, port, block, block_bytes, token);
    if (there != MainMemory::later) answers[token] = there;
    take();
  }
  [[nodiscard]] double cycles(MainMemory::Token token) const {
    return static_cast<double>(answers.at(token)) / ticks_per_cycle;
  }
};

// The shipped machine's memory as DRAM.
std::string apu_with(const std::string& preset, const std::string& more = "") {
  std::string text = changed(apu, "\nbytes_per_cycle = 6.4 ", "\n#");
  return changed(text, "channels = 4 ",
                 "kind = \"dram\"\npreset = \"" + preset + "\"\n" + more + "channels = 4 ");
}
const std::atomic<bool> never_interrupted{false};

ComparedRun run(const MachineDescription& machine, const std::string& system, const std::string& workload,
                std::map<std::string, int> sizes, int cus) {
  SimulationRequest request;
  request.machine = machine;
  request.systems = {system};
  request.sizes = std::move(sizes);
  request.options.cus = cus;
  return run_workload(request, workload, never_interrupted);
}

Statistics simulate(const Workload& workload, const std::string& machine, int cus) {
  return simulate("write-through", machine_of(machine), workload, cus);
}
double cycles_of_loads(const Statistics& statistics) {
  for (const Statistics::Operation& o : statistics.operations) {
    if (o.name == "load") return o.waited;
  }
  return 0;
}

}  // namespace

TEST_CASE("Memory: a full channel stops neither another port nor another channel") {
  for (const bool dram : {false, true}) {
    Clock clock(dram ? banked("ddr3", 2, 4, 2) : flat(2, 4, 2));
    INFO((dram ? "dram" : "flat"));
    // Port 0 sends to channel 0 until it may not.
    MainMemory::Token sent = 0;
    while (clock.memory.accepts_at(0) <= clock.now && sent < 100) {
      clock.read(0, 2 * sent, sent);
      ++sent;
    }
    CHECK(sent == 4 + 2 + (dram ? 0 : 0));
    // Port 1 goes on, and channel 1 answers as if nothing else were there.
    CHECK(clock.memory.accepts_at(1) <= clock.now);
    clock.read(1, 1, 1000);
    clock.run_until(100000 * ticks_per_cycle);
    Clock alone(dram ? banked("ddr3", 2, 4, 2) : flat(2, 4, 2));
    alone.read(1, 1, 1000);
    alone.run_until(100000 * ticks_per_cycle);
    CHECK(clock.answers.at(1000) == alone.answers.at(1000));
    CHECK(clock.memory.accepts_at(0) <= clock.now);
    CHECK(clock.answers.size() == sent + 1);
  }
}

TEST_CASE("Memory: a port with room left sends to another channel past those that wait") {
  for (const bool dram : {false, true}) {
    Clock clock(dram ? banked("ddr3", 2, 4, 2) : flat(2, 4, 2));
    for (MainMemory::Token i = 0; i < 5; ++i) clock.read(0, 2 * i, i);  // one of them waits in the port
    INFO((dram ? "dram" : "flat"));
    CHECK(clock.memory.accepts_at(0) <= clock.now);
    clock.read(0, 1, 1000);
    clock.run_until(100000 * ticks_per_cycle);
    CHECK(clock.answers.at(1000) < clock.answers.at(4));
    Clock alone(dram ? banked("ddr3", 2, 4, 2) : flat(2, 4, 2));
    alone.read(0, 1, 1000);
    alone.run_until(100000 * ticks_per_cycle);
    CHECK(clock.answers.at(1000) == alone.answers.at(1000));
  }
}

TEST_CASE("Memory: a port that is full is released when one of its requests has been taken") {
  Clock clock(banked("ddr3", 1, 4, 2));
  for (MainMemory::Token i = 0; i < 6; ++i) clock.read(3, i, i);
  CHECK(clock.memory.accepts_at(3) == MainMemory::later);
  CHECK(clock.released.empty());
  clock.run_until(100000 * ticks_per_cycle);
  CHECK(clock.released == std::vector<MainMemory::Port>{3});
  CHECK(clock.memory.accepts_at(3) <= clock.now);
  // Flat: four blocks wait or are under way, and the fifth and sixth in the port.
  Clock simple(flat(1, 4, 2));
  for (MainMemory::Token i = 0; i < 6; ++i) simple.read(3, i, i);
  CHECK(simple.memory.accepts_at(3) == 10 * ticks_per_cycle);
}

TEST_CASE("Memory: channels, clocks and latencies are those of the file") {
  // 800 MHz on a machine of 1 GHz: 1.25 cycles each.
  Clock clock(banked("ddr3", 1, 16, 1));
  clock.now = 1000 * ticks_per_cycle;
  clock.read(0, 0, 0);
  clock.run_until(2000 * ticks_per_cycle);
  const double closed = 11 + 11 + 4 + 4;  // nRCD, nCL, nBL, and nCCD for the block's second burst
  CHECK(clock.cycles(0) == Approx(1000 + closed * 1.25).margin(0.07));
  MemoryTiming slow = banked("ddr3", 1, 16, 1);
  slow.latency = 50;
  Clock later(slow);
  later.now = 1000 * ticks_per_cycle;
  later.read(0, 0, 0);
  later.run_until(2000 * ticks_per_cycle);
  CHECK(later.cycles(0) == Approx(1050 + closed * 1.25).margin(0.07));
  Clock simple(flat(1, 4, 1));
  simple.read(0, 0, 0);
  CHECK(simple.cycles(0) == Approx(110).margin(0.07));
}

TEST_CASE("Memory: an interleaving unit lies in one channel, and hashing shares strides out") {
  const auto channels_used = [](std::uint64_t interleave, bool hashed, std::uint32_t stride) {
    MemoryTiming m = flat(4, 16, 16);
    m.interleave_bytes = interleave;
    m.hashed_channels = hashed;
    Clock clock(m);
    for (std::uint32_t i = 0; i < 64; ++i) clock.read(0, i * stride, i);
    std::vector<std::uint64_t> reads;
    for (const Statistics::Channel& c : clock.memory.statistics(1).channels) reads.push_back(c.reads);
    return reads;
  };
  using Reads = std::vector<std::uint64_t>;
  CHECK(channels_used(128, false, 1) == Reads{16, 16, 16, 16});
  CHECK(channels_used(4096, false, 1) == Reads{32, 32, 0, 0});
  CHECK(channels_used(128, false, 4) == Reads{64, 0, 0, 0});
  CHECK(channels_used(128, true, 4) == Reads{16, 16, 16, 16});
  CHECK(channels_used(128, false, 2) == Reads{32, 0, 32, 0});
}

TEST_CASE("Memory: machine files are held to what DRAM can be") {
  using Catch::Matchers::Contains;
  CHECK(machine_error_of(apu_with("ddr3")) == "no error");
  CHECK(machine_error_of(
            apu_with("hbm2",
                     "bank_index = \"hashed\"\nchannel_index = \"hashed\"\ninterleave_bytes = 256\n"
                     "scheduler = \"fcfs\"\nage_cap = 100\nwrite_high = 8\nwrite_low = 2\n")) == "no error");
  CHECK_THAT(machine_error_of(apu_with("ddr33")),
             Contains("m.toml:") && Contains("no DRAM preset 'ddr33'") && Contains("did you mean 'ddr3'?"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nRAS = 9 }\n")),
             Contains("m.toml:") && Contains("nRAS = 9 is less than nRCDRD = 11"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nRC = 30 }\n")), Contains("nRAS + nRP = 39"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nRCD = -3 }\n")), Contains("'nRCD' is negative"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nRAZ = 3 }\n")),
             Contains("unknown entry 'nRAZ'") && Contains("did you mean 'nRAS'?"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nRCD = 3, nRCDRD = 3 }\n")),
             Contains("'nRCDRD' besides 'nRCD'"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nBL = 3 }\n")),
             Contains("bursts of 8 transfers"));
  CHECK_THAT(machine_error_of(apu_with("ddr4", "timings = { nCCDL = 3 }\n")),
             Contains("less than nCCDS = 4"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "timings = { nREFI = 100 }\n")), Contains("nRFC + nRC"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "organization = { banks = 0 }\n")),
             Contains("banks = 0 is not between"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "organization = { banks = 12 }\n")),
             Contains("banks = 12 is not a power of two") && Contains("say 8 or 16"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "organization = { row_bytes = 64 }\n")),
             Contains("no whole number of 128-byte blocks"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "interleave_bytes = 192\n")),
             Contains("192 is not a power of two"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "interleave_bytes = 64\n")),
             Contains("share a block of 128 bytes out"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "scheduler = \"frfcfs\"\n")),
             Contains("did you mean 'fr-fcfs'?"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "write_high = 4\nwrite_low = 4\n")),
             Contains("is not below write_high"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "write_high = 17\n")), Contains("not between 1 and 16"));
  CHECK_THAT(machine_error_of(apu_with("ddr3", "bytes_per_cycle = 3\n")),
             Contains("follows from bus, burst and clock"));
  CHECK_THAT(machine_error_of(changed(apu, "channels = 4 ", "preset = \"ddr3\"\nchannels = 4 ")),
             Contains("'preset' is for kind \"dram\"") && Contains("say kind = \"dram\""));
  CHECK_THAT(machine_error_of(changed(apu, "channels = 4 ", "kind = \"drum\"\nchannels = 4 ")),
             Contains("did you mean 'dram'?"));
  CHECK_THAT(machine_error_of(changed(apu, "policy = \"lru\"", "set_index = \"hash\"\npolicy = \"lru\"")),
             Contains("'hash' is unknown as 'set_index'") && Contains("did you mean 'hashed'?"));
  // Without a preset everything has to be there.
  CHECK_THAT(machine_error_of(changed(apu_with("ddr3"), "preset = \"ddr3\"\n", "")),
             Contains("'organization' is missing"));
}

TEST_CASE("Memory: programs on DRAM leave in memory what they compute, each time in the same time") {
  const MachineDescription machine =
      machine_of(apu_with("ddr3", "channel_index = \"hashed\"\nbank_index = \"hashed\"\n"));
  for (const std::string system : {"write-through", "quick-release"}) {
    for (const auto& [workload, sizes] :
         {std::pair{"copy", std::map<std::string, int>{{"words", 400}}},
          std::pair{"message-passing", std::map<std::string, int>{{"pairs", 3}}}}) {
      const Statistics first = run(machine, system, workload, sizes, 4).results.front().statistics;
      const ComparedRun again = run(machine, system, workload, sizes, 4);
      INFO(workload << " on " << system);
      CHECK(again.results.front().end == SimulationEnd::finished);
      CHECK(again.results.front().wrong == 0);
      CHECK(statistics_json(first) == statistics_json(again.results.front().statistics));
      std::uint64_t rows = 0;
      for (const Statistics::Channel& c : first.memory.channels)
        rows += c.row_hits + c.row_misses + c.row_conflicts;
      CHECK(rows == first.memory.reads + first.memory.writes);
      CHECK(first.memory.channels.size() == 4);
    }
  }
}

// What a load takes beyond one on a memory that takes no time is DRAM's, by its table.
TEST_CASE("Memory: a chase through the whole simulator takes what the table says") {
  const std::string bare =
      changed(changed(apu, "l3_bytes = 4194304", "l3_bytes = 0"), "latency = 100 ", "latency = 0 ");
  const std::string timeless = changed(bare, "bytes_per_cycle = 6.4 ", "bytes_per_cycle = 1000000 ");
  const std::string rows =
      changed(changed(bare, "\nbytes_per_cycle = 6.4 ", "\n#"), "channels = 4 ",
              "kind = \"dram\"\npreset = \"ddr3\"\ntimings = { tCK_ps = 1000, nREFI = 0 }\nchannels = 1 #");
  const dram::Device device = read_dram(machines_folder + "/dram/ddr3.toml", 16);
  const dram::Timings& t = device.timings;
  const int blocks_of_row = static_cast<int>(device.organization.row_bytes / block_bytes);
  constexpr int count = 32;
  const auto latency = [&](int stride) {
    std::vector<int> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(i * stride);
    const Workload chase = loads_of({blocks});
    return (cycles_of_loads(simulate(chase, rows, 1)) - cycles_of_loads(simulate(chase, timeless, 1))) /
           count;
  };
  // Two bursts a block, the second nCCD later. A request waits for the memory's clock, for less than a cycle.
  const double hit = t.nCL + t.nBL + t.nCCDS;
  const double closed = hit + t.nRCDRD;
  const double conflict = closed + t.nRP;
  const auto mean = [&](double first, double others) { return (first + (count - 1) * others) / count; };
  const double in_row = latency(1);
  const double in_bank = latency(blocks_of_row * 8);
  INFO("row hits " << in_row << ", conflicts " << in_bank);
  CHECK(in_row == Approx(mean(closed, hit)).margin(1));
  CHECK(in_bank == Approx(mean(closed, conflict)).margin(1));
}

TEST_CASE("Memory: streaming through the whole simulator keeps at least 90 % of the bus busy") {
  const std::string rows =
      changed(changed(changed(apu, "l3_bytes = 4194304", "l3_bytes = 0"), "\nbytes_per_cycle = 6.4 ", "\n#"),
              "channels = 4 ", "kind = \"dram\"\npreset = \"ddr3-800d\"\nchannels = 2 #");
  std::vector<std::vector<int>> waves(128);
  for (int i = 0; i < 6400; ++i) waves[static_cast<std::size_t>(i % 128)].push_back(i);
  const Statistics s = simulate(loads_of(waves), rows, 8);
  REQUIRE(s.memory.channels.size() == 2);
  for (const Statistics::Channel& c : s.memory.channels) {
    INFO(c.busy << " of the bus");
    CHECK(c.reads == 3200);
    CHECK(c.busy > 0.9);
    CHECK(c.busy < 1);
    CHECK(c.row_hits > 9 * c.reads / 10);
  }
}

TEST_CASE("Caches: a hashed set index spreads strided blocks over the sets") {
  // One CU's blocks lie 32 apart, as those of one of 32 CUs do: 32 sets, of which modulo uses one.
  std::vector<int> blocks;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 64; ++i) blocks.push_back(i * 32);
  }
  const auto l1 = [&](const std::string& machine) {
    return simulate(loads_of({blocks}), machine, 1).levels.at("L1");
  };
  const std::string modulo = apu;
  const std::string hashed =
      changed(modulo, "policy = \"lru\" ", "policy = \"lru\"\nset_index = \"hashed\" ");
  CHECK(l1(modulo).hits == 0);
  CHECK(l1(hashed).hits == 64);
}
