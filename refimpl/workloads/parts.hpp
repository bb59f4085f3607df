// What each file of workloads offers to the list.
#pragma once

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

Workload copy_workload(const WorkloadShape& shape);
Workload vector_add_workload(const WorkloadShape& shape);
Workload reduction_workload(const WorkloadShape& shape);
Workload histogram_workload(const WorkloadShape& shape);
Workload stencil_workload(const WorkloadShape& shape);
Workload message_passing_workload(const WorkloadShape& shape);

}  // namespace lockstep
