// Studies: what a file may say, what follows from the sweeps of its bars, and that the shipped ones can be
// run.
#include "refimpl/study.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/workloads/programs.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::string text = R"(
title = "one beside two"
source = "a paper, Figure 1"
machine = "apu"
systems = ["sc", "write-through", "quick-release"]
missing = ["a third"]
[[panels]]
title = "Run time"
figure = "cycles"
paper = { write-through = 2.0 }
[[panels]]
title = "Bytes"
figure = "DRAM bytes read"
[[bars]]
workload = "copy"
sizes = { words = 64 }
[[bars]]
workload = "stencil"
)";

Study parsed_study(const std::string& from, const std::string& to) {
  std::string changed = text;
  const std::size_t at = changed.find(from);
  REQUIRE(at != std::string::npos);
  return parse_study(changed.replace(at, from.size(), to), "mine.toml");
}

SweepPoint point(double first, double second, double third) {
  SweepPoint p;
  p.results = {{"sc", "finished", 0, {{"cycles", first}, {"DRAM bytes read", 0}}},
               {"write-through", "finished", 0, {{"cycles", second}, {"DRAM bytes read", 64}}},
               {"quick-release", "finished", 0, {{"cycles", third}, {"DRAM bytes read", 64}}}};
  return p;
}

Sweep made(const SweepPoint& base, const std::vector<SweepPoint>& together) {
  Sweep sweep;
  sweep.workload = "copy";
  sweep.where = "8 CUs";
  sweep.systems = {"sc", "write-through", "quick-release"};
  sweep.figure = "cycles";
  sweep.within = 0.02;
  sweep.base = base;
  sweep.together = together;
  return sweep;
}

}  // namespace

TEST_CASE("Study: a file is read, and what is wrong in it is told with its place") {
  const Study study = parse_study(text, "mine.toml");
  CHECK(study.name == "mine");
  CHECK(study.systems.size() == 3);
  CHECK(study.panels.front().paper.at("write-through") == 2.0);
  CHECK(study.bars.front().name() == "copy words=64");
  CHECK(study.bars.back().name() == "stencil");
  const auto refused = [](const std::string& from, const std::string& to, const std::string& message) {
    CHECK_THROWS_WITH(parsed_study(from, to), Catch::Contains(message) && Catch::Contains("mine.toml:"));
  };
  refused("title = \"one", "tittle = \"one", "'title' is missing");
  refused("missing", "mising", "did you mean");
  refused("[\"sc\", \"write-through\", \"quick-release\"]", "[\"sc\"]",
          "compares two systems or programs at least");
  refused("{ write-through = 2.0 }", "{ write-trough = 2.0 }", "did you mean 'write-through'");
  refused("{ write-through = 2.0 }", "{ write-through = -1 }", "no ratio");
  refused("{ words = 64 }", "{ words = -1 }", "no whole number");
  refused("{ words = 64 }", "{ words = \"many\" }", "no whole number");
  refused("workload = \"stencil\"", "workload = 3", "not a string");
  refused("[[bars]]\nworkload = \"copy\"", "[[bars]\nworkload = \"copy\"", "");
}

TEST_CASE("Study: programs are compared on one system, by names of their own") {
  const std::string of_programs = R"(
title = "one lock beside another"
source = "a paper, Figure 1"
machine = "apu"
systems = ["sc"]
[[programs]]
name = "first"
workload = "ticket-lock"
[[programs]]
name = "second"
workload = "test-and-set"
sizes = { rounds = 2 }
[[panels]]
title = "Run time"
figure = "cycles"
paper = { second = 2.0 }
[[bars]]
title = "few"
sizes = { threads = 2 }
)";
  const auto parsed = [&](const std::string& from, const std::string& to) {
    std::string changed = of_programs;
    if (!from.empty()) changed.replace(changed.find(from), from.size(), to);
    return parse_study(changed, "mine.toml");
  };
  const Study study = parsed("", "");
  CHECK(study.on == "sc");
  CHECK(study.systems == std::vector<std::string>{"first", "second"});
  CHECK(study.programs.back().sizes == std::vector<std::string>{"rounds=2"});
  CHECK(study.bars.front().name() == "few");
  CHECK_THROWS_WITH(parsed("[\"sc\"]", "[\"sc\", \"rfo\"]"), Catch::Contains("on one system"));
  CHECK_THROWS_WITH(parsed("\"second\"", "\"first\""), Catch::Contains("there twice"));
  CHECK_THROWS_WITH(parsed("second = 2.0", "secnd = 2.0"), Catch::Contains("did you mean 'second'"));
}

