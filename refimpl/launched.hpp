// Closed systems whose client launches kernels, with time: chiplets with an L2 each, the command processors,
// and an L3 behind them that holds all data. What is counted is put side by side as for programs
// (comparison.hpp).
//
// A word of the model is a page here, and a line is one page: ranges, copies and transfers are of whole
// pages, as arrays are that are allocated by pages. An access is by all the waves that share a page.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "refimpl/comparison.hpp"
#include "refimpl/simulator.hpp"
#include "spec/program/launches.hpp"

namespace lockstep {

// What the protocol leaves open, read from a file as a machine's: refimpl/machines/chiplets.toml says what
// the entries mean. Times are in cycles of the GPU.
struct ChipletMachine {
  std::string file;
  std::string name;
  double gigahertz = 1;
  int chiplets = 1;
  int cus_per_chiplet = 1;
  std::uint64_t page_bytes = 4096;
  struct {
    std::uint64_t bytes = 0;
    double latency = 0;
    double bytes_per_cycle = 0;
    int outstanding = 1;    // pages that a chiplet waits for at once
    double invalidate = 0;  // of all of it
  } l2;
  struct {
    std::uint64_t bytes = 0;
    double latency = 0;
    double bytes_per_cycle = 0;       // all chiplets together
    double link_bytes_per_cycle = 0;  // of one chiplet
  } l3;
  struct {
    double message = 0;  // between the global CP and a local one
    double lookup = 0;   // of one row of the table
  } cp;
};
// Throw BadInput, with the place, as read_machine does.
ChipletMachine read_chiplet_machine(const std::string& file, const MachineSettings& settings = {});
ChipletMachine parse_chiplet_machine(std::string_view text, const std::string& file,
                                     const MachineSettings& settings = {});

// What a kernel computes, page by page: the sum of pages read, each times a factor, modulo 2^32.
struct PageTask {
  int chiplet = 0;
  int page = 0;
  std::vector<std::pair<int, std::uint32_t>> terms;
};
struct LaunchWorkload {
  Launches launches;
  std::vector<std::vector<PageTask>> tasks;  // by launch, each chiplet's in its order
  std::vector<std::uint32_t> initial;        // by page
  std::vector<std::uint32_t> expected;       // by page, of all; computed one kernel after the other
};
struct LaunchWorkloadEntry {
  std::string_view name;
  std::string_view what;
  std::vector<WorkloadSize> sizes;
  LaunchWorkload (*build)(int chiplets, std::uint64_t seed,
                          const std::map<std::string, int>& sizes) = nullptr;
};
const std::vector<LaunchWorkloadEntry>& launch_workloads();

// A system of this kind that can be simulated: runs the workload to its end, then the host reads all results.
struct LaunchedSystem {
  std::string_view name;
  SystemResult (*run)(const LaunchWorkload&, const ChipletMachine&, const SimulationOptions&,
                      const std::atomic<bool>& interrupted) = nullptr;
};
// Before main begins, by the translation units of systems.
void register_launched(const Origin& origin, LaunchedSystem system);
// By name, null where there is none of this kind; "cpcoh/baseline" sets the variant.
const LaunchedSystem* find_launched_system(std::string_view name, SimulationOptions& options);

// All of the request's systems side by side. Throws BadInput on names and sizes that nothing knows.
ComparedRun run_launched_workload(const ChipletMachine& machine, const SimulationRequest& request,
                                  const std::string& workload, const std::atomic<bool>& interrupted);

}  // namespace lockstep
