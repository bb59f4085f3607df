// Litmus tests and synchronization programs with time, held against the checker.
#include "refimpl/outcomes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/workloads/programs.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never = false;

// The APU, its CUs shared out to as many agents as a program has, with two words a block.
MachineDescription apu_for(const Program& program) {
  int agents = 1;
  for (const Thread& thread : program.threads) agents = std::max(agents, thread.placement.agent + 1);
  return read_machine(machines_folder + "/apu.toml", machines_folder,
                      {"agents=" + std::to_string(agents), "cus=" + std::to_string(4 * agents)});
}

bool fits(const Program& program) {
  const auto wide = [](const Location& l) { return l.word >= 2; };
  const auto many = [](const Thread& t) { return t.registers.size() > 8; };
  return std::none_of(program.locations.begin(), program.locations.end(), wide) &&
         std::none_of(program.threads.begin(), program.threads.end(), many);
}

TimedTest timed(const LitmusTest& test, const std::vector<std::string>& systems, std::size_t runs, int jitter,
                const std::vector<std::string>& faults = {}) {
  TimedTestRequest request;
  request.test = &test;
  request.machine = apu_for(test.program);
  request.systems = systems;
  request.runs = runs;
  request.options.jitter = jitter;
  request.options.faults = faults;
  return run_test(request, never);
}

std::shared_ptr<const LitmusTest> named(const std::string& name) {
  return read_tests(std::vector{name}, LOCKSTEP_SOURCE_DIR "/litmus").tests.at(0);
}

// Outcomes that the checker does not have, as text.
std::string unknown(const LitmusTest& test, const TimedOutcomes& timed) {
  const SystemRun run = run_on_system(test, subject_named(timed.system), {});
  REQUIRE(run.status == RunStatus::complete);
  std::string text;
  for (const auto& [outcome, count] : timed.outcomes) {
    if (std::find(run.outcomes.begin(), run.outcomes.end(), outcome) == run.outcomes.end())
      text += outcome_text(test, outcome);
  }
  return text;
}

}  // namespace

namespace {

// Of the quick tests every so-manieth.
void check_outcomes_with_time(std::size_t step) {
  const SuiteFiles files =
      read_tests(std::vector<std::string>{LOCKSTEP_SOURCE_DIR "/litmus"}, LOCKSTEP_SOURCE_DIR);
  std::size_t number = 0;
  std::size_t held = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> of_system;  // tests, and their outcomes
  for (const auto& test : files.tests) {
    if (!has_tag(*test, "quick") || !fits(test->program) || number++ % step != 0) continue;
    for (const std::string system : {"sc", "write-through", "quick-release", "rfo", "lab", "halcone"}) {
      INFO(test->name << " on " << system);
      const TimedTest run = timed(*test, {system}, 12, 150);
      CHECK(run.systems[0].stuck == 0);
      CHECK(run.systems[0].failed == 0);
      CHECK_FALSE(contradicts(run, run.systems[0]));
      CHECK(unknown(*test, run.systems[0]).empty());
      ++of_system[system].first;
      of_system[system].second += run.systems[0].outcomes.size();
      ++held;
    }
  }
  CHECK(number >= 100);
  CHECK(held * step >= 300);
  for (const auto& [system, counts] : of_system) {
    INFO(system);
    CHECK(counts.second > counts.first);  // not always the same one
  }
}

}  // namespace

TEST_CASE("Timed tests: every outcome of quick tests with time is one that the checker finds") {
  check_outcomes_with_time(4);
}
TEST_CASE("Timed tests: so is every outcome of all of them", "[.][nightly]") {
  check_outcomes_with_time(1);
}

TEST_CASE("Timed tests: what a system may show sometimes, some seed shows; what a fault breaks is told") {
  const auto racy = named("mp-relaxed-agent");
  const TimedTest weak = timed(*racy, {"write-through"}, 200, 300);
  CHECK(weak.systems[0].outcomes.size() > 1);
  const auto passing = named("mp-agent");
  const TimedTest right = timed(*passing, {"write-through", "quick-release"}, 200, 300);
  CHECK(exit_status_of(right) == 0);
  CHECK_THAT(timed_test_text(right), Catch::Contains("in 0 of 200 runs, expected never\n"));
  CHECK(right.systems[0].outcomes.size() == 2);
  const auto stale = named("mp-neighbour-agent");
  CHECK(exit_status_of(timed(*stale, {"write-through"}, 200, 300)) == 0);
  const TimedTest wrong = timed(*stale, {"write-through"}, 200, 300, {"acquire-keeps-l1"});
  CHECK(exit_status_of(wrong) == 1);
  CHECK_THAT(timed_test_text(wrong), Catch::Contains("expected never: CONTRADICTS"));
  CHECK(timed_test_json(wrong).at("systems").at(0).at("contradicts") == true);
}

TEST_CASE("Timed tests: the same seeds show the same") {
  const auto test = named("mp-relaxed-agent");
  CHECK(timed_test_json(timed(*test, {"quick-release"}, 50, 100)) ==
        timed_test_json(timed(*test, {"quick-release"}, 50, 100)));
}

