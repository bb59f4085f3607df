// The command of `lockstep-sim`.
#include "cli/command.hpp"

namespace lockstep::cli {

std::vector<Command> add_commands(CLI::App& lockstep) {
  return {add_sim(lockstep)};
}

}  // namespace lockstep::cli
