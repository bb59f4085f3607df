// FEAR with time: who may give mutexes away when, what epochs take, and that results are right where nothing
// is wrong.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/workloads/workload.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never = false;

MachineDescription fear_machine(const MachineSettings& settings = {}) {
  return read_machine(machines_folder + "/fear.toml", machines_folder, settings);
}

SystemResult histogram_on(const std::string& system, const MachineSettings& settings = {},
                          const std::vector<std::string>& faults = {}, int shared = 100) {
  SimulationRequest request;
  request.machine = fear_machine(settings);
  request.systems = {system};
  request.sizes = {{"words", 256}, {"bins", 16}, {"shared", shared}};
  request.options.cus = 4;
  request.options.faults = faults;
  return run_workload(request, "histogram", never).results.front();
}

// The cycles of rules' firings, with whom each is for, and on which CU everybody is.
struct Times : SimulationObserver {
  struct Time {
    double cycle;
    int thread;
  };
  std::map<std::string, std::vector<Time>> of;
  std::map<int, std::size_t> cu_of;
  void fired(const Firing& firing) override {
    of[std::string(firing.rule)].push_back({firing.cycle, firing.thread});
  }
  void completed(const Operation& operation) override {
    cu_of[static_cast<int>(operation.thread)] = operation.cu;
  }
};

void watch(Times& times, const MachineSettings& settings) {
  const MachineDescription machine = fear_machine(settings);
  WorkloadShape shape;
  shape.cus = 4;
  shape.agents = 1;
  shape.words_per_block = machine.words_per_block();
  shape.waves_per_cu = 4;
  shape.sizes = {{"words", 256}, {"bins", 16}, {"shared", 100}};
  const Workload workload = build_workload(find_workload("histogram"), shape);
  SimulationOptions options;
  options.cus = 4;
  options.observer = &times;
  const auto simulator = find_timed_system("fear", options).build(workload, machine, options);
  const SimulationEnd end = simulator->run();
  REQUIRE(end == SimulationEnd::finished);
}

std::string setting_error(const MachineSettings& settings, const std::string& system = "fear") {
  try {
    histogram_on(system, settings);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("FEAR with time: counts are right in every variant, with few mutexes, entries and wires") {
  for (const std::string system : {"fear", "fear/atom-dir", "fear/no-speculation", "fear/wire-by-hop"}) {
    INFO(system);
    const SystemResult result = histogram_on(system);
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.wrong == 0);
  }
  for (const MachineSettings& settings :
       std::vector<MachineSettings>{{"systems.fear.sizes.mutex=3"},
                                    {"systems.fear.sizes.lookup-entry=2"},
                                    {"systems.fear.sizes.busy-wire=1"},
                                    {"systems.fear.sizes.mutex=5", "systems.fear.sizes.busy-wire=2",
                                     "systems.fear.sizes.ring-node=3"}}) {
    INFO(settings.front());
    const SystemResult result = histogram_on("fear", settings);
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.wrong == 0);
  }
}

TEST_CASE("FEAR with time: updates are lost where two have a mutex, or a copy is used that is old") {
  for (const std::string fault : {"busy-ignored", "copy-always-used", "last-not-told"}) {
    INFO(fault);
    CHECK(histogram_on("fear", {}, {fault}).wrong > 0);
  }
}

TEST_CASE("FEAR with time: a node gives mutexes away in its turns, and epochs end together in theirs") {
  Times times;
  watch(times, {"systems.fear.sizes.ring-node=3", "systems.fear.sizes.busy-wire=2"});
  const auto& given = times.of.at("node gives a mutex away");
  CHECK(given.size() == 256);
  std::map<std::size_t, int> by_node;
  for (const auto& time : given) {
    const std::size_t node = times.cu_of.at(time.thread) % 3;
    CHECK(static_cast<std::size_t>(std::floor(time.cycle / 8.5)) % 3 == node);
    ++by_node[node];
  }
  CHECK(by_node.size() == 3);
  // The one mutex is nearest to the first node, which takes it back in its turns.
  Times of_one;
  watch(of_one, {"systems.fear.sizes.ring-node=3", "systems.fear.sizes.mutex=1"});
  const auto& back = of_one.of.at("node takes a mutex back");
  CHECK(back.size() == 256);
  for (const auto& time : back) CHECK(static_cast<int>(std::floor(time.cycle / 8.5)) % 3 == 0);
  const auto& ends = times.of.at("epoch ends");
  CHECK(ends.size() > 2);
  for (const auto& time : ends) CHECK(std::fmod(time.cycle, 512) == 0);
}