TEST_CASE("Timed tests: a test of more agents than the machine has says how to have them") {
  TimedTestRequest request;
  const SuiteFiles files =
      read_tests(std::vector<std::string>{LOCKSTEP_SOURCE_DIR "/litmus"}, LOCKSTEP_SOURCE_DIR);
  const auto two = std::find_if(files.tests.begin(), files.tests.end(), [](const auto& test) {
    return std::any_of(test->program.threads.begin(), test->program.threads.end(),
                       [](const Thread& t) { return t.placement.agent == 1; });
  });
  REQUIRE(two != files.tests.end());
  request.test = two->get();
  request.machine = read_machine(machines_folder + "/apu.toml");
  request.systems = {"write-through"};
  CHECK_THROWS_WITH(run_test(request, never), Catch::Contains("--set agents=2"));
}

TEST_CASE("Synchronization programs end on timed machines, with what they claim of memory") {
  for (const std::string& name : sync_workload_names()) {
    SimulationRequest request;
    request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
    request.systems = {"sc", "write-through", "quick-release", "rfo", "lab", "halcone"};
    const ComparedRun run = run_workload(request, name, never);
    INFO(name);
    CHECK(run.results.size() == 6);
    for (const SystemResult& r : run.results) {
      INFO(r.system);
      CHECK(r.end == SimulationEnd::finished);
      CHECK(r.wrong == 0);
    }
    CHECK(exit_status_of(std::vector{run}) == 0);
  }
  CHECK_THROWS_WITH(find_workload("ticket-lok"), Catch::Contains("'ticket-lock'"));
  CHECK_THROWS_WITH(find_workload("ticket-lock/defualt"), Catch::Contains("'default'"));
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml");
  request.systems = {"sc"};
  request.sizes = {{"threads", 4097}};
  CHECK_THROWS_AS(run_workload(request, "ticket-lock", never), BadInput);
  request.sizes = {{"threads", 0}};
  CHECK_THROWS_WITH(run_workload(request, "ticket-lock", never), Catch::Contains("not between 1 and"));
}

TEST_CASE("Synchronization programs fill a machine: barriers whose local levels are CUs, and semaphores") {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
  request.systems = {"sc", "write-through"};
  const auto runs = [&](const std::string& name) {
    INFO(name);
    const ComparedRun run = run_workload(request, name, never);
    for (const SystemResult& r : run.results) {
      INFO(r.system);
      CHECK(r.end == SimulationEnd::finished);
      CHECK(r.wrong == 0);
    }
    return run;
  };
  request.sizes = {{"cus", 8},      {"work-groups-per-cu", 4}, {"narrow", 1},
                   {"episodes", 5}, {"accesses", 3},           {"backoff", 64}};
  for (const std::string name : {"tree-barrier", "g-srb", "g-cpusrb", "flag-barrier", "ccg-barrier"})
    CHECK(runs(name).checked > 96);
  request.sizes["exchange"] = 1;
  for (const std::string name : {"tree-barrier", "flag-barrier"}) runs(name);
  request.sizes = {{"writers", 8}, {"readers", 8}, {"accesses", 10}, {"rounds", 2}, {"backoff", 64}};
  for (const std::string name : {"prior-sem", "sleep-sem"}) runs(name);
}

TEST_CASE("A pause takes its cycles where there is time") {
  const auto cycles = [](const std::string& pauses) {
    const Program program = parse_litmus("HRF t\n{ }\nP0@wg 0,agent 0 ;\n mov r0, 300 ;\n" + pauses +
                                             " st x, 1 ;\nforall (true)\n",
                                         "t.litmus")
                                .program;
    SimulationRequest request;
    request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
    request.systems = {"sc"};
    request.options.start_spread = 0;
    WorkloadEntry entry;
    entry.name = "t";
    entry.build = [&](const WorkloadShape&) { return workload_of(program); };
    return run_workload(request, entry, never).results.front().statistics.cycles;
  };
  const double without = cycles("");
  const double once = cycles(" pause r0 ;\n");
  CHECK(once - without >= 300);
  CHECK(once - without < 310);
  CHECK(cycles(" pause r0 ;\n pause 1000 ;\n") - once >= 1000);
  CHECK(cycles(" pause 0 ;\n pause -5 ;\n") - without < 20);
}

TEST_CASE("Workloads are right on machines of several agents, whatever they run on") {
  for (const WorkloadEntry& workload : workloads()) {
    SimulationRequest request;
    request.machine = read_machine(machines_folder + "/apu.toml", machines_folder, {"agents=2", "cus=4"});
    request.systems = {"write-through", "quick-release", "rfo", "lab", "halcone"};
    for (const WorkloadSize& size : workload.sizes) {
      if (size.name == "words") request.sizes = {{"words", 256}};
    }
    INFO(workload.name);
    for (const SystemResult& r : run_workload(request, std::string(workload.name), never).results) {
      INFO(r.system);
      CHECK(r.end == SimulationEnd::finished);
      CHECK(r.wrong == 0);
    }
  }
}
