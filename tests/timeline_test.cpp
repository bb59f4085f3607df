// A timeline says everything that a run's statistics count, in a form that viewers of traces read.
#include "refimpl/timeline.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "checker/support/process.hpp"
#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

struct Traced {
  Statistics statistics;
  nlohmann::json trace;
};
Traced traced(const std::string& system, const std::string& workload, std::map<std::string, int> sizes) {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
  request.systems = {system};
  request.sizes = std::move(sizes);
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "timeline.json").string();
  Timeline timeline(file, workload, request.machine.gigahertz);
  request.options.observer = &timeline;
  const std::atomic<bool> never = false;
  const ComparedRun run = run_workload(request, workload, never);
  timeline.close();
  std::ifstream stream(file);
  return {run.results.at(0).statistics, nlohmann::json::parse(stream)};
}

std::string timeline_of(const std::string& name, const std::string& title) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / name).string();
  Timeline timeline(file, title, 1.5);
  timeline.fired({10, 1, "L1", 0, "load hits </b>", 3});
  timeline.completed({3, "P</script>", 2, "load", 8, 11});
  timeline.close();
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("Timeline: as a page it is the same trace within a script, which no name can end") {
  const std::string title = "a </script> in a title";
  const std::string page = timeline_of("timeline.html", title);
  const std::string begin = R"(<script id="trace" type="application/json">)";
  const std::size_t from = page.find(begin);
  REQUIRE(page.starts_with("<!doctype html>"));
  REQUIRE(page.ends_with("</html>\n"));
  REQUIRE(from != std::string::npos);
  const std::string behind = page.substr(from + begin.size());
  const auto trace = nlohmann::json::parse(behind.substr(0, behind.find("</script>")));
  CHECK(trace == nlohmann::json::parse(timeline_of("timeline.json", title)));
  CHECK(trace.at("otherData").at("title") == title);
  CHECK(trace.at("otherData").at("gigahertz") == 1.5);
}

TEST_CASE("Timeline: each firing is on its unit's track, each operation on its wave's, and flows join them") {
  for (const std::string system : {"write-through", "quick-release", "lab", "halcone", "sc"}) {
    INFO(system);
    const Traced run = traced(system, "message-passing", {{"pairs", 3}, {"rounds", 2}, {"table", 8}});
    std::map<int, std::string> processes;
    std::set<std::pair<int, int>> tracks;
    std::map<std::string, std::uint64_t> firings;
    std::map<std::string, std::pair<std::uint64_t, double>> operations;
    std::map<std::uint64_t, std::string> flows;
    double last = 0;
    for (const auto& event : run.trace.at("traceEvents")) {
      const std::string kind = event.at("ph");
      const int pid = event.at("pid");
      if (kind == "M") {
        if (event.at("name") == "process_name") processes[pid] = event.at("args").at("name");
        if (event.at("name") == "thread_name") CHECK(tracks.emplace(pid, event.at("tid")).second);
        continue;
      }
      CHECK(tracks.contains({pid, event.at("tid")}));
      if (kind != "X") {
        flows[event.at("id")] += kind;
        continue;
      }
      CHECK(event.at("dur") >= 0);
      last = std::max(last, event.at("ts").get<double>() + event.at("dur").get<double>());
      if (processes.at(pid) == "waves") {
        auto& [count, microseconds] = operations[event.at("name")];
        ++count;
        microseconds += event.at("dur").get<double>();
      } else {
        ++firings[event.at("name")];
      }
    }
    for (const Statistics::RuleFirings& rule : run.statistics.rules) {
      INFO(rule.name);
      CHECK(firings[rule.name] == rule.firings);
    }
    for (const Statistics::Operation& operation : run.statistics.operations) {
      if (operation.count == 0) continue;
      INFO(operation.name);
      CHECK(operations.at(operation.name).first == operation.count);
      // 1 GHz: a thousand cycles are a microsecond.
      CHECK(operations.at(operation.name).second == Approx(operation.waited / 1000).epsilon(1e-3));
    }
    CHECK(last <= run.statistics.drained / 1000 + 0.00101);
    // A flow begins once, goes on, and ends once.
    CHECK(flows.size() > 50);
    for (const auto& [id, events] : flows) {
      CHECK(events.front() == 's');
      CHECK(events.find('s', 1) == std::string::npos);
      CHECK((events.find('f') == std::string::npos || events.find('f') + 1 == events.size()));
    }
  }
}

TEST_CASE(
    "Timeline: a run that is told is the run that is not, and nothing is left of one that was not closed") {
  const Traced told = traced("quick-release", "stencil", {{"words", 32}});
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
  request.systems = {"quick-release"};
  request.sizes = {{"words", 32}};
  const std::atomic<bool> never = false;
  CHECK(statistics_json(run_workload(request, "stencil", never).results.at(0).statistics) ==
        statistics_json(told.statistics));
  const TemporaryFolder folder;
  { const Timeline begun((folder.path() / "begun.json").string(), "begun", 1); }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_THROWS_AS(Timeline("/nowhere/at/all.json", "none", 1), BadInput);
}
