// The commands of `lockstep-view`.
#include "cli/command.hpp"

namespace lockstep::cli {

std::vector<Command> add_commands(CLI::App& lockstep) {
  return {add_view(lockstep)};
}

}  // namespace lockstep::cli
