// Running workloads on one system or several, on the same machine with the same data, and putting what was
// counted side by side.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "refimpl/simulator.hpp"

namespace lockstep {

struct SimulationRequest {
  MachineDescription machine;
  std::vector<std::string> systems;           // names, with variants where they differ from the default
  std::map<std::string, int> sizes;           // of workloads and of protocols
  std::map<std::string, std::string> graphs;  // files, by name, of a file of kernels
  SimulationOptions options;
};

struct SystemResult {
  std::string system;
  SimulationEnd end = SimulationEnd::finished;
  Statistics statistics;
  int wrong = 0;                  // locations that do not hold what was computed beside the simulation
  std::string waiting;            // threads, where it is stuck
  std::string described_in = {};  // the shipped file, where the machine's does not describe the system
  double seconds = 0;             // that the simulation took
};
struct ComparedRun {
  std::string workload;
  int cus = 0;
  std::uint64_t seed = 0;
  int checked = 0;  // locations compared
  std::vector<SystemResult> results;
  std::string where = {};  // the machine in a word; empty: so many CUs
  std::string race = {};   // of the workload (workload.hpp)
};

// What a workload is built for, but for its own sizes.
WorkloadShape shape_for(const MachineDescription& machine, const SimulationOptions& options);

// Throws BadInput on names and sizes that nothing knows. Interrupted, it has the figures so far.
ComparedRun run_workload(const SimulationRequest& request, const std::string& workload,
                         const std::atomic<bool>& interrupted,
                         const std::function<void(const std::string&)>& on_progress = {});
ComparedRun run_workload(const SimulationRequest& request, const WorkloadEntry& workload,
                         const std::atomic<bool>& interrupted,
                         const std::function<void(const std::string&)>& on_progress = {});

// "finished", "stuck", "failed", "interrupted" or "limit".
std::string_view word(SimulationEnd end);
// What is put side by side, by name, of one of the run's results: all that is not 0 of some result.
std::vector<std::pair<std::string, double>> figures_of(const ComparedRun& run, const SystemResult& result);

// For people, within 80 columns: all figures of one system, or those of several with ratios to the first.
std::string comparison_text(const ComparedRun& run, bool rules);
// Schema lockstep.sim/1.
nlohmann::ordered_json comparison_json(const std::string& machine, const std::vector<ComparedRun>& runs);
// What was counted in each epoch, a line for each with all counters of any run.
std::string epochs_csv(const std::vector<ComparedRun>& runs);
// Run time and DRAM writes of the second system relative to the first, as bars.
std::string comparison_svg(const std::vector<ComparedRun>& runs);
int exit_status_of(const std::vector<ComparedRun>& runs);
// As a string of gnuplot's.
std::string gnuplot_quoted(const std::string& text);

}  // namespace lockstep
