// The commands of `lockstep-sim`.
#include "cli/command.hpp"

namespace lockstep::cli {

std::vector<Command> add_commands(CLI::App& lockstep) {
  return {add_sim(lockstep), add_sweep(lockstep), add_study(lockstep)};
}

}  // namespace lockstep::cli
