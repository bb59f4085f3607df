// What a roofline says of kernels is what was counted, and what the machine file says that a machine can do.
#include "refimpl/roofline.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <string>

#include "tests/machines.hpp"

using namespace lockstep;

namespace {

// Four channels of 8 bytes a cycle; two CUs, each of which takes two turns a cycle.
std::string small_machine() {
  std::string text = changed(shipped_machine("apu"), "cus = ", "cus = 2 #");
  text = changed(text, "[units.thread]", "per_cycle = ", "per_cycle = 2 #");
  text = changed(text, "[memory]", "channels = ", "channels = 4 #");
  return changed(text, "[memory]", "bytes_per_cycle = ", "bytes_per_cycle = 8 #");
}

ComparedRun run_on(const std::string& machine, const std::string& workload, std::map<std::string, int> sizes,
                   bool profile = true) {
  SimulationRequest request;
  request.machine = machine_of(machine);
  request.systems = {"write-through"};
  request.sizes = std::move(sizes);
  request.options.profile = profile;
  const std::atomic<bool> never = false;
  return run_workload(request, workload, never);
}

Roofline::Point point(double per_cycle, double bytes) {
  return {"s", "w", "k", per_cycle, bytes, 4, 32};
}

}  // namespace

TEST_CASE("a kernel is held up by memory where it issues little for a byte, else by issue") {
  CHECK(point(1, 16).by_memory());  // a sixteenth of a turn a byte, where the roofs meet at an eighth
  CHECK(point(1, 16).share() == 0.5);
  CHECK_FALSE(point(3, 6).by_memory());
  CHECK(point(3, 6).share() == 0.75);
  CHECK_FALSE(point(2, 0).by_memory());
  CHECK(point(2, 0).share() == 0.5);
}

TEST_CASE("the roofs are those of the machine file, and points lie under them") {
  const ComparedRun run = run_on(small_machine(), "stencil", {{"words", 512}, {"kernels", 3}});
  const Statistics& s = run.results.at(0).statistics;
  CHECK(s.issue_peak == 4);
  CHECK(s.memory.peak == 32);
  const Roofline roofline = roofline_of({run});
  REQUIRE(roofline.points.size() == s.profile->kernels.size());
  REQUIRE(roofline.points.size() == 3);
  double turns = 0;
  double bytes = 0;
  double before = 0;
  for (std::size_t i = 0; i < roofline.points.size(); ++i) {
    const Roofline::Point& p = roofline.points[i];
    const Statistics::Kernel& kernel = s.profile->kernels[i];
    CHECK(p.kernel == kernel.name);
    CHECK(p.share() > 0);
    CHECK(p.share() <= 1);
    turns += p.per_cycle * (kernel.to - before);
    bytes += p.bytes * (kernel.to - before);
    before = kernel.to;
  }
  // What drains after the last kernel is no kernel's.
  CHECK(turns <= Approx(static_cast<double>(s.issued)));
  CHECK(turns >= 0.99 * static_cast<double>(s.issued));
  CHECK(bytes <= Approx(static_cast<double>(s.memory.read_bytes + s.memory.write_bytes)));
}

TEST_CASE("DRAM's peak is that of its bursts, in cycles of the GPU") {
  const std::string text = changed(shipped_machine("apu"), "[memory]", "bytes_per_cycle = 6.4",
                                   "kind = \"dram\"\npreset = \"ddr4\" #");
  const MachineDescription machine = machine_of(text);
  const auto& memory = machine.systems.at("write-through").memory;
  const auto& device = memory.device;
  const double seconds = 1e-12 * static_cast<double>(device.timings.tCK_ps) * device.timings.nBL;
  const double expected = memory.channels * static_cast<double>(device.organization.burst_bytes()) / seconds /
                          (machine.gigahertz * 1e9);
  CHECK(run_on(text, "copy", {{"words", 256}}).results.at(0).statistics.memory.peak == Approx(expected));
}

TEST_CASE("a run without a profile, or without kernels, is one point") {
  const Roofline roofline = roofline_of({run_on(small_machine(), "copy", {{"words", 256}}, false)});
  REQUIRE(roofline.points.size() == 1);
  CHECK(roofline.points[0].kernel.empty());
  CHECK(roofline.points[0].workload == "copy");
}

TEST_CASE("a roofline is read within 80 columns, and drawn without what lies nowhere") {
  Roofline roofline = roofline_of({run_on(small_machine(), "stencil", {{"words", 512}, {"kernels", 20}})});
  REQUIRE(roofline.points.size() == 20);
  roofline.points.push_back(point(2, 0));
  roofline.points.back().kernel = "a kernel 'of' which the name is long and that asks DRAM for nothing";
  std::istringstream lines(roofline_text(roofline));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 80);
  CHECK(count > 16);
  CHECK_THAT(roofline_text(roofline), Catch::Contains("and 4 more: --json"));
  const std::string plot = roofline_plot(roofline, "it's.svg");
  CHECK_THAT(plot, Catch::Contains("set output 'it''s.svg'") && !Catch::Contains("inf") &&
                       !Catch::Contains("nan") && !Catch::Contains("asks DRAM for nothing"));
  const auto json = roofline_json(roofline);
  CHECK(json.size() == 21);
  CHECK(json.back()["by"] == "issue");
}
