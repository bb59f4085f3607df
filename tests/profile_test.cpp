// What a profile says adds up to what was counted, and is what the machine file says it has to be.
#include "refimpl/profile.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::string apu = shipped_machine("apu");
using Cycles = std::map<std::string, double>;  // by station

SystemResult profiled(const std::string& system, const std::string& machine, const std::string& workload,
                      std::map<std::string, int> sizes, std::uint64_t epoch = 0) {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/" + machine + ".toml", machines_folder);
  request.systems = {system};
  request.sizes = std::move(sizes);
  request.options.profile = true;
  request.options.epoch = epoch;
  const std::atomic<bool> never = false;
  return run_workload(request, workload, never).results.at(0);
}

std::uint64_t count_of(const Statistics& s, const std::string& operation) {
  for (const Statistics::Operation& o : s.operations) {
    if (o.name == operation) return o.count;
  }
  return 0;
}
Cycles stations_of(const Statistics& s, std::size_t operation) {
  Cycles all;
  for (const auto& station : s.profile->stations) {
    if (station.cycles[operation] > 0) all[station.name] = station.cycles[operation];
  }
  return all;
}

struct Case {
  std::string machine;
  std::string system;
  std::string workload;
  std::map<std::string, int> sizes;
};
const std::vector<Case> cases{
    {"apu", "write-through", "message-passing", {{"pairs", 8}}},
    {"apu", "write-through", "copy", {{"words", 2048}}},
    {"apu", "quick-release", "stencil", {{"words", 512}, {"kernels", 3}}},
    {"apu", "quick-release", "message-passing", {{"pairs", 4}}},
    {"apu", "rfo", "histogram", {{"words", 512}}},
    {"apu", "sc", "reduction", {{"words", 1024}}},
    {"titan-v", "lab", "histogram", {{"words", 2048}}},
    {"titan-v", "phi", "histogram", {{"words", 2048}}},
    {"titan-v", "hlrc", "reduction", {{"words", 1024}}},
    {"titan-v", "remote-atomics", "histogram", {{"words", 1024}}},
    {"halcone", "halcone", "stencil", {{"words", 512}, {"kernels", 2}}},
    {"halcone", "g-tsc", "copy", {{"words", 512}}},
    {"halcone", "hmg-monolithic", "copy", {{"words", 512}}},
    {"fear", "fear", "copy", {{"words", 256}}},
    {"apu", "quick-release", "bfs", {{"nodes", 64}}},
};

}  // namespace

TEST_CASE("Profile: an access's parts add up to its latency, and nothing is left over") {
  std::set<std::string> seen;
  for (const Case& c : cases) {
    INFO(c.workload << " on " << c.system);
    const Statistics s = profiled(c.system, c.machine, c.workload, c.sizes).statistics;
    REQUIRE(s.profile);
    for (std::size_t op = 0; op < 4; ++op) {
      const Statistics::Operation& o = s.operations.at(op);
      double sum = 0;
      for (const auto& [name, cycles] : stations_of(s, op)) {
        CHECK(name != "elsewhere");
        sum += cycles;
        seen.insert(name);
      }
      INFO(o.name);
      CHECK(sum == Approx(o.waited).margin(1e-6));
    }
    for (const auto& l : s.profile->latencies) {
      std::uint64_t all = 0;
      for (const auto& [least, number] : l.buckets) {
        all += number;
        CHECK(static_cast<double>(least) <= l.most);
      }
      CHECK(all == count_of(s, l.operation));
      CHECK(l.percentile(0.5) <= l.percentile(0.99));
      CHECK(l.percentile(0.99) <= l.most);
      CHECK(l.percentile(1) == l.most);
    }
  }
  for (const std::string name :
       {"L1: work", "L1: turns", "link1: way", "link1: room", "link1: behind others", "L2 to L1: way",
        "MSHRs of l1", "memory", "memory: behind others", "memory: room", "directory to L2: bandwidth"}) {
    INFO(name);
    CHECK(seen.contains(name));
  }
}

