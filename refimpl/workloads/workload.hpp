// A program with its data, as large as a machine asks for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "refimpl/kernels/code_source.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

struct Workload {
  // What runs after all that was before it: the threads placed in kernels from `first` to `last`.
  struct Kernel {
    std::string name;
    int first = 0;
    int last = 0;
  };
  Program program;
  std::vector<Lanes> initial;   // by location
  std::vector<Lanes> expected;  // by location, of `outputs`; computed beside the program, not by running it
  std::vector<int> outputs;     // locations whose final contents `expected` gives
  // Of the machine that it was made for, which deals out the work-groups of each kernel from its first CU on;
  // 0: any, on which all work-groups are dealt out in turn.
  int cus = 0;
  std::vector<Kernel> kernels;
  std::string race;  // a data race that was found, in words, or why none was looked for; empty: none
  // Of code that is written as it runs, anew for each run; none: all code is there.
  std::function<std::unique_ptr<CodeSource>()> source;
};

// What a workload is built for; sizes left at 0 get the workload's own defaults.
struct WorkloadShape {
  int cus = 8;
  int agents = 1;
  int waves_per_cu = 40;           // at most
  int accesses_per_wave = 1;       // that a wave may have under way; with one it waits for each
  bool waves_end_kernels = false;  // each wave releases at its kernel's end, instead of one wave on each CU
  int words_per_block = 2;
  std::uint64_t seed = 1;
  std::map<std::string, int> sizes;                // by name, in place of the defaults
  const std::atomic<bool>* interrupted = nullptr;  // where somebody may be in a hurry
  std::map<std::string, std::string>
      graphs;  // files, by name, in place of those that a file of kernels makes
};

struct WorkloadSize {
  std::string_view name;
  int standard;
  std::string_view what;
  int least = 1;
  int most = 1 << 22;
};
struct WorkloadEntry {
  std::string_view name;
  std::string_view what;
  std::vector<WorkloadSize> sizes;
  std::function<Workload(const WorkloadShape& shape)> build;
};

// In the order in which people should read them.
const std::vector<WorkloadEntry>& workloads();
// One of these, a synchronization program (programs.hpp), a file of kernels
// (refimpl/workloads/kernel_workload.hpp), a kernel trace or a list of accesses by its file
// (kernel_trace.hpp, access_list.hpp). Throws BadInput
// with the nearest name.
WorkloadEntry find_workload(std::string_view name);
std::vector<std::string> workload_names();  // of all but those that are files
// Throws BadInput on sizes that the workload does not know.
Workload build_workload(const WorkloadEntry& entry, const WorkloadShape& shape);

}  // namespace lockstep
