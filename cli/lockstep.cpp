// The commands of `lockstep`.
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

Command add_elsewhere(CLI::App& lockstep, const char* name, const char* what, const char* executable) {
  return {lockstep.add_subcommand(name, what), {}, executable};
}

std::vector<Command> add_commands(CLI::App& lockstep) {
  return {add_litmus(lockstep),
          add_generate(lockstep),
          add_conform(lockstep),
          is_rank() ? add_elsewhere(lockstep, "check", check_what, "mpi") : add_check(lockstep),
          add_compare(lockstep),
          add_elsewhere(lockstep, "distinguish", distinguish_what, "prove"),
          add_elsewhere(lockstep, "mutate", mutate_what, "prove"),
          add_progress(lockstep),
          add_elsewhere(lockstep, "prove", prove_what, "prove"),
          add_elsewhere(lockstep, "sim", sim_what, "sim"),
          add_elsewhere(lockstep, "sweep", sweep_what, "sim"),
          add_elsewhere(lockstep, "study", study_what, "sim"),
          add_replay(lockstep),
          add_elsewhere(lockstep, "view", view_what, "view"),
          add_explain(lockstep),
          add_export(lockstep),
          add_crosscheck(lockstep),
          add_list(lockstep),
          add_doctor(lockstep),
          add_completion(lockstep)};
}

}  // namespace lockstep::cli
