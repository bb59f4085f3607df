// Waiting policies with time: programs end with the results that the checker finds, whoever is resumed when.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/workloads/programs.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never = false;
const std::vector<std::string> policies{"busy-waiting", "timeout",   "monrs-all", "monr-all",
                                        "monnr-all",    "monnr-one", "awg",       "min-resume"};

SimulationRequest under(const std::string& policy, std::map<std::string, int> sizes,
                        const MachineSettings& settings = {}) {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/awg.toml", machines_folder, settings);
  request.systems = {"sc/" + policy};
  request.sizes = std::move(sizes);
  return request;
}

SystemResult result_of(const SimulationRequest& request, const std::string& workload) {
  return run_workload(request, workload, never).results.front();
}

// Of a program in the HRF dialect.
SystemResult result_of(const SimulationRequest& request, const Program& program) {
  WorkloadEntry entry;
  entry.name = program.name;
  entry.build = [&](const WorkloadShape&) { return workload_of(program); };
  return run_workload(request, entry, never).results.front();
}

std::uint64_t firings(const SystemResult& result, const std::string& name) {
  for (const Statistics::RuleFirings& rule : result.statistics.rules) {
    if (rule.name == name) return rule.firings;
  }
  FAIL("no rule " << name);
  return 0;
}

// Two wait for 3, and a third writes some numbers when both do.
Program two_wait_for_three(const std::string& numbers) {
  return parse_litmus(
             "HRF two-wait\n{ }\n"
             " P0@wg 0,agent 0 | P1@wg 1,agent 0 | P2@wg 2,agent 0 ;\n"
             " ld.acquire.agent.wait r0, x, 3 | ld.acquire.agent.wait r0, x, 3 | pause 5000 ;\n" +
                 numbers + "forall (true)\n",
             "two-wait.litmus")
      .program;
}

}  // namespace

TEST_CASE("Policies with time: locks and barriers end right under each, where all are resident") {
  const std::map<std::string, int> threads{{"threads", 16}, {"rounds", 3}};
  const std::map<std::string, int> grid{
      {"cus", 8}, {"work-groups-per-cu", 2}, {"waiting", 1}, {"accesses", 2}};
  const std::vector<std::pair<std::string, std::map<std::string, int>>> programs{
      {"test-and-set", threads},
      {"ticket-lock", threads},
      {"decentralized-ticket-lock", threads},
      {"tree-barrier", grid},
      {"flag-barrier", grid}};
  for (const std::string& policy : policies) {
    // Without timeouts a condition is missed that is met before a wait instruction arms the monitor, or after
    // another wake-up has cleared the monitored bit of its line, as the checker has it (docs/progress.md).
    const bool may_miss = policy == "monrs-all" || policy == "monr-all" || policy == "monnr-all";
    for (const auto& [program, sizes] : programs) {
      INFO(program << " under " << policy);
      const SystemResult result = result_of(under(policy, sizes), program);
      CHECK(result.system == "sc/" + policy);
      CHECK((result.end == SimulationEnd::finished || (may_miss && result.end == SimulationEnd::stuck)));
      if (result.end == SimulationEnd::finished) CHECK(result.wrong == 0);
    }
  }
}

TEST_CASE("Policies with time: MinResume resumes nobody in vain, so none executes fewer atomics") {
  const int threads = 16;
  const int rounds = 3;
  const auto loads = [&](const std::string& policy) {
    const std::map<std::string, int> sizes{{"threads", threads}, {"rounds", rounds}};
    const SystemResult result = result_of(under(policy, sizes), "ticket-lock");
    return firings(result, "loads");
  };
  const std::uint64_t least = loads("min-resume");
  // Whoever waits looks once before, and once after; and loads once what the lock guards.
  const std::uint64_t turns = threads * rounds;
  CHECK(least > 2 * turns);
  CHECK(least <= 3 * turns);
  for (const std::string policy : {"busy-waiting", "timeout", "monrs-all", "monnr-one", "awg"}) {
    INFO(policy);
    CHECK(loads(policy) >= least);
  }
  CHECK(loads("busy-waiting") > 3 * turns);
}

