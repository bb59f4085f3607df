// How fast the simulator is: rule firings a second on one core, by processor time, for the write-through and
// QuickRelease systems from 8 to 64 CUs, and what it takes to start.
//
//   bench/simulate [--repeat N]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"

namespace {

using namespace lockstep;

// Processor time does not count what other programs take of the core.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Figures {
  std::uint64_t firings = 0;
  double start = 1e9;    // seconds, best of all runs
  double seconds = 1e9;  // of the simulation alone, best of all runs
};

Figures measure(const std::string& name, const std::string& system, int cus, int repeat) {
  Figures figures;
  for (int i = 0; i < repeat; ++i) {
    const double start = processor_seconds();
    const MachineDescription machine = read_machine(LOCKSTEP_SOURCE_DIR "/refimpl/machines/apu.toml");
    SimulationOptions options;
    options.cus = cus;
    const Workload workload = build_workload(find_workload(name), shape_for(machine, options));
    const auto simulator = find_timed_system(system, options).build(workload, machine, options);
    const double started = processor_seconds();
    if (simulator->run() != SimulationEnd::finished) {
      fmt::print(stderr, "{} on {}: did not finish\n", name, system);
      std::exit(1);
    }
    figures.start = std::min(figures.start, started - start);
    figures.seconds = std::min(figures.seconds, processor_seconds() - started);
    figures.firings = simulator->statistics().firings;
  }
  return figures;
}

int number_after(const std::string& option, const std::vector<std::string>& arguments, int fallback) {
  const auto found = std::find(arguments.begin(), arguments.end(), option);
  return found == arguments.end() || found + 1 == arguments.end() ? fallback
                                                                  : std::atoi((found + 1)->c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int repeat = std::max(1, number_after("--repeat", arguments, 5));
  fmt::print("One core, processor time; best of {} runs\n", repeat);
  for (const std::string system : {"write-through", "quick-release", "rfo"}) {
    for (const std::string workload : {"copy", "stencil", "message-passing"}) {
      for (const int cus : {8, 16, 32, 64}) {
        const Figures f = measure(workload, system, cus, repeat);
        fmt::print("{:<14} {:<16} {:>2} CUs {:>9} firings {:>7.3f} s {:>6.2f} M firings/s, start {:.3f} s\n",
                   system, workload, cus, f.firings, f.seconds,
                   static_cast<double>(f.firings) / f.seconds / 1e6, f.start);
      }
    }
  }
  return 0;
}
