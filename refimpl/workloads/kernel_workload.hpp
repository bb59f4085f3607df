// Files of kernels as workloads.
#pragma once

#include <string_view>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// Reads the file; throws BadInput with the place of what is not understood. Expected is what plain arrays
// hold in the end, where all waves of a kernel go on in turn; arrays that the file calls unchecked are left
// out.
WorkloadEntry kernel_workload(std::string_view name);

}  // namespace lockstep