TEST_CASE("Policies with time: fewer places than work-groups, and a CU that is taken away") {
  const std::map<std::string, int> threads{{"threads", 24}, {"rounds", 3}};
  const MachineSettings few{"scheduler.slots_per_cu=2",
                            "systems.sc.rules.\"has stalled for long enough\".latency=500"};
  // Whoever spins keeps its place.
  for (const std::string policy : {"timeout", "monnr-all", "monnr-one"}) {
    INFO(policy);
    const SystemResult result = result_of(under(policy, threads, few), "decentralized-ticket-lock");
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.wrong == 0);
    CHECK(firings(result, "has been switched out") > 0);
  }
  const MachineSettings taken{"scheduler.slots_per_cu=4", "scheduler.cus_taken=1",
                              "systems.sc.rules.\"is taken off its CU\".at=3000"};
  for (const std::string policy : {"timeout", "monnr-all", "awg"}) {
    INFO(policy);
    const SystemResult result =
        result_of(under(policy, {{"threads", 32}, {"rounds", 3}}, taken), "decentralized-ticket-lock");
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.wrong == 0);
    CHECK(firings(result, "is taken off its CU") == 4);
  }
  const MachineSettings all{"scheduler.slots_per_cu=4", "scheduler.cus_taken=8"};
  CHECK_THROWS_WITH(result_of(under("awg", threads, all), "ticket-lock"), Catch::Contains("cus_taken"));
}

TEST_CASE("Policies with time: AWG resumes all after three different updates, and one after fewer") {
  const Program all = two_wait_for_three(
      " | | st.release.agent x, 1 ;\n | | st.release.agent x, 2 ;\n | | "
      "st.release.agent x, 3 ;\n");
  const Program one = two_wait_for_three(" | | st.release.agent x, 3 ;\n | | st.release.agent x, 3 ;\n");
  const double interval = 20000;
  const auto cycles = [](const std::string& policy, const Program& program) {
    const SystemResult result = result_of(under(policy, {}), program);
    CHECK(result.end == SimulationEnd::finished);
    return result.statistics.cycles;
  };
  CHECK(cycles("awg", all) < interval);
  CHECK(cycles("awg", one) > interval);  // the other's time is up
  CHECK(cycles("monnr-all", one) < interval);
  CHECK(cycles("monnr-one", all) > interval);
}

TEST_CASE("Policies with time: an interval counts from when its work-group began to wait") {
  // P0 waits, is resumed after 15000 cycles, and waits again, for what comes 15000 cycles later.
  const Program program = parse_litmus(
                              "HRF twice\n{ }\n P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n"
                              " ld.acquire.agent.wait r0, x, 1 | pause 15000 ;\n"
                              " ld.acquire.agent.wait r0, x, 2 | st.release.agent x, 1 ;\n"
                              " | pause 15000 ;\n | st.release.agent x, 2 ;\nforall (true)\n",
                              "twice.litmus")
                              .program;
  const SystemResult result = result_of(under("monnr-one", {}), program);
  CHECK(result.end == SimulationEnd::finished);
  CHECK(firings(result, "has stalled for long enough") == 0);
  const MachineSettings shorter{"systems.sc.rules.\"has stalled for long enough\".latency=10000"};
  CHECK(firings(result_of(under("monnr-one", {}, shorter), program), "has stalled for long enough") == 2);
}

TEST_CASE("Policies with time: what a machine says of them is held to what it can be") {
  const auto error = [](const std::string& setting) {
    return [setting] { result_of(under("awg", {{"threads", 4}}, {setting}), "ticket-lock"); };
  };
  CHECK_THROWS_WITH(error("scheduler.slots_per_cu=-1")(), Catch::Contains("negative"));
  CHECK_THROWS_WITH(error("scheduler.slots_per_c=4")(), Catch::Contains("did you mean 'slots_per_cu'"));
  CHECK_THROWS_WITH(error("systems.sc.rules.\"loads\".anew=true")(), Catch::Contains("cannot count anew"));
  CHECK_THROWS_WITH(error("systems.sc.rules.\"loads\".at=10")(), Catch::Contains("not at a time"));
  CHECK_THROWS_WITH(error("systems.sc.rules.\"loads\".anew=2")(), Catch::Contains("neither true nor false"));
  SimulationRequest request = under("awg", {});
  request.systems = {"sc/agw"};
  CHECK_THROWS_WITH(run_workload(request, "ticket-lock", never), Catch::Contains("agw"));
  request.systems = {"write-through/awg"};
  CHECK_THROWS_WITH(run_workload(request, "ticket-lock", never), Catch::Contains("awg"));
}