TEST_CASE("Profile: it changes nothing of what it looks at") {
  for (const Case& c : cases) {
    INFO(c.workload << " on " << c.system);
    Statistics with = profiled(c.system, c.machine, c.workload, c.sizes, 100).statistics;
    SimulationRequest request;
    request.machine = read_machine(machines_folder + "/" + c.machine + ".toml", machines_folder);
    request.systems = {c.system};
    request.sizes = c.sizes;
    const std::atomic<bool> never = false;
    const Statistics without = run_workload(request, c.workload, never).results.at(0).statistics;
    CHECK_FALSE(without.profile);
    with.profile.reset();
    CHECK(statistics_json(with) == statistics_json(without));
  }
}

TEST_CASE("Profile: units, links, kernels and epochs add up to what was counted of all") {
  for (const Case& c : cases) {
    INFO(c.workload << " on " << c.system);
    const Statistics s = profiled(c.system, c.machine, c.workload, c.sizes, 700).statistics;
    std::uint64_t firings = 0;
    std::map<std::string, Statistics::Level> levels;
    std::map<std::string, double> waited;
    for (const auto& unit : s.profile->units) {
      firings += unit.firings;
      waited[unit.kind] += unit.waited;
      CHECK(unit.busy <= s.drained + 64);
      for (const auto& [name, level] : unit.levels) {
        levels[name].hits += level.hits;
        levels[name].misses += level.misses;
      }
    }
    CHECK(firings == s.firings);
    for (const auto& [name, level] : s.levels) {
      CHECK(levels[name].hits == level.hits);
      CHECK(levels[name].misses == level.misses);
    }
    for (const auto& [kind, cycles] : s.unit_waits) CHECK(waited[kind] == Approx(cycles));
    std::map<std::string, std::uint64_t> bytes;
    std::map<std::string, double> full;
    for (const auto& link : s.profile->links) {
      bytes[link.name] += link.bytes;
      full[link.name] += link.full;
    }
    for (const auto& [name, count] : bytes) CHECK(count == s.bytes_on(name));
    for (const auto& [name, cycles] : s.full) CHECK(full[name] == Approx(cycles));

    const Statistics::Counters all = counters_of(s);
    Statistics::Counters epochs;
    double end = 0;
    for (const Statistics::Epoch& epoch : s.profile->epochs) {
      CHECK(epoch.from >= end);
      CHECK_FALSE(epoch.counters.empty());
      end = epoch.to;
      for (const auto& [name, value] : epoch.counters) epochs[name] += value;
    }
    for (const auto& [name, value] : all) {
      INFO(name);
      CHECK(epochs[name] == Approx(value));
    }
    if (s.profile->kernels.empty()) continue;
    // What drains behind the last kernel is nobody's.
    Statistics::Counters kernels;
    double before = 0;
    for (const Statistics::Kernel& kernel : s.profile->kernels) {
      CHECK(kernel.from > before);
      CHECK(kernel.to > kernel.from);
      before = kernel.to;
      for (const auto& [name, value] : kernel.counters) kernels[name] += value;
    }
    CHECK(before <= s.cycles);
    for (const std::string name : {"loads", "stores", "rmws", "fences"}) {
      INFO(name);
      const auto counted = all.find(name);
      CHECK(kernels[name] == (counted == all.end() ? 0 : counted->second));
    }
    for (const auto& [name, value] : kernels) {
      if (value > 0) CHECK(value <= all.at(name) + 1e-6);
    }
  }
}

// By hand, from apu.toml.
TEST_CASE("Profile: a lone load's parts are those of the machine file") {
  const Statistics s = simulate("write-through", machine_of(apu), loads_of({{0}}), 1, true);
  const Cycles parts = stations_of(s, 0);
  const Cycles expected{{"L1: work", 1},                // tag
                        {"link1: way", 10 + 8 / 64.0},  // a header
                        {"L2: work", 4},                // tag
                        {"link2: way", 20 + 8 / 64.0},
                        {"memory", 100 + 128 / 6.4},  // latency and a block's transfer
                        {"directory to L2: way", 20 + 136 / 64.0},
                        {"L2 to L1: way", 10 + 136 / 64.0}};
  CHECK(parts.size() == expected.size());
  for (const auto& [name, cycles] : expected) {
    INFO(name);
    REQUIRE(parts.contains(name));
    CHECK(parts.at(name) == Approx(cycles));
  }
}