TEST_CASE("FEAR with time: a longer way round the ring takes longer, and own counts are found in L1") {
  const auto cycles = [](const MachineSettings& settings) {
    const SystemResult result = histogram_on("fear/no-speculation", settings);
    CHECK(result.wrong == 0);
    return result.statistics.cycles;
  };
  const double one_wire = cycles({"systems.fear.sizes.busy-wire=1"});
  CHECK(cycles({}) < one_wire);
  CHECK(cycles({"systems.fear.sizes.busy-wire=1", "systems.fear.links.ring.latency=32"}) > one_wire);
  const auto dir = [](const MachineSettings& settings) {
    return histogram_on("fear/atom-dir", settings).statistics.cycles;
  };
  CHECK(dir({"systems.fear.variants.atom-dir.paths.request.latency=160"}) > dir({}));
  CHECK(dir({"systems.fear.paths.request.latency=160"}) == dir({}));
  const auto found = [](int shared) {
    for (const Statistics::RuleFirings& rule : histogram_on("fear", {}, {}, shared).statistics.rules) {
      if (rule.name == "atomic finds its copy") return rule.firings;
    }
    return std::uint64_t{0};
  };
  CHECK(found(1) > 230);
  CHECK(found(100) < 200);
}

TEST_CASE("FEAR with time: what a machine says of choices and turns has to be of the rule") {
  const std::string gives = "systems.fear.rules.\"node gives a mutex away\".";
  CHECK_THAT(setting_error({gives + "occupancy=1"}), Catch::Contains("might miss it"));
  CHECK_THAT(setting_error({gives + "nearest={ mutex = \"cu\" }"}),
             Catch::Contains("is over (thread), and of no ring-node"));
  CHECK_THAT(setting_error({gives + "nearest={ ring-node = \"mutex\" }"}),
             Catch::Contains("has no ring-node nearest to a mutex"));
  CHECK_THAT(setting_error({gives + "turns={ ring-node = 0 }"}), Catch::Contains("no number of cycles"));
  CHECK_THAT(setting_error({gives + "every=100"}), Catch::Contains("cannot be looked at from time to time"));
  CHECK_THAT(setting_error({gives + "nearest={ ring-node = \"cu\", mutex = \"cu\" }"}),
             Catch::Contains("'nearest' is of one index type"));
  CHECK_THAT(setting_error({"systems.fear.rules.issues.every=100"}), Catch::Contains("leaves nothing open"));
  CHECK_THAT(setting_error({"systems.fear.rules.\"epoch ends\".every=0.5"}), Catch::Contains("every"));
  CHECK_THAT(setting_error({gives + "turns="}), Catch::Contains("no ring-node is chosen by it"));
  // Of variants that do not run, too.
  CHECK_THAT(setting_error({"systems.fear.variants.atom-dir.sizes.nodes=1"}),
             Catch::Contains("no size 'nodes'"));
  CHECK_THAT(setting_error({"systems.fear.variants.atom-dir.rules.nosuch={ latency = 1 }"}),
             Catch::Contains("no rule 'nosuch'"));
  SimulationRequest request;
  request.machine = machine_of(changed(
      shipped_machine("fear"), "[systems.fear.variants.no-speculation.rules]", "speculation", "speculatio"));
  request.systems = {"fear"};
  CHECK_THROWS_WITH(
      run_workload(request, "histogram", never),
      Catch::Contains("fear has no variant 'no-speculatio'") && Catch::Contains("no-speculation'?"));
}