TEST_CASE("Study: means are geometric, ranges are those of the sweeps, and nothing is made of nothing") {
  const Study study = parse_study(text, "mine.toml");
  const std::vector<Sweep> sweeps{made(point(100, 400, 50), {point(100, 300, 200)}),
                                  made(point(100, 100, 200), {})};
  const PanelRatios cycles = ratios_of(study, study.panels[0], sweeps);
  CHECK(cycles.bars[0][1] == Approx(4));
  CHECK(cycles.mean[1] == Approx(2));
  CHECK(cycles.mean[2] == Approx(1));
  // Nothing is read on the first system: there is no ratio, and no mean of none.
  const PanelRatios bytes = ratios_of(study, study.panels[1], sweeps);
  CHECK(std::isnan(bytes.bars[0][1]));
  CHECK(std::isnan(bytes.mean[1]));

  const std::string printed = study_text(study, sweeps);
  CHECK_THAT(printed, Catch::Contains("4.00 3.00-4.00 ") && Catch::Contains("0.50 0.50-2.00~"));
  CHECK_THAT(printed, Catch::Contains("Not here, and in the paper: a third."));
  CHECK_THAT(printed, Catch::Contains("nothing is to be concluded"));
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
  CHECK_THAT(printed, !Catch::Contains("Interrupted"));
  CHECK_THAT(study_text(study, {sweeps.front()}), Catch::Contains("Interrupted: 1 of 2 bars"));
  const nlohmann::ordered_json json = study_json(study, sweeps);
  CHECK(json.at("schema") == "lockstep.study/1");
  const auto& bar = json.at("panels").at(0).at("bars").at(0).at("systems").at("quick-release");
  CHECK(bar.at("ratio") == Approx(0.5));
  CHECK(bar.at("stands") == false);
  CHECK(json.at("panels").at(1).at("bars").at(0).at("systems").at("quick-release").at("ratio").is_null());
  CHECK_THAT(study_plot(study, sweeps, "x.svg"),
             Catch::Contains("\"copy words=64\" 4 3 4 0.5 0.5 2") && Catch::Contains("? ? ?"));
}

TEST_CASE("Study: a bar whose results are wrong counts for nothing, and is told") {
  const Study study = parse_study(text, "mine.toml");
  SweepPoint wrong = point(100, 400, 50);
  wrong.results[1].wrong = 3;
  const std::vector<Sweep> sweeps{made(wrong, {}), made(point(100, 100, 200), {})};
  CHECK(ratios_of(study, study.panels[0], sweeps).mean[1] == Approx(1));
  CHECK_THAT(study_text(study, sweeps),
             Catch::Contains("copy words=64 on write-through: 3 results are wrong"));
}

TEST_CASE("Study: what is shipped names machines, systems, workloads and figures that there are") {
  int studies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/refimpl/studies")) {
    const Study study = parse_study(read_file(entry.path()), entry.path().string());
    INFO(study.name);
    CHECK(std::filesystem::exists(machines_folder + "/" + study.machine + ".toml"));
    for (const std::string& system : study.programs.empty() ? study.systems : std::vector{study.on}) {
      SimulationOptions options;
      if (find_launched_system(system, options) == nullptr) CHECK_NOTHROW(find_timed_system(system, options));
    }
    for (const Study::Program& program : study.programs) CHECK_NOTHROW(find_workload(program.workload));
    const auto launches = [](const std::string& workload) {
      return std::any_of(launch_workloads().begin(), launch_workloads().end(),
                         [&](const LaunchWorkloadEntry& entry) { return entry.name == workload; });
    };
    for (const Study::Bar& bar : study.bars) {
      if (study.programs.empty() && !launches(bar.workload)) CHECK_NOTHROW(find_workload(bar.workload));
    }
    for (const Study::Panel& panel : study.panels) {
      for (const auto& [system, ratio] : panel.paper) CHECK(system != study.systems.front());
    }
    ++studies;
  }
  CHECK(studies >= 2);
}
