// What a program needs of a machine: places for its threads, and room for them, their registers and blocks.
#pragma once

#include <vector>

#include "spec/kernel/recorded.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// The placement of a program in numbers: which CU, work-group and agent each thread sits on.
struct PlacementTable {
  std::vector<int> cu_of_thread;  // 0 for host threads
  std::vector<int> agent_of_cu;
  std::vector<bool> host;
  std::vector<int> predecessor;  // of each thread's port (machine.hpp)
  int cus = 0;
  int agents = 0;
  int registers = 0;
  int blocks = 0;
  int words = 0;
};
PlacementTable place(const Program& program);

// What the rigid functions of a machine (machine.hpp, named_machine) are for a placed program.
std::vector<recorded::RigidFunction> rigid_functions(const PlacementTable& placement);

// Throws BadInput where a program needs more than the built state holds, or does what memory systems do not
// run.
void check_capacity(const Program& program, const PlacementTable& placement,
                    int most_threads = ThreadTag::capacity, int most_work_groups = CuTag::capacity);

}  // namespace lockstep