TEST_CASE("Profile: who waits for a queue is said to") {
  // Two CUs load from one channel at once: the later one's block waits for the earlier one's to be
  // transferred.
  const std::string one_channel = changed(apu, "channels = 4 ", "channels = 1 ");
  {
    const Cycles parts =
        stations_of(simulate("write-through", machine_of(one_channel), loads_of({{0}, {1}}), 2, true), 0);
    REQUIRE(parts.contains("memory: behind others"));
    CHECK(parts.at("memory") == Approx(2 * (100 + 128 / 6.4)));
    // They come to it one directory's turn apart.
    CHECK(parts.at("memory: behind others") == Approx(128 / 6.4 - 1).margin(1));
  }
  // Of many that go through a link with room for one the others wait for room, at their CU.
  const std::string narrow =
      changed(apu, "[systems.write-through.sizes]", "link1-messages = 16", "link1-messages = 1");
  std::vector<std::vector<int>> waves;
  for (int w = 0; w < 8; ++w) waves.push_back({w});
  const Cycles roomy = stations_of(simulate("write-through", machine_of(apu), loads_of(waves), 1, true), 0);
  const Cycles tight =
      stations_of(simulate("write-through", machine_of(narrow), loads_of(waves), 1, true), 0);
  CHECK_FALSE(roomy.contains("link1: room"));
  REQUIRE(tight.contains("link1: room"));
  // The n-th waits for n messages to be taken, each after a way of ten cycles and four of L2's tag.
  CHECK(tight.at("link1: room") > 28 * 10);
  CHECK(tight.at("link1: room") < 28 * 20);
  // One MSHR: one block after the other is fetched.
  const std::string poor = changed(apu, "[systems.write-through.caches.l1]", "mshrs = 32", "mshrs = 1");
  const Cycles missing =
      stations_of(simulate("write-through", machine_of(poor), loads_of(waves), 1, true), 0);
  CHECK_FALSE(roomy.contains("MSHRs of l1"));
  REQUIRE(missing.contains("MSHRs of l1"));
  CHECK(missing.at("MSHRs of l1") > 28 * 150);
  // A slow link: messages wait for their turns on it.
  const std::string slow =
      changed(apu, "[systems.write-through.links.link1]", "bytes_per_cycle = 64", "bytes_per_cycle = 1 ");
  const Cycles behind = stations_of(simulate("write-through", machine_of(slow), loads_of(waves), 1, true), 0);
  REQUIRE(behind.contains("link1: bandwidth"));
  // Headers of 8 bytes, and L1 sends one in each cycle.
  CHECK(behind.at("link1: bandwidth") == Approx(28 * 7).margin(8));
  CHECK(behind.at("link1: way") == Approx(8 * (10 + 8)));
  // Queues of DRAM that hold one request stop who sends.
  const std::string rows = changed(changed(changed(one_channel, "\nbytes_per_cycle = 6.4 ", "\n#"),
                                           "queue = 16 ", "queue = 1\nsender_queue = 1 # "),
                                   "channels = 1 ", "kind = \"dram\"\npreset = \"ddr3\"\nchannels = 1 #");
  const Cycles full = stations_of(simulate("write-through", machine_of(rows), loads_of(waves), 1, true), 0);
  CHECK(full.contains("memory: room"));
}

TEST_CASE("Profile: buckets of latencies are an eighth of a power of two wide, and lie side by side") {
  for (std::uint64_t cycles = 0; cycles < 5000; ++cycles) {
    const std::size_t bucket = timed::Profile::bucket_of(cycles);
    CHECK(timed::Profile::least_of(bucket) <= cycles);
    CHECK(cycles < timed::Profile::least_of(bucket + 1));
    CHECK(timed::Profile::least_of(bucket + 1) - timed::Profile::least_of(bucket) <=
          std::max<std::uint64_t>(1, cycles / 8));
  }
}

