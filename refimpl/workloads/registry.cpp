// The workloads, by name, with their sizes.
#include <fmt/format.h>

#include <algorithm>

#include "checker/language/kernel_file.hpp"
#include "checker/support/diagnostic.hpp"
#include "refimpl/workloads/access_list.hpp"
#include "refimpl/workloads/kernel_trace.hpp"
#include "refimpl/workloads/kernel_workload.hpp"
#include "refimpl/workloads/parts.hpp"
#include "refimpl/workloads/programs.hpp"

namespace lockstep {

const std::vector<WorkloadEntry>& workloads() {
  constexpr WorkloadSize waves{"waves", 0,
                               "waves of a kernel (0: as many as the machine and the data allow)"};
  static const std::vector<WorkloadEntry> entries{
      {"copy", "one array to another", {{"words", 16384, "64-byte words of an array"}, waves}, copy_workload},
      {"vector-add",
       "the sum of two arrays",
       {{"words", 16384, "64-byte words of an array"}, waves},
       vector_add_workload},
      {"reduction",
       "the sum of an array: barriers and atomics",
       {{"words", 16384, "64-byte words of the array"}, waves},
       reduction_workload},
      {"histogram",
       "counts by updates that commute",
       {{"words", 4096, "64-byte words of the input"},
        {"bins", 64, "64-byte words of counts"},
        {"shared", 100, "of 100 updates, those to anybody's counts; the others are to its work-group's own"},
        waves},
       histogram_workload},
      {"stencil",
       "several kernels over a grid, with coefficients that stay",
       {{"words", 512, "64-byte words of the grid"}, {"kernels", 8, "kernels, one after the other"}, waves},
       stencil_workload},
      {"message-passing",
       "work-groups that synchronize in pairs, by release and acquire",
       {{"pairs", 16, "pairs of work-groups"},
        {"rounds", 16, "messages to and fro"},
        {"payload", 4, "64-byte words of a message"},
        {"table", 32, "64-byte words looked up for each message"}},
       message_passing_workload},
  };
  return entries;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const WorkloadEntry& entry : workloads()) names.emplace_back(entry.name);
  const auto of_sync = sync_workload_names();
  names.insert(names.end(), of_sync.begin(), of_sync.end());
  const auto of_kernels = kernels::shipped_kernel_files();
  names.insert(names.end(), of_kernels.begin(), of_kernels.end());
  return names;
}

WorkloadEntry find_workload(std::string_view name) {
  for (const WorkloadEntry& entry : workloads()) {
    if (entry.name == name) return entry;
  }
  if (auto entry = sync_workload(name)) return *std::move(entry);
  if (names_kernel_trace(name)) return kernel_trace(name);
  if (names_access_list(name)) return access_list(name);
  if (kernels::names_kernel_file(name)) return kernel_workload(name);
  throw BadInput(fmt::format("unknown workload '{}'", name), suggestion(name, workload_names()));
}

Workload build_workload(const WorkloadEntry& entry, const WorkloadShape& asked) {
  WorkloadShape shape = asked;
  std::vector<std::string> names;
  for (const WorkloadSize& size : entry.sizes) {
    names.emplace_back(size.name);
    if (size.standard > 0) shape.sizes.try_emplace(std::string(size.name), size.standard);
  }
  for (const auto& [name, size] : shape.sizes) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw BadInput(fmt::format("{} has no size '{}'", entry.name, name), suggestion(name, names));
    }
    const auto& [called, standard, what, least, most] =
        entry.sizes[static_cast<std::size_t>(found - names.begin())];
    if (size < least || size > most) {
      throw BadInput(fmt::format("size {}={} is not between {} and {}", name, size, least, most));
    }
  }
  return entry.build(shape);
}

}  // namespace lockstep
