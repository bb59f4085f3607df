// Programs that were not made for a machine of some size, as workloads: litmus tests and the synchronization
// programs of spec/sync.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// Memory begins as the program says, alike in all lanes, and what it claims of memory at its end is expected.
// Computed addresses are lowered (spec/program/lower_for_systems.hpp). Words of one block lie in one block;
// or, where that is said to hold fewer, in blocks behind one another: in a litmus test that would be another
// test.
Workload workload_of(const Program& program, int words_per_block = 1 << 20);

// "ticket-lock", "ticket-lock/VARIANT"; its parameters are sizes. Throws BadInput with the nearest name of a
// variant; none where there is no such program.
std::optional<WorkloadEntry> sync_workload(std::string_view name);
std::vector<std::string> sync_workload_names();

}  // namespace lockstep
