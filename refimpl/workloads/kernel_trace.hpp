// Kernel traces as Accel-Sim's tracer writes them, as workloads: which warp accesses which addresses in which
// order, and which registers make one instruction wait for another. A trace has no data, so there are no
// results to check.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// "kernelslist.g", "kernel-1.traceg", "kernel-1.traceg.xz", in whatever folder.
bool names_kernel_trace(std::string_view name);

// The files that a trace consists of, a list's own first. Throws BadInput where one is missing.
std::vector<std::string> files_of_kernel_trace(const std::string& file);

// Kernels run one after the other. As many thread blocks run at once as the machine has room for; the others
// follow in turn, each where an earlier one of its place has ended. What a warp's lanes access is coalesced
// to words of 64 bytes, and as much is accessed; shared and local memory, constants and textures take an
// instruction's time. Files are read when it is built, line by line; those that end in .xz by the program xz.
// Building throws BadInput with the place of what is no trace.
// The entry bears the name that is given, which has to outlive it.
WorkloadEntry kernel_trace(std::string_view name);

}  // namespace lockstep
