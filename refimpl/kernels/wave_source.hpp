// Waves of kernels on a timed machine: what they access becomes instructions of their threads, as they run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "refimpl/kernels/code_source.hpp"
#include "refimpl/kernels/plan.hpp"

namespace lockstep::kernels {

// A thread of the program, and what it is in the plan.
struct PlacedWave {
  std::uint32_t thread = 0;
  int launch = 0;
  int place = 0;
  int wave_of_group = 0;
};

struct PlacedWaves {
  Plan plan;
  std::vector<PlacedWave> waves;
  std::size_t threads = 0;  // of the program, slots included
  int slots = 0;            // of a wave; 0: it waits for each access
  bool waves_end_kernels = false;
};

std::unique_ptr<CodeSource> wave_source(std::shared_ptr<const PlacedWaves> placed);

// Behind a wave's dispatch: a mark, and each instruction that may come to stand there, for whoever looks at a
// program's code before it runs.
std::vector<Instruction> code_to_come(const PlacedWaves& placed);

}  // namespace lockstep::kernels