TEST_CASE("Energy: what the file says things cost, as often as they happened") {
  const MachineDescription titan = read_machine(machines_folder + "/titan-v.toml", machines_folder);
  const Statistics s = simulate("write-through", titan, loads_of({{0}, {0}}), 2);
  const std::map<std::string, double> energy(s.energy.begin(), s.energy.end());
  // Each of two SMs misses, fetches the block and fills its L1; L2 misses once, is filled and hits once, or
  // has both miss.
  REQUIRE(s.levels.at("L1").misses == 2);
  const auto l2 = s.levels.at("L2");
  CHECK(energy.at("L1") == Approx(2 * 1.4097 + 2 * 1.7044));
  CHECK(energy.at("messages") == Approx(4 * 254));
  CHECK(energy.at("DRAM") == Approx(static_cast<double>(s.memory.reads) * 501));
  CHECK(energy.at("L2") >=
        static_cast<double>(l2.misses + l2.hits) * 193.59 + static_cast<double>(l2.misses) * 234.0675);
  double sum = 0;
  for (const auto& [name, part] : energy) sum += part;
  CHECK(s.picojoules() == Approx(sum));
  // A rule of L1s that only asks whether L2 has recalled the block has had a message of that.
  MachineDescription reads_of_l2 = titan;
  reads_of_l2.energy = {};
  reads_of_l2.energy.said = true;
  reads_of_l2.energy.levels["L2"].read = 1;
  SimulationRequest request;
  request.machine = reads_of_l2;
  request.systems = {"hlrc"};
  request.sizes = {{"words", 512}};
  const std::atomic<bool> never = false;
  const Statistics of_hlrc = run_workload(request, "histogram", never).results.at(0).statistics;
  std::map<std::string, std::uint64_t> fired;
  for (const auto& rule : of_hlrc.rules) fired[rule.name] = rule.firings;
  REQUIRE(fired.at("recall reaches the owner") > 0);
  CHECK(of_hlrc.picojoules() == Approx(fired.at("L2 answers a read")));
  // Nobody says costs of the APU.
  CHECK(simulate("write-through", machine_of(apu), loads_of({{0}}), 1).energy.empty());
  using Catch::Matchers::Contains;
  const std::string text = shipped_machine("titan-v");
  CHECK_THAT(machine_error_of(changed(text, "[energy.levels.L2]", "[energy.levels.L4]")),
             Contains("no system here has a cache of level 'L4'") && Contains("did you mean"));
  CHECK_THAT(machine_error_of(changed(text, "\nlink1 = { message = 254 }", "\nlink9 = { message = 254 }")),
             Contains("no system here has a link or path 'link9'") && Contains("did you mean 'link"));
  CHECK_THAT(machine_error_of(changed(text, "[energy.dram]\nread = 501", "[energy.dram]\nread = -1")),
             Contains("'read' is negative in [energy.dram]"));
  CHECK_THAT(machine_error_of(changed(text, "instruction = 3.7", "instructions = 3.7")),
             Contains("unknown entry 'instructions' in [energy]") && Contains("did you mean 'instruction'?"));
}

// By hand: a message sent by firing 0 has arrived at 10 and stands at its link's head.
TEST_CASE(
    "Profile: what has stood at a link's head before waits for what enables it, not for those in front") {
  using timed::ticks_per_cycle;
  for (const bool stood : {false, true}) {
    timed::Profile p;
    const auto turn = p.station("turn");
    const auto way = p.station("way");
    const auto queue = p.station("queue");
    const auto turns = p.station("turns");
    const timed::Profile::Instance sender{0, 0, 0};
    const timed::Profile::Instance other{1, 0, 0};
    const timed::Profile::Instance taker{2, 0, 0};
    const auto at = [](std::uint64_t cycles) { return cycles * ticks_per_cycle; };
    REQUIRE(p.fired(sender, at(0), turns) == 0);
    const timed::Profile::Head head{0, at(3), at(10), turn, way, queue};
    if (stood) p.is_disabled(taker, head);
    p.scheduled(other, at(20), 0, {});
    REQUIRE(p.fired(other, at(50), turns) == 1);
    p.scheduled(taker, at(50), 1, head);
    REQUIRE(p.fired(taker, at(55), turns) == 2);
    p.completed(0, at(0), 2);
    const auto spent = [&](timed::Profile::Station s) { return p.spent_at(s, 0); };
    CHECK(spent(turn) == (stood ? 0 : at(3)));
    CHECK(spent(way) == (stood ? 0 : at(7)));
    CHECK(spent(queue) == (stood ? 0 : at(40)));
    // Its own five, and behind the other's firing what that one waited for.
    CHECK(spent(turns) == (stood ? at(35) : at(5)));
    CHECK(p.spent_at(p.station("elsewhere"), 0) == (stood ? at(20) : 0));
  }
}
