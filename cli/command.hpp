// What each command's file offers: a function that adds the command and says how to run it.
//
// There are five executables (cmake/systems.cmake). `lockstep` has all commands but seven, which need much
// that the others do not, and most of which take as long to build as all others together: `lockstep prove`,
// `lockstep mutate` and `lockstep distinguish` go on as `lockstep-prove`, which lies beside it, `lockstep
// sim`, `lockstep sweep` and `lockstep study` as `lockstep-sim`, and `lockstep view`, which serves a page, as
// `lockstep-view`. As one of several ranks, `lockstep check` goes on as `lockstep-mpi`, where that was built.
// lockstep.cpp, lockstep_prove.cpp, lockstep_sim.cpp, lockstep_view.cpp and lockstep_mpi.cpp say which
// commands each has.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::cluster {
class Ranks;
}

namespace lockstep::cli {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;    // the exit status; throws BadInput
  std::string elsewhere = {};  // of a command of another executable: that is lockstep-<elsewhere>
};

// A command of another executable, for this one's help; it is never run.
Command add_elsewhere(CLI::App& lockstep, const char* name, const char* what, const char* executable);
inline constexpr const char* check_what = "Verify a system: invariants, assertions, deadlock";
inline constexpr const char* distinguish_what =
    "The smallest execution that one model allows and another forbids, with Z3";
inline constexpr const char* mutate_what =
    "Which slips in a system's rules do the tests and the proofs notice?";
inline constexpr const char* prove_what = "Prove a system's lemmas with Z3, at a size or at any";
inline constexpr const char* sweep_what = "Does a comparison hold for all that a machine's values might be?";
inline constexpr const char* study_what = "A paper's comparison of systems: each bar, and how far it holds";
inline constexpr const char* sim_what = "Simulate a workload on a machine with time";

inline constexpr const char* view_what = "Runs, executions, machines and matrices in the browser";

// Those of this executable, in the order of its help.
std::vector<Command> add_commands(CLI::App& lockstep);

Command add_litmus(CLI::App& lockstep);
Command add_generate(CLI::App& lockstep);
Command add_conform(CLI::App& lockstep);
// `ranks`: the processes that check together, this one among them; null: it is alone.
Command add_check(CLI::App& lockstep, cluster::Ranks* ranks = nullptr);
Command add_compare(CLI::App& lockstep);
Command add_distinguish(CLI::App& lockstep);
Command add_mutate(CLI::App& lockstep);
Command add_progress(CLI::App& lockstep);
Command add_prove(CLI::App& lockstep);
Command add_sim(CLI::App& lockstep);
Command add_sweep(CLI::App& lockstep);
Command add_study(CLI::App& lockstep);
Command add_replay(CLI::App& lockstep);
Command add_explain(CLI::App& lockstep);
Command add_export(CLI::App& lockstep);
Command add_crosscheck(CLI::App& lockstep);
Command add_list(CLI::App& lockstep);
Command add_doctor(CLI::App& lockstep);
Command add_completion(CLI::App& lockstep);
Command add_view(CLI::App& lockstep);

}  // namespace lockstep::cli
