// The commands of `lockstep-prove`.
#include "cli/command.hpp"

namespace lockstep::cli {

std::vector<Command> add_commands(CLI::App& lockstep) {
  return {add_distinguish(lockstep), add_prove(lockstep), add_mutate(lockstep)};
}

}  // namespace lockstep::cli
