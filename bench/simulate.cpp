// How fast the simulator is on one core: accesses of 64 bytes that threads complete in a second, streaming
// and scattered, on each system and the machine of its paper, and how that grows with the footprint and with
// CUs that have nothing to do. Times are by the clock, each the best of some runs.
//
//   bench/simulate [--repeat N] [--on SYSTEM]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/simulation.hpp"

namespace {

using namespace lockstep;

struct Point {
  std::string system;
  std::string machine;
  std::string workload;
  std::vector<std::string> sizes;
  int cus = 0;  // as the machine has
};

std::vector<Point> points() {
  std::vector<Point> all;
  const auto add = [&](const std::string& machine, const std::vector<std::string>& systems) {
    for (const std::string& system : systems) {
      for (const char* words : {"words=16384", "words=65536"})
        all.push_back({system, machine, "copy", {words}, 0});
      for (const char* updates : {"updates=16384", "updates=65536"})
        all.push_back({system, machine, "random-access", {"words=65536", updates}, 0});
    }
  };
  add("apu", {"sc", "write-through", "quick-release", "rfo"});
  add("titan-v", {"remote-atomics", "hlrc", "phi", "lab"});
  add("halcone", {"halcone", "g-tsc", "hmg-monolithic"});
  add("fear", {"fear"});
  for (const char* pages : {"pages=64", "pages=256"})
    all.push_back({"cpcoh", "chiplets", "babelstream", {pages}, 0});
  // Most CUs are idle.
  for (const std::string system : {"write-through", "quick-release", "rfo"}) {
    for (const int cus : {8, 16, 32, 64}) all.push_back({system, "apu", "message-passing", {}, cus});
  }
  return all;
}

struct Figures {
  std::uint64_t accesses = 0;
  std::uint64_t firings = 0;
  double start = 1e9;    // seconds, best of all runs
  double seconds = 1e9;  // of the simulation alone, best of all runs
};

Figures measure(const Point& point, int repeat) {
  SimulationChoice choice;
  choice.workload = point.workload;
  choice.systems = {point.system};
  choice.machine = fmt::format(LOCKSTEP_SOURCE_DIR "/refimpl/machines/{}.toml", point.machine);
  choice.sizes = point.sizes;
  choice.cus = point.cus;
  const Simulation simulation(choice, LOCKSTEP_SOURCE_DIR "/litmus");
  const std::atomic<bool> interrupted{false};
  Figures figures;
  for (int i = 0; i < repeat; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const ComparedRun run = simulation.run(simulation.workloads().front(), interrupted);
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    const SystemResult& result = run.results.front();
    if (result.end != SimulationEnd::finished) {
      fmt::print(stderr, "{} on {}: did not finish\n", point.workload, point.system);
      std::exit(1);
    }
    figures.start = std::min(figures.start, all - result.seconds);
    figures.seconds = std::min(figures.seconds, result.seconds);
    figures.firings = result.statistics.firings;
    figures.accesses = 0;
    for (const Statistics::Operation& operation : result.statistics.operations) {
      if (operation.name != "fence") figures.accesses += operation.count;
    }
  }
  return figures;
}

std::string after(const std::string& option, const std::vector<std::string>& arguments) {
  const auto found = std::find(arguments.begin(), arguments.end(), option);
  return found == arguments.end() || found + 1 == arguments.end() ? "" : *(found + 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int repeat = std::max(1, std::atoi(after("--repeat", arguments).c_str()));
  const std::string system = after("--on", arguments);
  const std::vector<Point> all = points();
  if (!system.empty() &&
      std::none_of(all.begin(), all.end(), [&](const Point& point) { return point.system == system; })) {
    fmt::print(stderr, "error: nothing is measured on '{}'\n", system);
    return 2;
  }
  fmt::print("One core; best of {}\n", repeat);
  fmt::print("{:<14} {:<15} {:<15} {:>8} {:>8} {:>9} {:>7} {:>6}\n", "system", "workload", "size", "accesses",
             "firings", "k acc./s", "s", "start");
  try {
    for (const Point& point : all) {
      if (!system.empty() && point.system != system) continue;
      const Figures f = measure(point, repeat);
      const std::string size = !point.sizes.empty() ? point.sizes.back() : fmt::format("{} CUs", point.cus);
      fmt::print("{:<14} {:<15} {:<15} {:>8} {:>8} {:>9.0f} {:>7.3f} {:>6.3f}\n", point.system,
                 point.workload, size, f.accesses, f.firings,
                 static_cast<double>(f.accesses) / f.seconds / 1e3, f.seconds, f.start);
      std::fflush(stdout);  // the next one may take minutes
    }
  } catch (const BadInput& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  return 0;
}
